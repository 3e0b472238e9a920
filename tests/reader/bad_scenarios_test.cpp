// Every bad scenario is refused, with the place, the value found, and the allowed values.
#include <chrono>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <unistd.h>

#include "models/describe/json.hpp"
#include "models/scenario/library.hpp"
#include "models/study/expansion.hpp"
#include "tests/reader/bad_scenarios.hpp"
#include "tests/reader/folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sanitized.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

std::vector<Override> overrides(const std::vector<std::string>& sets) {
  std::vector<Override> changes;
  for (const std::string& set : sets) changes.push_back(parse_override(set));
  return changes;
}

/// The faults that `read` throws; none when it accepts.
std::vector<Fault> faults_of(const std::function<void()>& read) {
  try {
    read();
    return {};
  } catch (const ScenarioError& error) {
    return error.faults();
  }
}

std::vector<Fault> faults_of_text(const std::string& text, const std::vector<std::string>& sets = {}) {
  return faults_of([&] { parse_study(text, "bad.json", overrides(sets), default_library()); });
}

std::vector<Fault> faults_of_file(const std::filesystem::path& file) {
  return faults_of([&] { load_study(file, {}, default_library()); });
}

std::string list(const std::vector<Fault>& faults) {
  std::string text;
  for (const Fault& fault : faults) text += to_string(fault) + "\n";
  return text.empty() ? "no fault" : text;
}

bool has(const std::vector<Fault>& faults, const std::string& file, const std::string& pointer,
         const std::string& found) {
  for (const Fault& fault : faults)
    if (fault.file == file && fault.pointer == pointer && fault.found.find(found) != std::string::npos) return true;
  return false;
}

