// Bytes to parse_study: whatever they are, the answer is a study or a ScenarioError, in time and within memory.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "models/describe/json.hpp"
#include "models/study/expansion.hpp"
#include "models/workload/workload.hpp"

namespace {

using namespace stepcast;

constexpr std::size_t kPoints = 64;

/// An empty folder, so that references lead nowhere; removed at exit.
const std::filesystem::path& nowhere() {
  static const std::filesystem::path folder = [] {
    std::string name = (std::filesystem::temp_directory_path() / "stepcast-fuzz-XXXXXX").string();
    if (!mkdtemp(name.data())) std::abort();
    std::atexit([] { std::filesystem::remove_all(nowhere()); });
    return std::filesystem::path(name);
  }();
  return folder;
}

[[noreturn]] void fail(const char* what, const std::string& text) {
  std::fprintf(stderr, "%s\n%s\n", what, text.c_str());
  std::abort();
}

/// An accepted point reads back as itself, and its workload can be made.
void check_point(const StudyPoint& point, const std::string& file) {
  const std::string canonical = to_json(point.scenario).dump();
  try {
    const Study again = parse_study(canonical, file, {}, nowhere(), kPoints);
    if (again.points.size() != 1 || to_json(again.points[0].scenario).dump() != canonical)
      fail("the canonical document changes when read again", canonical);
  } catch (const ScenarioError& error) {
    fail(error.what(), canonical);
  }
  if (point.scenario.workload) static_cast<void>(make_workload(*point.scenario.workload));
}

/// Every value inside `json`, itself first.
void collect(Json& json, std::vector<Json*>& nodes) {
  nodes.push_back(&json);
  if (json.is_structured())
    for (auto& child : json) collect(child, nodes);
}

/// One change that leaves JSON JSON: another value, a value from elsewhere, a list of two, a field less.
void mutate(Json& document, std::mt19937& random) {
  static const Json values = Json::parse(
      R"([0, 1, 2, 3, 8, -1, 3.7, 65536, 1e30, 9007199254740991, true, false, null, "", "auto", "ring", "hierarchical", "vanilla",
      "10Gbps", "25us", "0s", "4MiB", "0B", "1ns/B", "-5us", "fp16", "replay", "both", "asynchronous", "bucketed", "per-tensor", "greedy", "co-located",
      [], {}, [1, 2], [[1], [2, 4]], {"kind": "star"}, {"kind": "gossip"}, {"kind": "ratio", "ratio": 2}, {"kind": "tcp"}, {"from": "x"}])");
  std::vector<Json*> nodes;
  collect(document, nodes);
  const auto any_of = [&](std::size_t count) {
    return std::uniform_int_distribution<std::size_t>(0, count - 1)(random);
  };
  Json& node = *nodes[any_of(nodes.size())];
  const Json elsewhere = *nodes[any_of(nodes.size())];
  switch (any_of(5)) {
    case 0: node = values[any_of(values.size())]; break;
    case 1: node = elsewhere; break;
    case 2: node = Json::array({node, elsewhere}); break;
    case 3: node = Json::array({node, values[any_of(values.size())]}); break;
    default:
      if (node.is_structured() && !node.empty()) {
        auto victim = node.begin();
        std::advance(victim, static_cast<std::ptrdiff_t>(any_of(node.size())));
        node.erase(victim);
      }
  }
}

}  // namespace

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

/// Bytes as libFuzzer does it, or JSON values: blind bytes rarely leave a document that the reader reads to its end.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  std::mt19937 random(seed);
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto end = std::min(bytes.find('\0'), size);
  Json document = random() % 2 ? Json::parse(bytes.substr(0, end), nullptr, /*allow_exceptions=*/false)
                               : Json(Json::value_t::discarded);
  if (document.is_discarded()) return LLVMFuzzerMutate(data, size, max_size);
  mutate(document, random);
  const std::string text =
      document.dump(-1, ' ', false, Json::error_handler_t::replace) + std::string(bytes.substr(end));
  if (text.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::copy(text.begin(), text.end(), data);
  return text.size();
}

/// Bytes after a zero byte are a --set argument.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto zero = bytes.find('\0');
  const std::string file = (nowhere() / "scenario.json").string();
  try {
    std::vector<Override> changes;
    if (zero != std::string_view::npos) changes.push_back(parse_override(std::string(bytes.substr(zero + 1))));
    const Study study = parse_study(bytes.substr(0, zero), file, changes, nowhere(), kPoints);
    if (!study.points.empty()) check_point(study.points.back(), file);
  } catch (const ScenarioError& error) {
    if (error.faults().empty()) fail("an error without faults", std::string(bytes));
    for (const Fault& fault : error.faults())
      if (fault.file.empty() || fault.found.empty()) fail("a fault that does not say where or what", to_string(fault));
  }
  return 0;
}
