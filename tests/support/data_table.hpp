// Small CSV tables of tests/data: lines of # are comments, the first other line names the columns.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace stepcast::test {

using Row = std::map<std::string, std::string>;

/// Rows of tests/data/`file`.
/// @throws std::runtime_error when it cannot be read or a row has the wrong number of columns
std::vector<Row> read_table(const std::string& file);

}  // namespace stepcast::test
