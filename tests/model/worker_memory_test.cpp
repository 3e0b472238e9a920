// Memory of a worker, by the table in models/report/worker_memory.hpp.
#include <memory>
#include <utility>
#include <vector>

#include "models/report/worker_memory.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_scenarios.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

/// 10 MB of gradients in units of 3, 3 and 4 MB; p = 4 workers with momentum, so s = 10 MB.
Workload three_units() { return workload_of(0_s, {{3e6, 0.001}, {3e6, 0.001}, {4e6, 0.001}}, 0_s, 0_s); }

WorkerMemory memory_of(const Strategy& strategy, const Workload& w = three_units(),
                       const Compressor& compressor = NoCompressor{}, Optimizer optimizer = Optimizer::momentum) {
  Scenario scenario = scenario_of(star_cluster(4, 10_Gbps), strategy, compressor);
  WorkloadTable table;
  table.optimizer = optimizer;
  scenario.workload = std::make_shared<const WorkloadTable>(table);
  return worker_memory(scenario, w);
}

ShardedStrategy sharded(ShardingStage stage, int prefetch = 1) {
  return {stage, prefetch, {}, {.grouping = Grouping::per_tensor}};
}

}  // namespace

TEST_CASE("workers with all of the model hold parameters, gradients and the optimizer's state") {
  CHECK(memory_of(AllReduceStrategy{}) == WorkerMemory{10_MB, 10_MB, 10_MB, 0_B, {}});
  PipelinedStrategy pipelined;
  pipelined.width = 3;
  CHECK(memory_of(pipelined) == WorkerMemory{10_MB, 30_MB, 10_MB, 0_B, {}});
  CHECK(memory_of(GossipStrategy{}) == WorkerMemory{30_MB, 10_MB, 10_MB, 0_B, {}});
  CHECK(memory_of(GossipStrategy{.graph = NeighbourGraph::one_peer_exponential}).parameters == 20_MB);
  CHECK(memory_of(GossipStrategy{.graph = NeighbourGraph::complete}, three_units(), TopK{}) ==
        WorkerMemory{30_MB, 10_MB, 10_MB, 0_B, {}});  // x, x̂ and s, whatever the graph
  CHECK(memory_of(LocalSgdStrategy{}) == WorkerMemory{10_MB, 10_MB, 10_MB, 0_B, {}});
  CHECK(memory_of(LocalSgdStrategy{.outer_update_factor = 1}) ==
        WorkerMemory{20_MB, 10_MB, 20_MB, 0_B, {}});  // the anchor, and its momentum
  CHECK(memory_of(LocalSgdStrategy{}, three_units(), TopK{}).parameters == 20_MB);
  CHECK(memory_of(LocalSgdStrategy{.outer_update_factor = 1}, three_units(), TopK{}).parameters ==
        20_MB);  // one anchor serves both
  CHECK(memory_of(AllReduceStrategy{}, three_units(), QsparseLocalSgd{.local_steps = 4}).parameters == 20_MB);
  CHECK(memory_of(AllReduceStrategy{}, three_units(), QsparseLocalSgd{.local_steps = 1}).parameters == 10_MB);
  // In flight are the message and a copy as it was sent: of 10 MB, or with two steps of 8 of one of three units.
  CHECK(memory_of(LocalSgdStrategy{.steps = 8, .averaging_steps = 8}).parameters == 30_MB);
  LocalSgdStrategy streaming{.steps = 8, .fragments = 3, .averaging_steps = 2};  // sent after steps 3, 6 and 8
  CHECK(memory_of(streaming).parameters == 18_MB);                               // 10 MB + 2·4 MB
  streaming.averaging_steps = 3;                                                 // those of steps 6 and 8 together
  CHECK(memory_of(streaming).parameters == 24_MB);                               // 10 MB + 2·(3 + 4) MB
  streaming.outer_update_factor = 1;                                             // the anchor is the copy
  CHECK(memory_of(streaming).parameters == 27_MB);                               // 20 MB + 7 MB
}

