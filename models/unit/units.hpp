// The unit tables: the suffixes that each dimension accepts, and their values in SI.
//
// Each unit has one spelling, and case matters: "b" is bit, "B" is byte, "m" is milli, "M" is mega. Ambiguous forms
// ("10G", "KB", "10GBps", a bare number) are in no table, so the parser refuses them.
#pragma once

#include <span>
#include <string_view>

#include "models/unit/quantity.hpp"

namespace stepcast {

struct Unit {
  std::string_view suffix;
  double factor;  ///< SI value of one unit
};

/// The accepted units of a dimension. Among equal units, the one preferred in text for people comes first.
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

/// The name of the dimension in messages: "time", "size", "bandwidth", ...
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
