// The unit tables: which suffixes each dimension accepts, and what one of them is worth in SI.
//
// One spelling per unit and case matters: "b" is a bit and "B" a byte, "m" is milli and "M" mega. What
// people write ambiguously ("10G", "KB", "10GBps", a bare number) is in no table and so is refused.
#pragma once

#include <span>
#include <string_view>

#include "models/unit/quantity.hpp"

namespace stepcast {

struct Unit {
  std::string_view suffix;
  double factor;  ///< value in SI of one of this unit
};

/// Accepted units of a dimension, the one preferred for humans' sizes first among equals.
template <class Q>
std::span<const Unit> units_of();

template <>
std::span<const Unit> units_of<Seconds>();
template <>
std::span<const Unit> units_of<Bytes>();
template <>
std::span<const Unit> units_of<BytesPerSecond>();
template <>
std::span<const Unit> units_of<SecondsPerByte>();
template <>
std::span<const Unit> units_of<Flops>();
template <>
std::span<const Unit> units_of<FlopsPerSecond>();
template <>
std::span<const Unit> units_of<Hertz>();

/// What the dimension is called in messages: "time", "size", "bandwidth", ...
template <class Q>
std::string_view dimension_name();

template <>
std::string_view dimension_name<Seconds>();
template <>
std::string_view dimension_name<Bytes>();
template <>
std::string_view dimension_name<BytesPerSecond>();
template <>
std::string_view dimension_name<SecondsPerByte>();
template <>
std::string_view dimension_name<Flops>();
template <>
std::string_view dimension_name<FlopsPerSecond>();
template <>
std::string_view dimension_name<Hertz>();

}  // namespace stepcast
