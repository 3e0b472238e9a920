// Activations of one element and their gradients, in double on the CPU and in float on the GPU. The backward pass reads
// `saved` besides dy: the output y, or for gelu and silu the input x.
#pragma once

#include <cmath>

#include "kernels/code/philox.hpp"

namespace stepcast::kernels {

/// max(x, 0): zeros of either sign become 0, NaN stays. dx = dy where y is above zero or NaN.
struct Relu {
  template <class Real>
  STEPCAST_SHARED static Real value(Real x) {
    return x <= 0 ? Real{0} : x;
  }
  template <class Real>
  STEPCAST_SHARED static Real gradient(Real dy, Real y) {
    return y <= 0 ? Real{0} : dy;
  }
};

/// x Φ(x) with the normal distribution's Φ(x) = (1 + erf(x/√2))/2, Hendrycks and Gimpel 2016; dx = dy (Φ(x) + x φ(x)),
/// φ(x) = exp(-x²/2)/√(2π). As in PyTorch, gelu(-∞) and the gradients at both infinities are NaN, since 0·∞ is.
struct Gelu {
  template <class Real>
  STEPCAST_SHARED static Real distribution(Real x) {
    return Real(0.5) * (1 + std::erf(x * Real(0.70710678118654752440)));
  }
  template <class Real>
  STEPCAST_SHARED static Real value(Real x) {
    return x * distribution(x);
  }
  template <class Real>
  STEPCAST_SHARED static Real gradient(Real dy, Real x) {
    return dy * (distribution(x) + x * (std::exp(Real(-0.5) * x * x) * Real(0.39894228040143267794)));
  }
};

/// dx = dy (1 - y²)
struct Tanh {
  template <class Real>
  STEPCAST_SHARED static Real value(Real x) {
    return std::tanh(x);
  }
  template <class Real>
  STEPCAST_SHARED static Real gradient(Real dy, Real y) {
    return dy * (1 - y * y);
  }
};

/// 1/(1 + exp(-x)); dx = dy y (1 - y)
struct Sigmoid {
  template <class Real>
  STEPCAST_SHARED static Real value(Real x) {
    return 1 / (1 + std::exp(-x));
  }
  template <class Real>
  STEPCAST_SHARED static Real gradient(Real dy, Real y) {
    return dy * (y * (1 - y));
  }
};

/// x s with s = 1/(1 + exp(-x)), Elfwing et al. 2018; dx = dy (s + x s (1 - s)). As in PyTorch, silu(-∞) and the
/// gradients at both infinities are NaN, since 0·∞ is.
struct Silu {
  template <class Real>
  STEPCAST_SHARED static Real value(Real x) {
    return x * Sigmoid::value(x);
  }
  template <class Real>
  STEPCAST_SHARED static Real gradient(Real dy, Real x) {
    const Real s = Sigmoid::value(x);
    return dy * (s + x * (s * (1 - s)));
  }
};

// Dropout with p = 1/2, Srivastava et al. 2014. An element is kept and doubled, or becomes 0, even if it is NaN or
// infinite. A random word of seed and index decides, so the backward pass needs no mask.

STEPCAST_SHARED bool kept(std::uint32_t word) { return (word >> 31) != 0; }
template <class Real>
STEPCAST_SHARED Real dropout(Real x, std::uint32_t word) {
  return kept(word) ? 2 * x : Real{0};
}

}  // namespace stepcast::kernels
