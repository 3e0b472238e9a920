// How many points a second the equations answer on one core: step graph, steady state and breakdown from a
// Scenario that is already read.
#include <memory>

#include <benchmark/benchmark.h>

#include "models/equation/evaluate.hpp"
#include "models/scenario/library.hpp"
#include "models/strategy/builder.hpp"
#include "models/study/expansion.hpp"

namespace {

using namespace stepcast;

Scenario resnet50(const Strategy& strategy) {
  Study study = parse_study(
      R"({"name": "bench", "workload": "resnet50-v100", "cluster": {"workers": 64, "link": {"bandwidth": "10Gbps", "latency": "25us"}}})",
      "bench", {}, default_library());
  Scenario scenario = study.points.front().scenario;
  scenario.strategy = strategy;
  return scenario;
}

void answer_points(benchmark::State& state, const Strategy& strategy) {
  const Scenario scenario = resnet50(strategy);
  const Workload workload = make_workload(*scenario.workload);
  for (auto _ : state) {
    const StepGraph graph = build_step_graph(scenario, workload);
    benchmark::DoNotOptimize(evaluate(graph, scenario.cluster).step);
  }
  state.SetItemsProcessed(state.iterations());
}

AllReduceStrategy all_reduce(Grouping grouping, Algorithm algorithm) {
  AllReduceStrategy strategy;
  strategy.collective.algorithm = algorithm;
  strategy.exchange.grouping = grouping;
  return strategy;
}

BENCHMARK_CAPTURE(answer_points, whole_model_ring, all_reduce(Grouping::whole_model, Algorithm::ring));
BENCHMARK_CAPTURE(answer_points, whole_model_auto, all_reduce(Grouping::whole_model, Algorithm::automatic));
BENCHMARK_CAPTURE(answer_points, bucketed_ring, all_reduce(Grouping::bucketed, Algorithm::ring));
BENCHMARK_CAPTURE(answer_points, per_tensor_ring, all_reduce(Grouping::per_tensor, Algorithm::ring));
BENCHMARK_CAPTURE(answer_points, pipelined, PipelinedStrategy{});
BENCHMARK_CAPTURE(answer_points, parameter_server, ParameterServerStrategy{});

}  // namespace

BENCHMARK_MAIN();
