// Catch2 2.13 (Debian 12) and 3 (Debian 13) under one spelling: Approx, ContainsSubstring, and quantities shown
// in SI.
#pragma once

#if __has_include(<catch2/catch_test_macros.hpp>)
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/catch_tostring.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
using Catch::Approx;
using Catch::Matchers::ContainsSubstring;
#else
#include <catch2/catch.hpp>
inline auto ContainsSubstring(const std::string& text) { return Catch::Matchers::Contains(text); }
#endif

#include <string>

#include <fmt/format.h>

#include "models/unit/quantity.hpp"

template <int T, int B, int F>
struct Catch::StringMaker<stepcast::Quantity<T, B, F>> {
  static std::string convert(stepcast::Quantity<T, B, F> quantity) {
    return fmt::format("{:.17g} (s^{} B^{} flop^{})", quantity.si(), T, B, F);
  }
};
