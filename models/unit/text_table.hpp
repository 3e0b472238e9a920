// Columns of text for reports on a terminal.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "models/unit/quantity.hpp"

namespace stepcast {

/// Columns as wide as their widest cell, with two blanks between them. The first row is the head.
class TextTable {
 public:
  /// @param left   number of the first columns, which are left-aligned
  /// @param right  number of the following columns, which are right-aligned; later ones are left-aligned again
  explicit TextTable(std::size_t left, std::size_t right = std::numeric_limits<std::size_t>::max())
      : left_(left), right_(right) {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  /// One line for each row, without blanks at the end.
  [[nodiscard]] std::string text() const;
  /// A table of GitHub's Markdown.
  [[nodiscard]] std::string markdown() const;
  /// Characters of the longest line that text() may have.
  [[nodiscard]] std::size_t width() const;

 private:
  [[nodiscard]] std::vector<std::size_t> widths() const;
  [[nodiscard]] bool is_left(std::size_t column) const { return column < left_ || column - left_ >= right_; }

  std::size_t left_, right_;
  std::vector<std::vector<std::string>> rows_;
};

/// "12.5 %" with three digits.
std::string percent(double fraction);
/// "12.5 %" with one decimal, for columns.
std::string tenths(double fraction);
/// `part` of `whole` in percent with one decimal; "-" if `whole` is zero.
std::string share(Seconds part, Seconds whole);

/// Time of a whole run: seconds with a fraction, or hours and minutes.
std::string run_text(Seconds time);

}  // namespace stepcast
