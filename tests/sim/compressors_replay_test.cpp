// Replay equals equations for every compressor under every strategy that can carry it, and the GPU shared fairly.
#include <cmath>
#include <fmt/format.h>

#include "tests/sim/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/test_compressors.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

Case coded(int p, const Strategy& strategy, const Compressor& compressor, std::string how) {
  Case one{fmt::format("{}, {}, p={}", name_of(compressor), how, p), scenario_of(star(p), strategy)};
  one.scenario.compressor = compressor;
  one.scenario.codec.device = device_of(10_us, BytesPerSecond(5e11), FlopsPerSecond(1e13));
  return one;
}

/// The same on machines of 4 whose sums are compressed.
Case between_machines(Case one, int nics = 1) {
  one.scenario.cluster.topology = Nodes{.gpus_per_node = 4, .inner = {10_GBps, 3_us}, .nics = nics};
  one.scenario.codec.scope = CodecScope::machines;
  return one;
}

bool has_several_stages(const Compressor& compressor) {
  return make_plan(compressor, Tensor{{8, 8}}).stages.size() > 1;
}

constexpr int kWorkers[] = {1, 2, 5, 8};

/// The built-in methods, and the shipped ones of formulas for which the small network has tensors.
std::vector<Compressor> methods() {
  std::vector<Compressor> all = all_compressors();
  for (const Compressor& one : shipped_formulas()) all.push_back(one);
  return all;
}

}  // namespace

TEST_CASE("every compressor under every strategy: replay equals equations") {
  std::vector<Case> cases;
  for (const Compressor& compressor : methods())
    for (const int p : kWorkers) {
      const CompressorTraits traits = traits_of(compressor, Dtype::fp32);
      for (const Grouping grouping : {Grouping::whole_model, Grouping::per_tensor}) {
        AllReduceStrategy strategy;
        strategy.exchange.grouping = grouping;
        cases.push_back(coded(p, strategy, compressor, fmt::format("all-reduce {}", name_of(grouping))));
      }
      for (const Grouping grouping : {Grouping::whole_model, Grouping::per_tensor})
        cases.push_back(coded(p, LocalSgdStrategy{.steps = 3, .grouping = grouping}, compressor,
                              fmt::format("local SGD {}", name_of(grouping))));
      for (const int averaging_steps : {1, 3})
        cases.push_back(coded(p, LocalSgdStrategy{.steps = 3, .fragments = 2, .averaging_steps = averaging_steps},
                              compressor, fmt::format("fragments, tau={}", averaging_steps)));
      if (traits.one_gathered_message)
        for (const int averaging_steps : {1, 3})
          cases.push_back(
              coded(p,
                    LocalSgdStrategy{.steps = 3,
                                     .carrier = traits.votes ? Carrier::all_to_all : Carrier::all_to_all_once,
                                     .fragments = 2,
                                     .averaging_steps = averaging_steps},
                    compressor, fmt::format("fragments in parts, tau={}", averaging_steps)));
      for (const bool two_way : {false, true})
        for (const bool duplex : {false, true}) {
          if (traits.stages > 1 && !traits.answers) continue;
          ParameterServerStrategy server{.shards = 2};
          server.two_way = two_way;
          server.duplex = duplex;
          server.exchange.grouping = Grouping::per_tensor;
          cases.push_back(coded(p, server, compressor, two_way ? "server, two-way" : "server"));
        }
      if (traits.stages > 1 && class_of(compressor) != CompressorClass::low_rank) continue;
      for (const NeighbourGraph graph : {NeighbourGraph::ring, NeighbourGraph::one_peer_exponential})
        for (const bool overlap : {false, true})
          cases.push_back(coded(p, GossipStrategy{overlap, graph}, compressor,
                                fmt::format("gossip on {}, overlap={}", name_of(graph), overlap)));
      if (p % 4 == 0) {
        GossipStrategy rounds{.overlap = false, .steps = 2};
        rounds.islands = Islands{.size = 2};
        rounds.average = GlobalAverage{4};
        cases.push_back(coded(p, rounds, compressor, "gossip of islands"));
      }
      if (std::holds_alternative<QsparseLocalSgd>(compressor) || traits.stages > 1) continue;
      cases.push_back(coded(p, PipelinedStrategy{}, compressor, "pipelined"));
    }
  for (const Comparison& answer : evaluate_both(cases)) require_same(answer, 1e-9);
}

