#include "models/collective/collective.hpp"

namespace stepcast {
namespace {

/// An upper bound on the messages in the call's largest round.
double most_messages(const CollectiveCall& call, double workers) {
  switch (call.algorithm->algorithm) {
    case Algorithm::multi_ring: return workers * call.parameters.rings;
    case Algorithm::nccl_tree: return 4 * workers * call.parameters.rings;
    case Algorithm::hierarchical:
    case Algorithm::double_binary_tree: return 2 * workers;
    default: return workers;
  }
}

}  // namespace

double unlike_messages(const CollectiveCall& call, int p) {
  return static_cast<double>(unlike_rounds(schedule_of(call, p)).size()) * most_messages(call, p);
}

Schedule schedule_of(const CollectiveCall& call, int p) {
  const Communicators& among = call.among;
  Schedule all = call.algorithm->schedule(among.size(p), call.parameters);
  if (among.is_one()) return all;
  all.participants = p;
  all.round = [one = all.round, among, count = among.count(p)](int r) {
    return in_each(one(r), among, count, [](int, Slice slice) { return slice; });
  };
  return all;
}

CostTerms cost_of(const CollectiveCall& call, int p) {
  CostTerms terms = call.algorithm->cost(call.bytes, call.among.size(p), call.parameters);
  if (call.placement == Placement::machine)
    terms.reroute(Path::ring, Path::inner).reroute(Path::neighbour, Path::inner).reroute(Path::far, Path::inner);
  if (call.placement == Placement::spread) terms.reroute(Path::ring, Path::far).reroute(Path::neighbour, Path::far);
  return terms;
}

CostTerms lower_bound(Operation operation, Bytes n, int p, bool in_network) {
  CostTerms terms;
  if (in_network && operation == Operation::all_reduce) return terms.add(Path::far, p > 1 ? 1 : 0, p > 1 ? n : Bytes{});
  const Bytes share = n * (p - 1) / p;
  switch (operation) {
    case Operation::all_reduce: terms.add(Path::far, ceil_log2(p), 2.0 * share).reduced = share; break;
    case Operation::all_gather: terms.add(Path::far, ceil_log2(p), share); break;
    case Operation::reduce_scatter: terms.add(Path::far, ceil_log2(p), share).reduced = share; break;
    case Operation::broadcast: terms.add(Path::far, ceil_log2(p), p > 1 ? n : Bytes{}); break;
    case Operation::all_to_all: terms.add(Path::far, p > 1 ? 1 : 0, share); break;
  }
  return terms;
}

}  // namespace stepcast
