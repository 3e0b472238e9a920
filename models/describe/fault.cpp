#include "models/describe/fault.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace stepcast {
namespace {

std::string join(const std::vector<Fault>& faults) {
  std::vector<std::string> lines;
  for (const Fault& fault : faults) lines.push_back(to_string(fault));
  return fmt::format("{}", fmt::join(lines, "\n"));
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string to_string(const Fault& fault) {
  const bool option = fault.file.starts_with("--");
  std::string text = fault.file + ": ";
  if (!fault.pointer.empty() || !option)
    text += fmt::format("{}: ", fault.pointer.empty() ? "(whole document)" : fault.pointer);
  text += "found " + fault.found;
  if (!fault.allowed.empty()) text += "; allowed: " + fault.allowed;
  if (!fault.remedy.empty()) text += "; " + fault.remedy;
  return text;
}

std::string shorten(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return std::string(text);
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80) --bytes;
  return std::string(text.substr(0, bytes)) + "...";
}

ScenarioError::ScenarioError(std::vector<Fault> faults)
    : std::runtime_error(join(faults)), faults_(std::move(faults)) {}

std::string nearest(std::string_view name, const std::vector<std::string>& candidates) {
  const std::string_view probe = name.substr(0, 64);
  std::string best;
  // One wrong letter in a name of two; two make another word of it.
  std::size_t best_distance = probe.size() <= 2 ? probe.size() : std::max<std::size_t>(2, probe.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(probe, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  if (!best.empty() || name.size() < 3) return best;
  const auto begins_so = [&](const std::string& candidate) { return candidate.starts_with(name); };
  const auto first = std::find_if(candidates.begin(), candidates.end(), begins_so);
  return std::count_if(candidates.begin(), candidates.end(), begins_so) == 1 ? *first : best;
}

}  // namespace stepcast
