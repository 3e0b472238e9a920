// The texts of a report beside its numbers: the baseline, the difference of the evaluators, and notes.
#include <algorithm>
#include <deque>

#include "models/describe/json.hpp"
#include "models/equation/evaluate.hpp"
#include "models/report/report.hpp"
#include "models/scenario/library.hpp"
#include "models/strategy/builder.hpp"
#include "models/study/expansion.hpp"
#include "tests/support/catch.hpp"

using namespace stepcast;

namespace {

Study study_of(const std::string& text, const std::vector<std::string>& sets = {}) {
  std::vector<Override> changes;
  for (const std::string& set : sets) changes.push_back(parse_override(set));
  return parse_study(text, "report.json", changes, default_library());
}

/// A point's report; where equations cannot tell, of a step of 1 s.
PointReport report_of(const StudyPoint& point, bool random = false) {
  std::deque<Workload> workloads;
  const auto answered = [&](const Scenario& scenario) -> Answered {
    workloads.push_back(make_workload(scenario));
    const CachedPrices prices(scenario.cluster);
    const StepGraph graph = build_step_graph(scenario, workloads.back(), prices);
    Answers answers;
    if (graph.asynchronous) {
      answers.replay = StepForecast{};
      answers.replay->step = Seconds(1);
    } else {
      answers.equations = evaluate(graph, prices);
    }
    if (random) answers.equations->distribution = Distribution{400, Seconds(1), Seconds(1), Seconds(1), Seconds(1)};
    return {workloads.back(), answers};
  };
  const Scenario& scenario = point.scenario;
  const CachedPrices prices(scenario.cluster);
  const StepGraph graph = build_step_graph(scenario, make_workload(scenario), prices);
  const Answered own = answered(scenario);
  AnsweredPoint all{own, graph, summarise(scenario, graph, prices), {}, {}, {}, {}, {}, {}};
  SidedWorkloads sides;
  all.band = error_band(scenario, graph, prices, {}, own.answers.shown().step, sides);
  for (const Scenario& phase : point.phases) all.phases.push_back(answered(phase));
  if (point.baseline()) all.baseline.emplace(answered(*point.baseline()));
  for (const Scenario& phase : point.phases_of_baseline()) all.baseline_phases.push_back(answered(phase));
  return make_point_report(point, all);
}

bool notes(const PointReport& report, const std::string& text) {
  return std::any_of(report.notes.begin(), report.notes.end(),
                     [&](const Note& note) { return note.text.find(text) != std::string::npos; });
}

constexpr const char* kMeasured =
    R"({"name": "s", "workload": "resnet50-v100", "cluster": {"workers": 4, "link": {"bandwidth": "10Gbps"}}})";
constexpr const char* kShapes =
    R"({"name": "s", "workload": {"from": "resnet50", "profile": "v100-datasheet", "batch": 32}, "cluster": {"workers": 4, "link": {"bandwidth": "10Gbps"}}})";

}  // namespace

TEST_CASE("a fitted cluster's collectives of another algorithm or other sizes have a note") {
  // resnet50-v100's gradients are of 4·25,557,032 bytes, 102.2 MB, and its smallest ones of 64 elements, 256 B.
  const auto report = [](const char* algorithm, const char* from, const char* to, const char* grouping,
                         const char* fitted = R"("ring")") {
    const std::string fit = std::string(R"({"source": "a.txt", "benchmark": "b", "algorithm": )") + fitted +
                            R"(, "from": ")" + from + R"(", "to": ")" + to +
                            R"(", "latency": "1us", "latency_low": "1us", "latency_high": "1us",
                                "bandwidth": null, "bandwidth_low": null, "bandwidth_high": null})";
    return report_of(
        study_of(kMeasured, {"/cluster/fits=[" + fit + "]", "/strategy/kind=all-reduce", "/cluster/link/latency=25us",
                             std::string("/strategy/collective/algorithm=") + algorithm,
                             std::string("/strategy/exchange/grouping=") + grouping})
            .points[0]);
  };
  constexpr const char* kOther =
      "/cluster/fits: the links were fitted with ring; collectives by halving-doubling are a guess for them; set /strategy/collective/algorithm to ring";
  constexpr const char* kSizes = "/cluster/fits: the links were fitted on";
  CHECK(notes(report("auto", "1kB", "1GB", "whole-model"), kOther));
  CHECK_FALSE(notes(report("ring", "1kB", "1GB", "whole-model"), "/cluster/fits"));
  CHECK(notes(report("ring", "1kB", "16kB", "whole-model"),
              "/cluster/fits: the links were fitted on 1 kB to 16 kB; this sends 102.2 MB"));
  CHECK(notes(report("ring", "1MB", "1GB", "per-tensor"), "1 MB to 1 GB; this sends 256 B to "));
  // A line goes on for a while: to twice 60 MB, and half of 200 MB.
  CHECK_FALSE(notes(report("ring", "1kB", "60MB", "whole-model"), kSizes));
  CHECK(notes(report("ring", "1kB", "50MB", "whole-model"), kSizes));
  CHECK_FALSE(notes(report("ring", "200MB", "1GB", "whole-model"), kSizes));
  CHECK(notes(report("ring", "210MB", "1GB", "whole-model"), kSizes));
  // Messages point to point are of no algorithm.
  CHECK_FALSE(notes(report("auto", "1kB", "16kB", "whole-model", "null"), "/cluster/fits"));
}

