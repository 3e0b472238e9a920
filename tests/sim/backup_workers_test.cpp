// Servers whose updates take the first pushes: by hand, and beside an event queue without links.
#include <algorithm>
#include <queue>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/report/report.hpp"
#include "sim/replay/jitter.hpp"
#include "tests/sim/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/property.hpp"
#include "tests/support/test_compressors.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

/// One tensor of 10 MB, forward 20 ms, backward 30 ms. b backup workers of one dedicated server.
Scenario backups(int p, int b, BytesPerSecond bandwidth = BytesPerSecond(1e20)) {
  Cluster cluster;
  cluster.workers = p;
  cluster.link = {bandwidth, Seconds{}};
  ParameterServerStrategy strategy;
  strategy.consistency = b > 0 ? Consistency::backup_workers : Consistency::synchronous;
  strategy.backup_workers = std::max(b, 1);
  Scenario scenario = scenario_of(cluster, strategy);
  scenario.workload = std::make_shared<const WorkloadTable>(one_tensor(20_ms, 30_ms));
  scenario.evaluation.evaluator = Evaluator::replay;
  scenario.evaluation.max_steps = 60;
  return scenario;
}

Scenario with_speeds(Scenario scenario, const std::vector<WorkerGroup>& groups) {
  scenario.cluster.groups = groups;
  return scenario;
}

StepForecast replay(const Scenario& scenario) { return replay_all({{"", scenario}}).front(); }

/// The time of each update, of one shard and one part, with links of no length. It adds nothing and updates for `update`.
std::vector<double> update_ends(const std::vector<double>& speeds, int first_pushes, double update,
                                const Scenario& scenario, int updates) {
  struct Worker {
    int step = 0, held = 0;
  };
  std::vector<Worker> workers(speeds.size());
  using Push = std::pair<double, int>;  // time, worker
  std::priority_queue<Push, std::vector<Push>, std::greater<>> pushes;
  const auto compute = [&](int w, double start) {
    const double factor = jitter_factor(scenario.cluster.jitter, scenario.evaluation.seed, 0, w, workers[w].step++);
    pushes.emplace(start + 0.050 * factor / speeds[w], w);
  };
  for (int w = 0; w < static_cast<int>(speeds.size()); ++w) compute(w, 0);
  std::vector<double> ends;
  std::vector<int> pushed;
  double idle = 0;  // the server's latest update has ended
  while (static_cast<int>(ends.size()) < updates) {
    const auto [time, w] = pushes.top();
    pushes.pop();
    const double served = std::max(time, idle);
    const int version = static_cast<int>(ends.size());
    if (workers[w].held < version) {
      workers[w].held = version;
      compute(w, served);
      continue;
    }
    pushed.push_back(w);
    if (static_cast<int>(pushed.size()) < first_pushes) continue;
    idle = served + update;
    ends.push_back(idle);
    for (const int each : std::exchange(pushed, {})) {
      workers[each].held = version + 1;
      compute(each, idle);
    }
  }
  return ends;
}

}  // namespace

TEST_CASE("like workers in step: an update takes fewer additions, and that is all") {
  // 8 ms a push at 10 Gb/s, four at a time over the server's link: 32 ms. γ = 1 ns/B: 10 ms for each of the three that
  // are added. The fourth comes at the same time and is dropped. All pull together, 32 ms. 50 + 32 + 30 + 32 ms.
  Scenario scenario = backups(4, 1, 10_Gbps);
  std::get<ParameterServerStrategy>(scenario.strategy).server_reduction_cost = 1_ns_per_B;
  require_close(144_ms, replay(scenario).step, 1e-9, "one of four");
  Scenario all = backups(4, 0, 10_Gbps);
  std::get<ParameterServerStrategy>(all.strategy).server_reduction_cost = 1_ns_per_B;
  require_close(154_ms, replay(all).step, 1e-9, "none of four");
}

TEST_CASE("slow workers up to the number of backups hold back nobody, by hand") {
  // A step computes for 50 ms. Nothing else takes time.
  require_close(50_ms, replay(with_speeds(backups(4, 1), {{1, 0.5, {}, {}}})).step, 1e-9, "one slow, one backup");
  require_close(100_ms, replay(with_speeds(backups(4, 1), {{2, 0.5, {}, {}}})).step, 1e-9, "two slow, one backup");
  require_close(50_ms, replay(with_speeds(backups(4, 2), {{2, 0.5, {}, {}}})).step, 1e-9, "two slow, two backups");
  // Updates of two of three. Both slow workers push at 75 ms, and one completes the update. The other has older
  // parameters from then on, and comes too late again after 75 ms.
  require_close(75_ms, replay(with_speeds(backups(3, 1), {{2, 2.0 / 3, {}, {}}})).step, 1e-9, "at two thirds");
  // A worker so slow that it never ends a step: asynchronous servers have no step time here.
  require_close(50_ms, replay(with_speeds(backups(3, 1), {{1, 1e-4, {}, {}}})).step, 1e-9, "nearly dead");
}

