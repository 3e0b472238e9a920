// The JSON Schema is valid, admits all shipped files, refuses the faults that a schema can see, and is on disk as
// generated.
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include <fmt/format.h>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "models/describe/json.hpp"
#include "models/report/metrics.hpp"
#include "models/scenario/library.hpp"
#include "models/study/expansion.hpp"
#include "models/study/schema.hpp"
#include "tests/reader/bad_scenarios.hpp"
#include "tests/reader/shipped.hpp"
#include "tests/support/catch.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

class Judge {
 public:
  explicit Judge(const Json& schema) : text_(nlohmann::json::parse(schema.dump())) {
    valijson::SchemaParser parser(valijson::SchemaParser::kDraft7);
    parser.populateSchema(valijson::adapters::NlohmannJsonAdapter(text_), schema_);
  }

  bool admits(const Json& document) {
    const auto plain = nlohmann::json::parse(document.dump());
    valijson::ValidationResults results;
    valijson::Validator validator;
    if (validator.validate(schema_, valijson::adapters::NlohmannJsonAdapter(plain), &results)) return true;
    valijson::ValidationResults::Error error;
    said_.clear();
    while (results.popError(error)) {
      for (const auto& step : error.context) said_ += step;
      said_ += fmt::format(": {}\n", error.description);
    }
    return false;
  }

  [[nodiscard]] const std::string& said() const { return said_; }

 private:
  nlohmann::json text_;
  valijson::Schema schema_;
  std::string said_;
};