TEST_CASE("steps that are equal do not differ, also where both are 0") {
  const auto difference = [](double equations, double replay) {
    Answers answers;
    answers.equations = StepForecast{};
    answers.replay = StepForecast{};
    answers.equations->step = Seconds(equations);
    answers.replay->step = Seconds(replay);
    return *answers.difference();
  };
  CHECK(difference(0, 0) == 0);
  CHECK(difference(2, 2) == 0);
  CHECK(difference(2, 3) == 0.5);
}

TEST_CASE("the default baseline says whose network computes alone") {
  CHECK(default_baseline(study_of(kMeasured, {"/cluster/workers=[1, 2]"}).points) == "one worker computing alone");
  CHECK(default_baseline(study_of(kMeasured, {"/workload=[\"resnet50-v100\", \"vgg16-v100\"]"}).points) ==
        "one worker computing alone, each row's own network");
  CHECK(default_baseline(study_of(kMeasured, {"/workload/dtype=[\"fp32\", \"fp16\"]"}).points) ==
        "one worker computing alone, each row's own network");
  CHECK(default_baseline(study_of(kShapes, {"/workload/variant=[\"vanilla\", \"pufferfish\"]"}).points) ==
        "one worker computing alone, each row's own network");
  CHECK(default_baseline(study_of(kShapes, {"/workload/batch=[32, 64]"}).points) ==
        "one worker computing alone, at each row's own batch");
  CHECK(default_baseline(study_of(kShapes, {"/workload/batch=[32, 64]", "/workload/accumulation=[1, 2]",
                                            "/workload/recomputation=[\"none\", \"blocks\"]"})
                             .points) ==
        "one worker computing alone, at each row's own batch, accumulation and recomputation");
  CHECK(default_baseline(study_of(kShapes, {"/workload/global_batch=[1024, 2048]"}).points) ==
        "one worker computing alone, at each row's own accumulation");
  CHECK(default_baseline(study_of(kMeasured, {"/workload/batch=[32, 64]"}).points) ==
        "one worker computing alone, at each row's own batch");
}

TEST_CASE("a step of several passes counts the samples of all") {
  const Study study = study_of(kMeasured, {"/workload/accumulation=[1, 4]"});
  const PointReport once = report_of(study.points[0]), report = report_of(study.points[1]);
  const double step = report.answers.shown().step.si(), f_b_u = 0.097;  // the step of resnet50-v100
  const double update = make_workload(*study.points[0].scenario.workload).update.si(),
               alone = 4 * (f_b_u - update) + update;
  CHECK(report.samples_per_second == Approx(4 * 4 * 32 / step));
  // One worker alone accumulates as well: 128 samples in 4·(f + b) + u.
  CHECK(*report.speedup == Approx(4 * alone / step));
  CHECK(*report.scaling_efficiency == Approx(alone / step));
  // Three more forward and backward passes in a step, and nothing else.
  CHECK(step == Approx(once.answers.shown().step.si() + 3 * (f_b_u - update)));
  // An axis has one note for all of its points.
  for (const PointReport& one : {once, report})
    CHECK(notes(one, "with accumulation, a step has that many passes of a batch each"));
  CHECK(notes(report_of(study_of(kMeasured, {"/workload/accumulation=4"}).points[0]),
              "with accumulation 4 a step is 4 passes of batch 32: 128 samples a worker"));
  CHECK_FALSE(notes(report_of(study_of(kMeasured).points[0]), "accumulation"));
  CHECK(default_baseline(study.points) == "one worker computing alone, at each row's own accumulation");
  CHECK(default_baseline(study_of(kMeasured, {"/workload/accumulation=[1, 4]", "/workload/batch=[32, 64]"}).points) ==
        "one worker computing alone, at each row's own batch and accumulation");
  // Against a given baseline throughputs are compared, not steps.
  const PointReport against =
      report_of(study_of(kMeasured, {"/workload/accumulation=4",
                                     "/baseline={\"name\": \"b\", \"set\": {\"/workload/accumulation\": 1}}"})
                    .points[0]);
  CHECK(*against.speedup == Approx(4 * once.answers.shown().step.si() / step));
  CHECK(*against.speedup > 1);
}

