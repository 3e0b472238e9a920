// Formulas: values, units, and what is refused.
#include <map>
#include <string>

#include "models/unit/formula.hpp"
#include "tests/support/catch.hpp"

using namespace stepcast;

namespace {

Measure value(const std::string& text) {
  const std::map<std::string, Measure> values{{"d", {1000, 0}}, {"e", {4, 1}}};
  return Formula(text).evaluate([&](const std::string& name) {
    if (!values.contains(name)) throw FormulaError(name, "d, e");
    return values.at(name);
  });
}

void is(const std::string& text, double expected, int bytes) {
  INFO(text);
  CHECK(value(text).value == expected);
  CHECK(value(text).bytes == bytes);
}

void refused(const std::string& text, const std::string& found, const std::string& allowed) {
  INFO(text);
  try {
    value(text);
    FAIL("not refused");
  } catch (const FormulaError& error) {
    CHECK_THAT(error.found(), ContainsSubstring(found));
    CHECK_THAT(error.allowed(), ContainsSubstring(allowed));
  }
}

}  // namespace

TEST_CASE("values and units of formulas") {
  is("2 + 3 * 4 - 6 / 3", 12, 0);
  is("(2 + 3) * 4", 20, 0);
  is("10 - 3 - 2", 5, 0);  // from the left
  is("-2 * -3", 6, 0);
  is("1.5e2", 150, 0);
  is("d * e", 4000, 1);
  is("d * 1 bit", 125, 1);                  // 1000/8
  is("ceil(d * 3 bit / 16) + 8 B", 32, 1);  // 3000/8/16 = 23.4
  is("d * e / 8 B", 500, 0);
  is("max(1, floor(0.0005 * d), 0)", 1, 0);
  is("min(d*e, 100 B)", 100, 1);
  is("log2(8) + sqrt(16) + round(2.5)", 10, 0);
  CHECK(Formula("d * e + d").names() == std::vector<std::string>{"d", "e", "d"});
}

TEST_CASE("what is no formula") {
  refused("", "its end at character 1", "a number");
  refused("2 +", "its end", "a number");
  refused("(2", "its end", "\")\"");
  refused("2 3", "\"3\" at character 3", "an operator");
  refused("2 MB", "\"MB\" at character 3", "B or bit");
  refused("sin(2)", "\"sin(2)\"", "ceil, floor");
  refused("max()", "\")\"", "a number");
  refused("ceil(1, 2)", "\", 2)\"", "\")\"");
  refused("1 + 1 B", "+ of a count and bytes", "one unit");
  refused("min(1, e)", "min of a count and bytes", "one unit");
  refused("log2(e)", "log2 of bytes", "a count");
  refused("1 / 0", "not finite", "finite");
  refused("log2(0)", "not finite", "finite");
  refused("x", "x", "d, e");
  refused(std::string(100000, '('), "brackets in brackets", "at most 64");
  refused(std::string(100000, '-'), "brackets in brackets", "at most 64");
}