double seconds(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

TEST_CASE("the good scenario of the table is good") {
  REQUIRE(parse_study(good_scenario(), "good.json", {}, default_library()).points.size() == 1);
}

TEST_CASE("each bad scenario has exactly its fault") {
  const auto rows = bad_scenarios();
  REQUIRE(rows.size() >= 75);
  for (const BadScenario& row : rows) {
    const auto faults = faults_of_text(row.text, row.sets);
    INFO("scenario: " << row.name);
    INFO("expected: " << row.pointer << ": found .." << row.found << "..; allowed: .." << row.allowed << "..; .."
                      << row.remedy << "..");
    INFO("reported: " << list(faults));
    CHECK(faults.size() == 1);
    if (faults.size() != 1) continue;
    const Fault& fault = faults[0];
    CHECK(fault.pointer == row.pointer);
    CHECK(fault.found.find(row.found) != std::string::npos);
    CHECK(fault.allowed.find(row.allowed) != std::string::npos);
    CHECK(fault.remedy.find(row.remedy) != std::string::npos);
    const bool file_named = row.sets.empty() ? fault.file == "bad.json" : fault.file.starts_with("--set");
    CHECK(file_named);
    CHECK(to_string(fault).size() < 1200);
  }
}

TEST_CASE("names of the rows are distinct") {
  std::vector<std::string> names;
  for (const BadScenario& row : bad_scenarios()) names.push_back(row.name);
  std::sort(names.begin(), names.end());
  CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
}

TEST_CASE("a byte order mark is passed over, as RFC 8259 allows") {
  CHECK(faults_of_text("\xEF\xBB\xBF" + good_scenario()).empty());
}

TEST_CASE("all faults of a document are reported at once") {
  const std::string text = good_scenario(
      {{"/cluster/workers", 0},
       {"/cluster/link/bandwidth", "10G"},
       {"/colour", "red"},
       {"/workload/gradients/1/elements", "many"},
       {"/strategy", Json{{"kind", "all-reduce"}, {"collective", {{"algorithm", "rings"}}}}},
       {"/compressor", "nothing"},
       {"/variants",
        Json::parse(
            R"([{"name": "a", "set": {"/evaluation/runs": 0}}, {"name": "b", "set": {"/output/plot": ["a.png"]}}])")}});
  const auto faults = faults_of_text(text, {"/evaluation/seed=-1", "/name/x=1"});
  INFO(list(faults));
  CHECK(faults.size() == 10);
  CHECK(has(faults, "bad.json", "/cluster/workers", "0"));
  CHECK(has(faults, "bad.json", "/cluster/link/bandwidth", "10G"));
  CHECK(has(faults, "bad.json", "/colour", "an unknown key"));
  CHECK(has(faults, "bad.json", "/workload/gradients/1/elements", "many"));
  CHECK(has(faults, "bad.json", "/strategy/collective/algorithm", "rings"));
  CHECK(has(faults, "bad.json", "/compressor", "the unknown compressor \"nothing\""));
  CHECK(has(faults, "bad.json", "/variants/0/set/~1evaluation~1runs", "0"));
  CHECK(has(faults, "bad.json", "/variants/1/set/~1output~1plot", "a list of 1"));
  CHECK(has(faults, "--set", "/evaluation/seed", "-1"));
  CHECK(has(faults, "--set", "/name/x", "where /name is"));
}

TEST_CASE("a fault beside a field that an option sets is the document's") {
  // Width 60 wants at least 4·61 steps in a replay, more than the default of 200, which the document leaves as it is.
  const std::string text = good_scenario({{"/strategy", Json{{"kind", "pipelined"}, {"width", 60}}}});
  const auto where = [&](const Override& change) {
    try {
      parse_study(text, "bad.json", {change}, default_library());
    } catch (const ScenarioError& error) {
      return error.faults().at(0).file + ": " + error.faults().at(0).pointer;
    }
    return std::string("accepted");
  };
  CHECK(where({"/evaluation/evaluator", "replay", "--evaluator", ""}) == "bad.json: /evaluation/max_steps");
  CHECK(where({"/evaluation/max_steps", 100, "--set", "/evaluation/max_steps"}) == "accepted");
  CHECK(faults_of_text(text, {"/evaluation/evaluator=replay"}).at(0).pointer == "/evaluation/max_steps");
}

TEST_CASE("all broken rules are reported at once") {
  const auto faults =
      faults_of_text(good_scenario({{"/workload/parameters", 7},
                                    {"/cluster/topology", Json{{"kind", "torus"}, {"dimensions", {2, 2}}}},
                                    {"/cluster/groups", Json::parse(R"([{"count": 9}])")},
                                    {"/cluster/jitter/cv", 0.5},
                                    {"/evaluation", Json{{"evaluator", "equations"}}}}));
  INFO(list(faults));
  CHECK(faults.size() == 5);
  CHECK(has(faults, "bad.json", "/workload/parameters", "7"));
  CHECK(has(faults, "bad.json", "/cluster/topology", "4 hosts"));
  CHECK(has(faults, "bad.json", "/cluster/groups", "groups of 9"));
  CHECK(has(faults, "bad.json", "/cluster/jitter/distribution", "none"));
  CHECK(has(faults, "bad.json", "/evaluation/evaluator", "with jitter"));
}

TEST_CASE("the exception says every fault, each once and on its own line") {
  try {
    parse_study(
        good_scenario({{"/cluster/workers", Json::parse("[0, 2, -1]")}, {"/workload/batch", Json::parse("[1, 2, 3]")}}),
        "bad.json", {}, default_library());
    FAIL("accepted");
  } catch (const ScenarioError& error) {
    CHECK(std::string(error.what()) ==
          "bad.json: /cluster/workers/0: found 0; allowed: an integer from 1 to 16777216\n"
          "bad.json: /cluster/workers/2: found -1; allowed: an integer from 1 to 16777216");
  }
}

TEST_CASE("a fault in a part's file names that file and the pointer inside it") {
  const Folder folder;
  const std::string cluster =
      folder.write("clusters/lab.json", R"({"workers": 0, "link": {"bandwidth": "10Gbps", "latancy": "1us"}})");
  const std::string table = folder.write(
      "net.json",
      R"({"name": "net", "batch": 8, "forward": "1ms", "gradients": [{"name": "a", "elements": 5, "gap": 1}]})");
  const std::string scenario =
      folder.write("scenario.json", R"({"name": "s", "workload": "net.json", "cluster": "lab"})");
  const auto faults = faults_of_file(scenario);
  INFO(list(faults));
  CHECK(faults.size() == 3);
  CHECK(has(faults, cluster, "/workers", "0"));
  CHECK(has(faults, cluster, "/link/latancy", "an unknown key"));
  CHECK(has(faults, table, "/gradients/0/gap", "1"));
}

TEST_CASE("fields laid over a part's file are distinguished from the file's own") {
  const Folder folder;
  const std::string cluster = folder.write("lab.json", R"({"workers": 8, "link": {"bandwidth": "fast"}})");
  const std::string scenario = folder.write(
      "scenario.json",
      R"({"name": "s", "workload": "resnet50-v100", "cluster": {"from": "lab.json", "workers": -3, "link": {"latency": "late"}}})");
  const auto faults = faults_of_file(scenario);
  INFO(list(faults));
  CHECK(faults.size() == 3);
  CHECK(has(faults, cluster, "/link/bandwidth", "fast"));
  CHECK(has(faults, scenario, "/cluster/workers", "-3"));
  CHECK(has(faults, scenario, "/cluster/link/latency", "late"));
}

TEST_CASE("a rule broken by a workload's file is reported in that file") {
  const Folder folder;
  const std::string table = folder.write(
      "net.json",
      R"({"name": "net", "batch": 8, "parameters": 6, "forward": "1ms", "gradients": [{"name": "a", "elements": 5, "gap": "1ms"}]})");
  const auto faults = faults_of_file(folder.write(
      "scenario.json",
      R"({"name": "s", "workload": "net.json", "cluster": {"workers": [2, 4], "link": {"bandwidth": "1Gbps"}}})"));
  INFO(list(faults));
  CHECK(faults.size() == 1);
  CHECK(has(faults, table, "/parameters", "6, but the table holds 5"));
}

TEST_CASE("a fault in a profile's file names that file, with any referrer") {
  const Folder folder;
  const std::string network =
      R"("name": "n", "batch": 4, "layers": [{"name": "fc", "shape": {"kind": "linear", "in": 10, "out": 10}}])";
  const std::string rest = R"("cluster": {"workers": 2, "link": {"bandwidth": "1Gbps"}}})";
  const std::string profile = folder.write(
      "profiles/mine.json",
      R"({"name": "mine", "peaks": 5, "memory_bandwidth": {"value": "1TB/s", "evidence": "assumed", "source": "s"},
      "launch_overhead": {"value": "5us", "evidence": "assumed", "source": "s"}, "compute_efficiency": {"value": 0.5, "evidence": "assumed", "source": "s"},
      "memory_efficiency": {"value": 0.5, "evidence": "assumed", "source": "s"}, "bend": {"value": 4, "evidence": "certain", "source": "s"}})");
  folder.write("net.json", "{" + network + R"(, "profile": "mine"})");
  for (const std::string& workload :
       {"{" + network + R"(, "profile": "mine"})",
        "{" + network + R"(, "profile": {"from": "profiles/mine.json", "name": "other"}})",
        std::string(R"("net.json")"), std::string(R"({"from": "net.json", "batch": 8})")}) {
    const auto faults =
        faults_of_file(folder.write("s.json", R"({"name": "s", "workload": )" + workload + ", " + rest));
    INFO(workload << "\n" << list(faults));
    CHECK(faults.size() == 2);
    CHECK(has(faults, profile, "/peaks", "5"));
    CHECK(has(faults, profile, "/bend/evidence", "certain"));
  }
}

