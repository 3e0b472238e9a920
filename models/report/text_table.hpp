// Columns of text for people.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace stepcast {

/// Rows of cells, each column as wide as its widest cell, two spaces between them; the first `left` columns are
/// left-aligned, the others right-aligned.
class TextTable {
 public:
  explicit TextTable(std::size_t left) : left_(left) {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

  [[nodiscard]] std::string text() const;

 private:
  std::size_t left_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace stepcast
