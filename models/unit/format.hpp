// Quantity to text: exact for files, rounded for people, and brief for files that people read.
#pragma once

#include <string>

#include "models/unit/quantity.hpp"

namespace stepcast {

/// The shortest text that parse_quantity reads back to the very same value: "10Gbps", "25us".
template <class Q>
std::string exact_text(Q value);

/// Rounded to `digits` significant digits with a unit near its size: "83.4 ms", "1.25 Gb/s".
/// Sizes use decimal units (MB = 1e6 B), bandwidths bits per second (Gb/s).
template <class Q>
std::string human_text(Q value, int digits = 4);

/// Of five digits, so within 5e-5, in the largest decimal unit of which it is at least one: "3.9111us", "1.0737GB", and
/// rates in bytes, "191.28GB/s". parse_quantity reads it.
template <class Q>
std::string brief_text(Q value);

/// A time as one waits for it: "40 s", "1 min 35 s", in seconds rounded up; from an hour on "2 h 5 min", whose minutes
/// are complete.
std::string duration_text(Seconds duration);

}  // namespace stepcast
