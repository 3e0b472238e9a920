// A training stack: the time that framework, communication library and transport add to that of links and kernels.
//
// Symbols: n bytes of an all-gather's result, p workers.
//
//   h    time that a host takes to copy one byte in or out (TCP):        host_cost, to or from another machine
//                                                                        inner_host_cost, inside a machine
//   s    bytes of a slice; a message is copied and sent in slices        slice
//   c    bandwidth of one connection between machines (a TCP stream)     connection_bandwidth
//   k    connections that share a message between machines               connections
//   o    time to begin a collective, beyond the cluster's                operation_cost
//   C    time between two looks at ready gradients                       cycle
//   ν    time to agree on a collective, beside the one before            negotiation_cost
//   G    time of an all-gather beyond its messages, each doubling of p   gather_cost
//   g    time of each byte that a worker gets in an all-gather           gather_byte_cost
//   u    time of each byte that a collective sums                        sum_byte_cost
//   m    bytes of a collective beyond which g and u add nothing          byte_cost_limit
//   γ_o  factor on backward while exchanges run beside it                backward_slowdown
//
// A message between machines has at most k·c of the links' bandwidth. Messages that share a link have their fair shares
// of it, and no more than k·c each.
//
// Collectives overlap copies, wire and delays of slices (price/round_pace.hpp). Exchanges with servers and neighbours
// copy whole messages.
//
// With a cycle, an all-reduce of gradients begins at the first look that finds them ready: C, 2C, 3C... after backward
// began (strategy/looks.hpp).
//
// Workers agree on collectives one after the other, each once its data are ready and while earlier ones have the links.
// A collective takes o longer. An all-gather of n bytes takes G·log2(p) + g·min(n, m)·(p-1)/p more, and a sum of n bytes
// takes u·min(n, m) more.
#pragma once

#include <string>
#include <vector>

#include "models/describe/describe.hpp"
#include "models/describe/shared.hpp"
#include "models/part/evidence.hpp"
#include "models/part/strategy.hpp"

namespace stepcast {

/// Where a stack's constant is from.
struct ConstantOrigin {
  std::string constant;
  Evidence evidence = Evidence::assumed;
  std::string source;

  template <class V>
  static void describe(V& v, ConstantOrigin& x) {
    v.required("constant", x.constant, "name of the stack's field");
    v.required("evidence", x.evidence, "kind of its source");
    v.required("source", x.source, "where it is from; of a fitted one, the rows that it was fitted to");
  }
  bool operator==(const ConstantOrigin&) const = default;
};

struct Stack {
  Shared<std::string> name{};  ///< shared, like the next one: studies have a million points
  Shared<std::string> description{};
  SecondsPerByte host_cost{};
  SecondsPerByte inner_host_cost{};
  Shared<Bytes> slice{};  ///< shared, like the next one: seldom there
  Shared<BytesPerSecond> connection_bandwidth{};
  int connections = 1;
  Seconds operation_cost{};
  Shared<Seconds> cycle{};
  Seconds negotiation_cost{};
  Seconds gather_cost{};
  SecondsPerByte gather_byte_cost{};
  SecondsPerByte sum_byte_cost{};
  Shared<Bytes> byte_cost_limit{};
  double backward_slowdown = 1.0;
  double spread = 0.0;
  Shared<std::vector<Strategy>> strategies{};  ///< with defaults, which a scenario's strategy already has
  Shared<std::vector<ConstantOrigin>> origins{};

  template <class V>
  static void describe(V& v, Stack& x) {
    v.optional("name", x.name, "its name in notes; null: in place");
    v.optional("description", x.description, "the software that it describes; null: not said");
    v.optional("host_cost", x.host_cost, "h: host time to copy one byte to another machine, or from it", non_negative);
    v.optional("inner_host_cost", x.inner_host_cost, "h inside a machine of several workers", non_negative);
    v.optional("slice", x.slice,
               "s: a collective's messages are copied and sent in slices, and the next round begins with the first; "
               "null: each message whole, one round after the other",
               positive);
    v.optional("connection_bandwidth", x.connection_bandwidth,
               "c: bandwidth of one connection between machines, such as a TCP stream of a cloud; null: no limit",
               positive);
    v.optional("connections", x.connections,
               "k: connections that share a message between machines, which has k·c at most", between(1, 1024));
    v.optional("operation_cost", x.operation_cost,
               "o: time of each collective beyond its messages and the cluster's collective_cost", non_negative);
    v.optional(
        "cycle", x.cycle,
        "C: time between two looks at gradients that are ready, counted from the begin of the backward pass. A "
        "look's gradients form buckets up to bucket_cap, as Horovod fuses them, and their all-reduces begin with "
        "it; null: each begins as soon as its bucket is ready",
        positive);
    v.optional("negotiation_cost", x.negotiation_cost,
               "ν: time in which workers agree on a collective of gradients, after the one before is agreed on and "
               "while it is carried out; servers and sharded state have none",
               non_negative);
    v.optional("gather_cost", x.gather_cost,
               "G: time of an all-gather beyond its messages, for each doubling of the workers", non_negative);
    v.optional("gather_byte_cost", x.gather_byte_cost, "g: time of each byte that a worker gets in an all-gather",
               non_negative);
    v.optional("sum_byte_cost", x.sum_byte_cost, "u: time of each byte of a collective that sums, beyond its messages",
               non_negative);
    v.optional("byte_cost_limit", x.byte_cost_limit,
               "m: bytes of a collective beyond which gather_byte_cost and sum_byte_cost add nothing; null: no limit",
               positive);
    v.optional(
        "backward_slowdown", x.backward_slowdown,
        "γ_o: factor on backward time when exchanges overlap with it (1.04 to 1.1 measured by Li et al., VLDB 2020)",
        between(1, 100));
    v.optional("spread", x.spread,
               "standard deviation of ln(forecast/measured) over rows that its constants were not fitted to; 90 % of "
               "measurements lie within a factor e^(1.645 spread) of a forecast; 0: not known",
               between(0, 10));
    v.optional("strategies", x.strategies,
               "the strategies that it can carry out, each with its defaults of fields that a scenario does not give; "
               "the first is that of a scenario without a strategy; null: all, with stepcast's defaults");
    v.optional("origins", x.origins, "where its constants are from; for readers and notes");
  }
  bool operator==(const Stack&) const = default;
};

}  // namespace stepcast
