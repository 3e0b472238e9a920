// OSU micro-benchmarks 5 to 7, text as they print it:
//
//     # OSU MPI Latency Test v7.3
//     # Datatype: MPI_CHAR.
//     # Size       Avg Latency(us)
//     1                       1.62
//
// "MPI" is also "MPI-CUDA", or "NCCL-CUDA" for its programs osu_xccl_*. The columns after the second (least, largest,
// iterations) are not needed, except a "Fail" of -c. Sizes are those of one rank's message: for a gathered buffer, and
// for the buffer of an all-to-all, n = ranks x size.
#include <fmt/format.h>

#include "calibrate/link/benchmark.hpp"
#include "calibrate/link/text.hpp"

namespace stepcast::calibrate {
namespace {

struct Title {
  const char* words;  ///< after the library and before "Test"
  Benchmark::Kind kind;
  Operation operation;
  bool of_one_rank;  ///< whether n is ranks times the size
};
constexpr Title kTitles[] = {
    {"Latency", Benchmark::Kind::latency, {}, false},
    {"Bandwidth", Benchmark::Kind::bandwidth, {}, false},
    {"Allreduce Latency", Benchmark::Kind::collective, Operation::all_reduce, false},
    {"Allgather Latency", Benchmark::Kind::collective, Operation::all_gather, true},
    {"Reduce_scatter Latency", Benchmark::Kind::collective, Operation::reduce_scatter, false},
    {"Broadcast Latency", Benchmark::Kind::collective, Operation::broadcast, false},
    {"All-to-All Personalized Exchange Latency", Benchmark::Kind::collective, Operation::all_to_all, true},
};

std::string titles() {
  std::string list;
  for (const Title& title : kTitles) list += fmt::format("{}\"{} Test\"", list.empty() ? "" : ", ", title.words);
  return list;
}

/// Reads "# OSU MPI-CUDA Allreduce Latency Test v7.3": the words between the library and Test, and the version.
std::optional<std::pair<std::string, std::string>> title_of(const std::vector<std::string>& words) {
  if (words.size() < 5 || words[0] != "#" || words[1] != "OSU") return std::nullopt;
  std::string title;
  for (std::size_t i = 3; i < words.size(); ++i) {
    if (words[i] == "Test") return std::pair(title, i + 1 < words.size() ? words[i + 1] : std::string());
    title += (title.empty() ? "" : " ") + words[i];
  }
  return std::nullopt;
}

}  // namespace

Benchmark read_osu_text(const std::string& text, const std::string& file, const ReadOptions& options) {
  Benchmark benchmark{file, "OSU micro-benchmarks"};
  const Title* title = nullptr;
  int number = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    ++number;
    line = untagged(line);
    const auto words = words_of(line);
    if (words.empty()) continue;
    if (const auto found = title_of(words)) {
      if (title != nullptr)
        throw BadInput(file, number, "a second benchmark, \"" + line + "\"", "one in a file", "split the file");
      for (const Title& one : kTitles)
        if (found->first == one.words) title = &one;
      if (title == nullptr) throw BadInput(file, number, "\"" + line + "\"", titles(), "");
      benchmark.program += " " + found->second;
      benchmark.of_mpi = words[2].starts_with("MPI");
      continue;
    }
    const auto bytes = size_of_word(words[0]);
    if (title == nullptr || !bytes) continue;  // headers, and what MPI or a job's script print between the lines
    const auto value = words.size() < 2 ? std::nullopt : parse_number(words[1]);
    if (!value || *value <= 0)
      throw BadInput(
          file, number, "\"" + line + "\"",
          title->kind == Benchmark::Kind::bandwidth ? "a size and MB/s above 0" : "a size and microseconds above 0",
          "is the file cut off?");
    if (words.back() == "Fail")
      throw BadInput(file, number, "\"" + line + "\"", "results that passed",
                     "a benchmark that moves wrong data is no measurement: find out why first");
    const double n = title->of_one_rank ? *bytes * options.ranks : *bytes;
    if (n == 0 && title->kind != Benchmark::Kind::latency) continue;  // nothing to send, or to do
    benchmark.rows.push_back({n, title->kind == Benchmark::Kind::bandwidth ? n / (1e6 * *value) : 1e-6 * *value});
  }
  if (title == nullptr) throw BadInput(file, 0, "no title", titles(), "keep the lines that begin with #");
  benchmark.kind = title->kind;
  benchmark.operation = title->operation;
  if (title->kind == Benchmark::Kind::collective) {
    if (options.ranks < 2)
      throw BadInput(file, 0, "no number of ranks, which OSU does not print", "2 or more", "say how many by --ranks");
    benchmark.ranks = options.ranks;
    benchmark.took_ranks = true;
    if (options.operation && *options.operation != benchmark.operation && !options.for_several)
      throw BadInput(file, 0, fmt::format("--collective {}", name_of(*options.operation)),
                     fmt::format("{}, which the file gives itself", name_of(benchmark.operation)),
                     "leave out --collective");
  }
  return benchmark;
}

}  // namespace stepcast::calibrate