TEST_CASE("all-to-all and in-collective: replay equals equations") {
  std::vector<Case> cases;
  const Compressor recodable[] = {EightBit{}, Natural{}, Qsgd{}, TernGrad{}, Adaptive{}, OneBit{}, TopK{}, Dgc{}};
  for (const int p : kWorkers) {
    for (const Carrier carrier : {Carrier::all_to_all, Carrier::all_to_all_once, Carrier::in_collective})
      for (const Compressor& compressor : recodable) {
        AllReduceStrategy strategy;
        strategy.carrier = carrier;
        strategy.exchange.grouping = Grouping::per_tensor;
        cases.push_back(coded(p, strategy, compressor, std::string(name_of(carrier))));
      }
    for (const Compressor& compressor : {Compressor(SignSgd{}), Compressor(OneBit{}), Compressor(TopK{})}) {
      AllReduceStrategy strategy;
      strategy.carrier = Carrier::all_to_all;
      cases.push_back(coded(p, strategy, compressor, "all-to-all"));
    }
    PipelinedStrategy pipelined;
    pipelined.carrier = Carrier::in_collective;
    pipelined.segments = 2;
    cases.push_back(coded(p, pipelined, Fp16{}, "pipelined in-collective"));
  }
  for (const Comparison& answer : evaluate_both(cases)) require_same(answer, 1e-9);
}

TEST_CASE("compressed between machines: replay equals equations") {
  std::vector<Case> cases;
  const auto add = [&](int p, int nics, const Strategy& strategy, const Compressor& compressor, std::string how) {
    cases.push_back(between_machines(coded(p, strategy, compressor, std::move(how)), nics));
  };
  for (const Compressor& compressor : methods())
    for (const int p : {1, 4, 8, 12})
      for (const Grouping grouping : {Grouping::whole_model, Grouping::per_tensor}) {
        add(p, 1, AllReduceStrategy{.exchange = {.grouping = grouping}}, compressor, "between machines");
        add(p, 4, LocalSgdStrategy{.steps = 3, .grouping = grouping}, compressor, "local SGD between machines");
        add(p, 4, LocalSgdStrategy{.steps = 3, .grouping = grouping, .fragments = 2, .averaging_steps = 2}, compressor,
            "fragments between machines");
      }
  // With another method inside machines.
  for (const bool overlap : {false, true})
    for (const Grouping grouping : {Grouping::whole_model, Grouping::per_tensor})
      for (const int p : {4, 8}) {
        add(p, 1, AllReduceStrategy{.exchange = {.grouping = grouping, .overlap = overlap}}, PowerSgd{.rank = 2},
            "fp16");
        cases.back().scenario.inner_compressor = Fp16{};
        add(p, 1, LocalSgdStrategy{.steps = 3, .grouping = grouping, .averaging_steps = overlap ? 1 : 0}, TopK{},
            "fp16");
        cases.back().scenario.inner_compressor = EightBit{.error_feedback = true};
        cases.back().scenario.codec.overlap = overlap;
      }
  for (const Carrier carrier : {Carrier::all_to_all, Carrier::all_to_all_once, Carrier::in_collective})
    for (const int p : {4, 8, 12})
      for (const Compressor& compressor : {Compressor(EightBit{}), Compressor(Qsgd{}), Compressor(TernGrad{})})
        for (const bool overlap : {false, true}) {
          AllReduceStrategy strategy{.exchange = {.grouping = Grouping::per_tensor, .overlap = overlap}};
          strategy.carrier = carrier;
          add(p, 1, strategy, compressor, fmt::format("{} between machines", name_of(carrier)));
          cases.back().scenario.codec.overlap = !overlap;
        }
  for (const Comparison& answer : evaluate_both(cases)) require_same(answer, 1e-9);
}

