#include "models/report/rows.hpp"

#include <cmath>
#include <limits>

#include "models/describe/json.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/property.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

Row row_of_all_types() { return {Cell(), Cell(true), Cell(std::int64_t{12}), Cell(0.5), Cell(std::string("text"))}; }

Cell random_cell() {
  switch (integer_between(0, 5)) {
    case 0: return {};
    case 1: return coin();
    case 2: return std::int64_t{integer_between(-1000000, 1000000)};
    case 3: return coin() ? static_cast<double>(integer_between(-9, 9)) : positive_between(1e-150, 1e150);
    case 4:
      return std::vector<PhaseCell>{{"warm-up", integer_between(1, 9), 7, positive_between(1e-9, 1e9), 0, 1.5},
                                    {"rest", 1, 2, 3.0, 4.0, 10.0}};
    default: break;
  }
  const std::string texts[] = {"", "plain", "a,b", "say \"so\"", "two\nlines\r\n", "größer, µs", "null", "12", "\x01"};
  return texts[integer_between(0, 8)];
}

Row random_row() {
  Row row;
  for (int i = integer_between(1, 12); i > 0; --i) row.push_back(random_cell());
  return row;
}

}  // namespace

TEST_CASE("a CSV row: nothing for no value, quotes only where RFC 4180 wants them") {
  CHECK(csv_row(row_of_all_types()) == ",true,12,0.5,text\n");
  CHECK(csv_row({Cell(std::string("a,b")), Cell(std::string("say \"so\"")), Cell(std::string("two\nlines"))}) ==
        "\"a,b\",\"say \"\"so\"\"\",\"two\nlines\"\n");
  CHECK(csv_header({"a", "b,c"}) == "a,\"b,c\"\n");
}

TEST_CASE("phases: a text in CSV, objects in JSON") {
  const Row row{std::vector<PhaseCell>{{"all", 2, 3, 0.5, 0, 3}, {"rest", 1, 4, 0.25, 1.5, 2.5}}};
  CHECK(csv_row(row) == "all: 2 x 3 x 0.5 s; rest: 1 x 4 x 0.25 s + 1.5 s\n");
  const Json phases = Json::parse(json_row({"run_phases"}, row)).at("run_phases");
  REQUIRE(phases.size() == 2);
  CHECK(phases[1] == Json::parse(R"({"name": "rest", "epochs": 1, "steps_per_epoch": 4, "step_time_s": 0.25,
                                     "before_s": 1.5, "time_s": 2.5})"));
}

TEST_CASE("a JSON line: null for no value, and a point in every number that is no count") {
  CHECK(json_row({"a", "b", "c", "d", "e"}, row_of_all_types()) ==
        "{\"a\":null,\"b\":true,\"c\":12,\"d\":0.5,\"e\":\"text\"}\n");
  CHECK(json_row({"whole"}, {Cell(3.0)}) == "{\"whole\":3.0}\n");
  CHECK(json_row({"large"}, {Cell(1e22)}) == "{\"large\":1e+22}\n");
}

TEST_CASE("a number that is not finite is no value") {
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(csv_row({Cell(infinity), Cell(std::nan("")), Cell(1.0)}) == ",,1\n");
  CHECK(json_row({"a", "b"}, {Cell(-infinity), Cell(std::nan(""))}) == "{\"a\":null,\"b\":null}\n");
}

TEST_CASE("a shard's line reads back as the same row") {
  property("parse_numbered_row(numbered_row(i, row)) is (i, row)", [] {
    const Row row = random_row();
    const auto number = static_cast<std::size_t>(integer_between(0, 1000000));
    const std::string line = numbered_row(number, row);
    RC_ASSERT(line.find('\n') == line.size() - 1);
    const NumberedRow read = parse_numbered_row(line);
    RC_ASSERT(read.number == number);
    RC_ASSERT(read.row == row);
  });
}

TEST_CASE("JSON lines hold the values, whatever a text contains") {
  property("json_row parses to its cells", [] {
    const Row row = random_row();
    std::vector<std::string> names;
    for (std::size_t i = 0; i < row.size(); ++i) names.push_back("column " + std::to_string(i));
    const Json json = Json::parse(json_row(names, row));
    RC_ASSERT(json.size() == row.size());
    for (std::size_t i = 0; i < row.size(); ++i) {
      const Json& value = json.at(names[i]);
      if (const auto* text = std::get_if<std::string>(&row[i])) RC_ASSERT(value == *text);
      if (const auto* number = std::get_if<double>(&row[i]))
        RC_ASSERT((value.is_number_float() && value.get<double>() == *number));
      if (const auto* count = std::get_if<std::int64_t>(&row[i]))
        RC_ASSERT((value.is_number_integer() && value.get<std::int64_t>() == *count));
    }
  });
}

TEST_CASE("a line that is no row of a shard is refused") {
  for (const char* line : {"", "{}", "[1]", "[\"1\",[]]", "[1,[2]", "text"})
    CHECK_THROWS_AS(parse_numbered_row(line), std::runtime_error);
}
