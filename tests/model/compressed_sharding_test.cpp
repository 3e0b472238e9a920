// Sharded training that sends less: codes of parameters, a second copy of them in each machine, and compressed
// reductions. Kernels and plans are taken as given; their order and their messages are derived by hand.
//
// Star: 4 workers, 1 GB/s, 10 us. Machines: two of 4 GPUs, inner links of 10 GB/s and 3 us, one NIC of 1 GB/s and 10 us;
// four messages leave a machine at once, so one of m bytes takes 13 us + 4m ns between machines.
#include <string>
#include <vector>

#include "models/price/cluster_prices.hpp"
#include "models/report/other_trainings.hpp"
#include "models/report/worker_memory.hpp"
#include "models/strategy/builder.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/test_compressors.hpp"
#include "tests/support/test_scenarios.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

const CodecRates kRates{{10_us, BytesPerSecond(1e11), FlopsPerSecond(1e25)}, {}};
double time(const std::vector<CodecKernel>& passes) { return price(passes, kRates).si(); }
/// A kernel that moves this many bytes.
double sweep_of(double bytes) { return 10e-6 + bytes / 1e11; }

Cluster star4() { return star_cluster(4, 1_GBps, 10_us); }
Cluster machines() {
  Cluster cluster = star_cluster(8, 1_GBps, 10_us);
  cluster.topology = Nodes{.gpus_per_node = 4, .inner = {10_GBps, 3_us}, .nics = 1};
  return cluster;
}
/// A share of m bytes from each of 4 workers of the star, by a ring: 3 rounds.
double ring4(double share) { return 3 * 10e-6 + 3 * share * 1e-9; }
/// A collective of a machine's four workers by halving (or doubling): two rounds, 3/4 of n bytes at 0.1 ns/B.
double inside(double bytes) { return 2 * 3e-6 + 0.75 * bytes * 0.1e-9; }
double between(double bytes) { return 13e-6 + 4 * bytes * 1e-9; }

/// A matrix of 1000 x 1000 elements a unit, each ready 20 ms after the one before; forward 5 ms each, update 4 ms.
Workload matrices(int count) {
  Workload w;
  w.forward = 5_ms * static_cast<double>(count);
  w.update = 4_ms;
  w.gradients.assign(static_cast<std::size_t>(count), {"matrix", 1000000, 4_MB, 20_ms, {1000, 1000}});
  for (Gradient& gradient : w.gradients) gradient.forward = 5_ms;
  w.gradient_bytes = 4_MB * static_cast<double>(count);
  w.backward = 20_ms * static_cast<double>(count);
  return w;
}

ShardedStrategy by_tensor(ShardingStage stage, bool overlap = true) {
  return {.stage = stage, .exchange = {.grouping = Grouping::per_tensor, .overlap = overlap}};
}

Scenario sharded(Cluster cluster, ShardedStrategy strategy, const Compressor& compressor = NoCompressor{},
                 CodecScope scope = CodecScope::workers, const Compressor& inner = NoCompressor{}) {
  Scenario scenario = scenario_of(std::move(cluster), std::move(strategy), compressor);
  scenario.inner_compressor = inner;
  scenario.codec.device = device_of(kRates.all.launch, kRates.all.bandwidth, kRates.all.peak);
  scenario.codec.scope = scope;
  return scenario;
}

double price_of(const Cluster& cluster, Operation operation, Bytes bytes) {
  const CachedPrices prices(cluster);
  return prices(prices.decide(operation, {}, bytes)).total().si();
}

}  // namespace

TEST_CASE("parameters as codes: each share is encoded, gathered and decoded") {
  // A share has 250,000 elements: as many bytes, and 123 blocks of 2048 with a scale of 4 B each: 250,492 B. Encoding
  // reads 1 MB and writes them; decoding reads four times as many and writes 4 MB. Gradients: a ring of 4 MB.
  ShardedStrategy strategy = by_tensor(ShardingStage::gradients);
  strategy.collective = ring_choice();
  strategy.quantized_gather = QuantizedGather{};
  const double codes = 250492, gather = sweep_of(1e6 + codes) + ring4(codes) + sweep_of(4 * codes + 4e6);
  require_close(gather + 0.025 + ring4(1e6) + 0.001, step_time(sharded(star4(), strategy), matrices(1)), 1e-9,
                "8 bits");
  // 4 bits in blocks of 1000 elements: 125,000 B and 250 scales. The optimizer's state alone is shared: gathered last.
  strategy.stage = ShardingStage::optimizer_state;
  strategy.quantized_gather = QuantizedGather{.bits = 4, .block = 1000};
  const double half = sweep_of(1e6 + 126e3) + ring4(126e3) + sweep_of(4 * 126e3 + 4e6);
  require_close(half + 0.025 + ring4(1e6) + 0.001, step_time(sharded(star4(), strategy), matrices(1)), 1e-9, "4 bits");
}