TEST_CASE("a global batch is shared out among each point's workers") {
  // 4096 samples on 4 and 256 workers, at most 32 a pass: 32 passes of 32, one pass of 16. Times follow the passes.
  const Study study = study_of(kShapes, {"/workload/global_batch=4096", "/cluster/workers=[4, 256]",
                                         "/baseline={\"name\": \"one\", \"set\": {\"/cluster/workers\": 1}}"});
  const PointReport few = report_of(study.points[0]), many = report_of(study.points[1]);
  CHECK(few.batch == 32);
  CHECK(few.accumulation == 32);
  CHECK(many.batch == 16);
  CHECK(many.accumulation == 1);
  for (const PointReport* report : {&few, &many}) {
    CHECK(report->samples_per_second == Approx(4096 / report->answers.shown().step.si()));
    CHECK(*report->global_batch == 4096);
  }
  const auto same = [](const char* passes) {
    return report_of(study_of(kShapes, {passes, "/workload/batch=16", "/cluster/workers=256"}).points[0])
        .answers.shown()
        .step;
  };
  CHECK(many.answers.shown().step == same("/workload/accumulation=1"));
  CHECK(few.memory->activations == Bytes(32 * 85921512.0));
  CHECK(many.memory->activations == Bytes(16 * 85921512.0));
  // One worker takes 128 passes of 32.
  CHECK(study.points[1].baseline()->workload->accumulation == 128);
  // The document has the written values, so that it may be given other workers.
  const Json again = to_json(study.points[1].scenario)["workload"];
  CHECK(again["batch"] == 32);
  CHECK(again["accumulation"] == 1);
  CHECK(again["global_batch"] == 4096);
  // A table of times has whole batches alone.
  CHECK(report_of(study_of(kMeasured, {"/workload/global_batch=512"}).points[0]).accumulation == 4);
  CHECK_THROWS_WITH(study_of(kMeasured, {"/workload/global_batch=64"}),
                    ContainsSubstring("64 for 4 workers, passes of 16, and times of 32"));
}

TEST_CASE("an epoch of accumulated steps has fewer of them") {
  // 12,800 samples on 4 workers: 100 steps of 4·32, or 25 of 4·4·32.
  const std::string run =
      R"(/run={"samples": 12800, "phases": [{"name": "a", "epochs": 1}, {"name": "b", "epochs": 1, "set": {"/workload/accumulation": 4}}]})";
  const StudyPoint point = study_of(kMeasured, {run}).points[0];
  const RunReport report = *report_of(point).run;
  CHECK(report.phases[0].steps_per_epoch == 100);
  CHECK(report.phases[1].steps_per_epoch == 25);
}

TEST_CASE("speedups of points with baselines of their own are against each row's own") {
  const auto baseline = [](const char* name) {
    return fmt::format(R"({{"name": "{}", "set": {{"/cluster/workers": 2}}}})", name);
  };
  const auto against = [](const std::string& variants) {
    return baseline_of(study_of(kMeasured, {"/variants=" + variants}).points);
  };
  const std::string a = baseline("A"), b = baseline("B");
  CHECK(against(fmt::format(
            R"([{{"name": "x", "set": {{"/baseline": {0}}}}}, {{"name": "y", "set": {{"/baseline": {0}}}}}])", a)) ==
        "A");
  CHECK(
      against(fmt::format(
          R"([{{"name": "x", "set": {{"/baseline": {}}}}}, {{"name": "y", "set": {{"/baseline": {}}}}}, {{"name": "z", "set": {{}}}}])",
          a, b)) == "each row's own of A; B; one worker computing alone");
}

TEST_CASE("layer times of another GPU than the cluster's have a note") {
  const auto is_noted = [](const std::vector<std::string>& sets) {
    return notes(report_of(study_of(kShapes, sets).points[0]), "layer times are those of V100");
  };
  CHECK_FALSE(is_noted({}));
  CHECK(is_noted({"/cluster/gpu=h100-datasheet"}));
  CHECK(is_noted({R"(/cluster={"from": "dgx-h100", "workers": 16})"}));
  CHECK_FALSE(is_noted({R"(/cluster={"from": "dgx-h100", "workers": 16, "gpu": null})"}));
  CHECK_FALSE(is_noted({"/cluster/gpu=v100-datasheet"}));
  CHECK_FALSE(is_noted({"/cluster/gpu=h100-datasheet", "/workload/profile=h100"}));  // another profile of it
  const StudyPoint timed = study_of(kMeasured, {"/cluster/gpu=h100-datasheet"}).points[0];
  CHECK_FALSE(notes(report_of(timed), "/cluster/gpu"));
}

TEST_CASE("an implementation's times of a compressor are noted, and methods that it lacks") {
  // V100 workers, codecs of an H200. `ratio` has its own costs.
  const auto is_noted = [](const std::string& compressor, const std::string& device, const std::string& text) {
    return notes(report_of(study_of(kShapes, {"/compressor=" + compressor, "/codec/device=" + device}).points[0]),
                 text);
  };
  const std::string timed =
      "the codec of qsgd takes the times that pytorch-h200 has of it, fitted, whatever its parameters";
  CHECK(is_noted("qsgd", "pytorch-h200", timed + "; they are of H200, and the workers are V100"));
  CHECK_FALSE(is_noted("qsgd", "pytorch-h200", "up to twenty times"));
  CHECK(is_noted("powersgd", "pytorch-h200", "transferred, whatever its parameters but the rank; they"));
  CHECK(is_noted("wangni", "pytorch-h200", "pytorch-h200 has times of some compressors, but none of wangni"));
  CHECK(is_noted("wangni", "pytorch-h200", "up to twenty times"));
  CHECK_FALSE(is_noted("wangni", "v100-datasheet", "has times of"));
  CHECK_FALSE(is_noted(R"({"kind": "ratio", "ratio": 4, "encode_cost": "1ns/B"})", "pytorch-h200", "has times of"));
  CHECK(is_noted("top-k", "grace-tensorflow-v100", "the times that grace-tensorflow-v100 has of it"));
  CHECK_FALSE(is_noted("top-k", "grace-tensorflow-v100", "and the workers are"));
}

