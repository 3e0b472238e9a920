#include "models/strategy/coded_reduction.hpp"

#include <algorithm>
#include <utility>

#include "models/part/host_costs.hpp"
#include "models/price/cluster_prices.hpp"
#include "models/strategy/coded_tensors.hpp"

namespace stepcast {
namespace {

/// The gradients that a hop encodes: tensors, or bytes for compressors that depend on these alone.
struct HopInput {
  std::vector<Tensor> tensors;
  Bytes bytes{};
};

class Hops {
 public:
  /// @param whole  the time to encode the worker's own gradients, if the device has the method's whole codec
  Hops(const GraphInput& input, const Method& method, const CollectiveChoice& choice, std::optional<Seconds> whole)
      : input_(input), method_(method), choice_(choice), whole_(whole) {}

  /// Adds a hop of the worker's gradients, or of its sum after the hop before.
  void add(const HopInput& gradients, const Communicators& among) {
    const int q = among.size(input_.cluster.workers);
    if (const auto known = by_bytes(method_.compressor)) by_ratio(*known, gradients.bytes, among, q);
    else by_plan(gradients.tensors, among, q);
  }
  /// The input of the next hop.
  [[nodiscard]] const HopInput& sum() const { return sum_; }
  CodedExchange exchange() && { return std::move(exchange_); }

 private:
  /// A stage with one collective. Its GPU work includes the last hop's decoding.
  void stage(Seconds encode, Bytes message, bool summable, const Communicators& among, int q) {
    const Operation operation = summable ? Operation::reduce_scatter : Operation::all_to_all;
    CodedStage stage{.encode = encode, .collectives = {}};
    if (q > 1) stage.collectives = {input_.prices.decide(operation, fitted(choice_, operation), message, among)};
    exchange_.stages.push_back(std::move(stage));
    exchange_.payload += message;
  }

  void by_ratio(const RatioCompressor& known, Bytes bytes, const Communicators& among, int q) {
    stage(exchange_.decode + bytes * known.encode_cost, bytes / known.ratio, true, among, q);
    sum_.bytes = bytes / q;
    exchange_.decode = sum_.bytes * known.decode_cost;
  }

  void by_plan(const std::vector<Tensor>& group, const Communicators& among, int q) {
    const bool first = exchange_.stages.empty();
    const CodecPlan plan = plan_of(method_, group, q);
    const Seconds encode = first && whole_ ? *whole_
                           : first         ? price(joined(encode_kernels(plan), plan.remember), *method_.rates)
                                           : price(recode_kernels(plan, decoded_), *method_.rates);
    stage(encode, payload(plan), plan.summable(), among, q);
    sum_.tensors = {slice_of(group, q)};
    decoded_ = plan.summable() ? 1 : q;
    const bool keeps_some = class_of(method_.compressor) == CompressorClass::sparsification;
    if (exchange_.assumed.empty())
      add_assumption(exchange_.assumed, method_,
                     plan.assumed.empty() && keeps_some && !plan.summable() && q > 1
                         ? "elements kept are spread evenly over the workers' parts"
                         : plan.assumed);
    exchange_.decode =
        whole_ ? Seconds{} : price(sum_kernels(plan_of(method_, sum_.tensors, q), decoded_), *method_.rates);
  }

  const GraphInput& input_;
  const Method& method_;
  const CollectiveChoice choice_;
  const std::optional<Seconds> whole_;  ///< it includes the last decoding; sums are encoded again by kernels
  HopInput sum_;
  int decoded_ = 1;  ///< messages of the last hop that each worker decodes
  CodedExchange exchange_{.stages = {}, .decode = {}, .payload = {}, .assumed = {}};
};

}  // namespace

bool compresses_between_groups(const GraphInput& input, const ShardedStrategy& strategy) {
  return input.codec.scope == CodecScope::machines && strategy.group(input.cluster.workers) < input.cluster.workers;
}

CodedExchange coded_reduction(const GraphInput& input, const ShardedStrategy& strategy, const Bucket& unit,
                              Carrier carrier) {
  const int p = input.cluster.workers, g = strategy.group(p);
  const int m = std::min(host_costs(input.cluster).workers_of_machine, g);
  if (compresses_between_groups(input, strategy)) {
    CodedExchange exchange = coded_exchange(input, unit, false, strategy.all_reduce, carrier);
    exchange.sum = input.prices.decide(Operation::reduce_scatter, strategy.collective, unit.bytes, inside_groups(g, p));
    exchange.spread.reset();
    return exchange;
  }
  const bool sums = input.codec.scope == CodecScope::machines && m > 1;
  const bool twice = first_hop_workers(input.codec, input.cluster) > 1;
  const Communicators machine = inside_groups(m, p), group = inside_groups(g, p);
  const Communicators between{g / m, m};  // the workers with one share of several machines

  const Chosen chosen = choose(input, unit, false);
  // The strategy's collective is of the whole group.
  const CollectiveChoice choice = sums || twice ? CollectiveChoice{} : strategy.collective;
  CodedExchange exchange{.stages = {CodedStage{}}, .decode = {}, .payload = {}, .assumed = {}};
  const auto reduce = [&](const Method& method, const std::vector<Tensor>& tensors, Bytes bytes) {
    HopInput gradients{sums && !tensors.empty() ? std::vector{slice_of(tensors, m)} : tensors, bytes};
    Hops hops(input, method, choice, whole_time(method, tensors, sums ? m : 1));
    hops.add(gradients, twice ? machine : sums ? between : group);
    if (twice) hops.add(hops.sum(), between);
    join(exchange, std::move(hops).exchange());
  };
  if (by_bytes(input.compressor())) reduce(input.methods.front(), {}, unit.bytes / (sums ? m : 1));
  for_each_method(input, chosen,
                  [&](const Method& method, const std::vector<Tensor>& tensors) { reduce(method, tensors, {}); });
  if (sums) exchange.sum = input.prices.decide(Operation::reduce_scatter, {}, unit.bytes, machine);
  if (chosen.whole > Bytes{}) {
    // With sums in machines, these tensors are among the sums, and their shares travel alone.
    const Bytes whole = chosen.whole / (sums ? m : 1);
    std::vector<CollectiveCall>& first = exchange.stages.front().collectives;
    first.insert(first.begin(), input.prices.decide(Operation::reduce_scatter, sums ? choice : strategy.collective,
                                                    whole, sums ? between : group));
    exchange.payload += whole;
  }
  return exchange;
}

}  // namespace stepcast
