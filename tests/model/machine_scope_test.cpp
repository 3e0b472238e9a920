// Codec scope machines: gradients are added up inside machines, and compressed between them. The collectives inside and
// the kernels are taken as given; their order is derived by hand.
//
// Two machines of 4 GPUs: inner links of 10 GB/s and 3 us, one NIC of 1 GB/s and 10 us. Four messages leave a machine at
// once, so one of m bytes takes 13 us + 4m ns between machines.
#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "models/strategy/coded_exchange.hpp"
#include "models/scenario/library.hpp"
#include "models/study/expansion.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/test_compressors.hpp"
#include "tests/support/test_scenarios.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

const CodecRates kRates{{10_us, BytesPerSecond(1e11), FlopsPerSecond(1e25)}, {}};

Cluster machines(int workers) {
  Cluster cluster = star_cluster(workers, 1_GBps, 10_us);
  cluster.topology = Nodes{.gpus_per_node = 4, .inner = {10_GBps, 3_us}, .nics = 1};
  return cluster;
}

/// Matrices of 1000 x 1000 elements, each ready `gap` after the one before; forward 5 ms, update 1 ms.
Workload matrices(int count, Seconds gap) {
  Workload w;
  w.forward = 5_ms;
  w.update = 1_ms;
  w.gradients.assign(static_cast<std::size_t>(count), {"matrix", 1000000, 4_MB, gap, {1000, 1000}});
  w.gradient_bytes = 4_MB * static_cast<double>(count);
  w.backward = gap * static_cast<double>(count);
  return w;
}

Scenario summed(const Compressor& compressor, Strategy strategy, int workers = 8) {
  Scenario scenario = scenario_of(machines(workers), std::move(strategy), compressor);
  scenario.codec.device = device_of(kRates.all.launch, kRates.all.bandwidth, kRates.all.peak);
  scenario.codec.scope = CodecScope::machines;
  return scenario;
}

AllReduceStrategy by_tensor(Carrier carrier = Carrier::sum_or_gather) {
  return {ring_choice(), {.grouping = Grouping::per_tensor}, carrier};
}

double time(const std::vector<CodecKernel>& passes) { return price(passes, kRates).si(); }

/// A collective of a machine's four workers, by halving (or doubling): two rounds, 3/4 of 4 MB at 0.1 ns/B.
constexpr double kInside = 2 * 3e-6 + 3e6 * 0.1e-9;
/// From the other machine; its NIC carries four of them.
double between(double bytes) { return 13e-6 + 4 * bytes * 1e-9; }

}  // namespace

TEST_CASE("one bucket: sum inside, compress the share, exchange it, gather inside") {
  // A share has 250,000 elements; 1 % of them with their indices are 20,000 B.
  const TopK top_k{.ratio = 0.01};
  const CodecPlan share = make_plan(top_k, Tensor{{250000}});
  const double codec = time(encode_kernels(share)) + time(decode_kernels(share, 2));
  const Workload w = matrices(1, 20_ms);
  const Scenario scenario = summed(top_k, by_tensor());
  require_close(0.026 + kInside + codec + between(20000) + kInside, step_time(scenario, w), 1e-9, "step");
  CHECK(build_step_graph(scenario, w).payload == 20_kB);
}

TEST_CASE("low-rank methods factorize a share of the rows") {
  // 250 x 1000 with rank 2: P has 500 elements, Q has 2000; each is summed by a ring of two: half of it twice.
  const PowerSgd power{.rank = 2};
  const CodecPlan share = make_plan(power, Tensor{{250, 1000}});
  const double codec = time(encode_kernels(share)) + time(decode_kernels(share, 2));
  const double exchange = 2 * (between(1000) + between(4000));
  require_close(0.026 + 2 * kInside + codec + exchange, step_time(summed(power, by_tensor()), matrices(1, 20_ms)), 1e-9,
                "step");
}

