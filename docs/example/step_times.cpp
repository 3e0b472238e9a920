// The step time of each number of workers, by the timing equations: step_times SCENARIO
#include <cstdio>

#include "models/describe/fault.hpp"
#include "models/equation/evaluate.hpp"
#include "models/strategy/builder.hpp"
#include "models/study/expansion.hpp"

int main(int argc, char** argv) try {
  const stepcast::Study study = stepcast::load_study(argc > 1 ? argv[1] : "first.json", {}, SCENARIOS);
  for (const stepcast::StudyPoint& point : study.points) {
    const stepcast::Scenario& scenario = point.scenario;
    const stepcast::StepGraph graph = build_step_graph(scenario, make_workload(scenario));
    const double seconds = evaluate(graph, scenario.cluster).step.si();
    std::printf("%d workers: %.6f s\n", scenario.cluster.workers, seconds);
  }
} catch (const stepcast::ScenarioError& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
