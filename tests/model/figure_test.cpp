// The figures by which points are compared and constrained.
#include "models/report/figure.hpp"

#include <set>
#include <stdexcept>
#include <tuple>

#include <fmt/format.h>

#include "models/report/metrics.hpp"
#include "models/report/writers.hpp"
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

TEST_CASE("what is compared: time to the target where all know it, else of the run, else throughput, else the step") {
  const PointReport trained = report_of(50, 2), benchmark = report_of(0, 4);
  PointReport run = trained, target = trained;
  run.run = RunReport{};
  run.run->time = Seconds(100);
  target.run = run.run;
  target.run->to_target = Seconds(80);
  CHECK(choose_figure({trained, trained}).name == "throughput");
  CHECK(choose_figure({trained, benchmark}).name == "step");
  CHECK(choose_figure({trained, run}).name == "throughput");
  CHECK(choose_figure({run, target}).name == "run");
  CHECK(choose_figure({target, target}).name == "target");
  CHECK(worth_of(find_figure("throughput"), trained) == 50);
  CHECK(worth_of(find_figure("step"), benchmark) == 1.0 / 4);
  CHECK(worth_of(find_figure("run"), target) == 1.0 / 100);
  CHECK(worth_of(find_figure("target"), target) == 1.0 / 80);
  CHECK(worth_of(find_figure("target"), run) == 0);  // not within this run
}

TEST_CASE("a figure and its worth lead to each other, and more worth is better") {
  for (const Figure& figure : figures()) {
    INFO(figure.name);
    CHECK(value_of(figure, worth_of(figure, 0.25)) == 0.25);
    CHECK((worth_of(figure, 2) > worth_of(figure, 1)) == figure.more_is_better);
  }
}

TEST_CASE("every figure is a column of the report, with the figure that the column has") {
  PointReport report = report_of(50, 2);
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
  Report all;
  all.points = {report};
  std::set<std::string> seen;
  for (const Column& column : report_columns(all))
    for (const Figure& figure : figures())
      if (figure.column == column.name) {
        INFO(figure.name);
        const Cell cell = column.cell(report);
        REQUIRE(figure.of(report));
        CHECK(std::get<double>(cell) == *figure.of(report));
        seen.insert(column.name);
      }
  CHECK(seen.size() == figures().size());
}

TEST_CASE("a point that does not fit its device has no worth, but by its memory") {
  PointReport report = report_of(50, 2);
  report.memory = WorkerMemory{Bytes(4e9), {}, {}, {}, Bytes(1e9)};
  CHECK(worth_of(find_figure("throughput"), report) > 0);
  report.lacks_memory = "5 GB of 4 GB";
  CHECK(worth_of(find_figure("throughput"), report) == 0);
  CHECK(value_of(find_figure("memory"), worth_of(find_figure("memory"), report)) == Approx(5e9));
  CHECK(value_of(find_figure("state"), worth_of(find_figure("state"), report)) == Approx(4e9));
  // Unknown activations do not count as no memory.
  report.memory->activations.reset();
  CHECK(worth_of(find_figure("memory"), report) == 0);
}

TEST_CASE("a ranking has the best first, what has no such figure or does not fit last, and as many as are asked for") {
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
  const auto by_step = places(to_ranking(all, find_figure("step"), 9));
  CHECK((by_step[1] < by_step[2] && by_step[2] < by_step[3] && by_step[3] < by_step[0]));
  CHECK(by_step[0] != std::string::npos);
  const std::string best = to_ranking(all, find_figure("throughput"), 2);
  CHECK(says(best, "the best 2 of 4 points by throughput\n"));
  CHECK(best.find("samples/s") < best.find("step"));  // the ranking figure comes first
  CHECK((says(best, "of-2s") && says(best, "of-3s") && !says(best, "of-1s") && !says(best, "of-4s")));
  // Equals, and points where nobody has the figure, keep the study's order.
  const auto none = places(to_ranking(all, find_figure("busbw"), 9));
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
  const std::string best = to_ranking(all, find_figure("step"), 1, {"link"});
  CHECK(says(best, "the best 1 of 4 points by step time for each link\n"));
  const auto slow = best.find("slow  b"), fast = best.find("fast  a");
  CHECK((slow != std::string::npos && fast != std::string::npos && slow < fast));
  CHECK((!says(best, "slow  a") && !says(best, "fast  b")));
}

TEST_CASE("a goal is a figure's name, and a value in its unit") {
  const Goal efficiency = parse_goal("efficiency=0.9"), step = parse_goal("step=100ms"),
             memory = parse_goal("memory=80GB"), bus = parse_goal("busbw=8Gbps");
  CHECK((efficiency.figure->name == "efficiency" && efficiency.value == 0.9));
  CHECK(step.value == 0.1);
  CHECK(memory.value == 80e9);
  CHECK(bus.value == 1e9);
  CHECK(goal_text(*efficiency.figure, 0.9) == "efficiency at least 90 %");
  CHECK(goal_text(*step.figure, 0.1) == "step time at most 100 ms");
  CHECK(goal_text(find_figure("run"), *parse_goal("run=36h").value) == "time of the whole run at most 36 h 0 min");
  // A figure alone: the best of it.
  CHECK((parse_goal("step").figure == step.figure && !parse_goal("step").value));
}

TEST_CASE("what is no goal says why, and what one is") {
  CHECK(says(refusal("eficiency"), "did you mean efficiency?"));
  CHECK(says(refusal("eficiency=1"), "allowed: throughput, step, speedup"));
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
