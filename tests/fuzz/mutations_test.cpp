// Shipped documents with changes. After any change, the answer is a value or an error that names its place, in time and
// within memory.
//
//     mutations_test COUNT [SEED]      the mutations 0 to COUNT - 1
//     mutations_test only I [SEED]     mutation I alone, printed first
//
// Mutation I depends on I and SEED alone. A crash names its mutation on standard error.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

#include "calibrate/link/benchmark.hpp"
#include "models/describe/json.hpp"
#include "models/scenario/library.hpp"
#include "models/scenario/workload_document.hpp"
#include "models/study/expansion.hpp"
#include "models/study/part_file.hpp"
#include "models/study/suite.hpp"
#include "models/workload/workload.hpp"
#include "tests/reader/folder.hpp"
#include "tests/reader/shipped.hpp"
#include "tests/support/sanitized.hpp"

namespace {

using namespace stepcast;
using namespace stepcast::test;

constexpr std::size_t kPoints = 32;
constexpr double kMostSeconds = 10;              ///< time of this process for one mutation; most take under 1 ms
constexpr rlim_t kMostMemory = rlim_t{4} << 30;  ///< memory of the process

enum class Kind { scenario, suite, cluster, strategy, workload, profile, nccl, nccl_json, osu };

struct Seed {
  Kind kind;
  std::string text;
};

std::string text_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

const Json& small_workload() {
  static const Json workload = Json::parse(
      R"({"name": "w", "batch": 2, "forward": "1ms", "gradients": [{"name": "a", "elements": 9, "gap": "1ms"}]})");
  return workload;
}

/// Shipped documents, the short ones more often. Named workloads are large, and become a small one.
std::vector<Seed> seeds(const std::filesystem::path& transcripts) {
  constexpr std::size_t kLong = 8192;
  std::vector<Seed> all;
  const auto add = [&](Kind kind, const std::filesystem::path& file) {
    std::string text = text_of(file);
    if (kind == Kind::scenario) {
      Json json = Json::parse(text);
      if (json.contains("workload") && !json["workload"].is_object()) json["workload"] = small_workload();
      text = json.dump(1);
    }
    const std::size_t times = std::clamp<std::size_t>(kLong / (text.size() + 1), 1, 8);
    if (text.size() < 4 * kLong) all.insert(all.end(), times, {kind, text});
  };
  for (const auto& file : shipped("")) add(Kind::scenario, file);
  for (const auto& file : shipped("validation")) add(Kind::suite, file);
  for (const auto& file : shipped("clusters")) add(Kind::cluster, file);
  for (const auto& file : shipped("profiles")) add(Kind::profile, file);
  for (const auto& file : shipped("workloads")) add(Kind::workload, file);
  all.insert(
      all.end(), 8,
      {Kind::strategy,
       R"({"kind": "sharded", "group_size": 4, "collective": {"algorithm": "hierarchical", "group_size": 4}, "exchange": {"bucket_cap": "5MiB"}})"});
  for (const auto& entry : std::filesystem::directory_iterator(transcripts))
    if (entry.is_regular_file())
      add(entry.path().extension() == ".json"                   ? Kind::nccl_json
          : entry.path().filename().string().starts_with("osu") ? Kind::osu
                                                                : Kind::nccl,
          entry.path());
  return all;
}

/// The shipped parts that are read quickly, in a folder of their own.
void fill_library(const Folder& library) {
  for (const char* shelf : {"clusters", "profiles", "workloads"})
    for (const auto& file : shipped(shelf))
      if (std::string text = text_of(file); text.size() < 3000)
        library.write(std::string(shelf) + "/" + file.filename().string(), text);
}

using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t count) {
  return std::uniform_int_distribution<std::size_t>(0, count - 1)(random);
}

void collect(Json& json, std::vector<Json*>& nodes) {
  nodes.push_back(&json);
  if (json.is_structured())
    for (auto& child : json) collect(child, nodes);
}

