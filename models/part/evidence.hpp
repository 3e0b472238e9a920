// The kind of source that a number rests on, and how far the truth may be from it.
#pragma once

#include <array>

#include "models/describe/describe.hpp"

namespace stepcast {

enum class Evidence { measured, fitted, transferred, datasheet, recalled, assumed };

template <>
struct Choices<Evidence> {
  static constexpr std::array table = {
      Choice<Evidence>{"measured", Evidence::measured, "measured on the device"},
      Choice<Evidence>{"fitted", Evidence::fitted, "found by a fit to measurements of whole steps"},
      Choice<Evidence>{"transferred", Evidence::transferred,
                       "predicted from another device's measurement and the two datasheets"},
      Choice<Evidence>{"datasheet", Evidence::datasheet, "the manufacturer's figure"},
      Choice<Evidence>{"recalled", Evidence::recalled, "from memory, not read again"},
      Choice<Evidence>{"assumed", Evidence::assumed, "our assumption"},
  };
};

/// An entry's spread s: the true time lies between 1/(1 + s) and 1 + s times the stated or computed time.
inline constexpr Limits kSpread = between(0, 100);
inline constexpr const char* kSpreadMeaning = "s: the time lies within a factor 1 + s of the stated one; null: unknown";

}  // namespace stepcast
