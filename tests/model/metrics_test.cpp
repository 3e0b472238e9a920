// The table of metrics; what points are compared by and held to.
#include "models/describe/json.hpp"
#include "models/report/goal.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <tuple>

#include <fmt/format.h>

#include "models/report/table.hpp"
#include "models/report/writers.hpp"
#include "models/validation/validation.hpp"
#include "tests/support/catch.hpp"

using namespace stepcast;

namespace {

PointReport report_of(double throughput, double step) {
  PointReport report;
  report.samples_per_second = throughput;
  report.answers.equations = StepForecast{};
  report.answers.equations->step = Seconds(step);
  return report;
}

std::string refusal(const std::string& text) {
  try {
    parse_goal(text);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("the default metric: time to the target if all know it, else of the run, else throughput, else the step") {
  const PointReport trained = report_of(50, 2), benchmark = report_of(0, 4);
  PointReport run = trained, target = trained;
  run.run = RunReport{};
  run.run->time = Seconds(100);
  target.run = run.run;
  target.run->to_target = Seconds(80);
  CHECK(choose_metric({trained, trained}).compared.goal == "throughput");
  CHECK(choose_metric({trained, benchmark}).compared.goal == "step");
  CHECK(choose_metric({trained, run}).compared.goal == "throughput");
  CHECK(choose_metric({run, target}).compared.goal == "run");
  CHECK(choose_metric({target, target}).compared.goal == "target");
  CHECK(score_of(find_metric("throughput"), trained) == 50);
  CHECK(score_of(find_metric("step"), benchmark) == 1.0 / 4);
  CHECK(score_of(find_metric("run"), target) == 1.0 / 100);
  CHECK(score_of(find_metric("target"), target) == 1.0 / 80);
  CHECK(score_of(find_metric("target"), run) == 0);  // not within this run
}

TEST_CASE("a value and its score convert to each other, and a larger score is better") {
  for (const Metric& metric : metrics()) {
    INFO(metric.name);
    CHECK(value_of(metric, score_of(metric, 0.25)) == 0.25);
    CHECK((score_of(metric, 2) > score_of(metric, 1)) == (metric.compared.better == Better::more));
  }
}

TEST_CASE(
    "a row of the table makes a column of CSV and of the text table, a member of JSON, a goal, and what suites measure") {
  Report all;
  all.points = {report_of(50, 2)};
  PointReport& report = all.points.front();
  report.speedup = 3;
  report.scaling_efficiency = 0.75;
  report.mfu = 0.375;
  report.answers.equations->breakdown.exposed_communication = Seconds(0.5);
  report.memory = WorkerMemory{};
  report.memory->parameters = Bytes(4e9);
  report.memory->activations = Bytes(1e9);
  report.cost_per_million = 2.5;
  report.algbw = BytesPerSecond(1e9);
  report.busbw = BytesPerSecond(2e9);
  report.run = RunReport{};
  report.run->time = Seconds(100);
  report.run->to_target = Seconds(80);
  report.run->cost = 40.0;
  std::string header;
  std::set<std::string> measured;
  std::size_t goals = 0;
  const std::string csv = to_csv(all), names = ", " + goal_names() + ",", table = to_table(all);
  const Json json = report_document(all, {});
  for (const Metric& metric : metrics()) {
    INFO(metric.name << metric.shown.head);
    CHECK_FALSE(metric.meaning.empty());
    if (metric.shown.head.empty() || !is_shown(metric, report))
      CHECK((!metric.name.empty() || !metric.shown.head.empty()));
    else CHECK(says(table.substr(0, table.find('\n')), std::string(metric.shown.head)));
    if (metric.name.empty()) continue;
    header += (header.empty() ? "" : ",") + metric.name;
    CHECK(holds(metric.unit->kind, metric.value(report)));
    CHECK((json["columns"][metric.name] == metric.meaning || metric.name == "notes"));
    CHECK(json["points"][0].contains(metric.name));
    CHECK(metric.unit->symbol.empty() == (metric.unit->kind != CellKind::number));
    CHECK(metric.compared.goal.empty() == metric.compared.title.empty());
    if (!metric.measured.empty()) measured.emplace(metric.measured);
    if (metric.compared.goal.empty()) continue;
    ++goals;
    CHECK(&find_metric(metric.compared.goal) == &metric);
    CHECK(&choose_metric(all.points, &metric) == &metric);
    CHECK(says(names, fmt::format(", {},", metric.compared.goal)));
    REQUIRE(number_of(metric, report));
    CHECK(json["points"][0][metric.name] == *number_of(metric, report));
    // The first of a ranking's columns is the metric's.
    const std::string ranking = to_ranking(all, metric, 1),
                      heads = ranking.substr(ranking.find_first_not_of(' ', ranking.find('\n') + 1));
    CHECK((heads.starts_with(metric.shown.head.empty() ? metric.compared.title : metric.shown.head) ||
           heads.starts_with(metric.compared.title)));
    CHECK(heads.substr(heads.find('\n') + 1).find(metric.unit->cell(*number_of(metric, report)).substr(0, 1)) !=
          std::string::npos);
  }
  CHECK(csv.substr(0, csv.find('\n')) == header);
  CHECK(goals == static_cast<std::size_t>(1 + std::count(names.begin(), names.end(), ',') - 2));
  std::set<std::string> quantities;
  for (const auto& quantity : Choices<MeasuredQuantity>::table) {
    quantities.emplace(quantity.name);
    CHECK(metric_of(quantity.value).measured == quantity.name);
  }
  CHECK(measured == quantities);
}

TEST_CASE("names of columns end in their units") {
  const std::pair<std::string_view, std::string_view> suffixes[] = {
      {"s", "_s"}, {"B", "_B"}, {"B/s", "_B_per_s"}, {"samples/s", "_samples_per_s"}};
  for (const Metric& metric : metrics())
    for (const auto& [symbol, suffix] : suffixes)
      if (!metric.name.empty() && metric.unit && metric.unit->symbol == symbol) {
        INFO(metric.name);
        CHECK(metric.name.ends_with(suffix));
      }
}

TEST_CASE("crossover's scores have a name where a metric is compared by unless somebody asks for another") {
  for (const char* goal : {"target", "run", "throughput", "step"})
    CHECK_FALSE(find_metric(goal).compared.score.empty());
}

TEST_CASE("a point that does not fit its device has no score except for memory") {
  PointReport report = report_of(50, 2);
  report.memory = WorkerMemory{Bytes(4e9), {}, {}, {}, Bytes(1e9)};
  CHECK(score_of(find_metric("throughput"), report) > 0);
  report.lacks_memory = "5 GB of 4 GB";
  CHECK(score_of(find_metric("throughput"), report) == 0);
  CHECK(value_of(find_metric("memory"), score_of(find_metric("memory"), report)) == Approx(5e9));
  CHECK(value_of(find_metric("state"), score_of(find_metric("state"), report)) == Approx(4e9));
  // Unknown activations do not count as zero memory.
  report.memory->activations.reset();
  CHECK(score_of(find_metric("memory"), report) == 0);
}

TEST_CASE("a ranking has the best first, points without the metric or the memory last, and the requested number") {
  Report all;
  all.axes = {"point"};
  for (const double step : {4.0, 1.0, 3.0, 2.0}) {
    all.points.push_back(report_of(8 / step, step));
    all.points.back().coordinates = {{"point", fmt::format("of-{}s", step)}};
  }
  all.points[1].lacks_memory = "5 GB of 4 GB";
  const auto places = [&](const std::string& text) {
    std::vector<std::size_t> at;
    for (const char* name : {"of-1s", "of-2s", "of-3s", "of-4s"}) at.push_back(text.find(name));
    return at;
  };
  const auto by_step = places(to_ranking(all, find_metric("step"), 9));
  CHECK((by_step[1] < by_step[2] && by_step[2] < by_step[3] && by_step[3] < by_step[0]));
  CHECK(by_step[0] != std::string::npos);
  const std::string best = to_ranking(all, find_metric("throughput"), 2);
  CHECK(says(best, "the best 2 of 4 points by throughput\n"));
  CHECK(best.find("samples/s") < best.find("step"));  // the ranking metric comes first
  CHECK((says(best, "of-2s") && says(best, "of-3s") && !says(best, "of-1s") && !says(best, "of-4s")));
  // Equal points, and points without the metric, keep the study's order.
  const auto none = places(to_ranking(all, find_metric("busbw"), 9));
  CHECK((none[3] < none[0] && none[0] < none[2] && none[2] < none[1]));
}

TEST_CASE("a ranking of each situation is in the study's order of these") {
  Report all;
  all.axes = {"link", "method"};
  for (const auto& [link, method, step] :
       {std::tuple{"slow", "a", 4.0}, {"slow", "b", 3.0}, {"fast", "a", 1.0}, {"fast", "b", 2.0}}) {
    all.points.push_back(report_of(8 / step, step));
    all.points.back().coordinates = {{"link", link}, {"method", method}};
  }
  const std::string best = to_ranking(all, find_metric("step"), 1, {"link"});
  CHECK(says(best, "the best 1 of 4 points by step time for each link\n"));
  const auto slow = best.find("slow  b"), fast = best.find("fast  a");
  CHECK((slow != std::string::npos && fast != std::string::npos && slow < fast));
  CHECK((!says(best, "slow  a") && !says(best, "fast  b")));
}

TEST_CASE("a goal is a metric's name, and a value in its unit") {
  const Goal efficiency = parse_goal("efficiency=0.9"), step = parse_goal("step=100ms"),
             memory = parse_goal("memory=80GB"), bus = parse_goal("busbw=8Gbps");
  CHECK((efficiency.metric->compared.goal == "efficiency" && efficiency.value == 0.9));
  CHECK(step.value == 0.1);
  CHECK(memory.value == 80e9);
  CHECK(bus.value == 1e9);
  CHECK(goal_text(*efficiency.metric, 0.9) == "efficiency at least 90 %");
  CHECK(goal_text(*step.metric, 0.1) == "step time at most 100 ms");
  CHECK(goal_text(find_metric("run"), *parse_goal("run=36h").value) == "time of the whole run at most 36 h 0 min");
  // A metric alone: the best of it.
  CHECK((parse_goal("step").metric == step.metric && !parse_goal("step").value));
}

TEST_CASE("a malformed goal is refused with the reason and the allowed goals") {
  CHECK(says(refusal("eficiency"), "did you mean efficiency?"));
  CHECK(says(refusal("eficiency=1"), "allowed: step, throughput, mfu"));
  CHECK(says(refusal("eficiency=1"), "did you mean efficiency?"));
  CHECK(says(refusal("efficiency=90%"), "efficiency: \"90%\" is not a number; write 0.9"));
  CHECK(says(refusal("efficiency=95"), "efficiency: 95 is 9500 %; did you mean 0.95?"));
  CHECK(says(refusal("mfu=45"), "did you mean 0.45?"));
  CHECK(refusal("efficiency=1.1") == "accepted");  // against a baseline that is slower, or where the update is shared
  CHECK(refusal("speedup=95") == "accepted");
  CHECK(says(refusal("efficiency=all"), "\"all\" is not a number"));
  CHECK(says(refusal("step=100"), "step: "));
  CHECK(says(refusal("step=1GB"), "step: "));
  CHECK(says(refusal("speedup=0"), "speedup: 0 is not above zero"));
  CHECK(says(refusal("step=0s"), "is not above zero"));
}
