// Tables for people: columns that fit, numbers that share unit and precision, and the answer in a sentence.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "models/describe/json.hpp"
#include "models/report/answer_sentence.hpp"
#include "models/report/axis_columns.hpp"
#include "models/report/table.hpp"
#include "models/report/writers.hpp"
#include "models/unit/format.hpp"
#include "models/unit/parse.hpp"
#include "models/unit/text_table.hpp"
#include "tests/support/catch.hpp"

using namespace stepcast;

namespace {

using Texts = std::vector<std::string>;

Texts suffixes(const AxisUnits& units) {
  Texts texts;
  for (const ValueUnit* unit : units) texts.emplace_back(unit ? unit->suffix : "");
  return texts;
}

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

PointReport report_at(std::vector<Coordinate> coordinates, int workers, double samples_per_second) {
  PointReport report;
  report.coordinates = std::move(coordinates);
  report.workers = workers;
  report.samples_per_second = samples_per_second;
  report.speedup = samples_per_second / 10;
  report.answers.equations = StepForecast{};
  report.answers.equations->step = Seconds(workers / samples_per_second);
  return report;
}

/// A study of two strategies ("variant") on workers 2, 4 and 8, and its report. Throughputs are by variant.
struct Example {
  Study study;
  Report report;

  explicit Example(const std::array<std::array<double, 3>, 2>& throughputs) {
    study.axes = report.axes = {"variant", "workers"};
    study.axis_pointers = {"variant", "/cluster/workers"};
    study.axis_values = {{"ring", "server"}, {"2", "4", "8"}};
    report.baseline = "one worker computing alone";
    for (std::size_t v = 0; v < 2; ++v)
      for (std::size_t w = 0; w < 3; ++w) {
        study.points.emplace_back();
        study.points.back().coordinates = {{"variant", study.axis_values[0][v]}, {"workers", study.axis_values[1][w]}};
        report.points.push_back(report_at(study.points.back().coordinates, 2 << w, throughputs[v][w]));
      }
  }
  [[nodiscard]] std::string sentence() const { return answer_sentence(study, report); }
};

}  // namespace

TEST_CASE("a column of quantities has one unit, three digits of its smallest and four of its largest value") {
  // 97 ms has three digits with one decimal; 12.4 s are 12400.0 ms, not yet 20,000 of the unit.
  CHECK(column_texts<Seconds>(std::vector{0.097, 0.1879, 12.4}) == Texts{"97.0 ms", "187.9 ms", "12400.0 ms"});
  // 30 s would be 30,000 ms: seconds, with three digits of 0.097 behind a zero.
  CHECK(column_texts<Seconds>(std::vector{0.097, 30.0}) == Texts{"0.0970 s", "30.0000 s"});
  // A factor of more than 1,000: each has its own unit, as alone.
  CHECK(column_texts<Seconds>(std::vector{1e-5, 1.0}) == Texts{"10 us", "1 s"});
  CHECK(column_texts<Seconds>(std::vector{0.0}) == Texts{"0 s"});
  // Zeros and absent sizes do not count: 0.5 s is the smallest.
  CHECK(column_texts<Seconds>(std::vector{0.0, 0.5}) == Texts{"0.0 ms", "500.0 ms"});
  CHECK(column_texts<Seconds>(std::vector<double>{}).empty());
  // At most so many decimals, unless all are below one.
  CHECK(column_numbers(std::vector{0.157, 64.0}, 2, "x") == Texts{"0.16x", "64.00x"});
  CHECK(column_numbers(std::vector{0.0157, 0.5}, 2, "x") == Texts{"0.0157x", "0.5000x"});
  CHECK(column_numbers(std::vector{582.4, 2725.0}, 2, "") == Texts{"582", "2725"});
}

TEST_CASE("a table of GitHub's Markdown aligns numbers to the right and escapes bars") {
  TextTable table(1, 1);
  table.add({"name", "step", "by"});
  table.add({"a|b", "1 s", "ring"});
  CHECK(table.markdown() == "| name | step | by |\n| --- | ---: | --- |\n| a\\|b | 1 s | ring |\n");
  // Widths 4, 4, 4 and two gaps of 2.
  CHECK(table.width() == 16);
}

