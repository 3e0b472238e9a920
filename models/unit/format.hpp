// Quantity to text: exact for files, rounded for people, and brief for files that people read.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/unit/quantity.hpp"

namespace stepcast {

/// The shortest text that parse_quantity reads back to the very same value: "10Gbps", "25us".
template <class Q>
std::string exact_text(Q value);

/// Rounds to `digits` significant digits, in a unit near the value's size: "83.4 ms", "1.25 Gb/s". Sizes use decimal
/// units (MB = 1e6 B). Bandwidths use bits per second (Gb/s).
template <class Q>
std::string human_text(Q value, int digits = 4);

/// Five significant digits (error at most 5e-5), in the largest decimal unit in which the value is at least 1:
/// "3.9111us", "1.0737GB". Rates are in bytes: "191.28GB/s". parse_quantity reads the text.
template <class Q>
std::string brief_text(Q value);

/// Values of one column of a table: one unit, and equally many decimals. The smallest value has at least three digits,
/// the largest four. Values too far apart for one unit (a factor of 1,000) have one each, as human_text gives it.
template <class Q>
std::vector<std::string> column_texts(std::span<const double> si);

/// Numbers of one column: equally many decimals, for three digits of the smallest number. If any is at
/// least 1, there are at most `most_decimals`.
std::vector<std::string> column_numbers(std::span<const double> values, int most_decimals, std::string_view suffix);

/// Names as a sentence has them: "a", "a and b", "a, b and c". @pre not empty
std::string enumerated(std::span<const std::string_view> names);

/// A duration as a person waits for it: "40 s", "1 min 35 s", with seconds rounded up. From one hour on: "2 h 5 min",
/// counting complete minutes only.
std::string duration_text(Seconds duration);

}  // namespace stepcast
