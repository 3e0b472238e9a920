// Parts that several strategies have under one name. A strategy with a field of that name needs no line here.
#pragma once

#include <optional>
#include <variant>

#include "models/part/strategy.hpp"

namespace stepcast {

/// Gradients that travel together; null if the strategy has no such choice.
inline const Exchange* exchange_of(const Strategy& strategy) {
  return std::visit(
      [](const auto& x) -> const Exchange* {
        if constexpr (requires { x.exchange; }) return &x.exchange;
        else return nullptr;
      },
      strategy);
}

/// Gathered parameters that travel as codes.
inline std::optional<QuantizedGather> quantized_gather_of(const Strategy& strategy) {
  return std::visit(
      [](const auto& x) -> std::optional<QuantizedGather> {
        if constexpr (requires { x.quantized_gather; }) return x.quantized_gather;
        else return {};
      },
      strategy);
}

/// Whether gradients go to servers.
inline bool uses_servers(const Strategy& strategy) {
  return std::visit(
      [](const auto& x) {
        return requires { x.placement; };
      },
      strategy);
}

/// Whether servers serve workers one by one, and none waits for all others.
inline bool is_one_by_one(const Strategy& strategy) {
  return std::visit(
      [](const auto& x) {
        if constexpr (requires { x.consistency; })
          return x.consistency == Consistency::asynchronous || x.consistency == Consistency::stale_synchronous;
        else return false;
      },
      strategy);
}

/// Whether it counts a worker's steps from one exchange to the next.
inline bool counts_steps(const Strategy& strategy) {
  return std::visit(
      [](const auto& x) {
        return requires { x.steps; };
      },
      strategy);
}

/// Whether the workers of a machine, or of a group that is one, add up their gradients before others see them.
/// @param machine  workers of a machine
inline bool sums_in_machines(const Strategy& strategy, int workers, int machine) {
  return std::visit(
      [&](const auto& x) {
        if constexpr (requires { x.sum_in_machine; }) return x.sum_in_machine && machine > 1;
        else if constexpr (requires { x.group(workers); })
          return x.group(workers) < workers && x.group(workers) == machine;
        else return false;
      },
      strategy);
}

/// The update of averaged parameters by an outer optimizer.
struct OuterUpdate {
  double factor = 0;  ///< its time over the workload's update time
  int replica = 1;    ///< workers that share it out
  int steps = 1;      ///< from one to the next
};
inline std::optional<OuterUpdate> outer_update_of(const Strategy& strategy) {
  return std::visit(
      [](const auto& x) -> std::optional<OuterUpdate> {
        if constexpr (requires { x.outer_update_factor; })
          return OuterUpdate{x.outer_update_factor, x.workers_of_replica(), x.steps};
        else if constexpr (requires { x.average->outer_update_factor; }) {
          if (x.average) return OuterUpdate{x.average->outer_update_factor, x.workers_of_replica(), x.average->steps};
        }
        return {};
      },
      strategy);
}

}  // namespace stepcast
