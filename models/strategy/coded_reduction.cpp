#include "models/strategy/coded_reduction.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "models/part/host_costs.hpp"
#include "models/price/cluster_prices.hpp"
#include "models/strategy/coded_tensors.hpp"
#include "models/strategy/inside_machines.hpp"

namespace stepcast {
namespace {

/// Adds up messages of q workers, each of which gets 1/q of the sum.
/// @param sizes  that a worker sends first, where they differ between workers
CodedStage hop(const GraphInput& input, const CollectiveChoice& choice, const Communicators& among, Seconds encode,
               Bytes message, bool summable, Bytes sizes = {}) {
  CodedStage stage{.encode = encode, .collectives = {}};
  const Operation operation = summable ? Operation::reduce_scatter : Operation::all_to_all;
  const int q = among.size(input.cluster.workers);
  if (q == 1) return stage;
  const auto add = [&](Bytes bytes) {
    stage.collectives.push_back(input.prices.decide(operation, fitted(choice, operation), bytes, among));
  };
  if (sizes > Bytes{}) add(sizes * q);
  add(message);
  return stage;
}

/// The hop of the tensors that one method compresses, of which each worker has 1/m.
CodedExchange hop_of(const GraphInput& input, const Method& method, const std::vector<Tensor>& tensors, int m,
                     const CollectiveChoice& choice, const Communicators& among) {
  const int q = among.size(input.cluster.workers);
  const std::vector<Tensor> group = m > 1 ? std::vector{slice_of(tensors, m)} : tensors;
  const Tensor part = slice_of(group, q);
  const CodecPlan plan = plan_of(method, group, q), of_part = plan_of(method, {&part, 1}, q);
  const auto time = [&](const std::vector<CodecKernel>& kernels) { return price(kernels, *method.rates); };
  const std::optional<Seconds> whole = whole_time(method, tensors, m);  // it includes the decoding
  CodedExchange exchange{
      .stages = {hop(input, choice, among, whole.value_or(time(joined(encode_kernels(plan), plan.remember))),
                     payload(plan), plan.summable(), size_exchange(plan))},
      .decode = whole ? Seconds{} : time(sum_kernels(of_part, plan.summable() ? 1 : q)),
      .payload = payload(plan),
      .assumed = ""};
  add_assumption(exchange.assumed, method, plan.assumed);
  if (!plan.summable() && q > 1) assume_even_parts(exchange.assumed, method, plan);
  return exchange;
}

/// Puts the hop of the m workers of a machine before an exchange of their shares. Without an inner compressor, it is a
/// stage that encodes nothing.
void put_first(CodedExchange& exchange, const GraphInput& input, const CollectiveChoice& choice, const Bucket& unit,
               int m) {
  InsideMachines inside = inside_machines(input, unit, m, 1, false);
  if (!input.inner)
    inside.sum =
        input.prices.decide(Operation::reduce_scatter, choice, unit.bytes, inside_groups(m, input.cluster.workers));
  if (exchange.stages.empty()) exchange.decode = inside.add;
  else exchange.stages.front().sum = inside.add;
  exchange.stages.insert(exchange.stages.begin(), {inside.encode, {inside.sum}, {}, true});
  exchange.payload += inside.payload;
  join_assumptions(exchange.assumed, inside.assumed);
}

}  // namespace

bool compresses_between_groups(const GraphInput& input, const ShardedStrategy& strategy) {
  return input.codec.scope == CodecScope::machines && strategy.group(input.cluster.workers) < input.cluster.workers;
}

CodedExchange coded_reduction(const GraphInput& input, const ShardedStrategy& strategy, const Bucket& unit,
                              Carrier carrier) {
  const int p = input.cluster.workers, g = strategy.group(p);
  if (compresses_between_groups(input, strategy)) {
    CodedExchange exchange = exchange_between(input, unit, false, strategy.all_reduce, carrier);
    put_first(exchange, input, strategy.collective, unit, g);
    return exchange;
  }
  const int machine = std::min(host_costs(input.cluster).workers_of_machine, g);
  const int m = input.codec.scope == CodecScope::machines ? machine : 1;  // those that add up their gradients first
  CodedExchange exchange{.stages = {}, .decode = {}, .payload = {}, .assumed = {}};
  if (m == g && m > 1) {
    put_first(exchange, input, {}, unit, m);
    return exchange;
  }
  const Communicators among = m > 1 ? Communicators{g / m, m} : inside_groups(g, p);
  // The strategy's collective is of the whole group.
  const CollectiveChoice choice = m > 1 ? CollectiveChoice{} : strategy.collective;
  const Chosen chosen = choose(input, unit, false);
  exchange.stages.emplace_back();
  if (const auto known = by_bytes(input.compressor())) {
    const Bytes share = unit.bytes / m, wire = share / known->ratio;
    exchange = {.stages = {hop(input, choice, among, share * known->encode_cost, wire, true)},
                .decode = share * m / g * known->decode_cost,
                .payload = wire,
                .assumed = ""};
  }
  for_each_method(input, chosen, [&](const Method& method, const std::vector<Tensor>& tensors) {
    join(exchange, hop_of(input, method, tensors, m, choice, among));
  });
  if (chosen.whole > Bytes{}) {
    // With sums in machines, these tensors are among the sums, and their shares travel alone.
    const Bytes whole = chosen.whole / m;
    std::vector<CollectiveCall>& first = exchange.stages.front().collectives;
    first.insert(first.begin(), input.prices.decide(Operation::reduce_scatter, choice, whole, among));
    exchange.payload += whole;
  }
  if (m > 1) put_first(exchange, input, {}, unit, m);
  return exchange;
}

}  // namespace stepcast