TEST_CASE("all-to-all between machines encodes the sums again, each a p-th of the gradient") {
  // 8-bit: a byte an element and a scale of 4 bytes. Half of 250,004 B goes over, then 125,004 B of sums come.
  const EightBit method{};
  const CodecPlan share = make_plan(method, Tensor{{250000}}), part = make_plan(method, Tensor{{125000}});
  const double codec = time(encode_kernels(share)) + time(recode_kernels(part, 2)) + time(decode_kernels(share, 1));
  require_close(0.026 + 2 * kInside + codec + between(125002) + between(125004),
                step_time(summed(method, by_tensor(Carrier::all_to_all)), matrices(1, 20_ms)), 1e-9, "step");
}

TEST_CASE("a sum goes before messages, and a bucket is encoded while the next ones are computed") {
  // Without kernels' times, and messages of m = 250,000 B of a share (ratio 4): sums take S = 306 us, messages M = 1.013 ms.
  // Two buckets 10 ms apart: the second one's sum begins when backward ends, at 25 ms. S + M + S follow, the last
  // S being the gathering of the second bucket; that of the first comes before it on the same link.
  const RatioCompressor quarter{4.0, {}, {}};
  const double message = 2 * between(125000);  // a ring of two: half of 250,000 B twice
  require_close(0.026 + kInside + message + 2 * kInside, step_time(summed(quarter, by_tensor()), matrices(2, 10_ms)),
                1e-9, "apart");
  // Three buckets 0.1 ms apart: they keep the link busy from the first one's end, at 5.1 ms, on. The GPU idles meanwhile.
  require_close(0.0051 + 3 * (2 * kInside + message) + 0.001,
                step_time(summed(quarter, by_tensor()), matrices(3, 100_us)), 1e-9, "behind each other");
}

TEST_CASE("encoding holds up the rest of back-propagation only when the sum is there") {
  // Encoding takes 4 ns/B of the share: 4 ms. Two buckets 10 ms apart: the first one's sum ends at 15.306 ms, so it is
  // encoded after the second backward task: from 25 to 29 ms, the second from 29 to 33 ms. Its message follows.
  const RatioCompressor quarter{4.0, 4_ns_per_B, {}};
  const double message = 2 * between(125000);
  require_close(0.033 + message + 2 * kInside + 0.001, step_time(summed(quarter, by_tensor()), matrices(2, 10_ms)),
                1e-9, "two");
  // With a third bucket, the first two are encoded before its backward task, which then ends at 43 ms. Its sum is there
  // at 43.306 ms, and it is encoded at 47.306 ms.
  require_close(0.043 + kInside + 0.004 + message + 3 * kInside + 0.001,
                step_time(summed(quarter, by_tensor()), matrices(3, 10_ms)), 1e-9, "three");
}

TEST_CASE("a message does not wait for sums of buckets that encodings hold up") {
  // Four buckets 10 ms apart, 20 ns/B of the share to encode: 20 ms. Messages of 4.9 MB by a ring of two take 19.626 ms.
  // Either way the GPU is busy until 125 ms: forward, 40 ms of back-propagation, 80 ms of encoding. The last message and
  // four gathers follow. The first message leaves at 45 ms, when the third backward task has not yet begun.
  const RatioCompressor method{1 / 4.9, 20_ns_per_B, {}};
  Scenario scenario = summed(method, by_tensor());
  for (const bool overlap : {true, false}) {
    scenario.codec.overlap = overlap;
    require_close(0.125 + 2 * between(2450000) + 4 * kInside + 0.001, step_time(scenario, matrices(4, 10_ms)), 1e-9,
                  overlap ? "beside" : "after");
  }
}

