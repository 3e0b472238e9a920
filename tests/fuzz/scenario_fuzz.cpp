// Feeds bytes to the scenario reader: whatever they are, it reads them or throws a ScenarioError.
//
//     CC=clang CXX=clang++ cmake -S . -B build/fuzz -G Ninja -DSTEPCAST_FUZZERS=ON -DSTEPCAST_TESTS=OFF \
//       -DSTEPCAST_SIMULATOR=OFF -DSTEPCAST_SANITIZERS=fuzzer-no-link,address,undefined
//     cmake --build build/fuzz --target scenario_fuzz
//     mkdir corpus && cp scenarios/*.json scenarios/workloads/*.json corpus
//     build/fuzz/tests/fuzz/scenario_fuzz -max_total_time=60 -max_len=8192 corpus
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "models/scenario/study.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // Lists multiply: a small document can be a large study, which is slow and not what is looked for here.
  if (std::count(text.begin(), text.end(), '[') > 12) return -1;
  try {
    // There is no such library, so references lead nowhere.
    const stepcast::Study study = stepcast::parse_study(text, "/nonexistent/fuzz.json", {}, "/nonexistent");
    for (const stepcast::StudyPoint& point : study.points) stepcast::to_json(point.scenario);
  } catch (const stepcast::ScenarioError&) {
  }
  return 0;
}