TEST_CASE("greedy shards that hold nothing are noted") {
  const auto note = [](int shards) {
    const std::string table = R"({"name": "w", "batch": 4, "forward": "8ms", "backward": "16ms",
        "gradients": [{"name": "a", "elements": 2000000}, {"name": "b", "elements": 500000}]})";
    const std::string server =
        fmt::format(R"({{"kind": "parameter-server", "shards": {}, "balance": "greedy"}})", shards);
    const PointReport report = report_of(study_of(kMeasured, {"/workload=" + table, "/strategy=" + server}).points[0]);
    return notes(report, "2 of 4 shards hold nothing");
  };
  CHECK(note(4));
  CHECK_FALSE(note(2));
}

TEST_CASE("islands have notes of what they do to machines, and of what is not known") {
  const auto report = [](int workers, const std::vector<std::string>& more) {
    std::vector<std::string> sets{
        "/cluster/workers=24",
        R"(/cluster/topology={"kind": "nodes", "gpus_per_node": 4, "inner": {"bandwidth": "100GB/s"}})",
        fmt::format(R"(/strategy={{"kind": "local-sgd", "islands": {{"size": {}}}}})", workers)};
    sets.insert(sets.end(), more.begin(), more.end());
    return report_of(study_of(kMeasured, sets).points[0]);
  };
  CHECK(notes(report(6, {}), "islands of 6 end in the middle of machines of 4 workers"));
  CHECK_FALSE(notes(report(4, {}), "in the middle"));
  CHECK(report(4, {}).estimate.empty());
  CHECK_FALSE(report(4, {}).shares_state);
  CHECK(report(4, {"/strategy/islands/sharding=gradients"}).shares_state);
  CHECK(
      report(4, {"/strategy/averaging_steps=2"}).estimate.find("as if averages in flight met no messages of islands") ==
      0);
  // Jitter: the equations are asked all the same here.
  CHECK(notes(report(4, {"/cluster/jitter={\"distribution\": \"lognormal\", \"cv\": 0.1}"}),
              "real islands wait for others when they average"));
}

TEST_CASE("fragments of local SGD that hold nothing are noted") {
  // The middles of c, b and a are at 0.25, 1.25 and 6 of 10 MB. Thirds end at 3.3 and 6.7 MB, so two have tensors.
  const auto note = [](int fragments, const std::string& text) {
    const std::string table = R"({"name": "w", "batch": 4, "forward": "8ms", "backward": "16ms",
        "gradients": [{"name": "c", "elements": 125000}, {"name": "b", "elements": 375000},
                      {"name": "a", "elements": 2000000}]})";
    const std::string local =
        fmt::format(R"({{"kind": "local-sgd", "steps": 4, "fragments": {}, "grouping": "per-tensor"}})", fragments);
    return notes(report_of(study_of(kMeasured, {"/workload=" + table, "/strategy=" + local}).points[0]), text);
  };
  CHECK(note(3, "1 of 3 fragments are empty: a fragment has whole tensors"));
  CHECK_FALSE(note(2, "fragments are empty"));
  CHECK_FALSE(note(1, "fragments are empty"));
}

TEST_CASE("links without latency are noted where messages take one") {
  const auto is_noted = [](const std::vector<std::string>& sets) {
    return notes(report_of(study_of(kMeasured, sets).points[0]), "/cluster/link/latency is 0");
  };
  CHECK(is_noted({}));
  CHECK_FALSE(is_noted({"/cluster/link/latency=1us"}));
  CHECK_FALSE(is_noted({"/cluster/workers=1"}));
  const std::string nodes =
      R"(/cluster/topology={"kind": "nodes", "gpus_per_node": 4, "inner": {"bandwidth": "100GB/s", "latency": "1us"}})";
  CHECK_FALSE(is_noted({nodes}));
  // Between machines a message has the inner links' latency too; some workers' links may have one of their own.
  CHECK_FALSE(is_noted({nodes, "/cluster/workers=8"}));
  CHECK(is_noted({nodes, "/cluster/workers=8", "/cluster/topology/inner/latency=0us"}));
  CHECK_FALSE(is_noted({R"(/cluster/groups=[{"count": 1, "latency": "1us"}])"}));
}

TEST_CASE("model FLOPs utilization is arithmetic over the sum of peaks") {
  // A token has 12·64² of a block's weights and 2·32·64 of its attention, for two blocks, and 64·1000 of the output.
  // Together they are 170,496 multiply-accumulates with six operations each. Sequences have 32 tokens. An A100 has
  // 312e12 in bf16.
  const PointReport report = report_of(study_of(
                                           R"({"name": "s", "cluster": {"workers": 4, "link": {"bandwidth": "10Gbps"}},
             "workload": {"name": "t", "batch": 8, "dtype": "bf16", "profile": "a100-datasheet",
                          "transformer": {"layers": 2, "hidden": 64, "heads": 2, "vocabulary": 1000, "sequence": 32}}})")
                                           .points[0]);
  const double each = report.samples_per_second / 4;
  CHECK(*report.mfu == Approx(each * 32 * 6 * 170496 / 312e12));
  CHECK(*report.tokens_per_worker == Approx(each * 32));
  // Times alone have no arithmetic.
  CHECK_FALSE(report_of(study_of(kMeasured).points[0]).mfu);
}

