#include "models/unit/formula.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/unit/parse.hpp"

namespace stepcast {
namespace {

/// Nested brackets, signs and functions: enough for any formula, and few enough for the stack.
constexpr int kDeepest = 64;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

Measure same_unit(const Measure& a, const Measure& b, const char* what, double value) {
  if (a.bytes != b.bytes)
    throw FormulaError(fmt::format("{} of {} and {}", what, unit_name(a), unit_name(b)), "two values of one unit");
  return {value, a.bytes};
}

Measure of_count(const Measure& x, const std::string& name, double value) {
  if (x.bytes != 0) throw FormulaError(fmt::format("{} of {}", name, unit_name(x)), "a count");
  return {value, 0};
}

Measure call(const std::string& name, const std::vector<Measure>& x) {
  const Measure& first = x.front();
  if (name == "ceil") return {std::ceil(first.value), first.bytes};
  if (name == "floor") return {std::floor(first.value), first.bytes};
  if (name == "round") return {std::round(first.value), first.bytes};
  if (name == "log2") return of_count(first, name, std::log2(first.value));
  if (name == "sqrt") return of_count(first, name, std::sqrt(first.value));
  Measure result = first;
  for (const Measure& other : x)
    result = same_unit(result, other, name.c_str(),
                       name == "min" ? std::min(result.value, other.value) : std::max(result.value, other.value));
  return result;
}

bool takes_several(std::string_view function) { return function == "min" || function == "max"; }

}  // namespace

std::string unit_name(const Measure& measure) {
  if (measure.bytes == 0) return "a count";
  return measure.bytes == 1 ? "bytes" : fmt::format("bytes^{}", measure.bytes);
}

const std::vector<std::string_view>& Formula::functions() {
  static const std::vector<std::string_view> names{"ceil", "floor", "log2", "max", "min", "round", "sqrt"};
  return names;
}

/// Reads the grammar of formula.hpp by recursive descent and writes postfix operations.
class FormulaParser {
 public:
  FormulaParser(const std::string& text, std::vector<Formula::Operation>& operations)
      : text_(text), operations_(operations) {}

  void parse() {
    sum();
    if (at_ < text_.size()) fail("an operator (+, -, *, /) or the end");
  }

 private:
  using Kind = Formula::Operation::Kind;

  void sum() {
    product();
    for (;;) {
      if (take('+')) product(), emit(Kind::add);
      else if (take('-')) product(), emit(Kind::subtract);
      else return;
    }
  }

  void product() {
    factor();
    for (;;) {
      if (take('*')) factor(), emit(Kind::multiply);
      else if (take('/')) factor(), emit(Kind::divide);
      else return;
    }
  }

  void factor() {
    if (++depth_ > kDeepest)
      throw FormulaError("brackets in brackets", fmt::format("at most {} levels of them", kDeepest));
    skip_spaces();
    if (take('-')) {
      factor();
      emit(Kind::negate);
    } else if (take('(')) {
      sum();
      expect(')');
    } else if (at_ < text_.size() && (is_digit(text_[at_]) || text_[at_] == '.')) {
      number();
    } else if (at_ < text_.size() && is_letter(text_[at_])) {
      named();
    } else {
      fail("a number, a name, a function, - or (");
    }
    --depth_;
  }

  void number() {
    const LeadingNumber number = leading_number(std::string_view(text_).substr(at_));
    if (number.error != std::errc{}) fail("a number");
    at_ = text_.size() - number.rest.size();
    Measure value{number.value, 0};
    skip_spaces();
    const std::size_t before = at_;
    if (const std::string unit = word(); unit == "B") value.bytes = 1;
    else if (unit == "bit") value = {number.value / 8, 1};
    else if (!unit.empty()) {
      at_ = before;
      fail("a unit, B or bit, or an operator");
    }
    operations_.push_back({Kind::value, value});
  }

  void named() {
    const std::size_t before = at_;
    const std::string name = word();
    const auto& functions = Formula::functions();
    const bool is_function = std::find(functions.begin(), functions.end(), name) != functions.end();
    if (!is_function) {
      if (!take('(')) return operations_.push_back({Kind::name, {}, name});
      at_ = before;
      fail(fmt::format("one of the functions {}", fmt::join(functions, ", ")));
    }
    expect('(');
    std::size_t arguments = 0;
    do {
      sum();
      ++arguments;
    } while (takes_several(name) && take(','));
    expect(')');
    operations_.push_back({Kind::call, {}, name, arguments});
  }

  std::string word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || (at_ > begin && is_digit(text_[at_])))) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  bool take(char c) {
    skip_spaces();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void expect(char c) {
    if (!take(c)) fail(fmt::format("\"{}\"", c));
  }

  void emit(Kind kind) { operations_.push_back({kind}); }

  [[noreturn]] void fail(const std::string& allowed) const {
    const std::string found = at_ < text_.size() ? fmt::format("\"{}\"", text_.substr(at_)) : "its end";
    throw FormulaError(fmt::format("{} at character {}", found, at_ + 1), allowed);
  }

  const std::string& text_;
  std::vector<Formula::Operation>& operations_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

Formula::Formula(std::string text) : text_(std::move(text)) { FormulaParser(text_, operations_).parse(); }

std::vector<std::string> Formula::names() const {
  std::vector<std::string> names;
  for (const Operation& one : operations_)
    if (one.kind == Operation::Kind::name) names.push_back(one.name);
  return names;
}

Measure Formula::evaluate(const std::function<Measure(const std::string&)>& value_of) const {
  std::vector<Measure> stack;
  const auto pop = [&stack] {
    const Measure top = stack.back();
    stack.pop_back();
    return top;
  };
  for (const Operation& one : operations_) {
    switch (one.kind) {
      case Operation::Kind::value: stack.push_back(one.value); continue;
      case Operation::Kind::name: stack.push_back(value_of(one.name)); continue;
      case Operation::Kind::negate: stack.back().value = -stack.back().value; continue;
      case Operation::Kind::call: {
        const auto first = stack.end() - static_cast<std::ptrdiff_t>(one.arguments);
        const Measure result = call(one.name, {first, stack.end()});
        stack.erase(first, stack.end());
        stack.push_back(result);
        break;
      }
      default: {
        const Measure b = pop(), a = pop();
        if (one.kind == Operation::Kind::add) stack.push_back(same_unit(a, b, "+", a.value + b.value));
        else if (one.kind == Operation::Kind::subtract) stack.push_back(same_unit(a, b, "-", a.value - b.value));
        else if (one.kind == Operation::Kind::multiply) stack.push_back({a.value * b.value, a.bytes + b.bytes});
        else stack.push_back({a.value / b.value, a.bytes - b.bytes});
      }
    }
    if (!std::isfinite(stack.back().value)) throw FormulaError("a value that is not finite", "finite numbers");
  }
  return stack.back();
}

}  // namespace stepcast