TEST_CASE("workers of an island average a share each") {
  // Islands of 2, so a share is 5 MB.
  LocalSgdStrategy local{.steps = 8, .islands = Islands{.size = 2, .grouping = Grouping::per_tensor}};
  CHECK(memory_of(local) == WorkerMemory{10_MB, 10_MB, 10_MB, 0_B, {}});
  CHECK(memory_of(local, three_units(), TopK{}) == WorkerMemory{15_MB, 10_MB, 10_MB, 5_MB, {}});  // anchor, feedback
  local.averaging_steps = 8;
  CHECK(memory_of(local).parameters == 30_MB);  // a share's message and its copy as it was sent, and what is gathered
  local.islands->sharding = ShardingStage::gradients;
  CHECK(memory_of(local).parameters == 20_MB);  // the next step gathers
  local.islands->sharding.reset();
  local.averaging_steps = 0;
  local.outer_update_factor = 1;
  CHECK(memory_of(local) == WorkerMemory{15_MB, 10_MB, 15_MB, 0_B, {}});  // momentum of the share
  // Sharded: half of the optimizer's state, of the anchor and of the momentum. Parameters are half of all and two units of
  // 4 MB, which is more than all; so are gradients.
  local.islands->sharding = ShardingStage::parameters;
  CHECK(memory_of(local) == WorkerMemory{15_MB, 10_MB, 10_MB, 0_B, {}});
}

TEST_CASE("servers keep the optimizer's state, unless workers update") {
  CHECK(memory_of(ParameterServerStrategy{}) == WorkerMemory{10_MB, 10_MB, 0_B, 0_B, {}});
  CHECK(memory_of(ParameterServerStrategy{.two_way = true}).optimizer == 10_MB);
  // Workers that update between exchanges keep the parameters of the last one: they push the change since then.
  CHECK(memory_of(ParameterServerStrategy{.steps = 2}) == WorkerMemory{20_MB, 10_MB, 10_MB, 0_B, {}});
}

TEST_CASE("sharded parts are a p-th, plus the units that are stored whole") {
  // p = 4: n/p = 2.5 MB, b = 4 MB. Two units' gradients and 2.5 MB would be 10.5 MB, more than all.
  CHECK(memory_of(sharded(ShardingStage::optimizer_state)) == WorkerMemory{10_MB, 10_MB, 2.5_MB, 0_B, {}});
  CHECK(memory_of(sharded(ShardingStage::parameters, 0)) == WorkerMemory{6.5_MB, 10_MB, 2.5_MB, 0_B, {}});
  CHECK(memory_of(sharded(ShardingStage::parameters, 1)).parameters == 10_MB);
  // Units of 1 MB: 2.5 + 2·1 MB of gradients.
  const Workload many = workload_of(0_s, std::vector<std::pair<double, double>>(10, {1e6, 0.001}), 0_s, 0_s);
  CHECK(memory_of(sharded(ShardingStage::gradients), many) == WorkerMemory{10_MB, 4.5_MB, 2.5_MB, 0_B, {}});
  CHECK(memory_of(sharded(ShardingStage::parameters, 2), many) == WorkerMemory{5.5_MB, 4.5_MB, 2.5_MB, 0_B, {}});
  // In 2 groups of 2 workers: halves of it, n/g = 5 MB.
  ShardedStrategy halves = sharded(ShardingStage::parameters, 2);
  halves.group_size = 2;
  CHECK(memory_of(halves, many) == WorkerMemory{8_MB, 7_MB, 5_MB, 0_B, {}});
  // Reduced after back-propagation, or after more passes: all gradients are there, and without overlap nothing is
  // gathered ahead.
  ShardedStrategy late = sharded(ShardingStage::parameters, 2);
  late.exchange.overlap = false;
  CHECK(memory_of(late, many) == WorkerMemory{3.5_MB, 10_MB, 2.5_MB, 0_B, {}});
  Workload accumulated = many;
  accumulated.accumulation = 2;
  CHECK(memory_of(sharded(ShardingStage::parameters, 0), accumulated).gradients == 10_MB);
  // Reduced after every pass there are a p-th and two units of them, as with one pass; not without overlap.
  ShardedStrategy every = sharded(ShardingStage::parameters, 0);
  every.reduce_after = ReduceAfter::every_pass;
  CHECK(memory_of(every, accumulated).gradients == 4.5_MB);
  every.exchange.overlap = false;
  CHECK(memory_of(every, accumulated).gradients == 10_MB);
  // In a type twice as wide: twice as much of gradients, nothing else.
  Workload narrow = many;
  narrow.dtype = Dtype::bf16;
  ShardedStrategy wide = sharded(ShardingStage::gradients);
  const WorkerMemory before = memory_of(wide, narrow);
  wide.reduce_dtype = Dtype::fp32;
  CHECK(memory_of(wide, narrow) == WorkerMemory{before.parameters, 9_MB, before.optimizer, 0_B, {}});
}

