#include "sim/program/filled_columns.hpp"

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace stepcast {
namespace {

/// Calls f(row, column, text, ends_row) for each field. The text keeps its quotes.
template <class F>
void for_each_field(std::FILE* csv, F&& f) {
  std::string text;
  std::size_t row = 0, column = 0;
  bool quoted = false;
  for (int c = ::getc_unlocked(csv); c != EOF; c = ::getc_unlocked(csv)) {
    if (c == '"') quoted = !quoted;
    if (quoted || (c != ',' && c != '\n')) {
      text += static_cast<char>(c);
      continue;
    }
    f(row, column, text, c == '\n');
    text.clear();
    ++column;
    if (c == '\n') ++row, column = 0;
  }
  if (std::ferror(csv) != 0) throw std::runtime_error("the rows that were written cannot be read again");
}

}  // namespace

void write_filled_columns(std::FILE* csv, const std::function<void(std::string_view)>& write) {
  std::vector<bool> filled;
  for_each_field(csv, [&](std::size_t row, std::size_t column, const std::string& text, bool) {
    if (row == 0) filled.push_back(false);
    else if (!text.empty()) filled[column] = true;
  });
  std::rewind(csv);
  std::string line;
  bool is_first = true;
  for_each_field(csv, [&](std::size_t, std::size_t column, const std::string& text, bool ends_row) {
    if (filled[column]) line += (std::exchange(is_first, false) ? "" : ",") + text;
    if (!ends_row) return;
    write(line + "\n");
    line.clear();
    is_first = true;
  });
}

}  // namespace stepcast