/// One change that leaves JSON JSON: values, keys, numbers, units, depth.
void mutate(Json& document, Random& random) {
  static const Json values = Json::parse(
      R"([0, 1, 2, 3, 7, 8, -1, 3.7, 65536, 16777216, 1e30, 1e-30, 1e308, 5e-324, -0.0, 9007199254740991, 9007199254740993, 18446744073709551615,
      true, false, null, "", "auto", "ring", "hierarchical", "double-binary-tree", "vanilla", "10Gbps", "25us", "0s", "4MiB", "0B", "1e-30B", "1ns/B",
      "-5us", "1e400s", "10 Gbps", "10gbps", "312TFLOPS", "fp16", "replay", "both", "per-tensor", "quickstart", "v100-datasheet", "dgx-a100", "../x.json",
      [], {}, [1, 2], [[1], [2, 4]], [null], {"kind": "star"}, {"kind": "gossip"}, {"kind": "pipelined", "segments": 1024}, {"kind": "top-k"},
      {"kind": "collective", "size": "20B"}, {"kind": "nodes", "gpus_per_node": 8}, {"from": "x"}, {"from": "v100-datasheet", "layers": []}])");
  static const std::vector<std::string> keys = {"kind",     "from",  "name",   "set",      "variants",
                                                "baseline", "/from", "run",    "phases",   "",
                                                "$schema",  "~1",    "groups", "protocols"};
  std::vector<Json*> nodes;
  collect(document, nodes);
  Json& node = *nodes[below(random, nodes.size())];
  Json elsewhere = *nodes[below(random, nodes.size())];
  switch (below(random, 9)) {
    case 0: node = values[below(random, values.size())]; break;
    case 1: node = std::move(elsewhere); break;
    case 2: node = Json::array({node, std::move(elsewhere)}); break;
    case 3: node = Json::array({node, values[below(random, values.size())]}); break;
    case 4:
      if (node.is_object()) node[keys[below(random, keys.size())]] = std::move(elsewhere);
      break;
    case 5:
      if (node.is_number())
        node = node.get<double>() * std::vector<double>{-1, 0.5, 2, 1e3, 1e9, 1e-9, 1e30}[below(random, 7)];
      break;
    case 6:
      if (node.is_array() && !node.empty()) node.push_back(node[below(random, node.size())]);
      break;
    case 7:
      for (std::size_t depth = below(random, 40); depth > 0; --depth) node = Json::array({std::move(node)});
      break;
    default:
      if (node.is_structured() && !node.empty()) {
        auto victim = node.begin();
        std::advance(victim, static_cast<std::ptrdiff_t>(below(random, node.size())));
        node.erase(victim);
      }
  }
}

/// One change of the bytes: truncation, flips, pieces doubled, left out or taken from elsewhere, signs of JSON.
void mutate(std::string& text, Random& random) {
  static constexpr std::string_view signs = "{}[]\",:0123456789eE+-. \n\t\\/\0\xFF\xC3u";
  if (text.empty()) text = "{";
  const std::size_t at = below(random, text.size()), length = 1 + below(random, std::min<std::size_t>(64, text.size()));
  switch (below(random, 6)) {
    case 0: text.resize(at); break;
    case 1: text[at] = static_cast<char>(text[at] ^ (1 << below(random, 8))); break;
    case 2: text.insert(at, text.substr(below(random, text.size()), length)); break;
    case 3: text.erase(at, length); break;
    case 4: text[at] = signs[below(random, signs.size())]; break;
    default: text.insert(at, 1, signs[below(random, signs.size())]);
  }
}

std::string mutated(const Seed& seed, Random& random) {
  const bool as_json = below(random, 3) > 0 && seed.kind != Kind::nccl && seed.kind != Kind::osu;
  const std::size_t times = 1 + below(random, 3);
  std::string text = seed.text;
  if (as_json) {
    Json json = Json::parse(text);
    for (std::size_t i = 0; i < times; ++i) mutate(json, random);
    text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  } else {
    for (std::size_t i = 0; i < times; ++i) mutate(text, random);
  }
  return text;
}

struct Amiss : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// An accepted study reads back as itself, and its workload can be made.
void check(const Study& study, const std::string& file, const std::filesystem::path& library) {
  if (study.points.empty()) return;
  const Scenario& scenario = study.points.back().scenario;
  const std::string canonical = to_json(scenario).dump();
  try {
    const Study again = parse_study(canonical, file, {}, library, kPoints);
    if (again.points.size() != 1 || to_json(again.points[0].scenario).dump() != canonical)
      throw Amiss("the canonical document changes when read again: " + canonical);
  } catch (const ScenarioError& error) {
    throw Amiss(std::string("the canonical document is refused: ") + error.what() + "\n" + canonical);
  }
  if (scenario.workload) static_cast<void>(make_workload(*scenario.workload));
}