TEST_CASE("prices of hosts make costs of samples and of runs") {
  // Four workers at 3 an hour, two dedicated servers at 0.5: 13 an hour. A million samples take 1e6 / throughput.
  const auto report = [](const char* prices, const char* strategy) {
    return report_of(study_of(kMeasured, {prices, strategy}).points[0]);
  };
  constexpr const char *kServers = R"(/strategy={"kind": "parameter-server", "shards": 2})",
                       *kBeside = R"(/strategy={"kind": "parameter-server", "shards": 2, "placement": "co-located"})";
  const PointReport servers = report(R"(/cluster/prices={"worker": 3, "server": 0.5})", kServers);
  CHECK(*servers.cost_per_million == Approx(13 / 3600.0 * 1e6 / servers.samples_per_second));
  const PointReport like_workers = report(R"(/cluster/prices={"worker": 3})", kServers),
                    beside = report(R"(/cluster/prices={"worker": 3, "server": 0.5})", kBeside);
  CHECK(*like_workers.cost_per_million == Approx(18 / 3600.0 * 1e6 / like_workers.samples_per_second));
  CHECK(*beside.cost_per_million == Approx(12 / 3600.0 * 1e6 / beside.samples_per_second));
  CHECK_FALSE(report("/cluster/prices=null", kServers).cost_per_million);
  // A run's phases have strategies of their own, and with two dedicated servers 13 an hour for 12: 100 steps of 4·32
  // samples each.
  const StudyPoint point =
      study_of(
          kMeasured,
          {R"(/cluster/prices={"worker": 3, "server": 0.5})",
           R"(/run={"samples": 12800, "phases": [{"name": "a", "epochs": 1, "set": {"/strategy": {"kind": "parameter-server", "shards": 2}}}, {"name": "b", "epochs": 1}]})"})
          .points[0];
  const RunReport run = *report_of(point).run;
  CHECK(*run.cost == Approx(100 * (run.phases[0].step.si() * 13 + run.phases[1].step.si() * 12) / 3600));
}

namespace {

/// ResNet-50 with 32 samples, on a V100 of so much memory. 25,557,032 parameters in fp32 with gradients and momentum
/// take 306,684,384 bytes. Activations take 85,921,512 a sample (activations_test), 2.749 GB for 32. In all,
/// 3,056,172,768.
PointReport with_memory(const char* memory) {
  return report_of(
      study_of(
          kShapes,
          {fmt::format(
              R"(/workload/profile={{"from": "v100-datasheet", "memory": {{"value": "{}", "evidence": "assumed", "source": "none"}}}})",
              memory)})
          .points[0]);
}

}  // namespace

TEST_CASE("a model that its device cannot hold is marked") {
  const PointReport fits = with_memory("3.0562GB"), lacks = with_memory("3.056GB");
  CHECK(fits.lacks_memory.empty());
  CHECK(fits.memory->total() == Bytes(3056172768));
  CHECK_FALSE(notes(fits, "model state of"));
  CHECK(
      notes(lacks, "model state of 306.7 MB and activations of 2.749 GB is more than the 3.056 GB of v100-datasheet"));
}

TEST_CASE("a device that is nearly full is noted, one with room is not") {
  // 3,056,172,768 bytes are 95.5 % of 3.2 GB and 89.9 % of 3.4 GB.
  CHECK(notes(with_memory("3.2GB"), "95.5 % of the device's memory is needed"));
  CHECK_FALSE(notes(with_memory("3.4GB"), "of the device's memory"));
}

TEST_CASE("a data set in tokens is as long for shorter sequences") {
  // A million tokens on 4 workers, a sequence each: 61.04 steps of 4096, 244.1 of 1024.
  const PointReport report = report_of(
      study_of(
          R"({"name": "s", "workload": {"from": "llama-2-7b", "profile": "h100"}, "cluster": {"workers": 4, "link": {"bandwidth": "100Gbps"}},
              "run": {"tokens": 1e6, "phases": [{"name": "short", "epochs": 1, "set": {"/workload/transformer/sequence": 1024}}, {"name": "long", "epochs": 1}]}})",
          {})
          .points[0]);
  CHECK(report.run->phases[0].steps_per_epoch == 245);
  CHECK(report.run->phases[1].steps_per_epoch == 62);
}

TEST_CASE("a transformer's tokens are counted, and kernels that may not be fused are noted") {
  const auto report = [](const char* network, const char* composed) {
    const std::string text = fmt::format(
        R"({{"name": "s", "workload": {{"from": "{}", "profile": "h100"}}, "cluster": {{"workers": 4, "link": {{"bandwidth": "100Gbps"}}}}}})",
        network);
    return report_of(study_of(text.c_str(), {fmt::format("/workload/transformer/composed={}", composed)}).points[0]);
  };
  const PointReport llama = report("llama-2-7b", "false");
  CHECK(*llama.tokens_per_worker == Approx(llama.samples_per_second * 4096 / 4));
  CHECK(notes(llama, "norms and rotary positions are priced as one kernel each"));
  CHECK_FALSE(notes(report("llama-2-7b", "true"), "norms and rotary positions"));
  // GPT-2's norms have biases, and its positions are a table.
  CHECK(notes(report("gpt2-xl", "false"), "GELUs are priced as one kernel each"));
  CHECK_FALSE(notes(report("gpt2-xl", "false"), "norms and rotary positions"));
  CHECK_FALSE(notes(report("gpt2-xl", "true"), "GELUs"));
}

