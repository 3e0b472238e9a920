// nccl-tests 2: text as it prints it, and the JSON of its option -J (its src/util.cu, read at 0fdb00a, has both).
//
//     #       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong
//     #        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)
//             1024           256     float     sum      -1    20.51    0.05    0.09       0    20.32    0.05    0.09       0
//
// Out of place, then in place. Options add columns to each group (i_min, i_max, i_p99, i_cv%) or a timestamp of two
// words at the end. Older versions have "error" in place of "#wrong". They also leave out redop or root if a collective
// has none: early ones in the rows, later ones in the header too. Columns are therefore counted from the end.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "calibrate/link/benchmark.hpp"
#include "calibrate/link/text.hpp"

namespace stepcast::calibrate {
namespace {

constexpr double kMostRanks = 1 << 24;

/// The collective whose program a text names: "all_reduce_perf".
std::optional<Operation> collective_in(const std::string& text) {
  for (const auto& [program, operation] : kNcclPrograms)
    if (text.find(program) != std::string::npos) return operation;
  return std::nullopt;
}

std::string collective_names() {
  std::string names;
  for (const auto& [program, operation] : kNcclPrograms)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", program);
  return names;
}

/// The ranks of one communicator, as the file lists them. A split run (NCCL_TESTS_SPLIT) has several communicators;
/// this is the first.
class Ranks {
 public:
  /// @param host   empty: not said
  /// @param count  of a process, of which all are on one host
  void add(int group, const std::string& host, int count = 1) { of_group_[group].emplace_back(host, count); }
  /// The lines of a process may be cut off; its ranks count all the same.
  void add_rank(int rank) { most_ = std::max(most_, rank + 1); }
  [[nodiscard]] int count() const { return std::max(named(), of_group_.size() > 1 ? 0 : most_); }
  /// Hosts and ranks of each, where all ranks' are named.
  void tell_hosts(Benchmark& benchmark) const {
    if (named() != benchmark.ranks) return;
    std::vector<std::pair<std::string, int>> runs;  // runs of consecutive ranks on one host
    std::set<std::string> hosts;
    for (const auto& [host, ranks] : first()) {
      if (host.empty()) return;
      if (runs.empty() || runs.back().first != host) runs.emplace_back(host, 0);
      runs.back().second += ranks;
      hosts.insert(host);
    }
    benchmark.hosts = static_cast<int>(hosts.size());
    const bool alike =
        std::all_of(runs.begin(), runs.end(), [&](const auto& run) { return run.second == runs.front().second; });
    if (alike && !runs.empty() && runs.size() == hosts.size()) benchmark.ranks_per_host = runs.front().second;
  }

