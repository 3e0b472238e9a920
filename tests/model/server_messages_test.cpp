// Servers and compressors of several messages, or whose sums are wider than a message: steps by hand.
#include <algorithm>
#include <string_view>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/test_compressors.hpp"
#include "tests/support/test_scenarios.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

const CodecRates kRates{.all = {10_us, BytesPerSecond(1e11), FlopsPerSecond(1e12)}, .measured = {}};

double time(const std::vector<CodecKernel>& kernels) { return price(kernels, kRates).si(); }

Compressor method_named(std::string_view name) {
  for (Compressor& one : shipped_formulas())
    if (name_of(one) == name) return one;
  throw std::logic_error("no such method");
}

/// 4 workers and a dedicated server: α = 10 us, β = 1 ns/B, γ = 0.1 ns/B. A message of n bytes takes 10 us + 4·n·1 ns.
double step_of(const Compressor& compressor, const Workload& w, bool two_way, Seconds latency = 10_us) {
  Cluster cluster = star_cluster(4, 1_GBps, latency);
  cluster.reduction_cost = 0.1_ns_per_B;
  ParameterServerStrategy servers;
  servers.two_way = two_way;
  Scenario scenario = scenario_of(cluster, servers, compressor);
  scenario.codec.device = device_of(kRates.all.launch, kRates.all.bandwidth, kRates.all.peak);
  return step_time(scenario, w);
}

/// Passes of 60 ms, an update of 2 ms.
Workload of_tensors(std::vector<Gradient> gradients) {
  Bytes n{};
  for (const Gradient& gradient : gradients) n += gradient.bytes;
  Workload w = simple_workload(20_ms, 40_ms, 2_ms, n);
  w.gradients = std::move(gradients);
  return w;
}

}  // namespace

TEST_CASE("THC on servers: narrow codes there, wide sums back") {
  // d = 1,000,000. The norm is 4 B each way. Codes have 4 bits, 500,000 B; sums of 4 codes of up to 30 have
  // ceil(lg 121) = 7 bits, 875,000 B. The server adds 4·4 B, then 4·500,000 B.
  const Workload w = of_tensors({{"a", 1000000, 4_MB, 40_ms}});
  const Compressor thc = method_named("thc");
  const CodecPlan plan = make_plan(thc, Tensor{{1000000}}, 4);
  CHECK(pushed(plan.stages[1]).si() == 500000);
  CHECK(answer(plan.stages[1]).si() == 875000);
  CHECK(payload(plan).si() == 875004);  // a collective's buffer has room for the sum
  const double norm = 2 * (10e-6 + 16e-9) + 1.6e-9, push = 10e-6 + 2e-3 + 0.2e-3;
  // The worker adds its residual and encodes, sends the norm, then codes, and remembers what was lost.
  const double encode =
      time(plan.compensate) + time(plan.stages[0].encode) + time(plan.stages[1].encode) + time(plan.remember);
  const double decode = time(plan.decode.first);
  require_close(62e-3 + encode + norm + push + 10e-6 + 3.5e-3 + decode, step_of(thc, w, true), 1e-12,
                "sums of 875,000 B, decoded by workers");
  require_close(62e-3 + encode + norm + push + decode + 10e-6 + 16e-3, step_of(thc, w, false), 1e-12,
                "parameters of 4 MB, after the server has decoded one sum");
}

TEST_CASE("PowerSGD on servers: the sum of P comes back before Q is sent") {
  // A matrix of 1,000 x 500 and a vector of 500, rank 4. P: 16,000 B, with the vector 18,000 B. Q: 8,000 B.
  const Workload w = of_tensors({{"m", 500000, 2000000_B, 40_ms, {1000, 500}}, {"v", 500, 2000_B, 0_s}});
  const Compressor power = PowerSgd{.rank = 4};
  const CodecPlan plan = make_plan(power, std::vector<Tensor>{{{1000, 500}}, {{500}}});
  const double encode =
      time(plan.compensate) + time(plan.stages[0].encode) + time(plan.stages[1].encode) + time(plan.remember);
  const double pushes = 20e-6 + 4 * (18000 + 8000) * 1.1e-9, decode = time(plan.decode.first);
  require_close(62e-3 + encode + pushes + 20e-6 + 4 * (18000 + 8000) * 1e-9 + decode, step_of(power, w, true), 1e-12,
                "two-way: sums back");
  // The first answer is the sum of the first message, the vector's among them. Parameters come with the last one.
  require_close(62e-3 + encode + pushes + 20e-6 + 4 * (18000 + 2002000) * 1e-9 + decode, step_of(power, w, false),
                1e-12, "parameters back");
}

TEST_CASE("OmniReduce's aggregators: the blocks of all workers come back") {
  // 1,000,000 elements are ceil(3,906.25) = 3,907 blocks of 256, a tenth of which is 391: 391·256·4 + 391·4 = 401,948 B.
  // Four workers have four times as many, as they differ: 1,607,792 B.
  const Workload w = of_tensors({{"a", 1000000, 4_MB, 40_ms}});
  const Compressor omni = method_named("omnireduce");
  const CodecPlan plan = make_plan(omni, Tensor{{1000000}}, 4);
  CHECK(payload(plan).si() == 401948);
  CHECK(answer(plan.stages[0]).si() == 1607792);
  // The server decodes four messages. A worker writes the first blocks as one message, and adds three times as many.
  std::vector<CodecKernel> more = plan.decode.further;
  for (CodecKernel& kernel : more) kernel.read *= 3, kernel.written *= 3, kernel.flops *= 3;
  const double step = 62e-3 + time(plan.stages[0].encode) + 20e-6 + 4 * (401948 + 1607792) * 1e-9 +
                      time(sum_kernels(plan, 4)) + time(plan.decode.first) + time(more);
  require_close(step, step_of(omni, w, true), 1e-12, "sums as they are");
  // Blocks of the largest norms are chosen again instead: as many bytes back as were sent.
  const Compressor again = method_named("block-top-k");
  const CodecPlan chosen = make_plan(again, Tensor{{1000000}}, 4);
  CHECK(answer(chosen.stages[0]).si() == 0);
  const double wire = payload(chosen).si();
  require_close(62e-3 + time(encode_kernels(chosen)) + time(chosen.remember) + 20e-6 + 8 * wire * 1e-9 +
                    time(recode_kernels(chosen, 4)) + time(sum_kernels(chosen, 1)),
                step_of(again, w, true), 1e-12, "sums encoded again");
}

TEST_CASE("a sum that is a message goes back as it is") {
  // fp16: 2 MB a message, each way 10 us + 8 ms, added at 4·2 MB·0.1 ns/B. Only workers have kernels.
  const Workload w = of_tensors({{"a", 1000000, 4_MB, 40_ms}});
  const CodecPlan plan = make_plan(Fp16{}, Tensor{{1000000}});
  require_close(62e-3 + time(plan.stages[0].encode) + 20e-6 + 16e-3 + 0.8e-3 + time(plan.decode.first),
                step_of(Fp16{}, w, true), 1e-12, "fp16");
}