TEST_CASE("casts that are left out are noted, and a share that may stand in for them") {
  const auto report = [](const char* fields) {
    const std::string text = fmt::format(
        R"({{"name": "s", "workload": {{"from": "bert-base", "profile": "h100", {}}}, "cluster": {{"workers": 4, "link": {{"bandwidth": "100Gbps"}}}}}})",
        fields);
    return report_of(study_of(text.c_str(), {}).points[0]);
  };
  const char* const kLeftOut = "compute in bf16 without casts; if PyTorch's autocast runs them, set /workload/autocast";
  const char* const kShare = "sustained share of 0.596 rests on steps without autocast";
  CHECK(notes(report(R"("dtype": "bf16")"), kLeftOut));
  CHECK_FALSE(notes(report(R"("dtype": "bf16")"), kShare));
  CHECK_FALSE(notes(report(R"("dtype": "bf16", "autocast": true)"), kLeftOut));
  CHECK(notes(report(R"("dtype": "bf16", "autocast": true)"), kShare));
  CHECK_FALSE(notes(report(R"("dtype": "bf16", "compute_dtype": "bf16")"), kLeftOut));
  CHECK_FALSE(notes(report(R"("dtype": "fp32")"), kLeftOut));
}

TEST_CASE("trees that differ in their segments alone are one algorithm") {
  const auto algorithm = [](const char* grouping) {
    return report_of(
               study_of(
                   kMeasured,
                   {"/cluster/link/latency=25us",
                    fmt::format(
                        R"(/strategy={{"kind": "all-reduce", "collective": {{"algorithm": "double-binary-tree"}}, "exchange": {{"grouping": "{}"}}}})",
                        grouping)})
                   .points[0])
        .algorithm;
  };
  // One message of 102 MB, and 161 of 256 B to 9.4 MB.
  CHECK(algorithm("whole-model").starts_with("double-binary-tree ("));
  CHECK(algorithm("whole-model").find(" to ") == std::string::npos);
  CHECK(algorithm("per-tensor").starts_with("double-binary-tree (1 to "));
  CHECK(algorithm("per-tensor").ends_with(" segments)"));
}

TEST_CASE("sharding groups: the report names bytes, algorithms and groups that straddle machines") {
  // 4 machines of 4; n = 4·25557032 B in one unit. In groups of 4: 3/4·n gathered, as much scattered, 2·3/4·n/4
  // between.
  const auto report = [](int workers, int group) {
    return report_of(
        study_of(
            kMeasured,
            {"/cluster/workers=" + std::to_string(workers),
             R"(/cluster/topology={"kind": "nodes", "gpus_per_node": 4, "inner": {"bandwidth": "100GB/s"}})",
             R"(/strategy={"kind": "sharded", "exchange": {"grouping": "whole-model"}, "collective": {"algorithm": "ring"}, "all_reduce": {"algorithm": "ring"}, "group_size": )" +
                 std::to_string(group) + "}"})
            .points.front());
  };
  const PointReport machines = report(16, 4);
  const double n = 4.0 * 25557032;
  CHECK(machines.payload.si() == n);
  CHECK(machines.sent_per_worker.si() == Approx((0.75 + 0.75 + 2 * 0.75 / 4) * n).epsilon(1e-12));
  CHECK(machines.algorithm == "ring between 4 groups+ring inside groups of 4");
  CHECK_FALSE(machines.busbw);  // three operations have none
  CHECK(machines.estimate.empty());
  CHECK(report(16, 16).algorithm == "ring");
  // However many workers there are.
  CHECK(report(4100, 4).estimate.empty());
  constexpr const char* kStraddles =
      "end in the middle of machines of 4 workers; a divisor or a multiple of 4 would not";
  for (const int group : {2, 4, 8, 24}) CHECK_FALSE(notes(report(24, group), kStraddles));
  for (const int group : {3, 6}) CHECK(notes(report(24, group), kStraddles));
}

TEST_CASE("bytes that a worker sends to servers, synchronous or not") {
  // n = 4·25,557,032 B to one dedicated server; with a shard on each of the 4 workers the own quarter stays.
  const double n = 4.0 * 25557032;
  for (const char* consistency : {"synchronous", "asynchronous"}) {
    INFO(consistency);
    const auto report = [&](const char* servers) {
      return report_of(
          study_of(kMeasured, {fmt::format(R"(/strategy={{"kind": "parameter-server", "consistency": "{}", {}}})",
                                           consistency, servers),
                               "/evaluation/evaluator=replay"})
              .points[0]);
    };
    const PointReport dedicated = report(R"("shards": 1)"),
                      co_located = report(R"("shards": 4, "placement": "co-located")");
    CHECK(dedicated.sent_per_worker.si() == Approx(n));
    CHECK(co_located.sent_per_worker.si() == Approx(0.75 * n));
    for (const PointReport& one : {dedicated, co_located}) CHECK(one.message_size.si() == Approx(n));
  }
}

