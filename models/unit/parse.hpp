// Text to number ("0.9") and to quantity: "10Gbps", "25us", "4MiB", "1.2ms", "312TFLOPS", "0.8ns/B".
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include "models/unit/quantity.hpp"

namespace stepcast {

/// The decimal number at the start of a text. Infinity and NaN are not numbers here.
struct LeadingNumber {
  double value = 0.0;
  std::string_view rest;  ///< the text after the number
  std::errc error{};      ///< invalid_argument: no number; result_out_of_range: too large or too small for a double
};
LeadingNumber leading_number(std::string_view text);

/// The number, if the whole text is one number.
std::optional<double> parse_number(std::string_view text);

/// The text is not a quantity of the expected dimension. what() gives the text, the error, the allowed units and, where
/// possible, a suggestion.
class UnitError : public std::runtime_error {
 public:
  UnitError(const std::string& what, std::string why) : std::runtime_error(what), why_(std::move(why)) {}
  /// The error and the allowed units, without the text itself.
  [[nodiscard]] const std::string& why() const { return why_; }

 private:
  std::string why_;
};

/// Reads a decimal number, followed directly or after one space by a unit of Q's table (unit/units.hpp). Refuses a
/// missing, unknown or ambiguous unit, a number that is not finite, and trailing text.
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

/// The units that a message offers: "ns, us, ms, s, ...".
template <class Q>
std::string allowed_units();

}  // namespace stepcast
