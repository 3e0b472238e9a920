// Formulas of counts and bytes, written as text: "ceil(elements * 1 bit) + 8 B".
//
//     formula = product { ("+" | "-") product }
//     product = factor { ("*" | "/") factor }
//     factor  = "-" factor | number [ "B" | "bit" ] | name | function "(" formula { "," formula } ")" | "(" formula ")"
//
// Every value is a count or a number of bytes. Sums need two of one unit; a count times bytes is bytes; bytes over bytes
// is a count. Functions: min and max of one or more values; ceil, floor and round (of bytes: to whole bytes); log2 and
// sqrt of counts. A bit is an eighth of a byte.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stepcast {

/// A value in bytes^`bytes`: 0 is a count, 1 is bytes. Other powers occur inside formulas only.
struct Measure {
  double value = 0;
  int bytes = 0;
};

/// "a count", "bytes" or "bytes^2".
std::string unit_name(const Measure& measure);

/// The text is no formula, or its units disagree, or a value is not finite.
class FormulaError : public std::runtime_error {
 public:
  FormulaError(std::string found, std::string allowed)
      : std::runtime_error(found + ", allowed is " + allowed), found_(std::move(found)), allowed_(std::move(allowed)) {}
  [[nodiscard]] const std::string& found() const { return found_; }
  [[nodiscard]] const std::string& allowed() const { return allowed_; }

 private:
  std::string found_, allowed_;
};

class Formula {
 public:
  Formula() : Formula("0") {}
  /// @throws FormulaError with the place of the first character that does not fit
  explicit Formula(std::string text);

  [[nodiscard]] const std::string& text() const { return text_; }
  /// The names of values, in order, each as often as it occurs.
  [[nodiscard]] std::vector<std::string> names() const;
  /// @param value_of  the value of a name; may throw FormulaError
  /// @throws FormulaError
  [[nodiscard]] Measure evaluate(const std::function<Measure(const std::string&)>& value_of) const;

  bool operator==(const Formula& other) const { return text_ == other.text_; }

  /// The names of functions, which no value may have.
  static const std::vector<std::string_view>& functions();

 private:
  friend class FormulaParser;
  /// A step of the formula in postfix order, on a stack of values.
  struct Operation {
    enum class Kind { value, name, add, subtract, multiply, divide, negate, call } kind;
    Measure value{};
    std::string name{};         ///< of a value or a function
    std::size_t arguments = 0;  ///< of a function
  };

  std::string text_;
  std::vector<Operation> operations_;
};

}  // namespace stepcast