TEST_CASE("a malformed part file is reported once, with any number of referrers") {
  const Folder folder;
  const std::string cluster = folder.write("lab.json", R"({"workers": 8,)");
  const std::string scenario =
      folder.write("scenario.json", R"({"name": "s", "workload": "resnet50-v100", "cluster": "lab.json",
      "strategy": {"kind": "pipelined", "width": [1, 2]}, "baseline": {"name": "b", "set": {"/cluster": "lab.json"}}})");
  const auto faults = faults_of_file(scenario);
  INFO(list(faults));
  CHECK(faults.size() == 1);
  CHECK(has(faults, cluster, "line 1, column 15", "malformed JSON"));
}

TEST_CASE("reference loops end") {
  const Folder folder;
  const auto only_fault = [&](const std::string& scenario, const std::string& file, const std::string& pointer) {
    const auto faults = faults_of_file(folder.write("scenario.json", scenario));
    INFO(list(faults));
    CHECK(faults.size() == 1);
    CHECK(has(faults, file, pointer, "a reference loop"));
  };
  const std::string top = folder.file("scenario.json");
  SECTION("cluster to itself") {
    const std::string a = folder.write("a.json", R"({"from": "a.json"})");
    only_fault(R"({"name": "s", "workload": "resnet50-v100", "cluster": "a.json"})", a, "/from");
  }
  SECTION("two clusters in a circle") {
    folder.write("a.json", R"({"from": "b.json"})");
    const std::string b = folder.write("b.json", R"({"from": "./a.json", "workers": 3})");
    only_fault(R"({"name": "s", "workload": "resnet50-v100", "cluster": {"from": "a.json"}})", b, "/from");
  }
  SECTION("cluster that is the scenario") {
    only_fault(R"({"name": "s", "workload": "resnet50-v100", "cluster": "scenario.json"})", top, "/cluster");
  }
  SECTION("workloads by plain text") {
    folder.write("a.json", R"("b.json")");
    const std::string b = folder.write("b.json", R"("a.json")");
    only_fault(R"({"name": "s", "workload": "a.json", "cluster": {"workers": 2, "link": {"bandwidth": "1Gbps"}}})", b,
               "");
  }
  SECTION("workload to itself, with a field laid over") {
    const std::string a = folder.write("a.json", R"({"from": "a.json", "batch": 3})");
    only_fault(
        R"({"name": "s", "workload": {"from": "a.json", "batch": 4}, "cluster": {"workers": 2, "link": {"bandwidth": "1Gbps"}}})",
        a, "/from");
  }
  SECTION("scenario to itself") { only_fault(R"({"from": "scenario.json"})", top, "/from"); }
  SECTION("scenarios in a circle, through another folder") {
    const std::string other = folder.write("sub/other.json", R"({"from": "../scenario.json", "name": "other"})");
    only_fault(R"({"from": "sub/other.json", "name": "s"})", other, "/from");
  }
  SECTION("through a link to the same folder") {
    std::filesystem::create_directory_symlink(folder.path(), folder.path() / "again");
    folder.write("a.json", R"({"from": "again/a.json"})");
    only_fault(R"({"name": "s", "workload": "resnet50-v100", "cluster": "a.json"})", folder.file("a.json"), "/from");
  }
}