TEST_CASE("parts of a bucket are added up, compressed and sent by themselves") {
  // A bucket in two parts, without kernels' times: both are added up in turn before the first message, since a sum goes
  // first. Half a bucket takes 6 us + 150 us inside; its share's messages 125,000 B by a ring of two.
  const RatioCompressor quarter{4.0, {}, {}};
  AllReduceStrategy strategy = by_tensor();
  strategy.exchange.partition = 2_MB;
  const double inside = 2 * 3e-6 + 1.5e6 * 0.1e-9, message = 2 * between(62500);
  require_close(0.026 + 2 * inside + 2 * message + 2 * inside, step_time(summed(quarter, strategy), matrices(1, 20_ms)),
                1e-9, "two parts");
  // Top-k of a part's share: 1 % of 125,000 elements with their indices.
  CHECK(build_step_graph(summed(TopK{.ratio = 0.01}, strategy), matrices(1, 20_ms)).payload == 20_kB);
}

TEST_CASE("servers of sums in machines: each worker compresses its share, the shard adds those of two machines") {
  // One bucket after back-propagation, at 25 ms. Top-k of a share: 20,000 B pushed by each of 8 workers into one shard,
  // whose link has 1 GB/s. It decodes and adds two messages of each of four shares, and updates in 1 ms. 8 · 1 MB come back.
  const TopK top_k{.ratio = 0.01};
  const CodecPlan share = make_plan(top_k, Tensor{{250000}});
  ParameterServerStrategy server;
  server.sum_in_machine = true;
  const double encode = time(encode_kernels(share)) + time(share.remember);
  const auto messages = [](double bytes) { return 1e-6 * (10 + 3.0 / 2) + 8 * bytes * 1e-9; };
  require_close(
      0.025 + kInside + encode + messages(20000) + 4 * time(sum_kernels(share, 2)) + 0.001 + messages(1e6) + kInside,
      step_time(summed(top_k, server), matrices(1, 20_ms)), 1e-9, "one way");
  // Two ways: the shard encodes four sums, each worker decodes its own before the machine gathers, and updates.
  server.two_way = true;
  const double decode = time(sum_kernels(share, 1));
  require_close(
      0.025 + kInside + encode + 2 * messages(20000) + 4 * time(recode_kernels(share, 2)) + decode + kInside + 0.001,
      step_time(summed(top_k, server), matrices(1, 20_ms)), 1e-9, "two ways");
}

TEST_CASE("servers encode a share as soon as its sum is there, between backward tasks") {
  // Sums have a link of their own, and messages of a share take M. Encoding takes 4 ms, as in the case above: the first
  // sum ends at 15.306 ms, so it is encoded from 25 to 29, the second from 29 to 33; pushes follow in order.
  const RatioCompressor quarter{4.0, 4_ns_per_B, {}};
  ParameterServerStrategy server;
  server.sum_in_machine = true;
  server.exchange.grouping = Grouping::per_tensor;
  const auto messages = [](double bytes) { return 1e-6 * (10 + 3.0 / 2) + 8 * bytes * 1e-9; };
  // Each push of 250,000 B takes 2.0115 ms; each pull of 1 MB 8.0115 ms, and the second one follows the first one's, whose
  // push ends at 31.0115 ms and whose update takes 0.5 ms.
  require_close(0.029 + messages(250000) + 0.0005 + 2 * messages(1e6) + kInside,
                step_time(summed(quarter, server), matrices(2, 10_ms)), 1e-9, "two");
  // With a third bucket, the first two are encoded before the third backward task, which then ends at 43 ms. It is encoded
  // at 47.306 ms, and pushed when the second pull is over, at 47.4 ms. Its update takes a third of 1 ms.
  require_close(0.043 + kInside + 0.004 + messages(250000) + 0.001 / 3 + messages(1e6) + kInside,
                step_time(summed(quarter, server), matrices(3, 10_ms)), 1e-9, "three");
}