TEST_CASE("bus bandwidths are nccl-tests'") {
  // For 4 ranks, by nccl-tests' doc/PERFORMANCE.md: all-reduce 2(n-1)/n, broadcast 1, the others (n-1)/n. algbw = 64 MB
  // over the step.
  for (const auto& [operation, factor] : {std::pair{"all-reduce", 1.5},
                                          {"all-gather", 0.75},
                                          {"reduce-scatter", 0.75},
                                          {"all-to-all", 0.75},
                                          {"broadcast", 1.0}}) {
    INFO(operation);
    const PointReport report = report_of(
        study_of(kMeasured,
                 {"/workload=null",
                  fmt::format(R"(/strategy={{"kind": "collective", "operation": "{}", "size": "64MB"}})", operation)})
            .points[0]);
    CHECK(report.algbw->si() == Approx(64e6 / report.answers.shown().step.si()));
    CHECK(*report.busbw / *report.algbw == Approx(factor));
  }
}

TEST_CASE("TCP's window is noted where it caps a flow below its link") {
  // Link and cap both lose 3 %: a window of 2·1 ms·1 GB/s = 2 MB is just enough.
  const auto caps = [](const char* window) {
    const PointReport report =
        report_of(study_of(kMeasured, {"/cluster/link/bandwidth=8Gbps", "/cluster/link/latency=1ms",
                                       fmt::format(R"(/cluster/transport={{"kind": "tcp", "window": "{}"}})", window),
                                       "/evaluation/evaluator=replay"})
                      .points[0]);
    return notes(report, "transport tcp caps a flow");
  };
  CHECK(caps("1.98MB"));
  CHECK_FALSE(caps("2.02MB"));
}

TEST_CASE("unlike workers' efficiency is relative to the sum of all working alone") {
  // Three of speed 1 and one of 1/2 do 3.5 times 32 samples in 97 ms.
  const PointReport report =
      report_of(study_of(kMeasured, {R"(/cluster/groups=[{"count": 1, "speed": 0.5}])"}).points[0]);
  CHECK(*report.scaling_efficiency == Approx(report.samples_per_second / (3.5 * 32 / 0.097)));
  CHECK(*report.speedup == Approx(report.samples_per_second / (32 / 0.097)));
}

TEST_CASE("a run is compared with the baseline's run, and marked for the phase that needs most") {
  // 12,800 samples on 4 workers: 100 steps an epoch. Three epochs against ten over slower links.
  const std::string
      run = R"(/run={"samples": 12800, "phases": [{"name": "a", "epochs": 3}]})",
      ten =
          R"(/baseline={"name": "ten", "set": {"/run/phases": [{"name": "a", "epochs": 10}], "/cluster/link/bandwidth": "5Gbps"}})";
  const Seconds slower =
      report_of(study_of(kMeasured, {"/cluster/link/bandwidth=5Gbps"}).points[0]).answers.shown().step;
  const PointReport report = report_of(study_of(kMeasured, {run, ten}).points[0]);
  CHECK(report.run->time.si() == Approx(300 * report.answers.shown().step.si()));
  CHECK(slower > report.answers.shown().step * 1.1);
  CHECK(report.run->speedup.value() == Approx(10.0 / 3 * (slower / report.answers.shown().step)));
  // Parameters, gradients and momentum, 12 bytes for each of Pufferfish's 15,202,344 parameters; DGC keeps two vectors
  // more, 20 bytes.
  const std::string phases =
      R"(/run={"samples": 12800, "phases": [{"name": "a", "epochs": 1, "set": {"/workload/variant": "pufferfish"}},
    {"name": "b", "epochs": 1, "set": {"/workload/variant": "pufferfish", "/compressor": {"kind": "dgc", "ratio": 0.01}}}, {"name": "c", "epochs": 1, "set": {"/workload/variant": "pufferfish"}}]})";
  CHECK(report_of(study_of(kShapes, {phases}).points[0]).memory->model().si() == 20.0 * 15202344);
}

TEST_CASE("the report says that a step of local SGD is a mean") {
  const PointReport report =
      report_of(study_of(kMeasured, {"/strategy={\"kind\": \"local-sgd\", \"steps\": 4}"}).points[0]);
  CHECK(notes(report, "means over the steps from one exchange to the next"));
  // n is a quarter of the parameters' 4·25,557,032 bytes.
  CHECK(report.message_size.si() == Approx(25557032));
  CHECK(report.payload.si() == Approx(25557032));
  // The exchange itself is the whole of it, in the time of the whole.
  CHECK(report.algbw->si() == Approx(report_of(study_of(kMeasured).points[0]).algbw->si()));
  CHECK(report.samples_per_second == Approx(4 * 32 / report.answers.shown().step.si()));
}