TEST_CASE("compressed parts of buckets, and their priorities: replay equals equations") {
  std::vector<Case> cases;
  for (const Compressor& compressor : methods())
    for (const int p : {2, 5})
      for (const bool priority : {false, true})
        for (const bool overlap : {false, true}) {
          const auto* local = std::get_if<QsparseLocalSgd>(&compressor);
          if (local && local->local_steps > 1 && priority) continue;
          const Exchange exchange{
              .grouping = Grouping::per_tensor, .overlap = overlap, .priority = priority, .partition = 1_MB};
          const std::string how = fmt::format("parts, priority {}, overlap {}", priority, overlap);
          cases.push_back(coded(p, AllReduceStrategy{.exchange = exchange}, compressor, how));
          const bool beside = !priority || overlap;
          cases.back().scenario.codec.overlap = beside;
          if (has_several_stages(compressor)) continue;
          for (const bool two_way : {false, true}) {
            cases.push_back(coded(
                p, ParameterServerStrategy{.shards = 2, .two_way = two_way, .duplex = overlap, .exchange = exchange},
                compressor, fmt::format("servers, two-way {}, {}", two_way, how)));
            cases.back().scenario.codec.overlap = beside;
          }
        }
  // All-to-all, sums in machines, and several passes of the GPU.
  for (const Compressor& compressor : {Compressor(EightBit{}), Compressor(PowerSgd{.rank = 2})})
    for (const bool priority : {false, true}) {
      AllReduceStrategy strategy{
          .exchange = {.grouping = Grouping::per_tensor, .priority = priority, .partition = 1_MB}};
      if (std::holds_alternative<EightBit>(compressor)) strategy.carrier = Carrier::all_to_all;
      Case one = coded(8, strategy, compressor, fmt::format("parts, priority {}", priority));
      Case passes = one;
      passes.scenario = accumulating(passes.scenario, 3);
      passes.what += ", three passes";
      cases.push_back(one);
      cases.push_back(passes);
      if (priority) continue;
      one.what += ", between machines";
      cases.push_back(between_machines(one));
    }
  for (const Comparison& answer : evaluate_both(cases)) require_same(answer, 1e-9);
}

TEST_CASE("servers of compressed sums of machines: replay equals equations") {
  // There is one bucket, so nothing shares a link.
  std::vector<Case> cases;
  for (const Compressor& compressor : methods())
    for (const int p : {4, 8, 12})
      for (const bool two_way : {false, true}) {
        if (has_several_stages(compressor) || std::holds_alternative<QsparseLocalSgd>(compressor)) continue;
        const ParameterServerStrategy servers{.shards = 2, .two_way = two_way, .sum_in_machine = true};
        Case one =
            between_machines(coded(p, servers, compressor, fmt::format("sums before servers, two-way {}", two_way)));
        cases.push_back(one);
        for (const Compressor& inner : {Compressor(Fp16{}), Compressor(EightBit{}), Compressor(TopK{})}) {
          cases.push_back(one);
          cases.back().scenario.inner_compressor = inner;
          cases.back().what += fmt::format(", {} inside", name_of(inner));
        }
      }
  for (const Comparison& answer : evaluate_both(cases)) require_same(answer, 1e-9);
}

TEST_CASE("servers of compressed sums, part by part: the equations are near") {
  // Collectives inside machines and messages between them may share links.
  std::vector<Case> cases;
  for (const bool two_way : {false, true})
    for (const bool priority : {false, true})
      for (const bool duplex : {false, true})
        for (const Compressor& inner : {Compressor(NoCompressor{}), Compressor(Fp16{}), Compressor(EightBit{})}) {
          const ParameterServerStrategy servers{
              .shards = 2,
              .two_way = two_way,
              .sum_in_machine = true,
              .duplex = duplex,
              .exchange = {.grouping = Grouping::per_tensor, .priority = priority, .partition = 1_MB}};
          Case one = between_machines(coded(
              8, servers, OneBit{}, fmt::format("two-way {}, priority {}, duplex {}", two_way, priority, duplex)));
          one.scenario.inner_compressor = inner;
          cases.push_back(one);
        }
  for (const Comparison& answer : evaluate_both(cases))
    require_close(answer.replay.step, answer.equations.step, 0.02, answer.what);
}

