// The texts of a solution: as text, CSV and JSON.
#include "models/describe/json.hpp"
#include "models/search/solutions.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "models/search/interval_text.hpp"
#include "tests/support/catch.hpp"

using namespace stepcast;

namespace {

Solutions solutions_of(const AxisRange& range, const char* metric, std::optional<double> goal,
                       const std::function<double(double)>& value_at) {
  Solutions s;
  s.name = "made up";
  s.axis = "bandwidth";
  s.pointer = "/cluster/link/bandwidth";
  s.range = range;
  s.grid = grid_values(range, 25).size();
  s.metric = &find_metric(metric);
  s.goal = goal;
  s.axes = {"workers"};
  GoalSearch search(range, grid_values(range, 25), goal ? std::optional(score_of(*s.metric, *goal)) : std::nullopt);
  for (auto values = search.requests(); !values.empty(); values = search.requests()) {
    std::vector<double> scores;
    for (const double value : values) scores.push_back(score_of(*s.metric, value_at(value)));
    search.answer(values, scores);
  }
  s.points.push_back({{{"workers", "4"}}, std::move(search)});
  s.notes = {{NoteCode::estimate, "all of it is made up"}};
  return s;
}

/// 100 ms, and the time of 10 Gb (1.25 GB) on the link: at most 200 ms from 100 Gb/s on.
Solutions of_bandwidths(std::optional<double> goal = 0.2) {
  return solutions_of(parse_axis_range("1Gbps..1000Gbps"), "step", goal, [](double b) { return 0.1 + 1.25e9 / b; });
}

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("the text: the metric, the field and the goal; one row a point") {
  const std::string text = to_text(of_bandwidths());
  INFO(text);
  CHECK(text.starts_with(
      "made up: step time by the equations, along bandwidth from 1 Gb/s to 1 Tb/s\nreached: step time at most 200 ms\nbest: the smallest step time,"));
  // 110 ms/0.99 = 0.1 + 10/B at B = 10/0.0111 = 900 Gb/s.
  CHECK(says(text, "\n4        from 100 Gb/s  110 ms  at 1 Tb/s  from 900 Gb/s\n"));
  CHECK(text.ends_with("note: all of it is made up\n"));
  const std::string without = to_text(of_bandwidths({}));
  INFO(without);
  CHECK(!says(without, "reached"));
}

TEST_CASE("the CSV has a line for the best and for each interval, in SI") {
  const std::string csv = to_csv(of_bandwidths());
  INFO(csv);
  CHECK(csv.starts_with(
      "workers,holds,bandwidth_from_B_per_s,bandwidth_to_B_per_s,step_time_s_at_from,step_time_s_at_to\n4,reached,"));
  CHECK(says(csv, "\n4,best,125000000000,125000000000,0.1"));
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 4);  // the header, reached, best, near_best
}

TEST_CASE("the JSON has the best, the intervals and all evaluated values") {
  const Json json = solutions_document(of_bandwidths(), Json::object());
  CHECK(json["figure"] == "step_time_s");
  CHECK(json["goal"] == 0.2);
  CHECK(json["more_is_better"] == false);
  const Json& point = json["points"][0];
  CHECK(point["best"]["figure"].get<double>() == Approx(0.11));
  CHECK(point["reached"][0]["from"].get<double>() == Approx(12.5e9).epsilon(1e-4));
  CHECK(point["figures"].size() >= 25);
  for (const Json& pair : point["figures"])
    CHECK(pair[1].get<double>() == Approx(0.1 + 1.25e9 / pair[0].get<double>()).epsilon(1e-12));
  CHECK(!solutions_document(of_bandwidths({}), Json::object())["points"][0].contains("reached"));
  CHECK(solutions_document(of_bandwidths({}), Json::object())["goal"].is_null());
}

TEST_CASE("the first four of many intervals are named") {
  // Up and down with every worker: 1, 3, 5, ... reach it.
  const std::string text = to_text(solutions_of(parse_axis_range("1..20"), "efficiency", 0.5,
                                                [](double v) { return std::fmod(v, 2) > 0 ? 0.6 : 0.4; }));
  INFO(text);
  CHECK(says(text, "  1, 3, 5, 7, and 6 more  60 %  at 1  1, 3, 5, 7, and 6 more\n"));
}

TEST_CASE("a range says its steps, but for whole numbers one after the other") {
  CHECK(range_text(parse_axis_range("8..64")) == "from 8 to 64");
  CHECK(range_text(parse_axis_range("8..64:8")) == "from 8 to 64 in steps of 8");
  CHECK(range_text(parse_axis_range("2..64:x2")) == "from 2 to 64 by factors of 2");
  CHECK(range_text(parse_axis_range("1MB..4MB:1MB")) == "from 1 MB to 4 MB in steps of 1 MB");
  CHECK(along_json("workers", "/cluster/workers", parse_axis_range("2..64:x2"), 6)["factor"] == 2);
  CHECK(along_json("workers", "/cluster/workers", parse_axis_range("8..64:8"), 8)["step"] == 8);
  CHECK(along_json("bandwidth", "/cluster/link/bandwidth", parse_axis_range("1Gbps..2Gbps"), 25)["step"].is_null());
}