TEST_CASE("the optimizer's state is in fp32, with the weights beside halves") {
  const auto state = [](Optimizer optimizer, Dtype dtype) {
    Workload w = workload_of(0_s, {{1e6, 0.001}}, 0_s, 0_s);  // 250,000 elements
    w.dtype = dtype;
    return memory_of(AllReduceStrategy{}, w, NoCompressor{}, optimizer).optimizer;
  };
  CHECK(state(Optimizer::sgd, Dtype::fp32) == 0_B);
  CHECK(state(Optimizer::momentum, Dtype::fp32) == 1_MB);
  CHECK(state(Optimizer::adam, Dtype::tf32) == 2_MB);
  CHECK(state(Optimizer::sgd, Dtype::bf16) == 1_MB);
  CHECK(state(Optimizer::adam, Dtype::bf16) == 3_MB);
}

TEST_CASE("mixed precision keeps casts of all parameters that are stored whole") {
  const auto parameters = [](Dtype dtype, std::optional<Dtype> compute, const Strategy& strategy) {
    Workload w = three_units();
    w.dtype = dtype;
    Scenario scenario = scenario_of(star_cluster(4, 10_Gbps), strategy);
    WorkloadTable table;
    table.dtype = dtype;
    table.compute_dtype = compute;
    scenario.workload = std::make_shared<const WorkloadTable>(table);
    return worker_memory(scenario, w).parameters;
  };
  // 10 MB of fp32, 5 MB of bf16; tf32 is as wide.
  CHECK(parameters(Dtype::fp32, Dtype::bf16, AllReduceStrategy{}) == 15_MB);
  CHECK(parameters(Dtype::fp32, Dtype::tf32, AllReduceStrategy{}) == 10_MB);
  CHECK(parameters(Dtype::bf16, Dtype::bf16, AllReduceStrategy{}) == 10_MB);
  CHECK(parameters(Dtype::fp32, Dtype::fp16, sharded(ShardingStage::parameters, 0)) ==
        8.5_MB);  // 6.5 MB, as above, of which the largest unit, 4 MB, is whole
  CHECK(parameters(Dtype::fp32, Dtype::fp16, sharded(ShardingStage::parameters, 3)) ==
        15_MB);  // four units of 4 MB would be more than all
}

TEST_CASE("activations are added where they are known") {
  Workload w = three_units();
  CHECK(memory_of(AllReduceStrategy{}, w).total() == 30_MB);
  w.activations = 5_MB;
  const WorkerMemory memory = memory_of(AllReduceStrategy{}, w);
  CHECK(memory.model() == 30_MB);
  CHECK(memory.total() == 35_MB);
}