TEST_CASE("a second copy in each machine: backward passes gather inside it") {
  // Two units, nothing at the same time. The forward pass gathers two over all workers; the backward pass gathers one
  // again (the last unit of the forward pass is still there). Inside a machine that is two rounds.
  ShardedStrategy strategy = by_tensor(ShardingStage::parameters, false);
  const double all = price_of(machines(), Operation::all_gather, 4_MB);
  const double reduced = price_of(machines(), Operation::reduce_scatter, 4_MB);
  const double rest = 0.050 + 2 * reduced + 0.0005;
  require_close(3 * all + rest, step_time(sharded(machines(), strategy), matrices(2)), 1e-9, "one copy");
  strategy.backward_group_size = 4;
  require_close(2 * all + inside(4e6) + rest, step_time(sharded(machines(), strategy), matrices(2)), 1e-9,
                "two copies");
  // The second copy keeps the codes of 1/4: 250,492 B of each worker, decoded but not encoded again.
  strategy.quantized_gather = QuantizedGather{};
  // A share of 1/8: 125,000 elements, 62 blocks.
  const double share = 125248, decode = sweep_of(8 * share + 4e6);
  const double forward = sweep_of(5e5 + share) + price_of(machines(), Operation::all_gather, 8 * Bytes(share)) + decode;
  const double backward = inside(4 * 250492) + sweep_of(4 * 250492 + 4e6);
  require_close(2 * forward + backward + rest, step_time(sharded(machines(), strategy), matrices(2)), 1e-9, "codes");
}

TEST_CASE("one hop: all workers exchange messages, and each adds up its share") {
  // 8-bit: 1,000,004 B for 4 MB. All-to-all in three rounds moves 3/4 of it. Each decodes four parts of 250,000 elements.
  const EightBit method{};
  const double codec = time(encode_kernels(make_plan(method, Tensor{{1000, 1000}}))) +
                       time(sum_kernels(make_plan(method, Tensor{{250000}}), 4));
  ShardedStrategy strategy = by_tensor(ShardingStage::gradients);
  strategy.collective = ring_choice();
  Scenario scenario = sharded(star4(), strategy, method);
  require_close(ring4(1e6) + 0.025 + codec + 30e-6 + 0.75e-9 * 1000004 + 0.001, step_time(scenario, matrices(1)), 1e-9,
                "8-bit");
  CHECK(build_step_graph(scenario, matrices(1)).payload == 1000004_B);
  // fp16 halves can be summed on the way: 2 MB are reduce-scattered, and each decodes its own part.
  const double halves = time(encode_kernels(make_plan(Fp16{}, Tensor{{1000, 1000}}))) +
                        time(sum_kernels(make_plan(Fp16{}, Tensor{{250000}}), 1));
  require_close(ring4(1e6) + 0.025 + halves + ring4(5e5) + 0.001,
                step_time(sharded(star4(), strategy, Fp16{}), matrices(1)), 1e-9, "fp16");
  // Gradients that are reduced in bf16 have two bytes an element before the compressor sees them.
  strategy.reduce_dtype = Dtype::bf16;
  const double narrow = time(encode_kernels(make_plan(method, Tensor{{1000, 1000}, Dtype::bf16}))) +
                        time(sum_kernels(make_plan(method, Tensor{{250000}, Dtype::bf16}), 4));
  require_close(ring4(1e6) + 0.025 + narrow + 30e-6 + 0.75e-9 * 1000004 + 0.001,
                step_time(sharded(star4(), strategy, method), matrices(1)), 1e-9, "bf16");
}

