// The collective that carries a strategy's compressed gradients.
#pragma once

#include <variant>

#include "models/part/strategy.hpp"

namespace stepcast {

/// The strategy's carrier; "auto" if it has no such field.
inline Carrier carrier_of(const Strategy& strategy) {
  return std::visit(
      [](const auto& s) {
        if constexpr (requires { s.carrier; }) return s.carrier;
        else return Carrier::automatic;
      },
      strategy);
}

}  // namespace stepcast