TEST_CASE("sums inside machines in fp16: half the bytes, and casts before and after") {
  // A cast of n bytes reads n and writes n/2 at 100 GB/s, after a launch of 10 us: 4 MB before the sum and after the
  // gathering, the share's 1 MB before encoding and after decoding. Inside, 3/4 of 2 MB.
  const TopK top_k{.ratio = 0.01};
  const CodecPlan share = make_plan(top_k, Tensor{{250000}});
  const double codec = time(encode_kernels(share)) + time(decode_kernels(share, 2));
  const double casts = 2 * (10e-6 + 6e6 / 1e11) + 2 * (10e-6 + 1.5e6 / 1e11), inside = 2 * 3e-6 + 1.5e6 * 0.1e-9;
  Scenario scenario = summed(top_k, by_tensor());
  scenario.inner_compressor = Fp16{};
  require_close(0.026 + inside + codec + casts + between(20000) + inside, step_time(scenario, matrices(1, 20_ms)), 1e-9,
                "all-reduce");
  // One machine alone sums in that type: a ring of four, 2 · 3 rounds of a quarter of 2 MB.
  scenario.cluster.workers = 4;
  require_close(0.026 + 2 * (10e-6 + 6e6 / 1e11) + 6 * (3e-6 + 5e5 * 0.1e-9), step_time(scenario, matrices(1, 20_ms)),
                1e-9, "one machine");
  // Local SGD averages in that type, too.
  const Scenario local = summed(top_k, LocalSgdStrategy{.steps = 1, .collective = ring_choice()});
  Scenario narrow = local;
  narrow.inner_compressor = Fp16{};
  require_close(step_time(local, matrices(1, 20_ms)) + casts - 2 * (kInside - inside),
                step_time(narrow, matrices(1, 20_ms)), 1e-9, "local SGD");
  // Servers that send sums back: the same casts. Parameters, else, come back in their own type, without a cast.
  for (const bool two_way : {true, false}) {
    ParameterServerStrategy server;
    server.sum_in_machine = true;
    server.two_way = two_way;
    const Scenario plain = summed(top_k, server);
    Scenario cast = plain;
    cast.inner_compressor = Fp16{};
    const double saved = (two_way ? 2 : 1) * (kInside - inside) - (two_way ? 1 : 0.5) * casts;
    require_close(step_time(plain, matrices(1, 20_ms)) - saved, step_time(cast, matrices(1, 20_ms)), 1e-9,
                  two_way ? "two-way" : "one-way");
  }
}

TEST_CASE("another method inside machines: messages are decoded, added and encoded again on both sides") {
  // 8-bit inside, top-k between. Inside, an all-to-all of 1,000,004 B takes three rounds and moves 3/4 of it. Each worker
  // adds four parts of 250,000 elements. Top-k sends 20,000 B of the sum. Four messages of 250,004 B are gathered by doubling.
  const TopK top_k{.ratio = 0.01};
  const EightBit codes{.error_feedback = true};
  const Tensor whole{{1000000}}, quarter{{250000}};
  const CodecPlan share = make_plan(top_k, quarter), inner = make_plan(codes, whole),
                  of_share = make_plan(codes, quarter);
  const double outer = time(encode_kernels(share)) + time(decode_kernels(share, 2)),
               encode = time(encode_kernels(inner)), add = time(sum_kernels(of_share, 4)),
               again = time(encode_kernels(of_share)) + time(of_share.remember),
               decode = time(decode_kernels(inner, 1));
  const double there = 3 * 3e-6 + 0.75 * 1000004 * 0.1e-9, back = 2 * 3e-6 + 3 * 250004 * 0.1e-9;
  Scenario scenario = summed(top_k, by_tensor());
  scenario.inner_compressor = codes;
  const Workload w = matrices(1, 20_ms);
  require_close(0.026 + encode + there + add + outer + between(20000) + again + back + decode, step_time(scenario, w),
                1e-9, "all-reduce");
  CHECK(build_step_graph(scenario, w).payload == 1020004_B);
  // Servers that send sums back: each message of 20,000 B is decoded alone, and theirs, too.
  ParameterServerStrategy server;
  server.sum_in_machine = true;
  server.two_way = true;
  const Scenario plain = summed(top_k, server);
  Scenario with_servers = plain;
  with_servers.inner_compressor = codes;
  require_close(step_time(plain, w) + encode + there + add + again + back + decode - 2 * kInside,
                step_time(with_servers, w), 1e-9, "servers");
  // Parameters come back as they are.
  std::get<ParameterServerStrategy>(with_servers.strategy).two_way = false;
  server.two_way = false;
  require_close(step_time(summed(top_k, server), w) + encode + time(inner.remember) + there + add - kInside,
                step_time(with_servers, w), 1e-9, "one way");
  // Local SGD compresses its averages alike.
  const LocalSgdStrategy local{.steps = 3, .collective = ring_choice()};
  scenario.strategy = local;
  require_close(step_time(summed(top_k, local), w) + (encode + there + add + again + back + decode - 2 * kInside) / 3,
                step_time(scenario, w), 1e-9, "local SGD");
}