TEST_CASE("a table that is wider than the terminal loses its lightest columns first, and says which") {
  const Report report = Example({{{16, 28, 48}, {15, 29, 58}}}).report;
  const std::string whole = to_table(report);
  const auto width_of = [](const std::string& text) { return text.substr(0, text.find('\n')).size(); };
  const std::size_t full = width_of(whole);
  for (std::size_t width = full; width >= 30; --width) {
    const std::string narrow = to_table(report, {.width = width});
    const std::string head = narrow.substr(0, narrow.find('\n'));
    INFO(width << ": " << head);
    CHECK(head.size() <= width);
    CHECK(says(head, "step"));  // the heaviest of this table
    CHECK(says(narrow, "left out to fit the terminal") == (width < full));
  }
  // "lower bound" (weight 3) goes before "speedup" (8).
  const std::string narrow = to_table(report, {.width = full - 1});
  CHECK(says(narrow, "speedup"));
  // Axes stay even where they alone are too wide.
  CHECK(to_table(report, {.width = 5}).starts_with("variant  workers"));
}

TEST_CASE("chosen columns are the table's, by head, goal or name in files, and the CSV file's") {
  const Report report = Example({{{16, 28, 48}, {15, 29, 58}}}).report;
  CHECK(&find_column("step") == &find_column("step_time_s"));
  CHECK(&find_column("samples/s") == &find_column("throughput"));
  const std::vector<const Metric*> chosen = {&find_column("speedup"), &find_column("step")};
  const std::string table = to_table(report, {.columns = chosen});
  CHECK(table.starts_with("variant  workers  speedup      step\n"));
  const std::string csv = to_csv(report, {true, chosen});
  CHECK(csv.starts_with("variant,workers,step_time_s,speedup\nring,2,"));
  try {
    find_column("sped");
    FAIL("accepted");
  } catch (const std::invalid_argument& error) {
    CHECK(says(error.what(), "\"sped\" is no column; allowed: workers, "));
  }
}

TEST_CASE("columns without any value are left out of CSV unless asked for") {
  const Report report = Example({{{16, 28, 48}, {15, 29, 58}}}).report;
  const std::string all = to_csv(report), some = to_csv(report, {.with_empty = false});
  CHECK(says(all, ",mfu,"));
  CHECK_FALSE(says(some, ",mfu,"));
  CHECK(says(some, ",step_time_s,"));
}

TEST_CASE("the answer in a sentence") {
  // Ring wins with 2 workers, the server with 4 and 8; the server's speedup on 8 is 58/10.
  CHECK(Example({{{16, 28, 48}, {15, 29, 58}}}).sentence() ==
        "ring is the fastest at 2 workers, server from 4 workers on; 5.8x on 8 workers");
  CHECK(Example({{{16, 30, 60}, {15, 29, 58}}}).sentence() == "ring is the fastest everywhere; 6x on 8 workers");
  // Equal scores are won by both, so the server's reign goes on.
  CHECK(Example({{{16, 29, 58}, {16, 29, 58}}}).sentence() == "ring is the fastest everywhere; 5.8x on 8 workers");
  CHECK(Example({{{16, 28, 60}, {15, 29, 58}}}).sentence() ==
        "ring is the fastest at 2 workers, server at 4 workers, ring from 8 workers on; 6x on 8 workers");

  // A point that does not fit its device wins nothing.
  Example large({{{16, 30, 60}, {15, 29, 58}}});
  for (std::size_t i = 0; i < 3; ++i) large.report.points[i].lacks_memory = "of its 16 GB";
  CHECK(large.sentence() == "server is the fastest everywhere; 5.8x on 8 workers");
  for (PointReport& point : large.report.points) point.lacks_memory = "of its 16 GB";
  CHECK(large.sentence() == "no point fits into the memory of its device");

  // A failed point leaves its case to the others.
  Example failed({{{16, 30, 60}, {15, 29, 58}}});
  failed.report.points.erase(failed.report.points.begin() + 2);
  failed.report.failed.push_back({2, failed.study.points[2].coordinates, "too large"});
  CHECK(failed.sentence() == "ring is the fastest up to 4 workers, server from 8 workers on; 5.8x on 8 workers");

  // Without alternatives the best point; of one point its step, 8 samples/(80 samples/s) = 100 ms.
  Example scaling({{{16, 30, 80}, {15, 29, 58}}});
  scaling.study.points.resize(3);
  scaling.report.points.resize(3);
  scaling.study.axis_pointers[0] = "/workload";
  CHECK(scaling.sentence() ==
        "variant ring, workers 8 is the fastest: 100 ms a step, 8x, 0.0 % of it exposed communication");
  scaling.study.points.erase(scaling.study.points.begin(), scaling.study.points.begin() + 2);
  scaling.report.points.erase(scaling.report.points.begin(), scaling.report.points.begin() + 2);
  CHECK(scaling.sentence() == "100 ms a step, 8x, 0.0 % of it exposed communication");
  scaling.report.points.clear();
  CHECK(scaling.sentence().empty());
}