TEST_CASE("sharded state, compressed: replay equals equations") {
  std::vector<Case> cases;
  const auto add = [&](int p, ShardedStrategy strategy, const Compressor& compressor, CodecScope scope, int passes = 1,
                       const Compressor& inner = NoCompressor{}) {
    Case one = coded(p, strategy, compressor,
                     fmt::format("{}, {}, codes {}, {}", name_of(strategy.stage), name_of(strategy.exchange.grouping),
                                 strategy.quantized_gather.has_value(), name_of(scope)));
    one.scenario.cluster.topology = Nodes{.gpus_per_node = 4, .inner = {10_GBps, 3_us}, .nics = 1};
    one.scenario.codec.scope = scope;
    one.scenario.inner_compressor = inner;
    one.what += fmt::format(", {} inside", name_of(inner));
    if (passes > 1) one.scenario = accumulating(one.scenario, passes);
    cases.push_back(std::move(one));
  };
  constexpr ShardingStage kStages[] = {ShardingStage::optimizer_state, ShardingStage::gradients,
                                       ShardingStage::parameters};
  for (const Compressor& compressor : methods()) {
    const CompressorTraits traits = traits_of(compressor, Dtype::fp32);
    const bool in_parts = is_cut_in_parts(compressor, traits);
    for (const ShardingStage stage : kStages)
      for (const bool overlap : {true, false})
        for (const int p : {1, 4, 8, 12}) {
          const ShardedStrategy strategy{.stage = stage,
                                         .exchange = {.grouping = Grouping::per_tensor, .overlap = overlap}};
          if (in_parts)
            for (const CodecScope scope : {CodecScope::workers, CodecScope::machines})
              add(p, strategy, compressor, scope);
          for (const Compressor& inner : {compressor, Compressor(Fp16{})})
            if (in_parts && !std::holds_alternative<QsparseLocalSgd>(inner))
              add(p, strategy, compressor, CodecScope::machines, 1, inner);
          ShardedStrategy groups = strategy;
          groups.group_size = 4;
          if (p < 8) continue;
          add(p, groups, compressor, CodecScope::machines);
          add(p, groups, compressor, CodecScope::machines, 1, EightBit{});
        }
  }
  for (const ShardingStage stage : kStages)
    for (const bool overlap : {true, false})
      for (const int prefetch : {0, 2})
        for (const int passes : {1, 3}) {
          ShardedStrategy strategy{
              .stage = stage, .prefetch = prefetch, .exchange = {.grouping = Grouping::per_tensor, .overlap = overlap}};
          strategy.quantized_gather = QuantizedGather{};
          strategy.backward_group_size = 4;
          add(12, strategy, NoCompressor{}, CodecScope::workers, passes);
          strategy.reduce_after = ReduceAfter::every_pass;
          strategy.reduce_dtype = Dtype::bf16;
          for (const CodecScope scope : {CodecScope::workers, CodecScope::machines})
            add(12, strategy, EightBit{}, scope, passes);
          add(12, strategy, EightBit{}, CodecScope::machines, passes, Qsgd{});
        }
  for (const Comparison& answer : evaluate_both(cases)) require_same(answer, 1e-9);
}

TEST_CASE("small tensors as they are: replay equals equations") {
  std::vector<Case> cases;
  for (const Compressor& compressor : methods())
    for (const Grouping grouping : {Grouping::whole_model, Grouping::per_tensor}) {
      cases.push_back(coded(5, AllReduceStrategy{.exchange = {.grouping = grouping}}, compressor, "small ones whole"));
      cases.push_back(coded(8, LocalSgdStrategy{.steps = 3, .grouping = grouping}, compressor, "small ones whole"));
      if (has_several_stages(compressor)) continue;
      cases.push_back(coded(5, ParameterServerStrategy{.shards = 2}, compressor, "small ones whole, servers"));
    }
  for (Case& one : cases) one.scenario.codec.min_elements = 1000000;
  for (const Comparison& answer : evaluate_both(cases)) require_same(answer, 1e-9);
}