TEST_CASE("DGC inside machines: messages have the expected size") {
  // 1 % of 1,000,000 elements, 8 B each, in four parts: an all-to-all of 80,000 B, without an exchange of sizes. The sum of
  // a part is encoded again: 2,500 elements, 20,000 B, which four workers gather by doubling.
  const Dgc dgc{.ratio = 0.01};
  const TopK top_k{.ratio = 0.01};
  const Tensor whole{{1000000}}, quarter{{250000}};
  const CodecPlan share = make_plan(top_k, quarter), inner = make_plan(dgc, whole), of_share = make_plan(dgc, quarter);
  CHECK(payload(inner) == 80000_B);
  const double codec = time(encode_kernels(share)) + time(decode_kernels(share, 2)) + time(encode_kernels(inner)) +
                       time(sum_kernels(of_share, 4)) + time(encode_kernels(of_share)) + time(of_share.remember) +
                       time(decode_kernels(inner, 1));
  Scenario scenario = summed(top_k, by_tensor());
  scenario.inner_compressor = dgc;
  require_close(0.026 + codec + 3 * 3e-6 + 0.75 * 80000 * 0.1e-9 + between(20000) + 2 * 3e-6 + 3 * 20000 * 0.1e-9,
                step_time(scenario, matrices(1, 20_ms)), 1e-9, "step");
  CHECK(build_step_graph(scenario, matrices(1, 20_ms)).assumed.find("padded to one size") != std::string::npos);
}

TEST_CASE("a ratio of 1 inside machines changes nothing") {
  ParameterServerStrategy server;
  server.sum_in_machine = true;
  ParameterServerStrategy both = server;
  both.two_way = true;
  const Strategy strategies[] = {by_tensor(), by_tensor(Carrier::all_to_all), LocalSgdStrategy{.steps = 2}, server,
                                 both};
  for (const Strategy& strategy : strategies)
    for (const int workers : {4, 8}) {
      Scenario scenario = summed(EightBit{}, strategy, workers);
      const double plain = step_time(scenario, matrices(3, 10_ms));
      scenario.inner_compressor = RatioCompressor{1.0, {}, {}};
      require_close(plain, step_time(scenario, matrices(3, 10_ms)), 1e-12, std::string(kind_of(strategy)));
    }
}

TEST_CASE("one machine alone has the exchange of carrier all-to-all") {
  // The same messages among four workers, and the same kernels.
  for (const Compressor& method : {Compressor(EightBit{}), Compressor(EightBit{.error_feedback = true}),
                                   Compressor(Qsgd{}), Compressor(OneBit{}), Compressor(TopK{})}) {
    Scenario inside = summed(TopK{}, by_tensor(), 4);
    inside.inner_compressor = method;
    Scenario all = scenario_of(machines(4), by_tensor(Carrier::all_to_all), method);
    std::get<AllReduceStrategy>(all.strategy).collective = {};
    all.codec.device = inside.codec.device;
    require_close(step_time(all, matrices(1, 20_ms)), step_time(inside, matrices(1, 20_ms)), 1e-9,
                  std::string(name_of(method)));
  }
}