TEST_CASE("a reference to a value that is no part") {
  const Folder folder;
  const std::string number = folder.write("number.json", "7");
  const std::string scenario = R"({"name": "s", "workload": "resnet50-v100", "cluster": )";
  SECTION("as it is") {
    const auto faults = faults_of_file(folder.write("s.json", scenario + R"("number.json"})"));
    INFO(list(faults));
    CHECK(faults.size() == 1);
    CHECK(has(faults, number, "", "7"));
  }
  SECTION("with a field laid over") {
    const auto faults = faults_of_file(folder.write("s.json", scenario + R"({"from": "number.json", "workers": 4}})"));
    INFO(list(faults));
    CHECK(faults.size() == 1);
    CHECK(has(faults, number, "", "7"));
  }
}

TEST_CASE("files that cannot be read") {
  const Folder folder;
  SECTION("missing") {
    const auto faults = faults_of_file(folder.path() / "nothing.json");
    CHECK(has(faults, folder.file("nothing.json"), "", "no such file"));
  }
  SECTION("a folder") {
    const auto faults = faults_of_file(folder.path());
    CHECK(has(faults, folder.path().string(), "", "a folder"));
  }
  SECTION("a folder as a part") {
    folder.write("lab.json/x", "");
    const auto faults =
        faults_of_file(folder.write("s.json", R"({"name": "s", "workload": "resnet50-v100", "cluster": "lab.json"})"));
    CHECK(faults.size() == 1);
    CHECK(has(faults, folder.file("lab.json"), "", "a folder"));
  }
  SECTION("empty") {
    CHECK(has(faults_of_file(folder.write("e.json", "")), folder.file("e.json"), "line 1, column 1", "malformed JSON"));
  }
  SECTION("without permission") {
    const std::string file = folder.write("s.json", good_scenario());
    std::filesystem::permissions(file, std::filesystem::perms::none);
    if (::access(file.c_str(), R_OK) != 0) CHECK(has(faults_of_file(file), file, "", "cannot be read"));
  }
  SECTION("without end") { CHECK(has(faults_of_file("/dev/zero"), "/dev/zero", "", "more than 32 MiB")); }
  SECTION("of 100 MB") {
    const std::string file = folder.write("large.json", "[");
    std::filesystem::resize_file(file, 100'000'000);
    CHECK(has(faults_of_file(file), file, "", "more than 32 MiB"));
    CHECK(has(
        faults_of_file(folder.write(
            "s.json",
            R"({"name": "s", "workload": "large.json", "cluster": {"workers": 2, "link": {"bandwidth": "1Gbps"}}})")),
        file, "", "more than 32 MiB"));
  }
  SECTION("100 MB of text") {
    CHECK(has(faults_of_text(std::string(100'000'000, ' ')), "bad.json", "", "more than 32 MiB"));
  }
}

