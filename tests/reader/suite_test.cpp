// Suites: reading, the point that a measurement leads to, and refusals.
#include <string>
#include <vector>

#include <fmt/format.h>

#include "models/describe/reader.hpp"
#include "models/describe/writer.hpp"
#include "models/scenario/library.hpp"
#include "models/study/suite.hpp"
#include "models/validation/changed_suite.hpp"
#include "tests/reader/folder.hpp"
#include "tests/reader/shipped.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/property.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

Json good_suite() {
  return Json::parse(R"({
    "name": "s", "source": "somebody, on something",
    "study": {"workload": "resnet50-v100", "cluster": {"workers": [2, 4], "link": {"bandwidth": ["10Gbps", "25Gbps"]}}},
    "alternatives": "bandwidth",
    "measurements": [
      {"at": {"workers": 2, "bandwidth": "10Gbps"}, "throughput": 500},
      {"at": {"workers": 4, "bandwidth": "25Gbps"}, "step_time": "110ms", "spread": 0.02, "evidence": "recalled", "fitted": "nothing"}
    ]})");
}

Suite read(const Json& json) { return parse_suite(json.dump(), "suite.json", default_library()); }

/// The faults of the good suite with these values set; none where it is accepted.
std::vector<Fault> faults_with(const std::vector<std::pair<std::string, Json>>& changes,
                               const std::string& erased = "") {
  Json json = good_suite();
  for (const auto& [pointer, value] : changes) json[Json::json_pointer(pointer)] = value;
  if (!erased.empty()) json.erase(erased);
  try {
    read(json);
    return {};
  } catch (const ScenarioError& error) {
    return error.faults();
  }
}

/// Every value inside `json`, itself first.
void collect(Json& json, std::vector<Json*>& nodes) {
  nodes.push_back(&json);
  if (json.is_structured())
    for (auto& child : json) collect(child, nodes);
}

}  // namespace

TEST_CASE("a measurement leads to its point") {
  const Suite suite = read(good_suite());
  CHECK(suite.study.name == "s");  // the suite's, where the study has none
  REQUIRE(suite.study.points.size() == 4);
  REQUIRE(suite.measurements.size() == 2);
  CHECK(suite.measurements[0].point == 0);  // the axes in the document's order: (2, 10), (2, 25), (4, 10), (4, 25)
  CHECK(suite.measurements[0].quantity == MeasuredQuantity::throughput);
  CHECK(suite.measurements[0].value == 500);
  CHECK(suite.measurements[0].evidence == Evidence::measured);
  CHECK_FALSE(suite.measurements[0].fitted);
  CHECK(suite.measurements[1].point == 3);
  CHECK(suite.measurements[1].value == 0.11);
  CHECK(suite.measurements[1].spread == 0.02);
  CHECK(suite.measurements[1].evidence == Evidence::recalled);
  CHECK(suite.measurements[1].fitted == "nothing");
}

TEST_CASE("axes with one value may be left out") {
  Json json = good_suite();
  json["study"]["variants"] =
      Json::parse(R"([{"name": "plain", "set": {"/cluster/link/bandwidth": "10Gbps"}}, {"name": "fast", "set": {}}])");
  json["measurements"] = Json::parse(R"([{"at": {"variant": "plain", "workers": "4"}, "throughput": 1}])");
  const Suite suite = read(json);
  CHECK(suite.study.points[suite.measurements.at(0).point].coordinates ==
        std::vector<Coordinate>{{"variant", "plain"}, {"workers", "4"}});
}

TEST_CASE("a study may be a file's, by path or with fields laid over it") {
  Folder folder;
  folder.write(
      "study.json",
      R"({"name": "elsewhere", "workload": "resnet50-v100", "cluster": {"workers": [2, 4], "link": {"bandwidth": ["10Gbps", "25Gbps"]}}})");
  Json json = good_suite();
  for (const Json& study : {Json("study.json"), Json{{"from", "study.json"}}}) {
    json["study"] = study;
    const Suite suite = load_suite(folder.write("suite.json", json.dump()), default_library());
    CHECK(suite.study.name == "elsewhere");
    CHECK(suite.measurements.size() == 2);
  }
  json["study"] = Json::parse(R"({"from": "study.json", "cluster": {"workers": [2, 4, 8]}})");
  CHECK(load_suite(folder.write("suite.json", json.dump()), default_library()).study.points.size() == 6);
  json["study"] = "nowhere.json";
  try {
    load_suite(folder.write("suite.json", json.dump()), default_library());
    FAIL("a study that is not there");
  } catch (const ScenarioError& error) {
    REQUIRE(error.faults().size() == 1);
    CHECK(error.faults()[0].pointer == "/study");
    CHECK(error.faults()[0].file == folder.file("suite.json"));
  }
}