TEST_CASE("two hops: a machine's sum is compressed again between machines") {
  // Inside, three rounds move 3/4 of 1,000,004 B at 0.1 ns/B. Four parts of 250,000 elements are decoded, added and
  // encoded: 250,004 B, half of which goes to the other machine. Two parts of 125,000 elements are decoded there.
  const EightBit method{};
  const double encode = time(encode_kernels(make_plan(method, Tensor{{1000, 1000}}))),
               again = time(sum_kernels(make_plan(method, Tensor{{250000}}), 4)) +
                       time(encode_kernels(make_plan(method, Tensor{{250000}}))),
               decode = time(sum_kernels(make_plan(method, Tensor{{125000}}), 2));
  const double gather = price_of(machines(), Operation::all_gather, 4_MB);
  const ShardedStrategy strategy = by_tensor(ShardingStage::gradients);
  const Scenario twice = sharded(machines(), strategy, method, CodecScope::machines, method);
  require_close(gather + 0.025 + encode + 9e-6 + 0.75e-10 * 1000004 + again + between(125002) + decode + 0.0005,
                step_time(twice, matrices(1)), 1e-9, "two hops");
  CHECK(build_step_graph(twice, matrices(1)).payload == 1250008_B);
  // Exact sums inside instead: 3/4 of 4 MB, then the share's message as above.
  const double share = time(encode_kernels(make_plan(method, Tensor{{250000}})));
  require_close(gather + 0.025 + inside(4e6) + share + between(125002) + decode + 0.0005,
                step_time(sharded(machines(), strategy, method, CodecScope::machines), matrices(1)), 1e-9,
                "sums inside");
}

TEST_CASE("two hops by two methods, and the only hop of one machine") {
  // Halves inside are summed by halving: 3/4 of 2 MB. Each worker decodes its quarter, and encodes it in 8 bits.
  const EightBit method{};
  const double halves = time(encode_kernels(make_plan(Fp16{}, Tensor{{1000000}}))),
               quarter = time(sum_kernels(make_plan(Fp16{}, Tensor{{250000}}), 1)),
               codes = time(encode_kernels(make_plan(method, Tensor{{250000}}))) +
                       time(sum_kernels(make_plan(method, Tensor{{125000}}), 2));
  ShardedStrategy strategy = by_tensor(ShardingStage::gradients);
  const double gather = price_of(machines(), Operation::all_gather, 4_MB);
  require_close(gather + 0.025 + halves + inside(2e6) + quarter + codes + between(125002) + 0.0005,
                step_time(sharded(machines(), strategy, method, CodecScope::machines, Fp16{}), matrices(1)), 1e-9,
                "two machines");
  Cluster one = machines();
  one.workers = 4;
  require_close(price_of(one, Operation::all_gather, 4_MB) + 0.025 + halves + inside(2e6) + quarter + 0.001,
                step_time(sharded(one, strategy, method, CodecScope::machines, Fp16{}), matrices(1)), 1e-9,
                "one machine");
  // Groups that are machines: the shares are then exchanged between them, as messages of 250,004 B.
  strategy.group_size = 4;
  strategy.all_reduce = ring_choice();
  const double gathered = time(encode_kernels(make_plan(TopK{.ratio = 0.01}, Tensor{{250000}}))) +
                          time(decode_kernels(make_plan(TopK{.ratio = 0.01}, Tensor{{250000}}), 2));
  require_close(
      inside(4e6) + 0.025 + halves + inside(2e6) + quarter + gathered + between(20000) + 0.001,
      step_time(sharded(machines(), strategy, TopK{.ratio = 0.01}, CodecScope::machines, Fp16{}), matrices(1)), 1e-9,
      "groups");
}

TEST_CASE("a ratio of 1 inside machines changes nothing") {
  for (const ShardingStage stage :
       {ShardingStage::optimizer_state, ShardingStage::gradients, ShardingStage::parameters})
    for (const Compressor& method : {Compressor(EightBit{}), Compressor(Fp16{}), Compressor(TopK{})})
      for (const std::optional<int> group : {std::optional<int>{}, std::optional(4)}) {
        ShardedStrategy strategy = by_tensor(stage);
        strategy.group_size = group;
        const Scenario plain = sharded(machines(), strategy, method, CodecScope::machines);
        Scenario ratio = plain;
        ratio.inner_compressor = RatioCompressor{1.0, {}, {}};
        require_close(step_time(plain, matrices(5)), step_time(ratio, matrices(5)), 1e-12, name_of(method).data());
      }
}

