// Feeds bytes to the readers of link benchmarks, and their result to the fit. For all bytes, the answer is a cluster,
// BadInput with a place, or std::invalid_argument from the fit.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "calibrate/link/link_fit.hpp"

namespace {

using namespace stepcast::calibrate;

void fit(const Benchmark& benchmark) {
  for (const Benchmark::Row& row : benchmark.rows)
    if (!(row.bytes >= 0 && row.seconds > 0)) std::abort();
  if (benchmark.rows.size() < 4 || benchmark.rows.size() > 64)
    return;  // fewer are refused before a fit, more take long
  for (const auto algorithm : {stepcast::Algorithm::automatic, stepcast::Algorithm::double_binary_tree}) {
    try {
      const std::vector<BenchmarkFit> fits = {fit_benchmark(benchmark, {algorithm, {}})};
      const stepcast::Cluster cluster = make_cluster("fuzzed", fits);
      static_cast<void>(link_table(cluster, fits));
      static_cast<void>(doubts(cluster, fits));
    } catch (const std::invalid_argument&) {
    }
  }
}

template <class Read>
void try_reading(const Read& read, const std::string& text, const ReadOptions& options) {
  try {
    fit(read(text, "f", options));
  } catch (const BadInput& error) {
    if (!std::string(error.what()).starts_with("f:")) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const bool in_place : {false, true}) {
    try_reading(read_nccl_text, text, {stepcast::Operation::all_reduce, 4, in_place});
    try_reading(read_nccl_json, text, {{}, 0, in_place});
  }
  try_reading(read_osu_text, text, {{}, 8, false});
  return 0;
}
