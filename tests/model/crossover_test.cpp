// The texts of a crossover: as text, CSV and JSON.
#include "models/describe/json.hpp"
#include "models/search/crossover.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "tests/support/catch.hpp"

using namespace stepcast;

namespace {

Crossovers crossovers_of(const AxisRange& range, std::size_t grid,
                         const std::vector<std::function<double(double)>>& scores) {
  Crossovers c;
  c.name = "made up";
  c.axis = "bandwidth";
  c.pointer = "/cluster/link/bandwidth";
  c.range = range;
  c.grid = grid;
  c.arrangement.situation_axes = {"workers"};
  c.arrangement.alternative_axes = {"compressor"};
  c.arrangement.situations = {{{"workers", "4"}}};
  for (const char* name : {"none", "fp16", "top-k"}) c.arrangement.alternatives.push_back({{"compressor", name}});
  c.situations.push_back(
      {c.arrangement.situations[0], {0, 1, 2}, CrossoverSearch(range, grid_values(range, grid), 3, 0)});
  CrossoverSearch& search = c.situations[0].search;
  for (auto requests = search.requests(); !requests.empty(); requests = search.requests()) {
    std::vector<double> answers;
    for (const auto& [alternative, value] : requests) answers.push_back(scores.at(alternative)(value));
    search.answer(requests, answers);
  }
  c.situations[0].stack.resize(3);
  c.notes = {{NoteCode::estimate, "all of it is made up"}};
  return c;
}

/// In Gb/s: fp16 pays up to 4 Gb/s, and is twice as fast at 1. Top-k pays from 25 Gb/s on; its 2 is the square root of
/// 100/25.
Crossovers of_bandwidths() {
  const double unit = 1e9 / 8;
  return crossovers_of(parse_axis_range("1Gbps..100Gbps"), 25,
                       {[](double) { return 100.0; }, [=](double b) { return 200 / std::sqrt(b / unit); },
                        [=](double b) { return 20 * std::sqrt(b / unit); }});
}

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("the text: the metric, the field and the reference; one row an alternative") {
  const std::string text = to_text(of_bandwidths());
  INFO(text);
  CHECK(text.starts_with(
      "made up: throughput by the equations, along bandwidth from 1 Gb/s to 100 Gb/s\ncompared with compressor none\n"));
  // 100 in 24 steps: 100^(1/24) = 1.2115.
  CHECK(says(
      text,
      "two of them between neighbours of the 25 values looked at first, 1.21 times\napart, are not seen: --grid N looks at more"));
  CHECK(says(text, "\n4        none        is the reference                     4 Gb/s to 25 Gb/s\n"));
  CHECK(says(text, "\n4        fp16        up to 4 Gb/s        2x  at 1 Gb/s    up to 4 Gb/s\n"));
  CHECK(says(text, "\n4        top-k       from 25 Gb/s        2x  at 100 Gb/s  from 25 Gb/s\n"));
  CHECK(text.ends_with("note: all of it is made up\n"));
}

TEST_CASE("the text names the stack's part where there is one") {
  Crossovers c = of_bandwidths();
  c.situations[0].stack[1] = {0.03, 0.18};
  const std::string text = to_text(c);
  INFO(text);
  CHECK(says(text, "stack: its part of the step"));
  CHECK(says(text, "  3.0 % .. 18.0 %\n"));
  CHECK_FALSE(says(to_text(of_bandwidths()), "stack"));
}

TEST_CASE("whole numbers: the last and the first, each alone where there is one") {
  const Crossovers c =
      crossovers_of(parse_axis_range("2..9"), 64,
                    {[](double) { return 1.0; }, [](double v) { return v == 2 || v == 4 || v >= 7 ? 2.0 : 0.5; },
                     [](double) { return 0.25; }});
  const std::string text = to_text(c);
  INFO(text);
  CHECK(says(text, "\nevery value was evaluated\n"));
  CHECK(says(text, "fp16        2, 4, from 7         2x  at 2  2, 4, from 7\n"));
  CHECK(says(text, "none        is the reference               3, 5 to 6\n"));
  CHECK(says(text, "top-k       never             0.25x  at 2  -\n"));
  CHECK(says(to_csv(c), "\n4,fp16,pays,7,9,2,2\n"));
}

TEST_CASE("only equal scores are shown as 1x") {
  const std::string text = to_text(
      crossovers_of(parse_axis_range("2..9"), 64,
                    {[](double) { return 1.0; }, [](double) { return 0.99998; }, [](double) { return 1 + 1e-12; }}));
  INFO(text);
  CHECK(says(text, "never             0.99998x  at 2  -\n"));
  CHECK(says(text, "never                   1x  at 2  -\n"));
}

TEST_CASE("the CSV has a line for each interval, in SI") {
  const std::string csv = to_csv(of_bandwidths());
  INFO(csv);
  CHECK(csv.starts_with(
      "workers,compressor,holds,bandwidth_from_B_per_s,bandwidth_to_B_per_s,speedup_at_from,speedup_at_to\n"));
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 6);  // the header; none: fastest; the others: pays and fastest
  CHECK(says(csv, "\n4,fp16,pays,125000000,"));
  CHECK(says(csv, "\n4,none,fastest,"));
  CHECK(!says(csv, "none,pays"));
}

TEST_CASE("the JSON has the intervals and all evaluated values") {
  const Json json = crossover_document(of_bandwidths(), Json::object());
  CHECK(json["worth"] == "throughput_samples_per_s");
  CHECK(json["along"]["si_unit"] == "B_per_s");
  CHECK(json["reference"]["compressor"] == "none");
  const Json& fp16 = json["situations"][0]["alternatives"][1];
  CHECK(fp16["pays"][0]["to"].get<double>() == Approx(0.5e9).epsilon(1e-4));
  CHECK(fp16["worths"].size() >= 25);
  for (const Json& pair : fp16["worths"])
    CHECK(pair[1].get<double>() == Approx(200 / std::sqrt(pair[0].get<double>() * 8e-9)).epsilon(1e-12));
  CHECK(fp16["most"]["speedup"] == 2.0);
  CHECK(json["notes"].size() == 1);
}
