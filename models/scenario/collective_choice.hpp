// The collective of a strategy's exchange.
#pragma once

#include <variant>

#include "models/part/strategy.hpp"

namespace stepcast {

/// The strategy's collective settings; null if it has none.
inline const CollectiveChoice* collective_of(const Strategy& strategy) {
  return std::visit(
      [](const auto& x) -> const CollectiveChoice* {
        if constexpr (requires { x.collective; }) return &x.collective;
        else return nullptr;
      },
      strategy);
}

}  // namespace stepcast
