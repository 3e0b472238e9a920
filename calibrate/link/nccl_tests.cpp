// nccl-tests 2: text as it prints it, and the JSON of its option -J.
//
//     #       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
//     #        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
//             1024           256     float     sum      -1    20.51    0.05    0.09      0    20.32    0.05    0.09      0
//
// Older versions leave out root or redop where a collective has none, and have "error" in place of "#wrong". The eight
// words at the end are the same in all: out of place, then in place.
#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "calibrate/link/benchmark.hpp"
#include "calibrate/link/text.hpp"

namespace stepcast::calibrate {
namespace {

constexpr std::pair<const char*, Operation> kCollectives[] = {
    {"all_reduce", Operation::all_reduce}, {"all_gather", Operation::all_gather}, {"reduce_scatter", Operation::reduce_scatter}, {"broadcast", Operation::broadcast}, {"alltoall", Operation::all_to_all}};

/// The collective whose program a text names: "all_reduce_perf".
std::optional<Operation> collective_in(const std::string& text) {
  for (const auto& [name, operation] : kCollectives)
    if (text.find(std::string(name) + "_perf") != std::string::npos) return operation;
  return std::nullopt;
}

std::string collective_names() {
  std::string names;
  for (const auto& [name, operation] : kCollectives) names += fmt::format("{}{}_perf", names.empty() ? "" : ", ", name);
  return names;
}

void finish(Benchmark& benchmark, const std::optional<Operation>& named, int ranks, const ReadOptions& options) {
  const auto operation = options.operation ? options.operation : named;
  if (!operation) throw BadInput(benchmark.file, 0, "no name of a collective", collective_names(), "say which it was by --collective");
  benchmark.operation = *operation;
  benchmark.ranks = options.ranks > 0 ? options.ranks : ranks;
  if (benchmark.ranks < 2) throw BadInput(benchmark.file, 0, fmt::format("{} ranks", benchmark.ranks), "2 or more", "say how many by --ranks");
}

void require_right(const std::string& wrong, const std::string& file, int line) {
  const auto count = number_of(wrong);
  if (!count && wrong != "N/A") throw BadInput(file, line, "\"" + wrong + "\" as the number of wrong results", "a number, or N/A", "");
  // Older versions give the largest error instead, a rounding error of a sum.
  if (count && *count >= 1) throw BadInput(file, line, wrong + " wrong results", "0", "a collective that computes wrong results is no measurement: find out why first");
}

}  // namespace

Benchmark read_nccl_text(const std::string& text, const std::string& file, const ReadOptions& options) {
  Benchmark benchmark{file, "nccl-tests"};
  std::optional<Operation> named = collective_in(file);
  int ranks = 0, number = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const auto words = words_of(line);
    if (words.empty()) continue;
    if (words[0][0] == '#') {
      if (const auto found = collective_in(line)) named = found;
      if (words.size() > 2 && words[1] == "Rank") {
        const auto rank = size_of_word(words[2]);
        if (rank) ranks = std::max(ranks, static_cast<int>(*rank) + 1);
      }
      continue;
    }
    const auto bytes = size_of_word(words[0]);
    if (!bytes) continue;  // what MPI, NCCL or a job's script print between the lines
    if (words.size() < 11 || words.size() > 13)
      throw BadInput(file, number, fmt::format("{} words, \"{}\"", words.size(), line), "size, count, type, redop, root, then time, algbw, busbw and #wrong twice", "is the file cut off?");
    const std::size_t group = words.size() - (options.in_place ? 4 : 8);
    const auto time = number_of(words[group]);
    if (!time || *time <= 0) throw BadInput(file, number, "\"" + words[group] + "\" as a time", "microseconds, above 0", options.in_place ? "leave out --in-place" : "");
    require_right(words[group + 3], file, number);
    if (*bytes > 0) benchmark.rows.push_back({*bytes, 1e-6 * *time});
  }
  finish(benchmark, named, ranks, options);
  return benchmark;
}

Benchmark read_nccl_json(const std::string& text, const std::string& file, const ReadOptions& options) {
  Benchmark benchmark{file, "nccl-tests"};
  nlohmann::json json;
  try {
    json = nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    const int line = 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(std::min(error.byte, text.size())), '\n'));
    throw BadInput(file, line, "text that is no JSON", "the whole output of nccl-tests -J", "is the file cut off?");
  }
  const auto results = json.find("results");
  if (results == json.end() || !results->is_array()) throw BadInput(file, 0, "no list \"results\"", "the output of nccl-tests -J", "");
  const char* group = options.in_place ? "in_place" : "out_of_place";
  for (std::size_t i = 0; i < results->size(); ++i) {
    const auto& row = (*results)[i];
    const std::string place = fmt::format("/results/{}", i);
    const auto bad = [&](const std::string& field, const std::string& allowed) { return BadInput(file + ": " + place + "/" + field, 0, row.dump(), allowed, ""); };
    if (!row.is_object() || !row.contains("size") || !row["size"].is_number() || row["size"].get<double>() < 0) throw bad("size", "a number of bytes");
    if (!row.contains(group) || !row[group].is_object() || !row[group].contains("time") || !row[group]["time"].is_number() || !(row[group]["time"].get<double>() > 0)) throw bad(std::string(group) + "/time", "microseconds, above 0");
    if (const auto wrong = row[group].find("nwrong"); wrong != row[group].end() && wrong->is_number()) require_right(wrong->dump(), file + ": " + place, 0);
    if (row["size"].get<double>() > 0) benchmark.rows.push_back({row["size"].get<double>(), 1e-6 * row[group]["time"].get<double>()});
  }
  int ranks = 0;
  if (const auto devices = json.find("devices"); devices != json.end() && devices->is_array())
    for (const auto& device : *devices)
      if (device.is_object() && device.contains("rank") && device["rank"].is_number_integer()) ranks = std::max(ranks, device["rank"].get<int>() + 1);
  auto named = collective_in(text);
  if (!named) named = collective_in(file);
  finish(benchmark, named, ranks, options);
  return benchmark;
}

}  // namespace stepcast::calibrate