TEST_CASE("compressed pushes of the first workers, by hand") {
  // The third worker never comes. Two push signs of 2,500,000 elements, 312,500 B, over the server's link of 10 Gb/s in 0.5 ms. It
  // decodes and adds both, and parameters of 10 MB go to both in 16 ms.
  const CodecRates rates{.all = {10_us, BytesPerSecond(1e11), FlopsPerSecond(1e25)}, .measured = {}};
  const auto time = [&](const std::vector<CodecKernel>& kernels) { return price(kernels, rates).si(); };
  const auto with = [&](const Compressor& compressor, bool two_way) {
    Scenario scenario = with_speeds(backups(3, 1, 10_Gbps), {{1, 1e-5, {}, {}}});
    std::get<ParameterServerStrategy>(scenario.strategy).two_way = two_way;
    scenario.compressor = compressor;
    scenario.codec.device = device_of(rates.all.launch, rates.all.bandwidth, rates.all.peak);
    return replay(scenario).step.si();
  };
  const CodecPlan signs = make_plan(SignSgd{}, Tensor{{2500000}});
  require_close(
      50e-3 + time(encode_kernels(signs)) + time(signs.remember) + 0.5e-3 + time(sum_kernels(signs, 2)) + 16e-3,
      with(SignSgd{}, false), 1e-9, "signs");
  // top-k of 1 %: 200,000 B, 0.32 ms for two each way. The server chooses again from the sum.
  const CodecPlan top = make_plan(TopK{.ratio = 0.01}, Tensor{{2500000}});
  require_close(50e-3 + time(encode_kernels(top)) + time(top.remember) + 0.64e-3 + time(recode_kernels(top, 2)) +
                    time(sum_kernels(top, 1)),
                with(TopK{.ratio = 0.01}, true), 1e-9, "top-k, both ways");
}

TEST_CASE("several messages of the first workers, by hand") {
  // The third worker never comes. Rank 4 sends 40,000 B, then 16,000 B, of a matrix of 2,500 x 1,000. Two push and pull
  // them over the server's link: 64 us and 25.6 us a way. Without two_way, the last answer is 10 MB of parameters, 16 ms.
  const CodecRates rates{.all = {10_us, BytesPerSecond(1e11), FlopsPerSecond(1e13)}, .measured = {}};
  const auto time = [&](const std::vector<CodecKernel>& kernels) { return price(kernels, rates).si(); };
  const auto with = [&](const Compressor& compressor, bool two_way) {
    Scenario scenario = with_speeds(backups(3, 1, 10_Gbps), {{1, 1e-5, {}, {}}});
    WorkloadTable table = *scenario.workload;
    table.gradients.front().dims = {2500, 1000};
    scenario.workload = std::make_shared<const WorkloadTable>(table);
    std::get<ParameterServerStrategy>(scenario.strategy).two_way = two_way;
    scenario.compressor = compressor;
    scenario.codec.device = device_of(rates.all.launch, rates.all.bandwidth, rates.all.peak);
    return replay(scenario).step.si();
  };
  const auto encode = [&](const CodecPlan& plan) {
    return time(plan.compensate) + time(plan.stages[0].encode) + time(plan.stages[1].encode) + time(plan.remember);
  };
  const CodecPlan power = make_plan(PowerSgd{.rank = 4}, Tensor{{2500, 1000}});
  require_close(50e-3 + encode(power) + 2 * 64e-6 + 2 * 25.6e-6 + time(power.decode.first),
                with(PowerSgd{.rank = 4}, true), 1e-9, "PowerSGD, both ways");
  require_close(50e-3 + encode(power) + 2 * 64e-6 + 25.6e-6 + time(power.decode.first) + 16e-3,
                with(PowerSgd{.rank = 4}, false), 1e-9, "PowerSGD");
  // THC: a norm of 4 B, 6.4 ns for two; then 4 bits an element, 1.25 MB, 2 ms. Sums of two codes of up to 30 have 6 bits.
  const std::vector<Compressor> shipped = shipped_formulas();
  const auto thc = std::find_if(shipped.begin(), shipped.end(), [](const auto& x) { return name_of(x) == "thc"; });
  const CodecPlan codes = make_plan(*thc, Tensor{{2500000}}, 2);
  require_close(50e-3 + encode(codes) + 2 * 6.4e-9 + 2e-3 + 3e-3 + time(codes.decode.first), with(*thc, true), 1e-9,
                "THC with partial sums");
}

