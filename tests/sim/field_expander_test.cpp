// Studies along a field: read between the ends of a grid, they are what reading all of it gives.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/describe/json.hpp"
#include "models/scenario/library.hpp"
#include "models/scenario/part_json.hpp"
#include "models/study/alternatives.hpp"
#include "models/study/expansion.hpp"
#include "sim/answer/field_expander.hpp"
#include "tests/support/catch.hpp"

using namespace stepcast;

namespace {

using Changes = std::map<std::string, Json>;

std::string scenario(const Changes& changes) {
  Json json = Json::parse(R"({
    "name": "s",
    "workload": {"from": "lstm-ptb", "profile": "v100"},
    "cluster": {"workers": 4, "link": {"bandwidth": "10Gbps", "latency": "5us"}},
    "strategy": {"kind": "all-reduce"}
  })");
  for (const auto& [pointer, value] : changes) json[Json::json_pointer(pointer)] = value;
  return json.dump();
}

Study study_at(const std::string& text, const Field& field, const std::vector<double>& values) {
  return parse_study(text, "s.json", {values_of(field, field.pointer, values)}, default_library());
}

std::string text_of(const StudyPoint& point) {
  std::string text = to_json(point.scenario).dump();
  for (const Scenario& phase : point.phases) text += to_json(phase).dump();
  if (point.baseline()) text += to_json(*point.baseline()).dump();
  for (const Scenario& phase : point.phases_of_baseline()) text += to_json(phase).dump();
  return text;
}

/// All that a search asks of the points, by their coordinates.
std::map<std::string, std::string> texts_of(const Study& study, Baselines baselines) {
  std::map<std::string, std::string> texts;
  for (const StudyPoint& one : study.points) {
    const StudyPoint point = searched(one, baselines);
    std::string& text = texts[label(point.coordinates)];
    CHECK(text.empty());
    text = text_of(point);
  }
  return texts;
}

FieldExpander expander_of(const std::string& text, const Field& field) {
  return {field, "s.json", [text, field](const std::vector<double>& values) { return study_at(text, field, values); }};
}

std::optional<Study> between(const std::string& text, const Field& field, const std::vector<double>& grid,
                             Baselines baselines) {
  FieldExpander expander = expander_of(text, field);
  return expander.study_between(study_at(text, field, {grid.front()}), study_at(text, field, {grid.back()}), grid,
                                baselines);
}

void check_same(const std::string& text, const Field& field, const std::vector<double>& grid) {
  INFO(text);
  for (const Baselines baselines : {Baselines::dropped, Baselines::kept}) {
    const Study whole = study_at(text, field, grid);
    const std::optional<Study> read = between(text, field, grid, baselines);
    REQUIRE(read);
    CHECK(read->axes == whole.axes);
    CHECK(read->axis_pointers == whole.axis_pointers);
    CHECK(read->axis_values == whole.axis_values);
    CHECK(texts_of(*read, baselines) == texts_of(whole, baselines));
  }
}

const Json kBaseline = Json::parse(R"({"name": "alone", "set": {"/cluster/workers": 1}})");
const Json kTwoLatencies = Json::array({"1us", "20us"});

/// A run of one phase, which changes a field.
Json run_of(const std::string& pointer, const Json& value) {
  return {{"samples", 1000000},
          {"phases", Json::array({{{"name", "all"}, {"epochs", 2}, {"set", {{pointer, value}}}}})}};
}

}  // namespace

TEST_CASE("A study read between the ends of a grid is the whole study") {
  const Field bandwidth = field_at("/cluster/link/bandwidth", "1Gbps..9Gbps"),
              workers = field_at("/cluster/workers", "2..16"), slowdown = field_at("/codec/slowdown", "1..9");
  const std::vector<double> rates = {0.125e9, 0.25e9, 0.5e9, 1.125e9};
  check_same(scenario({{"/cluster/link/latency", kTwoLatencies}, {"/baseline", kBaseline}}), bandwidth, rates);
  // The field's axis stands before another one.
  check_same(scenario({{"/strategy/exchange/bucket_cap", Json::array({"1MB", "2MB"})}, {"/baseline", kBaseline}}),
             bandwidth, rates);
  check_same(scenario({{"/cluster/link/latency", kTwoLatencies}}), workers, {2, 3, 8, 16});
  check_same(scenario({{"/compressor", Json::parse(R"([{"kind": "none"}, {"kind": "fp16"}])")}}), bandwidth, rates);
  check_same(scenario({{"/compressor", Json::parse(R"({"kind": "fp16"})")}}), slowdown, {1, 2.5, 9});
  check_same(scenario({{"/run", run_of("/compressor", {{"kind", "fp16"}})}}), bandwidth, rates);
  check_same(scenario({{"/workload/global_batch", 320}}), workers, {2, 4, 8, 16});
  // The field of one variant: the other variant has one point.
  const Json variants = Json::parse(R"([{"name": "own", "set": {"/cluster/link/bandwidth": "3Gbps"}},
                                        {"name": "along", "set": {"/cluster/link/bandwidth": "1Gbps"}}])");
  check_same(scenario({{"/variants", variants}}),
             field_at("/variants/1/set/~1cluster~1link~1bandwidth", "1Gbps..9Gbps"), rates);
}

