// Columns of text, as reports on a terminal have them.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "models/unit/quantity.hpp"

namespace stepcast {

/// Columns as wide as their widest cell, two blanks between them.
class TextTable {
 public:
  /// @param left   how many of the first columns are left-aligned
  /// @param right  how many of those that follow are right-aligned; any after them are left-aligned again
  explicit TextTable(std::size_t left, std::size_t right = std::numeric_limits<std::size_t>::max())
      : left_(left), right_(right) {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  /// A line a row, no blanks at the ends of lines.
  [[nodiscard]] std::string text() const;

 private:
  std::size_t left_, right_;
  std::vector<std::vector<std::string>> rows_;
};

/// "12.5 %"
std::string percent(double fraction);
/// `part` of `whole` in percent; "-" of nothing.
std::string share(Seconds part, Seconds whole);

/// Of a whole run: seconds with a fraction, or hours and minutes.
std::string run_text(Seconds time);

}  // namespace stepcast
