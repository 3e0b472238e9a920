#include "models/unit/text_table.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "models/unit/format.hpp"

namespace stepcast {
namespace {

/// Characters, not bytes, of UTF-8 text.
std::size_t columns_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

std::vector<std::size_t> TextTable::widths() const {
  std::vector<std::size_t> width;
  for (const auto& row : rows_) {
    width.resize(std::max(width.size(), row.size()), 0);
    for (std::size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], columns_of(row[i]));
  }
  return width;
}

std::size_t TextTable::width() const {
  const std::vector<std::size_t> all = widths();
  return std::accumulate(all.begin(), all.end(), std::size_t{0}) + 2 * (all.empty() ? 0 : all.size() - 1);
}

std::string TextTable::text() const {
  const std::vector<std::size_t> width = widths();
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string pad(width[i] - columns_of(row[i]), ' ');
      line += (i > 0 ? "  " : "") + (is_left(i) ? row[i] + pad : pad + row[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string TextTable::markdown() const {
  std::string text;
  const auto add = [&](const std::vector<std::string>& cells) {
    for (const std::string& cell : cells) {
      text += "| ";
      for (const char c : cell) text += c == '|' ? "\\|" : std::string(1, c);
      text += ' ';
    }
    text += "|\n";
  };
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    add(rows_[r]);
    if (r > 0) continue;
    std::vector<std::string> rule;
    for (std::size_t i = 0; i < rows_[r].size(); ++i) rule.emplace_back(is_left(i) ? "---" : "---:");
    add(rule);
  }
  return text;
}

std::string percent(double fraction) { return fmt::format("{:.3g} %", 100.0 * fraction); }

std::string tenths(double fraction) { return fmt::format("{:.1f} %", 100.0 * fraction); }

std::string share(Seconds part, Seconds whole) { return whole > Seconds{} ? tenths(part / whole) : "-"; }

std::string run_text(Seconds time) { return time < Seconds(100.0) ? human_text(time) : duration_text(time); }

}  // namespace stepcast