TEST_CASE("a suite's study is changed where it has the field") {
  const Suite own = read(good_suite());
  const auto changed = [](const Suite& suite, const std::vector<std::string>& sets) {
    std::vector<Override> changes;
    for (const std::string& set : sets) changes.push_back(parse_override(set));
    return changed_suite(suite, changes, default_library());
  };
  const Suite other = changed(own, {"/stack/host_cost=1ns/B"});
  CHECK(other.sets == std::vector<std::string>{"/stack/host_cost=1ns/B"});
  CHECK(other.changed == 2);
  for (const std::size_t measured : {0U, 3U}) {
    CHECK(other.study.points[measured].scenario.cluster.stack.host_cost == SecondsPerByte(1e-9));
    CHECK(other.study.points[measured].coordinates == own.study.points[measured].coordinates);
  }
  CHECK(other.study.points[1].scenario.cluster.stack.host_cost == SecondsPerByte{});  // nobody measured it

  // One of two variants compresses.
  Json json = good_suite();
  json["study"]["codec"] = Json{{"device", "v100-datasheet"}};
  json["study"]["variants"] = Json::parse(
      R"([{"name": "plain", "set": {}}, {"name": "sparse", "set": {"/compressor": {"kind": "top-k", "ratio": 0.01}}}])");
  json["measurements"] =
      Json::parse(R"([{"at": {"variant": "plain", "workers": 2, "bandwidth": "10Gbps"}, "throughput": 500},
                      {"at": {"variant": "sparse", "workers": 2, "bandwidth": "10Gbps"}, "throughput": 600}])");
  const Suite sparse = changed(read(json), {"/compressor/ratio=0.05"});
  CHECK(sparse.changed == 1);
  CHECK(std::get<TopK>(sparse.study.points[sparse.measurements[1].point].scenario.compressor).ratio == 0.05);
  CHECK(std::holds_alternative<NoCompressor>(sparse.study.points[sparse.measurements[0].point].scenario.compressor));
}

TEST_CASE("a change that does not fit says at which measurement") {
  struct {
    const char* set;
    const char* pointer;
    const char* found;
  } rows[] = {
      {"/stack/hostcost=1ns/B", "/stack/hostcost", "an unknown key (at /measurements/0, workers 2, bandwidth 10Gbps)"},
      {"/stack/host_cost=fast", "/stack/host_cost", "\"fast\" (at /measurements/0, workers 2, bandwidth 10Gbps)"},
      // Groups of 4 go with 4 workers, not with 2.
      {"/strategy={\"kind\": \"all-reduce\", \"collective\": {\"algorithm\": \"hierarchical\", \"group_size\": 4}}",
       "/strategy/collective/group_size", "(at /measurements/0, workers 2, bandwidth 10Gbps)"},
      {"/cluster/workers=8", "/cluster/workers", "a study without the point of /measurements/0, workers 2"},
      {"/stack/host_cost=[\"1ns/B\", \"2ns/B\"]", "/stack/host_cost",
       "a study without the point of /measurements/0, workers 2"}};
  for (const auto& row : rows) {
    INFO(row.set);
    try {
      changed_suite(read(good_suite()), {parse_override(row.set)}, default_library());
      FAIL("accepted");
    } catch (const ScenarioError& error) {
      INFO(error.what());
      REQUIRE(error.faults().size() == 1);
      CHECK(error.faults()[0].file == "--set");
      CHECK(error.faults()[0].pointer == row.pointer);
      CHECK(error.faults()[0].found.find(row.found) != std::string::npos);
    }
  }
}