TEST_CASE("compressors of tensors by name: replay equals equations") {
  std::vector<Case> cases;
  const Compressor summed = Fp16{}, gathered = TopK{}, codes = EightBit{}, factors = PowerSgd{.rank = 2};
  const auto add = [&](Case one, const Compressor& other) {
    one.scenario.other_compressors = std::vector<OtherCompressor>{{{"b", "d"}, other}, {{"c"}, Qsgd{}}};
    one.what += fmt::format(", {} beside", name_of(other));
    cases.push_back(std::move(one));
  };
  for (const int p : {1, 5, 8})
    for (const auto& [main, other] :
         {std::pair{summed, gathered}, {gathered, codes}, {gathered, factors}, {codes, summed}}) {
      for (const Grouping grouping : {Grouping::whole_model, Grouping::per_tensor})
        for (const Carrier carrier : {Carrier::automatic, Carrier::all_to_all, Carrier::all_to_all_once}) {
          AllReduceStrategy strategy{.exchange = {.grouping = grouping}};
          strategy.carrier = carrier;
          add(coded(p, strategy, main, fmt::format("{} {}", name_of(grouping), name_of(carrier))), other);
          LocalSgdStrategy local{.steps = 3, .grouping = grouping};
          local.carrier = carrier;
          add(coded(p, local, main, "local SGD"), other);
        }
      add(coded(p, LocalSgdStrategy{.steps = 3, .fragments = 2, .averaging_steps = 2}, main, "fragments"), other);
      if (has_several_stages(other)) continue;
      for (const bool two_way : {false, true})
        add(coded(p, ParameterServerStrategy{.shards = 2, .two_way = two_way}, main, "servers"), other);
      add(coded(p, GossipStrategy{}, main, "gossip"), other);
      add(coded(p, PipelinedStrategy{}, main, "pipelined"), other);
    }
  for (const int p : {4, 8, 12})
    for (const auto& codec : {std::pair{CodecScope::workers, Compressor(NoCompressor{})},
                              {CodecScope::machines, NoCompressor{}},
                              {CodecScope::machines, EightBit{}}}) {
      const CodecScope scope = codec.first;
      const Compressor& inner = codec.second;
      const auto on_machines = [&](Case one) {
        one.scenario.cluster.topology = Nodes{.gpus_per_node = 4, .inner = {10_GBps, 3_us}, .nics = 1};
        one.scenario.codec.scope = scope;
        one.scenario.inner_compressor = inner;
        return one;
      };
      add(on_machines(coded(p, ShardedStrategy{.exchange = {.grouping = Grouping::per_tensor}}, codes,
                            fmt::format("sharded, {}", name_of(scope)))),
          summed);
      add(on_machines(coded(p, ShardedStrategy{.exchange = {.grouping = Grouping::per_tensor}}, codes,
                            fmt::format("sharded, both gathered, {}", name_of(scope)))),
          gathered);
      for (const Carrier carrier : {Carrier::automatic, Carrier::all_to_all, Carrier::all_to_all_once}) {
        AllReduceStrategy strategy;
        strategy.carrier = carrier;
        add(on_machines(coded(p, strategy, gathered, fmt::format("by {}, {}", name_of(scope), name_of(carrier)))),
            factors);
        cases.back().scenario.codec.overlap = carrier != Carrier::automatic;
        LocalSgdStrategy local{.steps = 3};
        local.carrier = carrier;
        add(on_machines(coded(p, local, gathered, "local SGD between machines")), factors);
      }
      if (scope == CodecScope::machines && p > 4) {
        ShardedStrategy groups{.exchange = {.grouping = Grouping::per_tensor}};
        groups.group_size = 4;
        add(on_machines(coded(p, groups, gathered, "groups of a machine")), factors);
        cases.back().scenario = accumulating(cases.back().scenario, 2);
      }
      if (scope == CodecScope::workers && p > 4)
        add(on_machines(coded(p, LocalSgdStrategy{.steps = 3, .islands = Islands{.size = 4}}, gathered, "islands")),
            factors);
    }
  for (const int p : {1, 5, 8}) {
    AllReduceStrategy ring{.exchange = {.grouping = Grouping::per_tensor}};
    ring.carrier = Carrier::in_collective;
    Case one = coded(p, ring, codes, "in-collective");
    one.scenario.other_compressors = std::vector<OtherCompressor>{{{"b", "d"}, Fp16{}}, {{"c"}, Qsgd{}}};
    cases.push_back(std::move(one));
  }
  for (const Comparison& answer : evaluate_both(cases)) require_same(answer, 1e-9);
}