TEST_CASE("one machine alone has the messages of the inner method") {
  // 8-bit among four workers, as by carrier all-to-all; then top-k has no messages.
  const EightBit codes{};
  const CodecPlan whole = make_plan(codes, Tensor{{1000000}}), quarter = make_plan(codes, Tensor{{250000}});
  Scenario scenario = summed(TopK{.ratio = 0.01}, by_tensor(), 4);
  scenario.inner_compressor = codes;
  const double kernels = time(encode_kernels(whole)) + time(sum_kernels(quarter, 4)) + time(encode_kernels(quarter)) +
                         time(sum_kernels(whole, 1));
  require_close(0.026 + kernels + 3 * 3e-6 + 0.75 * 1000004 * 0.1e-9 + 2 * 3e-6 + 3 * 250004 * 0.1e-9,
                step_time(scenario, matrices(1, 20_ms)), 1e-9, "all-reduce");
}

TEST_CASE("tensors that stay whole go along with the inner method's messages") {
  // A bias of 1000 elements beside the matrix, in one bucket: 4000 B more on each way. Four quarters of it are added, which
  // reads 4000 B and writes 1000 B. Between machines it is summed by a ring of two: 500 B twice.
  const TopK top_k{.ratio = 0.01};
  const EightBit codes{};
  Workload w = matrices(1, 20_ms);
  Scenario scenario = summed(top_k, AllReduceStrategy{ring_choice(), {}, Carrier::sum_or_gather});
  scenario.inner_compressor = codes;
  scenario.codec.min_elements = 2000;
  const double before = step_time(scenario, w);
  w.gradients.push_back({"bias", 1000, 4_kB, {}, {1000}});
  w.gradient_bytes += 4_kB;
  require_close(before + 0.75 * 4000 * 0.1e-9 + 10e-6 + 5000 / 1e11 + 2 * between(500) + 0.75 * 4000 * 0.1e-9,
                step_time(scenario, w), 1e-9, "step");
}

TEST_CASE("the inner method encodes a bucket before the next backward task, or after all of them") {
  // Encoding inside takes 1 ns/B: 4 ms of each of two buckets, 10 ms apart. A sum of 1 MB inside takes S = 81 us. Between
  // machines, messages of 4.9 MB of a share by a ring of two take M = 19.626 ms. The first bucket is encoded at 19 ms, or
  // after back-propagation, at 29 ms. The link is busy from then on: S, M, S, M and two gatherings.
  const RatioCompressor inner{4.0, 1_ns_per_B, {}}, outer{1 / 4.9, {}, {}};
  Scenario scenario = summed(outer, by_tensor());
  scenario.inner_compressor = inner;
  const double sum = 2 * 3e-6 + 0.75e6 * 0.1e-9, message = 2 * between(2450000);
  // The share is encoded again before it is gathered: 1 ms, the first one's while the second one is sent.
  for (const bool overlap : {true, false}) {
    scenario.codec.overlap = overlap;
    require_close((overlap ? 0.019 : 0.029) + 2 * (sum + message) + 0.001 + sum + 0.001,
                  step_time(scenario, matrices(2, 10_ms)), 1e-9, overlap ? "beside" : "after");
  }
}