TEST_CASE("each bad suite has exactly its fault") {
  struct {
    const char* name;
    std::vector<std::pair<std::string, Json>> changes;
    const char* pointer;
    const char* found;
    const char* allowed;
    const char* remedy;
    const char* erased = "";
  } rows[] = {
      {"no source", {}, "/source", "nothing", "a required value", "add it", "source"},
      {"no study", {}, "/study", "nothing", "a required value", "add it", "study"},
      {"a misspelt key",
       {{"/tolerence", Json::object()}},
       "/tolerence",
       "an unknown key",
       "tolerance",
       "did you mean \"tolerance\"?"},
      {"a study that is a number", {{"/study", 3}}, "/study", "3", "a scenario, or the name or path of one", ""},
      {"an empty study", {{"/study", Json::object()}}, "/study/cluster", "nothing", "a required value", "add it"},
      {"a fault of the study", {{"/study/cluster/workers", 0}}, "/study/cluster/workers", "0", "an integer from 1", ""},
      {"no measurements", {{"/measurements", Json::array()}}, "/measurements", "no measurement", "at least one", ""},
      {"no quantity",
       {{"/measurements/0", Json::parse(R"({"at": {"workers": 2, "bandwidth": "10Gbps"}})")}},
       "/measurements/0",
       "no quantity",
       "exactly one of step_time, forward, backward, throughput",
       "add it"},
      {"two quantities",
       {{"/measurements/0/speedup", 2}},
       "/measurements/0",
       "2 quantities",
       "exactly one of step_time, forward, backward, throughput",
       "a separate measurement"},
      {"a measurement of nothing",
       {{"/measurements/0/throughput", 0}},
       "/measurements/0/throughput",
       "0",
       "a number above 0",
       ""},
      {"a time without its unit",
       {{"/measurements/1/step_time", 110}},
       "/measurements/1/step_time",
       "110",
       "a time with its unit",
       "unit"},
      {"an unknown kind of source",
       {{"/measurements/1/evidence", "recaled"}},
       "/measurements/1/evidence",
       "\"recaled\"",
       "measured",
       "did you mean \"recalled\"?"},
      {"an empty constant", {{"/measurements/1/fitted", ""}}, "/measurements/1/fitted", "\"\"", "the constant", ""},
      {"coordinates that are a text",
       {{"/measurements/0/at", "workers=2"}},
       "/measurements/0/at",
       "\"workers=2\"",
       "an object of axes and values",
       ""},
      {"an axis that is none",
       {{"/measurements/0/at", Json::parse(R"({"worker": 2, "bandwidth": "10Gbps"})")}},
       "/measurements/0/at/worker",
       "no axis",
       "workers, bandwidth",
       "did you mean \"workers\"?"},
      {"a value that is none", {{"/measurements/0/at/workers", 3}}, "/measurements/0/at/workers", "3", "2; 4", ""},
      {"a value that is a list",
       {{"/measurements/0/at/workers", Json::array({2})}},
       "/measurements/0/at/workers",
       "a list of 1",
       "2; 4",
       ""},
      {"a misspelt value",
       {{"/measurements/0/at/bandwidth", "10GBps"}},
       "/measurements/0/at/bandwidth",
       "\"10GBps\"",
       "10Gbps; 25Gbps",
       "did you mean \"10Gbps\"?"},
      {"several points",
       {{"/measurements/0/at", Json::parse(R"({"workers": 2})")}},
       "/measurements/0/at",
       "the coordinates of 2 points",
       "the coordinates of one point",
       "add bandwidth: 10Gbps; 25Gbps"},
      {"the same twice",
       {{"/measurements/1", good_suite()["measurements"][0]}},
       "/measurements/1",
       "the throughput of that point a second time",
       "once",
       "remove one"},
      {"alternatives on no axis",
       {{"/alternatives", "bandwith"}},
       "/alternatives",
       "\"bandwith\"",
       "an axis of the study: workers, bandwidth",
       "did you mean \"bandwidth\"?"},
      {"a limit below 0",
       {{"/tolerance", Json{{"median", -0.1}}}},
       "/tolerance/median",
       "-0.1",
       "a number of at least 0",
       ""},
      {"throughput where nothing is trained",
       {{"/study/strategy", Json::parse(R"({"kind": "collective", "size": "1MB"})")}},
       "/measurements/0/throughput",
       "the throughput of a point without training",
       "step_time, algbw or busbw",
       ""},
  };
  for (const auto& row : rows) {
    INFO(row.name);
    const auto faults = faults_with(row.changes, row.erased);
    for (const Fault& fault : faults) UNSCOPED_INFO(to_string(fault));
    CHECK(faults.size() == 1);
    if (faults.size() != 1) continue;
    CHECK(faults[0].file == "suite.json");
    CHECK(faults[0].pointer == row.pointer);
    CHECK(faults[0].found.find(row.found) != std::string::npos);
    CHECK(faults[0].allowed.find(row.allowed) != std::string::npos);
    CHECK(faults[0].remedy.find(row.remedy) != std::string::npos);
  }
  CHECK(faults_with({}).empty());
}

