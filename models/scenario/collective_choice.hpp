// Which collective a strategy's exchange is carried out by.
#pragma once

#include <variant>

#include "models/part/strategy.hpp"

namespace stepcast {

/// What the strategy says of its collectives; null of one that has none.
inline const CollectiveChoice* collective_of(const Strategy& strategy) {
  return std::visit(
      [](const auto& x) -> const CollectiveChoice* {
        if constexpr (requires { x.collective; }) return &x.collective;
        else return nullptr;
      },
      strategy);
}

}  // namespace stepcast