TEST_CASE("a file full of mistakes is refused in seconds, with the first thousand") {
  std::string text =
      R"({"name": "s", "cluster": {"workers": 2, "link": {"bandwidth": "1Gbps"}}, "workload": {"name": "w", "batch": 1, "gradients": [)";
  for (int i = 0; i < 200'000; ++i) text += i ? ",7" : "7";
  text += "]}}";
  std::vector<Fault> faults;
  CHECK(seconds([&] { faults = faults_of_text(text); }) < 5);
  CHECK(faults.size() == kMaxFaults + 1);
  CHECK(faults.back().found == "1000 faults or more");
}

TEST_CASE("a cross product too large to make is refused before it is made") {
  std::string list = "[1";
  for (int i = 2; i <= 500; ++i) list += fmt::format(",{}", i);
  list += "]";
  const Json values = Json::parse(list);
  std::vector<Fault> faults;
  CHECK(seconds([&] {
          faults = faults_of_text(good_scenario({{"/cluster/workers", values},
                                                 {"/workload/batch", values},
                                                 {"/workload/gradients/0/elements", values},
                                                 {"/workload/gradients/1/elements", values}}));
        }) < 1);
  INFO(::list(faults));
  CHECK(faults.size() == 1);
  CHECK(has(faults, "bad.json", "/workload/batch", "a study of 6.25e+10 points or more"));
}

TEST_CASE("variants count towards the largest study") {
  Json variants = Json::array();
  for (int i = 0; i < 10; ++i) variants.push_back(Json{{"name", fmt::format("v{}", i)}, {"set", Json::object()}});
  const std::string text = good_scenario({{"/variants", variants}, {"/cluster/workers", {1, 2, 4}}});
  CHECK(parse_study(text, "s.json", {}, default_library(), 30).points.size() == 30);
  const auto faults = faults_of([&] { parse_study(text, "s.json", {}, default_library(), 29); });
  CHECK(has(faults, "s.json", "/cluster/workers", "a study of 30 points or more"));
}

TEST_CASE("the points of all variants are counted before any is made") {
  const auto numbers = [](int count) {
    Json list = Json::array();
    for (int i = 1; i <= count; ++i) list.push_back(i);
    return list;
  };
  Json variants = Json::array(), clusters = Json::array();
  for (int i = 0; i < 10; ++i) variants.push_back(Json{{"name", fmt::format("v{}", i)}, {"set", Json::object()}});
  for (int i = 0; i < 101; ++i)
    clusters.push_back(Json{{"workers", numbers(100)}, {"link", {{"bandwidth", fmt::format("{}Mbps", i + 1)}}}});
  std::vector<Fault> faults;
  // Each variant has 1000·1000 points: the second is one too many.
  CHECK(seconds([&] {
          faults = faults_of_text(good_scenario(
              {{"/variants", variants}, {"/cluster/workers", numbers(1000)}, {"/workload/batch", numbers(1000)}}));
        }) < 1);
  INFO(list(faults));
  CHECK(has(faults, "bad.json", "/workload/batch", "a study of 2e+06 points or more"));
  // An axis inside the values of another: 101 clusters of 100 numbers of workers.
  const auto read = [&](std::size_t most) {
    faults = faults_of([&] {
      parse_study(good_scenario({{"/cluster", clusters}}), "bad.json", {}, default_library(), most);
    });
  };
  read(10100);
  CHECK(faults.empty());
  read(10099);
  INFO(list(faults));
  CHECK(faults.size() == 1);
  CHECK(has(faults, "bad.json", "/cluster", "a study of 10100 points or more"));
}

TEST_CASE("a fault that many variants share is reported once") {
  Json variants = Json::array();
  for (int i = 0; i < 105; ++i)
    variants.push_back(Json{{"name", fmt::format("v{}", i)}, {"set", {{"/strategy", {{"kind", "all-reduce"}}}}}});
  const auto faults = faults_of_text(good_scenario({{"/variants", variants}}), {"/strategy/bogus=1"});
  INFO(list(faults));
  CHECK(faults.size() == 1);
  CHECK(has(faults, "--set", "/strategy/bogus", "(over fields of variant \"v0\", the first of 105)"));
}

TEST_CASE("ten thousand variants, phases or tensors are read in two seconds each") {
  constexpr int kMany = 10000;
  Json variants = Json::array(), phases = Json::array(), tensors = Json::array();
  for (int i = 0; i < kMany; ++i) {
    variants.push_back(Json{{"name", fmt::format("v{}", i)}, {"set", {{"/cluster/workers", 1 + i}}}});
    phases.push_back(Json{{"name", fmt::format("p{}", i)}, {"epochs", 1}, {"set", {{"/cluster/link/latency", "5us"}}}});
    tensors.push_back(Json{{"name", fmt::format("t{}", i)}, {"elements", 1 + i}, {"gap", "1us"}});
  }
  const auto read = [](const std::string& text) { return parse_study(text, "s.json", {}, default_library()); };
  const std::pair<const char*, std::string> documents[] = {
      {"variants", good_scenario({{"/variants", variants}})},
      {"phases", good_scenario({{"/run", Json{{"samples", 1000}, {"phases", phases}}}})},
      {"tensors", good_scenario({{"/workload/gradients", tensors}})}};
  for (const auto& [what, text] : documents) {
    const std::clock_t start = std::clock();  // time of this process, whatever else the machine does
    CHECK(!read(text).points.empty());
    const double took = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    INFO(what << ": " << took << " s");
    CHECK(took < (kSanitized ? 20 : 2));
  }
}