TEST_CASE("a cast is between two backward tasks, and its sum beside the second one") {
  // Two buckets 10 ms apart, each cast in 70 us right after its backward task: the second one's sum begins at 25.14 ms.
  const TopK top_k{.ratio = 0.01};
  const CodecPlan share = make_plan(top_k, Tensor{{250000}});
  const double cast = 10e-6 + 6e6 / 1e11, share_cast = 10e-6 + 1.5e6 / 1e11, inside = 2 * 3e-6 + 1.5e6 * 0.1e-9,
               encode = time(encode_kernels(share)) + share_cast, decode = time(decode_kernels(share, 2)) + share_cast;
  Scenario scenario = summed(top_k, by_tensor());
  scenario.inner_compressor = Fp16{};
  // The first bucket's sum ends at 15.2 ms, beside the second backward task. It is encoded after the second one's cast,
  // and sent after the second one's sum. The second one is encoded then, and sent while the first one is decoded. The
  // first one is gathered while the second one is decoded.
  const double ready = 0.025 + 2 * cast + std::max(inside, encode), again = ready + std::max(between(20000), encode);
  require_close(again + std::max(between(20000), decode) + std::max(inside, decode) + inside + cast + 0.001,
                step_time(scenario, matrices(2, 10_ms)), 1e-9, "two");
}

TEST_CASE("by priority a bucket is decoded before the layers of the one before compute, so that its gathering hides") {
  // Servers send sums back: two buckets, 10 ms apart, forward 5 ms in halves. Encoding takes nothing, decoding 1 ms of a
  // share. Pushes and pulls of 250,000 B take M = 2.0115 ms each, and go side by side.
  const RatioCompressor quarter{4.0, {}, 1_ns_per_B};
  ParameterServerStrategy server;
  server.sum_in_machine = true;
  server.two_way = true;
  server.exchange = {.grouping = Grouping::per_tensor, .priority = true};
  Workload w = matrices(2, 10_ms);
  for (Gradient& gradient : w.gradients) gradient.forward = 2.5_ms;
  // From the begin of backward: the second bucket, of the first layers, is added up at 20 ms, pushed, decoded by the shard
  // in 4 shares of 1 ms, and pulled. The first one came at 14.3 + 4 ms before. Both are decoded in turn, 2 ms, while the
  // first layers' bucket is gathered. These are updated in half of 1 ms and compute; the last layers follow.
  const double messages = 1e-6 * (10 + 3.0 / 2) + 8 * 250000 * 1e-9;
  require_close(0.020 + kInside + 2 * messages + 0.004 + 0.002 + 2 * 0.0005 + 0.005,
                step_time(summed(quarter, server), w), 1e-9, "two buckets");
}

TEST_CASE("one machine alone sums as it is, and workers that are machines compress their own gradients") {
  const TopK top_k{.ratio = 0.01};
  const Workload w = matrices(1, 20_ms);
  Scenario plain = scenario_of(machines(4), by_tensor());
  CHECK(step_time(summed(top_k, by_tensor(), 4), w) == step_time(plain, w));
  Scenario alone = summed(top_k, by_tensor());
  alone.cluster.topology = Star{};
  const double own = step_time(alone, w);
  alone.codec.scope = CodecScope::workers;
  CHECK(own == step_time(alone, w));
}

TEST_CASE("local SGD averages in machines first") {
  // 3 steps of 26 ms; the change is exchanged as one bucket.
  const TopK top_k{.ratio = 0.01};
  const CodecPlan share = make_plan(top_k, Tensor{{250000}});
  const double codec = time(encode_kernels(share)) + time(decode_kernels(share, 2));
  const LocalSgdStrategy strategy{.steps = 3, .collective = ring_choice()};
  require_close(0.026 + (2 * kInside + codec + between(20000)) / 3,
                step_time(summed(top_k, strategy), matrices(1, 20_ms)), 1e-9, "step");
}

