// Training runs: steps per epoch, phases, one-off costs, time to an accuracy.
#include "models/describe/json.hpp"
#include "models/report/run_time.hpp"
#include "models/scenario/library.hpp"
#include "models/study/expansion.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/property.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

TrainingRun two_phases() {
  TrainingRun run;
  run.samples = 1000;
  run.phases = {{"warm-up", 2, Json::object(), {}},
                {"rest", 3, Json::object(), OneOffCost{"SVD", 5_s, Evidence::measured, "test"}}};
  return run;
}

Scenario last_phase(const Compressor& compressor) {
  Scenario scenario;
  scenario.compressor = compressor;
  return scenario;
}

}  // namespace

TEST_CASE("phases add up, an epoch's last step may be part-filled") {
  // 1000 samples in steps of 64: 16 steps; in steps of 250: 4 steps. 2·16·0.5 s = 16 s; 5 s + 3·4·2 s = 29 s.
  const RunReport report = make_run_report(two_phases(), {{0.5_s, 64}, {2_s, 250}}, last_phase(NoCompressor{}));
  REQUIRE(report.phases.size() == 2);
  CHECK(report.phases[0].steps_per_epoch == 16);
  CHECK(report.phases[1].steps_per_epoch == 4);
  require_close(16.0, report.phases[0].time.si(), 1e-12, "warm-up");
  require_close(29.0, report.phases[1].time.si(), 1e-12, "rest, with its one-off cost");
  require_close(45.0, report.time.si(), 1e-12, "run");
  CHECK_FALSE(report.to_target);
}

TEST_CASE("time to an accuracy is known only for methods in the table") {
  TrainingRun run = two_phases();
  run.target = AccuracyTarget{
      "loss 1", {{"none", {}, 4, Evidence::measured, "test"}, {"top-k", {}, 9, Evidence::measured, "test"}}};
  const std::vector<PhaseStep> steps{{0.5_s, 64}, {2_s, 250}};
  // Four epochs: 16 s of warm-up, 5 s, and two epochs of 8 s.
  const RunReport plain = make_run_report(run, steps, last_phase(NoCompressor{}));
  REQUIRE(plain.to_target);
  require_close(37.0, plain.to_target->si(), 1e-12, "four epochs");
  CHECK_THAT(plain.target, ContainsSubstring("loss 1 after 4 epochs (measured: test)"));
  // More epochs than the run has, and a method nobody measured.
  CHECK_FALSE(make_run_report(run, steps, last_phase(TopK{})).to_target);
  CHECK_THAT(make_run_report(run, steps, last_phase(TopK{})).target, ContainsSubstring("which the run does not have"));
  // A run of several compressors is in the table by all their kinds.
  Scenario both = last_phase(TopK{});
  both.other_compressors = std::vector<OtherCompressor>{{{"fc.*"}, PowerSgd{}}, {{"*.bias"}, TopK{.ratio = 0.1}}};
  CHECK(make_run_report(run, steps, both).target.empty());
  run.target->methods.push_back({"top-k+powersgd", {}, 4, Evidence::measured, "test"});
  CHECK(make_run_report(run, steps, both).to_target == plain.to_target);
  const RunReport unknown = make_run_report(run, steps, last_phase(RandomK{}));
  CHECK_FALSE(unknown.to_target);
  CHECK(unknown.target.empty());
}