 private:
  using Processes = std::vector<std::pair<std::string, int>>;
  [[nodiscard]] Processes first() const { return of_group_.empty() ? Processes{} : of_group_.begin()->second; }
  [[nodiscard]] int named() const {
    double all = 0;
    for (const auto& [host, ranks] : first()) all += ranks;
    return static_cast<int>(std::min(all, kMostRanks));
  }
  int most_ = 0;
  std::map<int, Processes> of_group_;
};

/// The collective that the content says, or else the options, or else the name of the file or of a folder of its.
void set_operation(Benchmark& benchmark, const std::optional<Operation>& said, const ReadOptions& options) {
  if (said && options.operation && *said != *options.operation && !options.for_several)
    throw BadInput(benchmark.file, 0, fmt::format("--collective {}", name_of(*options.operation)),
                   fmt::format("{}, which the file gives itself", name_of(*said)), "leave out --collective");
  benchmark.took_operation = !said && options.operation;
  const auto operation = said ? said : options.operation ? options.operation : collective_in(benchmark.file);
  if (!operation)
    throw BadInput(benchmark.file, 0, "no name of a collective", collective_names(),
                   "say which it was by --collective");
  benchmark.operation = *operation;
}

void finish(Benchmark& benchmark, const std::optional<Operation>& said, const Ranks& of_file,
            const ReadOptions& options) {
  set_operation(benchmark, said, options);
  const int ranks = of_file.count();
  if (ranks > 0 && options.ranks > 0 && options.ranks != ranks && !options.for_several)
    throw BadInput(benchmark.file, 0, fmt::format("--ranks {}", options.ranks),
                   fmt::format("{}, which the file gives itself", ranks), "leave out --ranks");
  benchmark.took_ranks = ranks == 0 && options.ranks > 0;
  benchmark.ranks = ranks > 0 ? ranks : options.ranks;
  of_file.tell_hosts(benchmark);
  if (benchmark.ranks < 2)
    throw BadInput(benchmark.file, 0, fmt::format("{} ranks", benchmark.ranks), "2 or more", "say how many by --ranks");
}

void require_right(const std::string& wrong, const std::string& file, int line) {
  const auto count = parse_number(wrong);
  if (!count && wrong != "N/A")
    throw BadInput(file, line, "\"" + wrong + "\" as the number of wrong results", "a number, or N/A", "");
  // Older versions give the largest error instead, a rounding error of a sum.
  if (count && *count >= 1)
    throw BadInput(file, line, wrong + " wrong results", "0",
                   "a collective that computes wrong results is no measurement: find out why first");
}

/// Words of a row from the first, and from the second group of columns to its end.
struct Columns {
  std::size_t out_of_place = 0, in_place = 0;
};

/// Reads the line that names the columns, cut into words; nothing for any other line.
std::optional<Columns> columns_of(const std::vector<std::string>& words, const std::string& file, int number) {
  if (std::find(words.begin(), words.end(), "busbw") == words.end()) return std::nullopt;
  if (std::find(words.begin(), words.end(), "cputime") != words.end())
    throw BadInput(file, number, "the CPU's times, which only enqueues", "the device's", "measure without -C");
  const auto first = std::find(words.begin(), words.end(), "time");
  const auto second = first == words.end() ? first : std::find(first + 1, words.end(), "time");
  if (second == words.end())
    throw BadInput(file, number, "fewer than two columns \"time\"",
                   "size, count, type, redop, root, then time, algbw, busbw and #wrong twice", "");
  const std::size_t more = words.back() == "timestamp" ? 1 : 0;  // it is a date and a time of day
  return Columns{static_cast<std::size_t>(words.end() - first) + more,
                 static_cast<std::size_t>(words.end() - second) + more};
}

/// "args" begins with the program.
std::optional<Operation> program_of(const nlohmann::json& json) {
  const auto args = json.find("args");
  if (args != json.end() && args->is_array() && !args->empty() && args->front().is_string())
    return collective_in(args->front().get<std::string>());
  return std::nullopt;
}

/// "devices" names only the first device of each process; each process has nthreads times ngpus devices. None if these
/// are not given.
Ranks ranks_of(const nlohmann::json& json) {
  const auto config = json.find("config");
  if (config == json.end() || !config->is_object()) return {};
  double each = 1;
  for (const char* factor : {"nthreads", "ngpus"}) {
    const auto found = config->find(factor);
    if (found == config->end() || !found->is_number_unsigned()) return {};
    each *= found->get<double>();
  }
  const auto devices = config->find("devices");
  if (devices == config->end() || !devices->is_array()) return {};
  Ranks ranks;
  for (const auto& device : *devices) {
    if (!device.is_object()) return {};
    const auto number = [&](const char* key) {
      return device.contains(key) && device[key].is_number() ? std::clamp(device[key].get<double>(), 0.0, kMostRanks)
                                                             : 0;
    };
    ranks.add(
        static_cast<int>(number("group")),
        device.contains("hostname") && device["hostname"].is_string() ? device["hostname"].get<std::string>() : "",
        static_cast<int>(std::min(each, kMostRanks)));
  }
  return ranks;
}

}  // namespace

Benchmark read_nccl_text(const std::string& text, const std::string& file, const ReadOptions& options) {
  Benchmark benchmark{file, "nccl-tests"};
  std::optional<Operation> said;
  std::optional<Columns> columns;
  bool is_closed = false;
  Ranks ranks;
  int number = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    ++number;
    line = untagged(line);
    const auto words = words_of(line);
    if (words.empty()) continue;
    if (words[0][0] == '#') {
      if (const auto found = collective_in(line)) said = found;
      if (line.find("Avg bus bandwidth") != std::string::npos) is_closed = true;
      if (words.size() > 3 && words[1] == "nccl-tests" && words[2] == "version")
        benchmark.program = "nccl-tests " + words[3];
      if (words.size() > 4 && words[1] == "Rank") {
        const auto rank = size_of_word(words[2]), group = words[3] == "Group" ? size_of_word(words[4]) : 0.0;
        const auto on = std::find(words.begin(), words.end(), "on");
        if (rank && group && *rank < kMostRanks) {
          ranks.add_rank(static_cast<int>(*rank));
          ranks.add(static_cast<int>(std::min(*group, kMostRanks)), words.end() - on > 1 ? *(on + 1) : "");
        }
      }
      if (const auto found = columns_of(words, file, number)) {
        if (columns) throw BadInput(file, number, "a second table", "one run in a file", "split the file");
        columns = found;
      }
      continue;
    }
    const auto bytes = size_of_word(words[0]);
    if (!columns || !bytes) continue;  // lines that MPI, NCCL or a job's script print in between
    if (words.size() < columns->out_of_place + 3 || words.size() > columns->out_of_place + 5)
      throw BadInput(file, number, fmt::format("{} words, \"{}\"", words.size(), line),
                     fmt::format("size, count, type, perhaps redop and root, and the {} words of both groups",
                                 columns->out_of_place),
                     "is the file cut off?");
    const std::size_t group = words.size() - (options.in_place ? columns->in_place : columns->out_of_place);
    const auto time = parse_number(words[group]);
    if (!time || *time <= 0)
      throw BadInput(file, number, "\"" + words[group] + "\" as a time", "microseconds, above 0",
                     options.in_place ? "leave out --in-place" : "");
    require_right(words[group + 3], file, number);
    if (*bytes > 0) benchmark.rows.push_back({*bytes, 1e-6 * *time});
  }
  if (!columns)
    throw BadInput(file, 0, "no line that names the columns", "\"# size count type redop root time algbw busbw ...\"",
                   "keep the lines that begin with #");
  if (!is_closed)
    benchmark.doubts.push_back(
        fmt::format("{}: without the line \"# Avg bus bandwidth\" that ends such a text, it may be cut off", file));
  finish(benchmark, said, ranks, options);
  return benchmark;
}

