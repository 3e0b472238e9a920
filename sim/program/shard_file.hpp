// A shard: the rows of one n-th of a study's points, to be merged with the others.
//
// The first line says what it belongs to, each other line is a row (models/report/rows.hpp).
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

/// "3/16". @throws std::invalid_argument unless it is i/n with 0 <= i < n <= 1000000
Shard parse_shard(const std::string& text);

/// The first line.
struct ShardHeader {
  std::string study;    ///< digest of all that the study was made from
  std::string program;  ///< version and source state
  Shard shard;
  std::size_t points = 0;  ///< of the whole study
  std::size_t axes = 0;    ///< of the columns, the first ones
  std::vector<std::string> columns;
};

std::string to_line(const ShardHeader& header);

/// Reads a shard row by row, and refuses what is not as it should be.
class ShardReader {
 public:
  /// @throws BadInput naming the file
  explicit ShardReader(const std::string& file);
  [[nodiscard]] const ShardHeader& header() const { return header_; }
  [[nodiscard]] const std::string& file() const { return file_; }

  /// The row of that point, which is the next of this shard.
  /// @throws BadInput when the file ends early or has another row there
  Row next(std::size_t point);
  /// @throws BadInput when there is more
  void expect_end();

 private:
  [[noreturn]] void fail(const std::string& why) const;

  std::string file_;
  std::ifstream stream_;
  ShardHeader header_;
  std::vector<Metric> columns_;  ///< less the last, the error; empty where the header's are not a report's
};

/// Shards of one study by one program, each once and none missing, in order.
/// @throws BadInput naming the files that do not fit, or the shards that are missing
void arrange(std::vector<ShardReader>& shards);

}  // namespace stepcast
