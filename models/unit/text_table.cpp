#include "models/unit/text_table.hpp"

#include <algorithm>

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

std::string TextTable::text() const {
  std::vector<std::size_t> width;
  for (const auto& row : rows_) {
    width.resize(std::max(width.size(), row.size()), 0);
    for (std::size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], columns_of(row[i]));
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string pad(width[i] - columns_of(row[i]), ' ');
      line += (i > 0 ? "  " : "") + (i < left_ || i - left_ >= right_ ? row[i] + pad : pad + row[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string percent(double fraction) { return fmt::format("{:.3g} %", 100.0 * fraction); }

std::string share(Seconds part, Seconds whole) { return whole > Seconds{} ? percent(part / whole) : "-"; }

std::string run_text(Seconds time) { return time < Seconds(100.0) ? human_text(time) : duration_text(time); }

}  // namespace stepcast
