// A layer's element type on the CPU: double in the references' arithmetic, rounded to the type once.
#pragma once

#include "kernels/code/elements.hpp"
#include "kernels/layers.hpp"

namespace stepcast::kernels {

/// Half the distance of floats next to 1.
inline constexpr double kFloatRounding = 0x1p-24;

template <class T>
inline constexpr Element kElement = sizeof(T) == 4 ? Element::f32 : Element::bf16;
template <class T>
inline constexpr const char* kMethod = sizeof(T) == 4 ? "fp32" : "bf16";
/// Entry tolerance of a result that is rounded to the type. Two nearly equal floats may become neighbours, which in
/// bfloat16 are 2^-7 of the lower one apart.
template <class T>
inline constexpr double kRounded = sizeof(T) == 4 ? 0 : 0x1p-7;

template <class T>
double real(const T* x, std::int64_t i) {
  return static_cast<double>(widened(x[i]));
}
/// Rounds by way of float, as the GPU does.
template <class T>
void put(T* x, std::int64_t i, double value) {
  x[i] = narrowed<T>(static_cast<float>(value));
}

/// A buffer with its role.
inline Buffer as(Role role, Buffer buffer) {
  buffer.role = role;
  return buffer;
}
template <class T>
Buffer input(const char* name, std::int64_t count) {
  return {name, kElement<T>, count, Fill::values};
}
/// @param tolerance  as Buffer has it
template <class T>
Buffer result(const char* name, std::int64_t count, double tolerance, double entry_tolerance = 0) {
  return {name,
          kElement<T>,
          count,
          Fill::zero,
          true,
          tolerance,
          entry_tolerance + (tolerance + entry_tolerance > 0 ? kRounded<T> : 0)};
}

/// Calls make.operator()<T>() with the element type: tf32 is float here.
template <class Make>
auto of_precision(Precision precision, const Make& make) {
  return precision == Precision::bf16 ? make.template operator()<std::uint16_t>() : make.template operator()<float>();
}

/// Random numbers below `below`: labels, indices of a table.
inline Buffer indices_below(std::int64_t below, const char* name, std::int64_t count) {
  Buffer buffer{name, Element::u32, count, Fill::below};
  buffer.below = below;
  return buffer;
}

}  // namespace stepcast::kernels