TEST_CASE("what a stack adds to gathers is the same in both, and what the formula says") {
  // Top-k of a tensor of 4,000,000 elements, 1 %: 40,000 values and as many indices, 320,000 B a worker.
  // G = 100 us a doubling of workers, g = 2 ns for each byte got: 100·log2(p) us + 2 ns·320,000·(p-1) longer than ideal.
  // The parts of 8-bit by GRACE, 4,000,000 B of codes and 4 B of scale, are two gathers.
  WorkloadTable table = small_workload();
  table.layers.clear();
  table.gradients = {{"a", 4000000, 10_ms}};
  AllReduceStrategy strategy;
  strategy.collective.algorithm = Algorithm::ring;
  strategy.carrier = Carrier::sum_or_gather;
  strategy.exchange.grouping = Grouping::per_tensor;
  strategy.exchange.overlap = false;
  std::vector<Case> cases;
  std::vector<double> longer;
  for (const Fidelity fidelity : {Fidelity::full, Fidelity::folded})
    for (const int p : {1, 2, 5, 8})
      for (const bool two_parts : {false, true}) {
        const Compressor compressor = two_parts ? Compressor(EightBit{.packing = Packing::grace}) : TopK{.ratio = 0.01};
        Case one = coded(p, strategy, compressor, std::string(name_of(fidelity)));
        one.scenario.workload = std::make_shared<const WorkloadTable>(table);
        one.scenario.evaluation.fidelity = fidelity;
        cases.push_back(one);
        one.scenario.cluster.stack.gather_cost = 100_us;
        one.scenario.cluster.stack.gather_byte_cost = 2_ns_per_B;
        cases.push_back(one);
        const double gathers = two_parts ? 2 : 1, bytes = two_parts ? 4000004 : 320000;
        longer.push_back(p == 1 ? 0 : gathers * 100e-6 * std::log2(p) + 2e-9 * bytes * (p - 1));
      }
  const auto answers = evaluate_both(cases);
  for (const Comparison& answer : answers) require_same(answer, 1e-9);
  for (std::size_t i = 0; i < longer.size(); ++i)
    require_close(longer[i], answers[2 * i + 1].equations.step.si() - answers[2 * i].equations.step.si(), 1e-9,
                  cases[2 * i].what);
}

