// Updates of one parameter, bit by bit the same on both sides.
#pragma once

#include <cmath>

#include "kernels/call.hpp"
#include "kernels/code/portable.hpp"

namespace stepcast::kernels {

inline constexpr float kSgdRate = 0.1F;
inline constexpr float kAdamRate = 1e-3F, kAdamFirst = 0.9F, kAdamSecond = 0.999F, kAdamEpsilon = 1e-8F;

/// w ← w - ηg, η = 0.1.
STEPCAST_SHARED void sgd(float gradient, float& weight) { weight = weight - kSgdRate * gradient; }

/// v ← μv + g, w ← w - ηv: PyTorch's SGD with momentum, μ = 0.9, η = 0.1.
STEPCAST_SHARED void sgd_momentum(float gradient, float& weight, float& momentum) {
  momentum = kMomentum * momentum + gradient;
  weight = weight - kSgdRate * momentum;
}

/// 1 - β₁ᵗ and 1 - β₂ᵗ of step t. The moments are divided by them because they began at 0.
struct AdamBias {
  float first, second;
};
inline AdamBias adam_bias(std::int64_t step) {
  const auto of = [=](float beta) {
    return static_cast<float>(1 - std::pow(static_cast<double>(beta), static_cast<double>(step)));
  };
  return {of(kAdamFirst), of(kAdamSecond)};
}

/// Kingma and Ba 2015, algorithm 1: m ← β₁m + (1-β₁)g, v ← β₂v + (1-β₂)g², w ← w - α m̂/(√v̂ + ε) with
/// m̂ = m/(1-β₁ᵗ), v̂ = v/(1-β₂ᵗ); α = 0.001, β₁ = 0.9, β₂ = 0.999, ε = 1e-8.
STEPCAST_SHARED void adam(float gradient, float& weight, float& first, float& second, AdamBias bias) {
  first = kAdamFirst * first + (1 - kAdamFirst) * gradient;
  second = kAdamSecond * second + (1 - kAdamSecond) * (gradient * gradient);
  weight = weight - kAdamRate * (first / bias.first) / (std::sqrt(second / bias.second) + kAdamEpsilon);
}

}  // namespace stepcast::kernels