TEST_CASE("times as given are noted wherever batch or dtype are others") {
  const std::string batch = "the times of resnet50-v100 stay those of batch 32 at any batch",
                    dtype = "the compute times of resnet50-v100 stay those of fp32 with any dtype";
  const PointReport as_given = report_of(study_of(kMeasured).points[0]),
                    larger = report_of(study_of(kMeasured, {"/workload/batch=64"}).points[0]);
  CHECK_FALSE(notes(as_given, "the times of"));
  CHECK(notes(larger, batch));
  // The note's subject: twice the batch in the same time.
  CHECK(std::abs(larger.samples_per_second / as_given.samples_per_second - 2) < 1e-12);
  CHECK(notes(report_of(study_of(kMeasured, {"/workload={\"from\": \"resnet50-v100\", \"batch\": 64}"}).points[0]),
              batch));
  CHECK(notes(
      report_of(study_of(kMeasured, {"/variants=[{\"name\": \"a\", \"set\": {\"/workload/batch\": 64}}]"}).points[0]),
      batch));
  CHECK(notes(
      report_of(study_of(kMeasured, {"/baseline={\"name\": \"a\", \"set\": {\"/workload/batch\": 64}}"}).points[0]),
      batch));
  CHECK(notes(report_of(study_of(kMeasured, {"/workload/dtype=fp16"}).points[0]), dtype));
  const Study axis = study_of(kMeasured, {"/workload/batch=[32, 64]"});
  CHECK_FALSE(notes(report_of(axis.points[0]), batch));
  CHECK(notes(report_of(axis.points[1]), batch));
  CHECK_FALSE(
      notes(report_of(study_of(kShapes, {"/workload/batch=64", "/workload/dtype=fp16"}).points[0]), "the times of"));
}

TEST_CASE("jitter's note has the standard error of a worker's mean compute time") {
  // 400 samples of 4 workers are 100 steps: 0.2 / sqrt(100) = 2 %.
  StudyPoint point = study_of(kMeasured).points[0];
  point.scenario.cluster.jitter = {JitterDistribution::gamma, 0.2};
  CHECK(notes(report_of(point, true), "by a standard error of 2 %"));
  // With four passes each: 400 draws, half of it.
  StudyPoint passes = study_of(kMeasured, {"/workload/accumulation=4"}).points[0];
  passes.scenario.cluster.jitter = {JitterDistribution::gamma, 0.2};
  CHECK(notes(report_of(passes, true), "by a standard error of 1 %"));
  CHECK_FALSE(notes(report_of(study_of(kMeasured).points[0]), "standard error"));
}

TEST_CASE("no band for an asynchronous server, and no advice that is already followed") {
  Study study = study_of(kShapes, {"/strategy={\"kind\": \"parameter-server\", \"consistency\": \"asynchronous\"}",
                                   "/evaluation/evaluator=replay"});
  WorkloadTable table = *study.points[0].scenario.workload;
  table.profile->launch_overhead.spread = 0.1;
  study.points[0].scenario.workload = std::make_shared<const WorkloadTable>(table);
  const PointReport report = report_of(study.points[0]);
  CHECK_FALSE(report.band);
  CHECK(notes(report, "no error band: it needs the equations"));
  CHECK_FALSE(notes(report, "use --evaluator"));
}

TEST_CASE("the equations are called an estimate where they may differ from the replay") {
  const auto is_estimate = [](int workers, const std::string& cluster, const std::string& strategy) {
    const std::string text =
        R"({"name": "s", "workload": "resnet50-v100", "evaluation": {"evaluator": "both"}, "cluster": {"workers": )" +
        std::to_string(workers) + R"(, "link": {"bandwidth": "10Gbps", "latency": "5us"}, )" + cluster +
        R"(}, "strategy": )" + strategy + "}";
    return notes(report_of(study_of(text).points[0]), "the equations are an estimate here");
  };
  const std::string
      star = R"("topology": {"kind": "star"})",
      racks = R"("topology": {"kind": "racks", "hosts_per_rack": 16, "oversubscription": 4, "uplink_latency": "2us"})";
  const std::string far_workers = racks + R"(, "groups": [{"count": 8, "latency": "60us"}])";
  const std::string ring = R"({"kind": "all-reduce", "collective": {"algorithm": "ring"}})",
                    trees = R"({"kind": "all-reduce", "collective": {"algorithm": "double-binary-tree"}})";
  CHECK_FALSE(is_estimate(640, star, ring));
  // Each rack sends one of its 16 equal messages out, alone on its sender's link. No link is busier: α +
  // block·β.
  CHECK_FALSE(is_estimate(640, racks, ring));
  // Two trees send up to two messages a worker, of latencies from 5 to 60 us, which are followed however many they are.
  CHECK_FALSE(is_estimate(2400, far_workers, trees));
  CHECK_FALSE(is_estimate(160, far_workers, trees));
  CHECK_FALSE(is_estimate(5000, racks, ring));
  // Servers, of which servers_replay_test has more.
  CHECK_FALSE(is_estimate(32, racks, R"({"kind": "parameter-server", "shards": 32, "placement": "co-located"})"));
  // More messages than are followed, where the closed form is exact (replay: +4e-16).
  CHECK_FALSE(is_estimate(
      260, R"("topology": {"kind": "nodes", "gpus_per_node": 4, "inner": {"bandwidth": "100GB/s", "latency": "1us"}})",
      R"({"kind": "parameter-server", "shards": 256})"));
  CHECK(is_estimate(32, racks, R"({"kind": "parameter-server", "shards": 3, "placement": "co-located"})"));
  CHECK(is_estimate(32, racks,
                    R"({"kind": "parameter-server", "shards": 4, "placement": "co-located", "balance": "greedy"})"));
  CHECK(is_estimate(32, star + R"(, "groups": [{"count": 1, "speed": 0.5}])",
                    R"({"kind": "parameter-server", "shards": 4})"));
}