TEST_CASE("the inner compressor keeps the rest of gradients, and of a share that it sends back") {
  const auto feedback = [](const Strategy& strategy, int workers, const Compressor& outer, const Compressor& inner) {
    Scenario scenario = scenario_of(star_cluster(workers, 10_Gbps), strategy, outer);
    scenario.cluster.topology = Nodes{.gpus_per_node = 4, .inner = {100_Gbps, 1_us}};
    scenario.codec.scope = CodecScope::machines;
    scenario.inner_compressor = inner;
    scenario.workload = std::make_shared<const WorkloadTable>();
    return worker_memory(scenario, three_units()).feedback;
  };
  const Compressor kept = EightBit{.error_feedback = true}, halves = Fp16{.error_feedback = true};
  CHECK(feedback(AllReduceStrategy{}, 8, TernGrad{}, kept) == 12.5_MB);
  CHECK(feedback(AllReduceStrategy{}, 8, EfSignSgd{}, kept) == 15_MB);  // the sum's share outside, too
  CHECK(feedback(AllReduceStrategy{}, 4, EfSignSgd{}, kept) == 12.5_MB);
  CHECK(feedback(AllReduceStrategy{}, 4, EfSignSgd{}, halves) == 10_MB);  // summed by all-reduce
  ParameterServerStrategy servers;
  servers.sum_in_machine = true;
  CHECK(feedback(servers, 8, TernGrad{}, kept) == 10_MB);  // parameters come back
  servers.two_way = true;
  CHECK(feedback(servers, 8, TernGrad{}, kept) == 12.5_MB);
  CHECK(feedback(sharded(ShardingStage::gradients), 8, TernGrad{}, kept) == 10_MB);
  CHECK(feedback(sharded(ShardingStage::gradients), 8, TernGrad{}, EightBit{}) == 0_B);
}

TEST_CASE("error feedback keeps the unsent rest") {
  const auto feedback = [](const Compressor& compressor) {
    return memory_of(AllReduceStrategy{}, three_units(), compressor).feedback;
  };
  CHECK(feedback(NoCompressor{}) == 0_B);
  CHECK(feedback(TernGrad{}) == 0_B);
  CHECK(feedback(EfSignSgd{}) == 10_MB);
  CHECK(feedback(Dgc{}) == 20_MB);
  // A worker that encodes a part of the sums again remembers its error: with 4 workers (or their shards) a quarter.
  AllReduceStrategy all_to_all;
  all_to_all.carrier = Carrier::all_to_all;
  CHECK(memory_of(all_to_all, three_units(), EfSignSgd{}).feedback == 12.5_MB);
  CHECK(memory_of(all_to_all, three_units(), TernGrad{}).feedback == 0_B);
  ParameterServerStrategy servers{.shards = 4, .placement = ServerPlacement::co_located};
  CHECK(memory_of(servers, three_units(), EfSignSgd{}).feedback == 10_MB);
  servers.two_way = true;
  CHECK(memory_of(servers, three_units(), EfSignSgd{}).feedback == 12.5_MB);
  servers.placement = ServerPlacement::dedicated;
  CHECK(memory_of(servers, three_units(), EfSignSgd{}).feedback == 10_MB);
  // Tensors that are not compressed leave no rest: 3 and 3 of 10 MB have 750,000 elements each.
  Scenario some = scenario_of(star_cluster(4, 10_Gbps), AllReduceStrategy{}, EfSignSgd{});
  some.workload = std::make_shared<const WorkloadTable>();
  some.codec.min_elements = 1000000;
  CHECK(worker_memory(some, three_units()).feedback == 4_MB);
  // With sums in machines of 2, each keeps the error of its half; all-to-all among 2 of a half adds a quarter again.
  Scenario summed = scenario_of(star_cluster(4, 10_Gbps), AllReduceStrategy{}, EfSignSgd{});
  summed.workload = std::make_shared<const WorkloadTable>();
  summed.cluster.topology = Nodes{.gpus_per_node = 2};
  summed.codec.scope = CodecScope::machines;
  CHECK(worker_memory(summed, three_units()).feedback == 5_MB);
  summed.strategy = all_to_all;
  CHECK(worker_memory(summed, three_units()).feedback == 7.5_MB);
  summed.cluster.topology = Nodes{.gpus_per_node = 4};  // one machine compresses nothing
  CHECK(worker_memory(summed, three_units()).feedback == 0_B);
  summed.strategy = LocalSgdStrategy{};  // nor needs it the parameters of the start
  CHECK(worker_memory(summed, three_units()).parameters == 10_MB);
  // A slice of 65,536 is in each of these tensors, though not in a small one.
  CHECK(feedback(GradiVeq{.slice = 65536, .dimension = 8192, .error_feedback = true}) == 10_MB);
}
