#include "tests/sim/support.hpp"

#include "models/equation/evaluate.hpp"
#include "models/strategy/builder.hpp"
#include "sim/answer/replay_job.hpp"
#include "sim/replay/processes.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"

namespace stepcast::test {
namespace {

struct Prepared {
  Workload workload;
  StepGraph graph;
};

std::vector<Prepared> prepare(const std::vector<Case>& cases) {
  std::vector<Prepared> prepared;
  for (const Case& c : cases) {
    prepared.push_back({make_workload(c.scenario), {}});
    prepared.back().graph = build_step_graph(c.scenario, prepared.back().workload);
  }
  return prepared;
}

std::vector<StepForecast> replay_prepared(const std::vector<Case>& cases, const std::vector<Prepared>& prepared) {
  const auto results = run_in_processes(cases.size(), available_cores(), [&](std::size_t i) {
    return answer({&cases[i].scenario, &prepared[i].graph, 0});
  });
  std::vector<StepForecast> forecasts;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    INFO(cases[i].what << ": " << results[i].error);
    REQUIRE(results[i].error.empty());
    forecasts.push_back(combine({results[i].value}));
  }
  return forecasts;
}

}  // namespace

Cluster star(int p) {
  Cluster cluster;
  cluster.workers = p;
  cluster.link = {10_Gbps, 25_us};
  cluster.reduction_cost = 0.05_ns_per_B;
  cluster.stack.host_cost = cluster.stack.inner_host_cost = 0.1_ns_per_B;
  cluster.collective_cost = 7_us;
  return cluster;
}

WorkloadTable one_tensor(Seconds forward, Seconds backward, Seconds update) {
  WorkloadTable table;
  table.name = "one tensor";
  table.forward = forward;
  table.update = update;
  table.gradients = {{"w", 2500000, backward}};
  return table;
}

WorkloadTable small_workload(double pace) {
  WorkloadTable table;
  table.name = "small";
  table.batch = 32;
  table.forward = 10_ms * pace;
  table.update = 1_ms * pace;
  table.gradients = {{"a", 1000003, 3_ms}, {"b", 500000, 4_ms}, {"c", 7, 5_ms}, {"d", 2000000, 2_ms, {2000, 1000}}};
  for (GradientTensor& gradient : table.gradients) gradient.gap = *gradient.gap * pace;
  return table;
}

Scenario scenario_of(const Cluster& cluster, const Strategy& strategy) {
  Scenario scenario;
  scenario.name = "test";
  scenario.evaluation.fidelity = Fidelity::full;  // the referee; folding_test holds folded replay against it
  scenario.workload = std::make_shared<const WorkloadTable>(small_workload());
  scenario.cluster = cluster;
  scenario.strategy = strategy;
  return scenario;
}

Scenario accumulating(Scenario scenario, int passes) {
  WorkloadTable table = *scenario.workload;
  table.accumulation = passes;
  scenario.workload = std::make_shared<const WorkloadTable>(table);
  return scenario;
}

Scenario collective_of(const Cluster& cluster, Operation operation, Algorithm algorithm, Bytes size) {
  Scenario scenario;
  scenario.name = "test";
  scenario.evaluation.fidelity = Fidelity::full;
  scenario.cluster = cluster;
  scenario.strategy = CollectiveBenchmark{operation, size, {algorithm, {}, {}}};
  return scenario;
}

std::vector<StepForecast> replay_all(const std::vector<Case>& cases) { return replay_prepared(cases, prepare(cases)); }

std::vector<Comparison> evaluate_both(const std::vector<Case>& cases) {
  const auto prepared = prepare(cases);
  const auto replays = replay_prepared(cases, prepared);
  std::vector<Comparison> comparisons;
  for (std::size_t i = 0; i < cases.size(); ++i)
    comparisons.push_back({cases[i].what, evaluate(prepared[i].graph, cases[i].scenario.cluster), replays[i]});
  return comparisons;
}

void require_same(const Comparison& c, double relative, bool like_workers) {
  require_close(c.equations.step, c.replay.step, relative, c.what + ": step");
  require_close(c.equations.first_step, c.replay.first_step, relative, c.what + ": first step");
  const auto part = [&](Seconds Breakdown::*member, const char* name) {
    INFO(c.what << ": " << name << ": equations " << (c.equations.breakdown.*member).si() << " s, replay "
                << (c.replay.breakdown.*member).si() << " s");
    REQUIRE(std::abs((c.equations.breakdown.*member - c.replay.breakdown.*member).si()) <=
            10 * relative * c.equations.step.si());
  };
  part(&Breakdown::forward, "forward");
  part(&Breakdown::backward, "backward");
  part(&Breakdown::update, "update");
  part(&Breakdown::encode, "encode");
  part(&Breakdown::decode, "decode");
  if (like_workers) {
    part(&Breakdown::exposed_communication, "exposed communication");
    part(&Breakdown::stack, "stack");
    part(&Breakdown::waiting, "waiting");
  } else {
    const auto both = [](const StepForecast& f) { return exposed(f.breakdown) + f.breakdown.waiting; };
    const double allowed = 10 * relative * c.equations.step.si();
    INFO(c.what << ": exposed communication: equations " << c.equations.breakdown.exposed_communication.si()
                << " s, replay " << c.replay.breakdown.exposed_communication.si() << " s");
    REQUIRE(std::abs((both(c.equations) - both(c.replay)).si()) <= allowed);
    REQUIRE((exposed(c.replay.breakdown) - exposed(c.equations.breakdown)).si() <= allowed);
  }
  REQUIRE(c.equations.kinds.size() == c.replay.kinds.size());
  for (const StepForecast* f : {&c.equations, &c.replay}) {
    Seconds waiting{};
    int workers = 0;
    for (const KindBreakdown& kind : f->kinds) {
      require_close(f->step, kind.breakdown.total(), 1e-12, c.what + ": a kind's breakdown adds up");
      waiting += kind.breakdown.waiting * kind.count;
      workers += kind.count;
    }
    if (workers > 0) REQUIRE(std::abs((waiting / workers - f->breakdown.waiting).si()) <= 1e-12 * f->step.si());
  }
  require_close(c.replay.step, c.replay.breakdown.total(), 1e-12, c.what + ": the breakdown adds up");
  require_close(c.equations.step, c.equations.breakdown.total(), 1e-12, c.what + ": the breakdown adds up");
}

}  // namespace stepcast::test
