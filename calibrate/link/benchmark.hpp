// Results of a benchmark of links: nccl-tests (text and JSON) or the OSU micro-benchmarks (text).
#pragma once

#include <filesystem>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "models/part/collective_algorithm.hpp"

namespace stepcast::calibrate {

/// A file that cannot be used: "FILE:LINE: found X; allowed: Y; remedy".
class BadInput : public std::runtime_error {
 public:
  BadInput(const std::string& file, int line, const std::string& found, const std::string& allowed,
           const std::string& remedy);
};

struct Benchmark {
  enum class Kind {
    latency,    ///< one message, half of its round trip (osu_latency)
    bandwidth,  ///< messages one upon another (osu_bw): the time of each
    collective,
  };
  /// Buffer of n bytes as models/collective counts it, and the time.
  struct Row {
    double bytes = 0, seconds = 0;
  };

  std::string file;
  std::string program;  ///< "nccl-tests", "OSU micro-benchmarks v7.3"
  Kind kind = Kind::collective;
  Operation operation = Operation::all_reduce;  ///< for a collective
  int ranks = 2;
  std::vector<Row> rows{};
  int hosts = 0;                                    ///< hosts of the ranks; 0: the file does not say
  int ranks_per_host = 0;                           ///< if equal on all hosts, ranked host by host; otherwise 0
  bool of_mpi = false;                              ///< OSU's over MPI, whose messages are not those of NCCL
  bool took_operation = false, took_ranks = false;  ///< from the options, since the file does not say
  std::vector<std::string> doubts{};                ///< possible errors in the file, for people

  [[nodiscard]] bool is_of_machines() const { return kind == Kind::collective && hosts > 1 && ranks_per_host > 1; }
};

/// Facts that a file may leave open. An option that contradicts the file is refused. With several
/// files, the options apply to those that leave the fact open.
struct ReadOptions {
  std::optional<Operation> operation;  ///< nccl-tests' text of older versions does not name its own
  int ranks = 0;                       ///< 0: as the file says; OSU's does not
  bool in_place = false;               ///< nccl-tests: its second group of columns
  bool for_several = false;
  /// Limits on n, a collective's buffer: smaller and larger sizes are left out.
  double min_size = 0, max_size = std::numeric_limits<double>::infinity();
};

/// Leaves out rows without bytes, for which collectives have nothing to do.
/// @throws BadInput for another format, a line that does not fit, or results that the benchmark itself found wrong.
/// Also if neither file nor options give the collective or the number of ranks, or for fewer than four sizes
Benchmark read_benchmark(const std::filesystem::path& path, const ReadOptions& options);
/// The same of a file's text, which a pipe gives but once. `file` names it in errors.
Benchmark parse_benchmark(const std::string& text, const std::string& file, const ReadOptions& options);

/// @throws BadInput for a folder, or a file that cannot be read
std::string content_of(const std::filesystem::path& path);

/// The programs of nccl-tests, and what they measure.
inline constexpr std::pair<const char*, Operation> kNcclPrograms[] = {
    {"all_reduce_perf", Operation::all_reduce},
    {"all_gather_perf", Operation::all_gather},
    {"reduce_scatter_perf", Operation::reduce_scatter},
    {"broadcast_perf", Operation::broadcast},
    {"alltoall_perf", Operation::all_to_all}};

// The formats.
Benchmark read_nccl_text(const std::string& text, const std::string& file, const ReadOptions& options);
Benchmark read_nccl_json(const std::string& text, const std::string& file, const ReadOptions& options);
Benchmark read_osu_text(const std::string& text, const std::string& file, const ReadOptions& options);

}  // namespace stepcast::calibrate
