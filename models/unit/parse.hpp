// Text to number, "0.9", and to quantity: "10Gbps", "25us", "4MiB", "1.2ms", "312TFLOPS", "0.8ns/B".
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include "models/unit/quantity.hpp"

namespace stepcast {

/// The decimal number that a text begins with. Infinities and NaN are none.
struct LeadingNumber {
  double value = 0.0;
  std::string_view rest;  ///< what follows it in the text
  std::errc error{};      ///< invalid_argument: there is none; result_out_of_range: too large or too small for a double
};
LeadingNumber leading_number(std::string_view text);

/// The number that is the whole text, if it is one.
std::optional<double> parse_number(std::string_view text);

/// A text that is no quantity of the wanted dimension. what() says what was found, what is wrong with it, what is
/// allowed and, where one can be guessed, the remedy.
class UnitError : public std::runtime_error {
 public:
  UnitError(const std::string& what, std::string why) : std::runtime_error(what), why_(std::move(why)) {}
  /// What is wrong and what is allowed, without the text itself.
  [[nodiscard]] const std::string& why() const { return why_; }

 private:
  std::string why_;
};

/// Reads a decimal number directly followed (or after one space) by a unit of Q's table (unit/units.hpp).
/// Refuses a missing unit, an unknown or ambiguous one, anything not finite, and trailing text.
/// @throws UnitError
template <class Q>
Q parse_quantity(std::string_view text);

extern template Seconds parse_quantity<Seconds>(std::string_view);
extern template Bytes parse_quantity<Bytes>(std::string_view);
extern template BytesPerSecond parse_quantity<BytesPerSecond>(std::string_view);
extern template SecondsPerByte parse_quantity<SecondsPerByte>(std::string_view);
extern template Flops parse_quantity<Flops>(std::string_view);
extern template FlopsPerSecond parse_quantity<FlopsPerSecond>(std::string_view);
extern template Hertz parse_quantity<Hertz>(std::string_view);

/// "ns, us, ms, s, ...": the units a message offers.
template <class Q>
std::string allowed_units();

}  // namespace stepcast