TEST_CASE("BERT-large on 8 machines of 8 V100s with one NIC of 25 Gb/s: compression between machines pays") {
  // n = 335,141,888 parameters in fp32, b = 3.125 GB/s out of a machine and into it. A ring over 64 workers moves
  // 2·63/64·n bytes over the NIC: 844 ms. 8-bit sends a byte an element, d bytes for n = 4d.
  //   all 64 gathered     63·d into a machine: 6.76 s
  //   8 machines gathered 7·d: 751 ms
  //   all-to-all-once     7/8·(d + 4d): 469 ms
  //   all-to-all          2·7/8·d: 188 ms
  //   64 by all-to-all    8·56/64·d of messages: 751 ms, and 63/64·d of sums: 106 ms
  //   64 in the ring      2·63/64·d: 211 ms
  // Forward takes 25 ms, the first bucket 1 ms, the update 15 ms. Sums and gathers inside take 2·7/8·n/(120 GB/s) = 20 ms,
  // with the rounds of NCCL's protocols 24 ms. There are 38 buckets. By all-to-all each has 2·63 rounds of some 7 us: 36 ms.
  // The ring has 2·63 of 4.6 us: 22 ms. Its 63 hops launch three kernels of 5 us each and move bytes for 3 us: 44 ms.
  const auto samples = [](const char* scope, const char* compressor, const char* carrier, const char* topology = "",
                          const char* cluster = "") {
    const Study study = parse_study(fmt::format(R"({{"name": "scope",
          "workload": {{"from": "bert-large", "profile": "v100-datasheet", "batch": 16, "compute_dtype": "fp16"}},
          "cluster": {{"from": "dgx-1-v100", "workers": 64, "topology": {{"nics": 1{}}}, "link": {{"bandwidth": "25Gbps"}}{}}},
          "compressor": "{}", "codec": {{"scope": "{}"}},
          "strategy": {{"kind": "all-reduce", "carrier": "{}", "exchange": {{"grouping": "bucketed"}}}}}})",
                                                topology, cluster, compressor, scope, carrier),
                                    "scope.json", {}, default_library());
    const Scenario& scenario = study.points.front().scenario;
    return 64 * 16 / step_time(scenario, make_workload(scenario));
  };
  const double plain = samples("workers", "none", "auto");
  require_close(1024 / (0.041 + 0.020 + 0.844), plain, 0.02, "uncompressed");
  require_close(1024 / (0.041 + 6.757), samples("workers", "8-bit", "all-gather"), 0.02, "every message gathered");
  require_close(1024 / (0.041 + 0.751 + 0.106 + 0.036), samples("workers", "8-bit", "all-to-all"), 0.02, "in parts");
  require_close(1024 / (0.041 + 0.211 + 0.022 + 0.044), samples("workers", "8-bit", "in-collective"), 0.02,
                "in the ring");
  require_close(1024 / (0.041 + 0.024 + 0.751), samples("machines", "8-bit", "all-gather"), 0.02, "between machines");
  require_close(1024 / (0.041 + 0.024 + 0.469), samples("machines", "8-bit", "auto"), 0.03, "encoded once");
  require_close(1024 / (0.041 + 0.024 + 0.188), samples("machines", "8-bit", "all-to-all"), 0.03, "all-to-all");
  // At line rates inside, 19.6 ms, which no computing hides: 1,024 samples in 19.6 and 232 ms.
  const char* line_rates = R"json(, "protocols": [])json";
  const char* at_once = R"json(, "inner": {"bandwidth": "1000TB/s", "latency": "0s"})json";
  const double shown = samples("machines", "8-bit", "all-to-all", "", line_rates),
               hidden = samples("machines", "8-bit", "all-to-all", at_once, line_rates);
  require_close(1024 / (0.0196 + 0.232), shown, 0.005, "all-to-all, without protocols");
  // If nothing inside took time, as where it is hidden: 1,024 samples in 232 ms. Compression pays 3.6 to 3.9 times.
  require_close(1024 / 0.232, hidden, 0.005, "all-to-all, nothing inside");
  require_close(3.6, shown / plain, 0.01, "pays");
  require_close(3.9, hidden / plain, 0.01, "pays at most");
  CHECK(samples("workers", "8-bit", "auto") < plain);
  CHECK(samples("machines", "8-bit", "auto") > 1.6 * plain);
  CHECK(samples("machines", "8-bit", "all-to-all") > 3.4 * plain);
}