TEST_CASE("two axes decide together: the number of cases that each wins") {
  Example both({{{16, 30, 48}, {15, 29, 58}}});
  // The same again on another link, where the server wins with 2 workers alone.
  const Example other({{{16, 30, 60}, {17, 29, 58}}});
  Study study = both.study;
  Report report = both.report;
  study.axes.emplace_back("bandwidth");
  study.axis_pointers.emplace_back("/cluster/link/bandwidth");
  study.axis_values.push_back({"10Gbps", "25Gbps"});
  for (std::size_t i = 0; i < 6; ++i) {
    study.points[i].coordinates.push_back({"bandwidth", "10Gbps"});
    study.points.push_back(other.study.points[i]);
    study.points.back().coordinates.push_back({"bandwidth", "25Gbps"});
    report.points.push_back(other.report.points[i]);
  }
  // Ring: 2 and 4 workers of the first, 4 and 8 of the second.
  CHECK(answer_sentence(study, report) == "ring is the fastest in 4 of 6 cases, server in 2");
}

TEST_CASE("axes keep their types in files, and quantities have a twin in SI units") {
  Study study;
  study.axes = {"workers", "bandwidth", "group_size", "latency", "mixed"};
  study.axis_values = {{"2", "4"}, {"10Gbps", "auto"}, {"auto", "8"}, {"25us"}, {"1s", "1B"}};
  CHECK(suffixes(axis_units(study)) == Texts{"", "_B_per_s", "", "_s", ""});
  Report report;
  report.axes = study.axes;
  report.axis_units = axis_units(study);
  report.points = {
      report_at({{"workers", "4"}, {"bandwidth", "10Gbps"}, {"group_size", "8"}, {"latency", "25us"}}, 4, 1)};
  report.points.push_back(report.points.front());
  report.points.back().coordinates = {
      {"workers", "2"}, {"bandwidth", "auto"}, {"group_size", "auto"}, {"mixed", "0.5"}};
  const Json points = report_document(report, {})["points"];
  CHECK(points[0]["workers"] == 4);
  CHECK(points[0]["workers"].is_number_integer());
  CHECK(points[0]["bandwidth"] == "10Gbps");
  CHECK(points[0]["bandwidth_B_per_s"] == 1.25e9);  // 10e9 / 8
  CHECK(points[0]["group_size"] == 8);
  CHECK(points[0]["latency_s"] == parse_quantity<Seconds>("25us").si());
  CHECK(points[0]["mixed"].is_null());
  CHECK(points[1]["bandwidth_B_per_s"].is_null());
  CHECK(points[1]["group_size"] == "auto");
  CHECK(points[1]["mixed"] == 0.5);
  CHECK(to_csv(report).starts_with("workers,bandwidth,group_size,latency,mixed,bandwidth_B_per_s,latency_s,"));
  // Shards find the units by the names of their columns.
  CHECK(suffixes(axis_units_in({"workers", "bandwidth", "bandwidth_B_per_s", "strategy"}, 2)) == Texts{"", "_B_per_s"});
  CHECK(suffixes(axis_units_in({"workers", "bandwidth", "strategy"}, 2)) == Texts{"", ""});
}

TEST_CASE("each note's text is once in JSON, by its code") {
  Report report;
  report.points = {report_at({}, 2, 1), report_at({}, 4, 1), report_at({}, 4, 1)};
  report.points[0].notes = {{NoteCode::gathered_messages, "gets 1 message"}, {NoteCode::passes, "passes"}};
  report.points[1].notes = {{NoteCode::gathered_messages, "gets 3 messages"}};
  report.points[2].notes = report.points[1].notes;
  const Json document = report_document(report, {});
  CHECK(document["points"][0]["notes"] == Json({"gathered-messages", "passes"}));
  CHECK(document["points"][1]["notes"] == Json({"gathered-messages.2"}));
  CHECK(document["points"][2]["notes"] == Json({"gathered-messages.2"}));
  CHECK(document["notes"] == Json{{"gathered-messages", "gets 1 message"},
                                  {"passes", "passes"},
                                  {"gathered-messages.2", "gets 3 messages"}});
  CHECK(says(to_csv(report), ",gathered-messages; passes\n"));
}