TEST_CASE("a hop's kernels take the GPU two units later") {
  // Two workers, a byte takes a second; three units of 4 B, no forward time and 1 s of backward each. Half the bytes
  // travel: 2 B, of which the other worker gets 1 B. Encoding takes 1 s, decoding the share of 2 B takes 0.5 s.
  // Units are gathered until 6 s. The GPU: backward to 7, encode to 8, backward to 9, encode to 10. The first message is
  // there at 9, so it is decoded to 10.5. Backward to 11.5, encode to 12.5. The second is decoded to 13. The third's
  // message is there at 13.5, and decoded at 14. A quarter second of update.
  Workload w = workload_of({}, {{4, 1}, {4, 1}, {4, 1}}, {}, 0.5_s);
  const RatioCompressor half{2.0, SecondsPerByte(0.25), SecondsPerByte(0.25)};
  ShardedStrategy strategy = by_tensor(ShardingStage::gradients);
  strategy.collective = ring_choice();
  const Cluster two = star_cluster(2, BytesPerSecond(1));
  require_close(14.25, step_time(sharded(two, strategy, half), w), 1e-12, "overlap");
  // Nothing at the same time: gathers and backward take 9 s, encodings end at 10, 11 and 12 s. Messages leave from 10 on,
  // the last is there at 13 s. Decodings end at 12.5, 13 and 13.5 s.
  strategy.exchange.overlap = false;
  require_close(13.75, step_time(sharded(two, strategy, half), w), 1e-12, "no overlap");
}

TEST_CASE("with two hops, later kernels take turns with back-propagation") {
  // Five units. Unit i is encoded after its backward pass, encoded again before the pass of unit i + 2, and decoded before
  // that of unit i + 3: each message has the time of a unit. The rest follows the last pass, hop by hop.
  const StepGraph graph = build_step_graph(
      sharded(machines(), by_tensor(ShardingStage::gradients), EightBit{}, CodecScope::machines, EightBit{}),
      matrices(5));
  std::vector<std::string> order;
  for (const Task& task : graph.tasks)
    if (std::holds_alternative<ComputeWork>(task.work) && task.phase != Phase::forward)
      order.push_back(task.name.text());
  CHECK(order == std::vector<std::string>{"backward 1/5",
                                          "encode inner 1/5",  //
                                          "backward 2/5",
                                          "encode inner 2/5",  //
                                          "decode and add 1/5",
                                          "encode 1/5",
                                          "backward 3/5",
                                          "encode inner 3/5",  //
                                          "decode and add 2/5",
                                          "encode 2/5",
                                          "decode 1/5",
                                          "backward 4/5",
                                          "encode inner 4/5",  //
                                          "decode and add 3/5",
                                          "encode 3/5",
                                          "decode 2/5",
                                          "backward 5/5",
                                          "encode inner 5/5",  //
                                          "decode and add 4/5",
                                          "encode 4/5",
                                          "decode 3/5",
                                          "decode and add 5/5",
                                          "encode 5/5",
                                          "decode 4/5",
                                          "decode 5/5",  //
                                          "update"});
}

TEST_CASE("a measured codec's time counts each tensor of a unit, and elements of the share") {
  // Two matrices in one unit: 1 ms for each, 1 ns for each of 500,000 elements of a share. It includes the decoding.
  // The share's message has 500,004 B, half of which goes to the other machine.
  ShardedStrategy strategy = by_tensor(ShardingStage::gradients);
  strategy.exchange.grouping = Grouping::whole_model;
  Scenario scenario = sharded(machines(), strategy, EightBit{}, CodecScope::machines);
  DeviceProfile device = *scenario.codec.device;
  device.codecs.push_back({.method = "8-bit", .per_tensor = 1_ms, .per_element = 1_ns, .source = "made up"});
  scenario.codec.device = device;
  const double gather = price_of(machines(), Operation::all_gather, 8_MB);
  require_close(gather + 0.050 + inside(8e6) + 0.0025 + between(250002) + 0.0005, step_time(scenario, matrices(2)),
                1e-9, "step");
}

TEST_CASE("small tensors are reduced as they are, before the messages") {
  // A bias of 1000 elements beside the matrix, in one unit: 4 kB by a ring of 4 workers.
  const EightBit method{};
  Workload w = matrices(1);
  w.gradients.push_back({"bias", 1000, 4_kB, {}, {1000}});
  w.gradient_bytes += 4_kB;
  ShardedStrategy strategy = by_tensor(ShardingStage::gradients);
  strategy.exchange.grouping = Grouping::whole_model;
  strategy.collective = ring_choice();
  Scenario scenario = sharded(star4(), strategy, method);
  scenario.codec.min_elements = 2000;
  const double codec = time(encode_kernels(make_plan(method, Tensor{{1000, 1000}}))) +
                       time(sum_kernels(make_plan(method, Tensor{{250000}}), 4));
  require_close(ring4(1.001e6) + 0.025 + codec + ring4(1e3) + 30e-6 + 0.75e-9 * 1000004 + 0.001, step_time(scenario, w),
                1e-9, "step");
}

