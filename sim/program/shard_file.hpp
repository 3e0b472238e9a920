// A shard: the rows of one n-th of a study's points, for `merge`.
//
// The first line identifies the study and the program. Each other line is a row (models/report/rows.hpp).
#pragma once

#include <cstddef>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "models/describe/json_fwd.hpp"
#include "models/report/metrics.hpp"
#include "models/report/rows.hpp"
#include "sim/answer/plan.hpp"

namespace stepcast {

/// Reads "3/16".
/// @throws std::invalid_argument unless it is i/n with 0 <= i < n <= 1000000
Shard parse_shard(const std::string& text);

/// The first line.
struct ShardHeader {
  std::string study;    ///< digest of all inputs of the study
  std::string program;  ///< version and source state
  Shard shard;
  std::size_t points = 0;  ///< points of the whole study
  std::size_t axes = 0;    ///< number of axes; they are the first columns
  std::vector<std::string> columns;
};

std::string to_line(const ShardHeader& header);

/// Reads a shard row by row, and refuses a malformed one.
class ShardReader {
 public:
  /// @throws BadInput naming the file
  explicit ShardReader(const std::string& file);
  [[nodiscard]] const ShardHeader& header() const { return header_; }
  [[nodiscard]] const std::string& file() const { return file_; }

  /// The row of that point, which must be the shard's next.
  /// @throws BadInput when the file ends early or has another row there
  Row next(std::size_t point);
  /// @throws BadInput when rows are left
  void expect_end();

 private:
  [[noreturn]] void fail(const std::string& why) const;

  std::string file_;
  std::ifstream stream_;
  ShardHeader header_;
  std::vector<Metric> columns_;  ///< without the last, the error; empty if the header is not a report's
};

/// Checks that the shards are of one study and program, and that each is there once. Returns them in order.
/// @throws BadInput naming the files that do not fit, or the missing shards
void arrange(std::vector<ShardReader>& shards);

}  // namespace stepcast