Benchmark read_nccl_json(const std::string& text, const std::string& file, const ReadOptions& options) {
  Benchmark benchmark{file, "nccl-tests"};
  nlohmann::json json;
  try {
    json = nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    const int line =
        1 + static_cast<int>(std::count(
                text.begin(), text.begin() + static_cast<std::ptrdiff_t>(std::min(error.byte, text.size())), '\n'));
    throw BadInput(file, line, "text that is no JSON", "the whole output of nccl-tests -J", "is the file cut off?");
  } catch (const nlohmann::json::out_of_range&) {
    throw BadInput(file, 0, "a number beyond 1.8e308", "the output of nccl-tests -J", "");
  }
  const auto results = json.find("results");
  if (results == json.end() || !results->is_array())
    throw BadInput(file, 0, "no list \"results\"", "the output of nccl-tests -J", "");
  const char* group = options.in_place ? "in_place" : "out_of_place";
  const char* other = options.in_place ? "leave out --in-place" : "with results in place alone: --in-place";
  for (std::size_t i = 0; i < results->size(); ++i) {
    const auto& row = (*results)[i];
    const std::string place = fmt::format("/results/{}", i);
    const auto bad = [&](const std::string& field, const std::string& allowed, const char* remedy) {
      return BadInput(file + ": " + place + "/" + field, 0, row.dump(), allowed, remedy);
    };
    if (!row.is_object() || !row.contains("size") || !row["size"].is_number() || row["size"].get<double>() < 0)
      throw bad("size", "a number of bytes", "");
    if (!row.contains(group) || !row[group].is_object()) throw bad(group, "an object with a time", other);
    if (row[group].contains("cpu_time"))
      throw bad(group, "the device's time; the CPU's only covers enqueueing", "measure without -C");
    if (!row[group].contains("time") || !row[group]["time"].is_number() || !(row[group]["time"].get<double>() > 0))
      throw bad(std::string(group) + "/time", "microseconds, above 0", "");
    if (const auto wrong = row[group].find("nwrong"); wrong != row[group].end() && wrong->is_number())
      require_right(wrong->dump(), file + ": " + place, 0);
    if (row["size"].get<double>() > 0)
      benchmark.rows.push_back({row["size"].get<double>(), 1e-6 * row[group]["time"].get<double>()});
  }
  finish(benchmark, program_of(json), ranks_of(json), options);
  return benchmark;
}

}  // namespace stepcast::calibrate