TEST_CASE("one of two workers by chance: three quarters of a step") {
  // Times are exponential (gamma, cv 1) with mean c, so what is left of a computation is like a new one. After an update,
  // its worker has new parameters and the other has not (S). Either ends first, after c/2: the first one updates again;
  // the other one pulls, and now both are new (F). From F, an update comes after c/2. From S, it comes after
  // c/2 + 1/2·c/2 = 3c/4. Its variance is c²/4 + 3c²/16, so the mean of 4,000 has a standard error of 1.4 %.
  Scenario scenario = backups(2, 1);
  scenario.cluster.jitter = {JitterDistribution::gamma, 1.0};
  scenario.evaluation.max_steps = 6000;
  const StepForecast got = replay(scenario);
  require_close(37.5_ms, got.step, 0.03, "3/4 of 50 ms");
  require_close(got.step, got.breakdown.total(), 1e-9, "the parts add up");
}

TEST_CASE("a worker may be late for one part alone") {
  // Two tensors, each exchanged by itself: a is ready after 20 + 10 ms, b after 5 ms more. Worker 1 computes 1.1 times as
  // long. The first updates of a and b are at 30 and 35 ms, by worker 0. Worker 1 comes at 33 and 38.5 ms, too late for
  // both, and pulls at once. Worker 0 goes on at 35 ms, worker 1 at 38.5 ms: always worker 0 updates, every 35 ms.
  Scenario scenario = with_speeds(backups(2, 1), {{1, 1 / 1.1, {}, {}}});
  WorkloadTable table = *scenario.workload;
  table.gradients = {{"a", 2500000, 10_ms}, {"b", 2500000, 5_ms}};
  scenario.workload = std::make_shared<const WorkloadTable>(table);
  auto& strategy = std::get<ParameterServerStrategy>(scenario.strategy);
  strategy.exchange.grouping = Grouping::per_tensor;
  require_close(35_ms, replay(scenario).step, 1e-9, "of two");
  // Two of three workers, of speeds 1, 1/1.1 and 1/1.2. Worker 2 is late for both parts of each update: 38.5 ms.
  scenario = with_speeds(scenario, {{1, 1 / 1.1, {}, {}}, {1, 1 / 1.2, {}, {}}});
  scenario.cluster.workers = 3;
  require_close(38.5_ms, replay(scenario).step, 1e-9, "of three");
}

TEST_CASE("property: updates are those of an event queue") {
  property(
      "backup workers without links",
      [] {
        const int p = integer_between(2, 9), b = integer_between(1, p - 1);
        Scenario scenario = backups(p, b);
        const int slow = integer_between(0, p - 1);
        std::vector<double> speeds(static_cast<std::size_t>(p), 1.0);
        if (slow > 0) {
          scenario.cluster.groups = {{slow, real_between(0.1, 2), {}, {}}};
          std::fill(speeds.end() - slow, speeds.end(), scenario.cluster.groups[0].speed);
        }
        scenario.cluster.jitter = {coin() ? JitterDistribution::gamma : JitterDistribution::lognormal,
                                   real_between(0.05, 1)};
        scenario.evaluation.seed = integer_between(0, 1000);
        WorkloadTable table = *scenario.workload;
        if (coin()) table.update = Seconds(real_between(0, 0.05));
        scenario.workload = std::make_shared<const WorkloadTable>(table);
        const std::vector<double> ends = update_ends(speeds, p - b, table.update.si(), scenario, 60);
        // The mean leaves out a third (passes_to_skip): 59/3 = 19.
        require_close((ends[59] - ends[19]) / 40, replay(scenario).step.si(), 1e-9,
                      fmt::format("{} of {} workers", p - b, p));
      },
      150);
}

TEST_CASE("throughput counts the samples that updates use") {
  // Two of three gradients in 50 ms, of 32 samples each.
  Scenario scenario = with_speeds(backups(3, 1), {{1, 0.5, {}, {}}});
  WorkloadTable table = *scenario.workload;
  table.batch = 32;
  require_close(2 * 32 / 0.050, throughput(scenario, make_workload(table), 50_ms), 1e-12, "64 samples");
}