TEST_CASE("A study that only the whole tells is not read between the ends of a grid") {
  const Field bandwidth = field_at("/cluster/link/bandwidth", "1Gbps..9Gbps");
  const std::vector<double> rates = {0.125e9, 0.25e9, 0.5e9, 1.125e9};
  const auto is_read = [&](const Changes& changes, const Field& field, const std::vector<double>& grid) {
    return between(scenario(changes), field, grid, Baselines::dropped).has_value();
  };
  CHECK(is_read({}, bandwidth, rates));
  // A variant with its own value or list of the field, be it the ends of the grid.
  for (const char* list : {R"("3Gbps")", R"(["1Gbps", "9Gbps"])", R"(["1Gbps"])", R"(["2Gbps", "3Gbps"])"}) {
    INFO(list);
    const Json own = Json::array({{{"name", "own"}, {"set", {{"/cluster/link/bandwidth", Json::parse(list)}}}},
                                  {{"name", "all"}, {"set", {{"/cluster/link/latency", "2us"}}}}});
    CHECK_FALSE(is_read({{"/variants", own}}, bandwidth, rates));
  }
  // A value without effect: no bucket has a cap where the whole model is one.
  const Json whole_model = Json::parse(R"({"grouping": "whole-model", "bucket_cap": "1MB"})");
  CHECK_FALSE(is_read({{"/strategy/exchange", whole_model}}, bandwidth, rates));
  // Five workers fill no machines of four.
  CHECK_FALSE(is_read(
      {{"/cluster/topology",
        Json::parse(R"({"kind": "nodes", "gpus_per_node": 4, "inner": {"bandwidth": "1Tbps", "latency": "1us"}})")}},
      field_at("/cluster/workers", "4..8"), {4, 5, 8}));
}

TEST_CASE("A point whose document gives another baseline or phase is read with the whole study") {
  const Field bandwidth = field_at("/cluster/link/bandwidth", "1Gbps..9Gbps");
  const std::vector<double> rates = {0.125e9, 0.25e9, 0.5e9, 1.125e9};
  const Json narrow = Json::parse(R"({"from": "lstm-ptb", "profile": "v100", "dtype": "fp16"})");
  const Json wide = Json::parse(R"({"name": "wide", "set": {"/workload/dtype": "fp32"}})");
  const std::vector<Changes> derived = {
      // A narrow dtype alone is read as mixed precision, which the baseline's dtype would then keep.
      {{"/workload", narrow}, {"/baseline", wide}},
      // The cluster's GPU gives the workload's profile, which a phase on another GPU would then keep.
      {{"/workload", "lstm-ptb"}, {"/cluster/gpu", "v100"}, {"/run", run_of("/cluster/gpu", "a100")}},
  };
  const auto check_at = [](const std::string& text, const Field& field, const std::vector<double>& values) {
    FieldExpander expander = expander_of(text, field);
    StudyPoint point = searched(study_at(text, field, {values[0]}).points.at(0), Baselines::kept);
    point.coordinates.clear();
    const Study whole = study_at(text, field, values);
    const std::vector<StudyPoint> points = expander.at({0, point, values[0]}, values, Baselines::kept);
    REQUIRE(points.size() == whole.points.size());
    for (std::size_t i = 0; i < points.size(); ++i) CHECK(text_of(points[i]) == text_of(whole.points[i]));
  };
  for (const Changes& changes : derived) {
    const std::string text = scenario(changes);
    INFO(text);
    CHECK_FALSE(between(text, bandwidth, rates, Baselines::kept));
    check_at(text, bandwidth, rates);
    check_at(text, field_at("/workload/accumulation", "1..8"), {1, 2, 5});
  }
}
