// Which collective a strategy has its compressed gradients carried by.
#pragma once

#include <variant>

#include "models/part/strategy.hpp"

namespace stepcast {

/// "auto" of a strategy that has no choice.
inline Carrier carrier_of(const Strategy& strategy) {
  return std::visit(
      [](const auto& s) {
        if constexpr (requires { s.carrier; }) return s.carrier;
        else return Carrier::automatic;
      },
      strategy);
}

}  // namespace stepcast