TEST_CASE("groups that are machines: shares are compressed between groups, by any method") {
  // Top-k: a share has 250,000 elements, 1 % with indices are 20,000 B, gathered from the other machine.
  const TopK top_k{.ratio = 0.01};
  const CodecPlan share = make_plan(top_k, Tensor{{250000}});
  const double codec = time(encode_kernels(share)) + time(decode_kernels(share, 2));
  ShardedStrategy strategy = by_tensor(ShardingStage::gradients);
  strategy.group_size = 4;
  require_close(inside(4e6) + 0.025 + inside(4e6) + codec + between(20000) + 0.001,
                step_time(sharded(machines(), strategy, top_k, CodecScope::machines), matrices(1)), 1e-9, "top-k");
  // PowerSGD of 250 x 1000, as in DALL-E: factors of 500 and 2000 elements, each by a ring of two, half of it twice.
  const PowerSgd power{.rank = 2};
  const CodecPlan factors = make_plan(power, Tensor{{250, 1000}});
  const double kernels = time(encode_kernels(factors)) + time(decode_kernels(factors, 2));
  strategy.all_reduce = ring_choice();
  require_close(inside(4e6) + 0.025 + inside(4e6) + kernels + 2 * (between(1000) + between(4000)) + 0.001,
                step_time(sharded(machines(), strategy, power, CodecScope::machines), matrices(1)), 1e-9, "PowerSGD");
}

TEST_CASE("the second copy and the error of second sums take memory") {
  // Parameters: 1/8 of 8 MB, two units of 4 MB each at a time, at most all 8 MB; the second copy has 1/4: 2 MB. As codes:
  // 500,000 B of 1/4 and 245 scales.
  Scenario scenario = sharded(machines(), by_tensor(ShardingStage::parameters));
  WorkloadTable table;
  table.optimizer = Optimizer::sgd;
  scenario.workload = std::make_shared<const WorkloadTable>(table);
  auto& strategy = std::get<ShardedStrategy>(scenario.strategy);
  const Workload w = matrices(2);
  CHECK(worker_memory(scenario, w).parameters == 8_MB);
  strategy.backward_group_size = 4;
  CHECK(worker_memory(scenario, w).parameters == 10_MB);
  strategy.quantized_gather = QuantizedGather{};
  CHECK(worker_memory(scenario, w).parameters == 8_MB + 500980_B);
  // Each worker keeps the error of its gradient, and with two hops that of its quarter of the machine's sum.
  scenario.compressor = EightBit{.error_feedback = true};
  CHECK(worker_memory(scenario, w).feedback == 8_MB);
  scenario.codec.scope = CodecScope::machines;
  scenario.inner_compressor = scenario.compressor;
  CHECK(worker_memory(scenario, w).feedback == 10_MB);
}

TEST_CASE("codes of parameters and second sums are other trainings, a second copy is not") {
  WorkloadTable table;
  const auto of = [&](const ShardedStrategy& strategy, CodecScope scope = CodecScope::workers,
                      const Compressor& inner = NoCompressor{}) {
    Scenario scenario = sharded(machines(), strategy, EightBit{}, scope, inner);
    scenario.workload = std::make_shared<const WorkloadTable>(table);
    return scenario;
  };
  const ShardedStrategy plain;
  ShardedStrategy copy, codes;
  copy.backward_group_size = 4;
  codes.quantized_gather = QuantizedGather{};
  const Scenario a = of(plain), b = of(copy), c = of(codes), d = of(plain, CodecScope::machines),
                 e = of(plain, CodecScope::machines, EightBit{});
  CHECK(differences_in_training({&a, &b}).empty());
  CHECK(differences_in_training({&a, &c}) == std::vector<std::string>{"types of numbers"});
  CHECK(differences_in_training({&a, &d}) == std::vector<std::string>{"compressor"});
  CHECK(differences_in_training({&d, &e}) == std::vector<std::string>{"compressor"});
}