std::string content(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

TEST_CASE("shipped files fit their schema") {
  struct {
    const char* folder;
    Json schema;
  } shelves[] = {{"", scenario_schema()},
                 {"workloads", part_schema("workload")},
                 {"profiles", part_schema("profile")},
                 {"clusters", part_schema("cluster")},
                 {"strategies", part_schema("strategy")},
                 {"compressors", part_schema("compressor")},
                 {"validation", part_schema("suite")},
                 {"validation/workloads", part_schema("workload")}};
  for (const auto& shelf : shelves) {
    Judge judge(shelf.schema);
    for (const auto& file : shipped(shelf.folder)) {
      INFO(file.string());
      const bool fits = judge.admits(read_json(file));
      INFO(judge.said());
      CHECK(fits);
    }
  }
  CHECK_FALSE(shipped("").empty());
  CHECK_FALSE(shipped("workloads").empty());
  CHECK_FALSE(shipped("profiles").empty());
  CHECK_FALSE(shipped("validation").empty());
}

TEST_CASE("schemas on disk are the generated ones") {
  for (const char* part : {"scenario", "workload", "profile", "cluster", "strategy", "compressor", "stack", "suite"}) {
    const auto file = default_library() / (std::string(part) + ".schema.json");
    INFO("stepcast schema " << part << " > " << file.string());
    const Json schema = std::string(part) == "scenario" ? scenario_schema() : part_schema(part);
    const bool same = content(file) == schema.dump(1) + "\n";
    CHECK(same);
  }
}

TEST_CASE("fields of real numbers are told from those of whole ones") {
  for (const char* real : {"/workload/recomputed_share", "/cluster/groups/0/speed", "/stack/backward_slowdown",
                           "/compressor/ratio", "/cluster/transport/latency_factor", "/run/tokens"})
    CHECK(takes_fractions(real));
  // Whole numbers, quantities, names, objects, nothing, no pointer.
  for (const char* other : {"/cluster/workers", "/workload/batch", "/strategy/steps", "/run/samples",
                            "/cluster/link/bandwidth", "/workload/dtype", "/cluster", "/cluster/worker", "/a~2", ""})
    CHECK_FALSE(takes_fractions(other));
}

TEST_CASE("no column of a report has the name of a field that it does not say") {
  // An axis is called by its field's name, and takes the place of the column that says the same.
  std::set<std::string> fields, shared;
  const auto collect = [&](const Json& json, const auto& self) -> void {
    for (const auto& [key, value] : json.items()) {
      if (key == "properties")
        for (const auto& [field, schema] : value.items()) fields.insert(field);
      if (value.is_structured()) self(value, self);
    }
  };
  collect(scenario_schema(), collect);
  for (const Metric& column : report_columns(Report{}))
    if (fields.contains(column.name)) shared.insert(column.name);
  CHECK(shared == std::set<std::string>{"accumulation", "batch", "compressor", "strategy", "workers"});
}

TEST_CASE("a part inside another has the defaults that the other gives it") {
  // The exchange of all-reduce is bucketed by default, that of servers whole-model (part/strategy.hpp).
  const Json strategies = part_schema("strategy")["anyOf"];
  const auto grouping = [&](std::string_view kind) {
    for (const Json& one : strategies)
      if (one["properties"]["kind"]["const"] == kind)
        return one["properties"]["exchange"]["properties"]["grouping"]["default"].get<std::string>();
    return std::string();
  };
  CHECK(grouping("all-reduce") == "bucketed");
  CHECK(grouping("parameter-server") == "whole-model");
  const Json in_scenario = scenario_schema()["definitions"];
  CHECK(in_scenario["strategy.all-reduce.exchange"]["properties"]["grouping"]["default"] == "bucketed");
}

TEST_CASE("there is no schema of other parts") { CHECK_THROWS_AS(part_schema("network"), std::invalid_argument); }

TEST_CASE("canonical documents fit the schema") {
  Judge judge(scenario_schema());
  for (const char* strategy : {R"({"kind": "all-reduce"})", R"({"kind": "parameter-server"})",
                               R"({"kind": "pipelined"})", R"({"kind": "local-sgd"})", R"({"kind": "gossip"})"}) {
    const Study study =
        parse_study(good_scenario({{"/strategy", Json::parse(strategy)},
                                   {"/cluster/groups", Json::parse(R"([{"count": 2}])")},
                                   {"/baseline", Json::parse(R"({"name": "b", "set": {"/cluster/workers": 2}})")}}),
                    "s.json", {}, default_library());
    const bool fits = judge.admits(to_json(study.points.at(0).scenario));
    INFO(judge.said());
    CHECK(fits);
  }
}

TEST_CASE("the schema accepts the same axes as the reader") {
  Judge judge(scenario_schema());
  for (const char* change :
       {R"(["/cluster/workers", [1, 2]])", R"(["/cluster", ["lab", {"from": "lab", "workers": [2, 4]}]])",
        R"(["/workload", ["vgg16-v100", "resnet50-v100"]])",
        R"(["/strategy", [{"kind": "gossip"}, {"kind": "pipelined", "width": [2, 3]}]])",
        R"(["/strategy/collective/group_size", ["auto", 4]])",
        R"(["/cluster/topology", {"kind": "torus", "dimensions": [[2, 4], [2, 2, 2]]}])",
        R"(["/cluster/groups", [[], [{"count": 2, "speed": [0.5, 0.25]}]]])",
        R"(["/workload/gradients/0/elements", [1000, 2000]])", R"(["/cluster/transport", {"kind": ["ideal", "tcp"]}])",
        R"(["/strategy/server_reduction_cost", [null, "1ns/B"]])", R"(["/evaluation", {"seed": [1, 2, 3]}])",
        R"(["/cluster/link/latency", ["5us", ".5 us", "5.e-1µs"]])",
        R"(["/strategy", [{"$schema": "x", "kind": "gossip"}, {"kind": "pipelined"}]])",
        R"(["/cluster/$schema", "x"])"}) {
    const Json pair = Json::parse(change);
    const std::string pointer = pair[0];
    Changes changes;
    if (pointer.starts_with("/strategy/"))
      changes.push_back({"/strategy", Json{{"kind", pointer.ends_with("cost") ? "parameter-server" : "all-reduce"}}});
    changes.push_back({pointer, pair[1]});
    INFO(change);
    const bool fits = judge.admits(Json::parse(good_scenario(changes)));
    INFO(judge.said());
    CHECK(fits);
  }
}

TEST_CASE("the schema refuses the faults that it can express") {
  Judge judge(scenario_schema());
  std::size_t judged = 0;
  for (const BadScenario& row : bad_scenarios()) {
    if (!row.seen_by_schema) continue;
    INFO(row.name);
    CHECK_FALSE(judge.admits(Json::parse(row.text)));
    ++judged;
  }
  CHECK(judged > 100);
}