/// Whether the text was accepted.
/// @throws Amiss, or whatever should not be thrown
bool read(Kind kind, const std::string& text, const Folder& folder, Random& random) {
  const std::filesystem::path& library = folder.path();
  const std::string file = folder.file("document.json");
  const auto study = [&](const std::string& scenario) {
    static const std::vector<std::string> sets = {
        "/cluster/workers=[1,2,4]", "/strategy/kind=sharded", "/variants=[]", "/variants/0/set/~1cluster~1workers=3",
        "/workload/batch=[1, 2]",   "/cluster/workers/00=4",  "/from=\"x\"",  "/run/phases/0/set/~1name=x"};
    std::vector<Override> changes;
    if (below(random, 8) == 0) changes.push_back(parse_override(sets[below(random, sets.size())]));
    check(parse_study(scenario, file, changes, library, kPoints), file, library);
  };
  try {
    switch (kind) {
      case Kind::scenario: study(text); break;
      case Kind::workload:
        study(R"({"name": "s", "cluster": {"workers": 4, "link": {"bandwidth": "10Gbps"}}, "workload": )" + text + "}");
        break;
      case Kind::suite: static_cast<void>(parse_suite(text, file, library)); break;
      case Kind::cluster: static_cast<void>(resolve_part("cluster", parse_json(text, file), file, library)); break;
      case Kind::strategy: static_cast<void>(resolve_part("strategy", parse_json(text, file), file, library)); break;
      case Kind::profile: static_cast<void>(sound_profile(parse_json(text, file), file)); break;
      case Kind::nccl:
        static_cast<void>(calibrate::read_nccl_text(text, "f", {Operation::all_reduce, 4, false}));
        break;
      case Kind::nccl_json: static_cast<void>(calibrate::read_nccl_json(text, "f", {})); break;
      case Kind::osu: static_cast<void>(calibrate::read_osu_text(text, "f", {{}, 8, false})); break;
    }
    return true;
  } catch (const ScenarioError& error) {
    if (error.faults().empty()) throw Amiss("an error without faults");
    for (const Fault& fault : error.faults()) {
      if (fault.file.empty() || fault.found.empty()) throw Amiss("a fault without where or what: " + to_string(fault));
      if (to_string(fault).size() > 20000)
        throw Amiss("a fault of " + std::to_string(to_string(fault).size()) + " bytes");
    }
  } catch (const ModelError&) {
  } catch (const calibrate::BadInput& error) {
    if (!std::string(error.what()).starts_with("f:")) throw Amiss("bad input without its place");
  }
  return false;
}

volatile std::size_t now_reading = 0;

extern "C" void tell_crash(int signal) {
  char text[96];
  const int size = std::snprintf(text, sizeof text, "mutation %zu: signal %d\n", std::size_t{now_reading}, signal);
  static_cast<void>(!::write(STDERR_FILENO, text, static_cast<std::size_t>(size)));
  std::_Exit(1);
}

/// On a stack of its own, since the usual crash of a reader is one that ran out of stack.
void tell_crashes() {
  static char stack[65536];
  stack_t own{};
  own.ss_sp = stack;
  own.ss_size = sizeof stack;
  ::sigaltstack(&own, nullptr);
  struct sigaction action {};
  action.sa_handler = tell_crash;
  action.sa_flags = SA_ONSTACK;
  for (const int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL}) ::sigaction(signal, &action, nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  const bool only = argc > 2 && std::strcmp(argv[1], "only") == 0;
  const int first_argument = only ? 2 : 1;
  if (argc <= first_argument) return std::fprintf(stderr, "mutations_test COUNT [SEED] | only I [SEED]\n"), 2;
  const std::size_t number = std::stoull(argv[first_argument]);
  const std::size_t seed = argc > first_argument + 1 ? std::stoull(argv[first_argument + 1]) : 1;
  if (!kSanitized) {  // AddressSanitizer reserves terabytes, and tells crashes itself
    const rlimit memory{kMostMemory, kMostMemory};
    ::setrlimit(RLIMIT_AS, &memory);
    tell_crashes();
  }
  const Folder library;
  fill_library(library);
  const std::vector<Seed> all = seeds(STEPCAST_TRANSCRIPTS);
  std::size_t accepted = 0, amiss = 0;
  double longest = 0;
  const auto seconds = [] { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; };
  const double start = seconds();
  for (std::size_t i = only ? number : 0; i < (only ? number + 1 : number) && amiss < 20; ++i) {
    now_reading = i;
    std::seed_seq sequence{seed, i};
    Random random(sequence);
    const Seed& chosen = all[below(random, all.size())];
    const std::string text = mutated(chosen, random);
    if (only) std::printf("%s\n", text.c_str());
    const double begin = seconds();
    try {
      accepted += read(chosen.kind, text, library, random) ? 1 : 0;
    } catch (const std::exception& error) {
      std::fprintf(stderr, "mutation %zu: %.2000s\n", i, error.what());
      ++amiss;
    }
    const double took = seconds() - begin;
    longest = std::max(longest, took);
    if (took > kMostSeconds) {
      std::fprintf(stderr, "mutation %zu took %.1f s\n", i, took);
      ++amiss;
    }
  }
  std::printf("%zu mutations of %zu documents, %zu accepted, %zu amiss, the longest took %.3f s, all %.1f s\n", number,
              all.size(), accepted, amiss, longest, seconds() - start);
  return amiss > 0 ? 1 : 0;
}