TEST_CASE("coordinates that no point combines") {
  Json json = good_suite();
  json["study"]["variants"] =
      Json::parse(R"([{"name": "plain", "set": {"/cluster/link/bandwidth": "10Gbps"}}, {"name": "fast", "set": {}}])");
  json["measurements"] = Json::parse(R"([{"at": {"variant": "plain", "bandwidth": "10Gbps"}, "throughput": 1}])");
  CHECK_THROWS_WITH(read(json), ContainsSubstring("coordinates that no point combines"));
}

TEST_CASE("faults of the suite and of its study are reported together") {
  const auto faults = faults_with({{"/study/cluster/workers", 0}, {"/measurements/0/throughput", -1}});
  REQUIRE(faults.size() == 2);
  CHECK(faults[0].pointer == "/measurements/0/throughput");
  CHECK(faults[1].pointer == "/study/cluster/workers");
}

TEST_CASE("shipped suites describe each row") {
  const auto files = shipped("validation");
  REQUIRE(files.size() >= 3);
  for (const auto& file : files) {
    INFO(file.string());
    const Suite suite = load_suite(file, default_library());
    CHECK(suite.name == file.stem().string());
    CHECK_FALSE(suite.description.empty());
    CHECK(suite.source.find("measurements/") != std::string::npos);
    CHECK(suite.measurements.size() > 1);
  }
}

TEST_CASE("a suite's fields round-trip") {
  for (const auto& file : shipped("validation")) {
    INFO(file.string());
    SuiteFields fields, again;
    std::vector<Fault> faults;
    read_value(read_json(file), "", fields, {}, faults);
    read_value(parse_json(write_value(fields).dump(), "canonical"), "", again, {}, faults);
    CHECK(faults.empty());
    CHECK(again == fields);
  }
}

TEST_CASE("for any suite, the answer is a suite or its faults") {
  const std::string good = good_suite().dump();
  property(
      "mutated suites",
      [&] {
        static const Json values = Json::parse(
            R"([0, 1, 2, -1, 1e30, true, null, "", "workers", "10Gbps", "110ms", "auto", [], {}, [1, 2], {"from": "x"}, {"kind": "collective", "size": "1MB"}, "resnet50-v100"])");
        Json json = Json::parse(good);
        for (int changes = integer_between(1, 3); changes > 0; --changes) {
          std::vector<Json*> nodes;
          collect(json, nodes);
          const auto any_of = [](std::size_t count) {
            return static_cast<std::size_t>(integer_between(0, static_cast<int>(count) - 1));
          };
          Json& node = *nodes[any_of(nodes.size())];
          const Json elsewhere = *nodes[any_of(nodes.size())];
          switch (integer_between(0, 3)) {
            case 0: node = values[any_of(values.size())]; break;
            case 1: node = elsewhere; break;
            case 2: node = Json::array({node, elsewhere}); break;
            default:
              if (node.is_object() && !node.empty()) node.erase(node.begin());
          }
        }
        try {
          const Suite suite = parse_suite(json.dump(), "suite.json", default_library());
          for (const MeasuredPoint& m : suite.measurements)
            if (m.point >= suite.study.points.size() || !(m.value > 0))
              RC_FAIL("a measurement of no point: " + json.dump());
        } catch (const ScenarioError& error) {
          if (error.faults().empty()) RC_FAIL("an error without faults: " + json.dump());
          for (const Fault& fault : error.faults())
            if (fault.file.empty() || fault.found.empty()) RC_FAIL(to_string(fault) + "\n" + json.dump());
        }
      },
      500);
}
