// A training stack: the time that framework, communication library and transport add to that of links and kernels.
//
// Symbols: n bytes of an all-gather's result, p workers.
//
//   h    time that a host takes to copy one byte in or out (TCP):        host_cost, to or from another machine
//                                                                        inner_host_cost, inside a machine
//   s    bytes of a slice; a message is copied and sent in slices        slice
//   o    time to begin a collective, beyond the cluster's                operation_cost
//   ν    time to agree on a collective, beside the one before            negotiation_cost
//   G    time of an all-gather beyond its messages, each doubling of p   gather_cost
//   g    time of each byte that a worker gets in an all-gather           gather_byte_cost
//   γ_o  factor on backward while exchanges run beside it                backward_slowdown
//
// Collectives overlap copies, wire and delays of slices (price/round_pace.hpp). Exchanges with servers and neighbours
// copy whole messages.
//
// Workers agree on collectives one after the other, each once its data are ready and while earlier ones have the links.
// A collective takes o longer, and an all-gather of n bytes G·log2(p) + g·n·(p-1)/p more. Reductions take no such time:
// libraries fuse them.
#pragma once

#include <optional>
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
  std::optional<Bytes> slice{};
  Seconds operation_cost{};
  Seconds negotiation_cost{};
  Seconds gather_cost{};
  SecondsPerByte gather_byte_cost{};
  double backward_slowdown = 1.0;
  double spread = 0.0;
  Shared<std::vector<Strategy>> strategies{};  ///< with defaults, which a scenario's strategy already has
  std::vector<ConstantOrigin> origins{};

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
    v.optional("operation_cost", x.operation_cost,
               "o: time of each collective beyond its messages and the cluster's collective_cost", non_negative);
    v.optional("negotiation_cost", x.negotiation_cost,
               "ν: time in which workers agree on a collective of gradients, after the one before is agreed on and "
               "while it is carried out; servers and sharded state have none",
               non_negative);
    v.optional("gather_cost", x.gather_cost,
               "G: time of an all-gather beyond its messages, for each doubling of the workers", non_negative);
    v.optional("gather_byte_cost", x.gather_byte_cost, "g: time of each byte that a worker gets in an all-gather",
               non_negative);
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