TEST_CASE("measurements of a variant count for that variant alone") {
  TrainingRun run = two_phases();
  run.target = AccuracyTarget{"loss 1",
                              {{"none", "pufferfish", 3, Evidence::measured, "test"},
                               {"none", "vanilla", 4, Evidence::measured, "test"},
                               {"top-k", {}, 5, Evidence::measured, "test"}}};
  const auto time = [&](const Compressor& compressor, std::optional<std::string> variant) {
    Scenario last = last_phase(compressor);
    WorkloadTable table;
    if (variant) table.variant = WorkloadVariant{*variant, {}, Factorize{}};
    last.workload = std::make_shared<const WorkloadTable>(table);
    return make_run_report(run, {{0.5_s, 64}, {2_s, 250}}, last).to_target;
  };
  // Three epochs: 16 s of warm-up, 5 s, and one of 8 s; four: two of 8 s; five: three. A workload without variant is
  // vanilla.
  require_close(29.0, time(NoCompressor{}, "pufferfish").value().si(), 1e-12, "the first method");
  require_close(37.0, time(NoCompressor{}, "vanilla").value().si(), 1e-12, "the second");
  require_close(37.0, time(NoCompressor{}, {}).value().si(), 1e-12, "no variant");
  CHECK_FALSE(time(NoCompressor{}, "other"));
  require_close(45.0, time(TopK{}, "other").value().si(), 1e-12, "any variant");
}

TEST_CASE("a run of one phase is epochs times steps times step time") {
  property("any run", [] {
    TrainingRun run;
    run.samples = integer_between(1, 1000000);
    run.phases = {{"all", integer_between(1, 100), Json::object(), {}}};
    const int per_step = integer_between(1, 5000);
    const double step = positive_between(1e-4, 10);
    const RunReport report = make_run_report(run, {{Seconds(step), per_step}}, last_phase(NoCompressor{}));
    // Every sample is seen, and no step is empty.
    RC_ASSERT(report.phases[0].steps_per_epoch * per_step >= *run.samples);
    RC_ASSERT((report.phases[0].steps_per_epoch - 1) * per_step < *run.samples);
    assert_close(run.phases[0].epochs * static_cast<double>(report.phases[0].steps_per_epoch) * step, report.time.si(),
                 1e-12, "time");
  });
}

TEST_CASE("a data set may be given in tokens, and a run without phases is one epoch") {
  const auto read = [](const char* run) {
    const std::string text = fmt::format(
        R"({{"name": "s", "workload": {{"from": "llama-2-7b", "profile": "h100"}}, "cluster": {{"workers": 4, "link": {{"bandwidth": "1Gbps"}}}}, "run": {}}})",
        run);
    return parse_study(text, "test", {}, default_library()).points.front();
  };
  const StudyPoint tokens = read(R"({"tokens": 1e6})");
  REQUIRE(tokens.phases.size() == 1);
  CHECK(tokens.scenario.run->phases.front().epochs == 1);
  // Steps of 4 workers' sequences of 4096 tokens, 16,384, make 61.04 of a million.
  const RunReport report = make_run_report(*tokens.scenario.run, {{1_s, 4 * 4096}}, tokens.scenario);
  CHECK(report.phases.front().steps_per_epoch == 62);
}

TEST_CASE("each phase is the scenario with its own changes; the baseline has phases of its own") {
  const char* text = R"({
    "name": "run", "workload": {"name": "w", "batch": 10, "forward": "1ms", "gradients": [{"name": "a", "elements": 9, "gap": "1ms"}]},
    "cluster": {"workers": 4, "link": {"bandwidth": "1Gbps"}},
    "run": {"samples": 100, "phases": [{"name": "a", "epochs": 1, "set": {"/workload/batch": 20}}, {"name": "b", "epochs": 2, "set": {"/compressor": {"kind": "ratio", "ratio": 4}}}]},
    "baseline": {"name": "one phase", "set": {"/run/phases": [{"name": "all", "epochs": 3}]}}
  })";
  const Study study = parse_study(text, "test", {}, default_library());
  REQUIRE(study.points.size() == 1);
  const StudyPoint& point = study.points.front();
  REQUIRE(point.phases.size() == 2);
  CHECK(point.phases[0].workload->batch == 20);
  CHECK(point.phases[1].workload->batch == 10);
  CHECK(std::holds_alternative<RatioCompressor>(point.phases[1].compressor));
  CHECK(std::holds_alternative<NoCompressor>(point.phases[0].compressor));
  REQUIRE(point.phases_of_baseline().size() == 1);
  CHECK(point.baseline()->run->phases.front().epochs == 3);
}