TEST_CASE("a pipeline whose messages wait for each other shares the GPU, by hand") {
  // Kernels of the codec have a stream of their own, in order: a step's second encoding comes before the next step's
  // decoding, for which computing waits. So nothing but the first messages' time is lost beside all kernels.
  const CodecRates rates{.all = {10_us, BytesPerSecond(1e11), FlopsPerSecond(1e25)}, .measured = {}};
  const auto time = [&](const std::vector<CodecKernel>& kernels) { return price(kernels, rates).si(); };
  const Tensor matrix{{2500, 1000}};
  const auto with = [&](const Compressor& compressor, Carrier carrier, Seconds latency) {
    CollectiveChoice doubling;
    if (carrier == Carrier::automatic) doubling.algorithm = Algorithm::recursive_doubling;
    Case one = coded(4, PipelinedStrategy{.width = 3, .collective = doubling, .carrier = carrier}, compressor,
                     std::string(name_of(carrier)));
    WorkloadTable table = one_tensor(20_ms, 30_ms);
    table.gradients.front().dims = {2500, 1000};
    one.scenario.workload = std::make_shared<const WorkloadTable>(table);
    one.scenario.codec.device = device_of(rates.all.launch, rates.all.bandwidth, rates.all.peak);
    one.scenario.codec.sharing = GpuSharing::fair;
    one.scenario.cluster = Cluster{};
    one.scenario.cluster.workers = 4;
    one.scenario.cluster.link = {BytesPerSecond(1e20), latency};
    return one;
  };
  const std::vector<Case> cases{with(PowerSgd{.rank = 2}, Carrier::automatic, {}),
                                with(PowerSgd{.rank = 2}, Carrier::automatic, 25_us),
                                with(EightBit{}, Carrier::all_to_all, {})};
  const auto answers = replay_all(cases);
  const CodecPlan power = make_plan(PowerSgd{.rank = 2}, matrix);
  const double kernels = time(encode_kernels(power)) + time(decode_kernels(power, 4));
  require_close(50e-3 + kernels, answers[0].step.si(), 1e-9, "PowerSGD: P, then Q");
  require_close(50e-3 + kernels + 50e-6, answers[1].step.si(), 1e-9, "two rounds of 25 us sum P");
  // A worker encodes all, decodes four parts of 625,000 elements and encodes their sum, and decodes all.
  const CodecPlan all = make_plan(EightBit{}, Tensor{{2500000}}), part = make_plan(EightBit{}, Tensor{{625000}});
  require_close(50e-3 + time(encode_kernels(all)) + time(recode_kernels(part, 4)) + time(decode_kernels(all, 1)),
                answers[2].step.si(), 1e-9, "8-bit by all-to-all");
}

TEST_CASE("fairly shared, encoding and back-propagation slow each other") {
  // Two gradients of 10 MB, ready after 10 ms of backward each. Encoding one takes 0.5 ns/B · 10 MB = 5 ms.
  //
  // Serial: the first is encoded from 10 to 15 ms, backward ends at 25 ms, the second is encoded until 30 ms.
  //
  // Fair: from 10 ms on, the first encode and the second backward have half of the GPU each. 5 ms of encoding take
  // until 20 ms. Backward then has 5 of its 10 ms left and the GPU alone. It ends at 25 ms, the second encode at 30 ms.
  //
  // Either way the GPU works for 30 ms, but the first gradient leaves at 15 ms or at 20 ms.
  auto table = small_workload();
  table.layers.clear();
  table.forward = 0_s;
  table.update = 0_s;
  table.gradients = {{"a", 2500000, 10_ms}, {"b", 2500000, 10_ms}};
  AllReduceStrategy strategy;
  strategy.exchange.grouping = Grouping::per_tensor;
  strategy.collective.algorithm = Algorithm::ring;
  std::vector<Case> cases;
  for (const int p : {1, 2})
    for (const GpuSharing sharing : {GpuSharing::serial, GpuSharing::fair}) {
      Case one{fmt::format("{} p={}", name_of(sharing), p), scenario_of(star(p), strategy)};
      one.scenario.workload = std::make_shared<const WorkloadTable>(table);
      one.scenario.compressor = RatioCompressor{1.0, 0.5_ns_per_B, {}};
      one.scenario.codec.sharing = sharing;
      one.scenario.cluster.link.bandwidth = 5_Gbps;
      one.scenario.cluster.collective_cost = {};
      one.scenario.cluster.stack.host_cost = one.scenario.cluster.stack.inner_host_cost = {};
      one.scenario.cluster.reduction_cost = {};
      cases.push_back(one);
    }
  const auto answers = replay_all(cases);
  require_close(0.030, answers[0].step.si(), 1e-9, "serial, alone");
  require_close(0.030, answers[1].step.si(), 1e-9, "fair, alone");
  // p = 2 at 5 Gb/s: a ring takes 2·(25 us + 5 MB · 1.6 ns/B) = 16.05 ms, longer than the rest of the computation. The
  // exchanges therefore follow each other: 15 + 2 · 16.05, or 20 + 2 · 16.05.
  require_close(0.0471, answers[2].step.si(), 1e-9, "serial, two");
  require_close(0.0521, answers[3].step.si(), 1e-9, "fair, two");
  require_close(0.0221, answers[3].breakdown.exposed_communication.si(), 1e-9, "after 30 ms of computation");
}
