#include "tests/support/data_table.hpp"

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace stepcast::test {
namespace {

std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> found;
  std::istringstream stream(line + ',');
  for (std::string cell; std::getline(stream, cell, ',');) found.push_back(cell);
  return found;
}

}  // namespace

std::vector<Row> read_table(const std::string& file) {
  const std::string path = STEPCAST_TEST_DATA_DIR "/" + file;
  std::ifstream stream(path);
  if (!stream) throw std::runtime_error("cannot read " + path);
  std::vector<Row> rows;
  std::vector<std::string> columns;
  for (std::string line; std::getline(stream, line);) {
    if (line.empty() || line[0] == '#') continue;
    const auto values = cells(line);
    if (columns.empty()) {
      columns = values;
      continue;
    }
    if (values.size() != columns.size()) throw std::runtime_error(path + ": " + line);
    Row& row = rows.emplace_back();
    for (std::size_t i = 0; i < columns.size(); ++i) row[columns[i]] = values[i];
  }
  return rows;
}

}  // namespace stepcast::test
