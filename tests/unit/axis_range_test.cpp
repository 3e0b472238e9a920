#include "models/describe/json.hpp"
#include "models/study/axis_range.hpp"
#include "models/study/range_lists.hpp"

#include <stdexcept>

#include "tests/support/catch.hpp"

using namespace stepcast;

namespace {

std::string refusal(const std::string& text) {
  try {
    parse_axis_range(text);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("ranges have whole numbers, real numbers, or quantities in any mix of units") {
  const AxisRange workers = parse_axis_range("2..64"), ratio = parse_axis_range("0.01..0.5"),
                  mixed = parse_axis_range("0..0.5");
  CHECK((workers.whole && !ratio.whole && !mixed.whole));
  CHECK((workers.from == 2 && workers.to == 64 && !workers.unit));
  CHECK((ratio.from == 0.01 && ratio.to == 0.5));
  const AxisRange bandwidth = parse_axis_range("100Mbps..12.5 GB/s");
  CHECK((bandwidth.from == 12.5e6 && bandwidth.to == 12.5e9));  // 1e8/8 and 12.5·1e9 B/s
  REQUIRE(bandwidth.unit);
  CHECK(bandwidth.unit->suffix == "_B_per_s");
  CHECK(field_value(bandwidth, 12.5e6) == "0.1Gbps");
  CHECK(human_value(bandwidth, 12.5e6) == "100 Mb/s");
  CHECK(field_value(workers, 7) == 7);
  CHECK(field_value(workers, 7).is_number_integer());
  CHECK(field_value(ratio, 0.25) == 0.25);
  CHECK(human_value(ratio, 0.123456) == "0.1235");
  const AxisRange share = parse_axis_range("0..1", BetweenWholes::real_numbers);
  CHECK((!share.whole && !share.is_discrete() && field_value(share, 0.5) == 0.5));
}

TEST_CASE("a malformed range is refused with the reason and the allowed ranges") {
  CHECK(says(refusal("64"), "no two ends with .. between them"));
  CHECK(says(refusal("2.."), "the end \"\" is no number"));
  CHECK(says(refusal("2..6x"), "the end \"6x\""));
  CHECK(says(refusal("nan..2"), "the end \"nan\""));
  CHECK(says(refusal("64..2"), "not in order"));
  CHECK(says(refusal("2..2"), "not in order"));
  CHECK(says(refusal("-1..2"), "below zero"));
  CHECK(says(refusal("1Gbps..10ms"), "one end is a bandwidth, the other a time"));
  CHECK(says(refusal("1..10ms"), "one end is a number without a unit, the other a time"));
  for (const char* text : {"64", "2..", "1Gbps..10ms"}) CHECK(says(refusal(text), "allowed: FROM..TO"));
}

TEST_CASE("values in steps: added, or by a factor; of numbers and of quantities") {
  const AxisRange eights = parse_axis_range("8..64:8"), powers = parse_axis_range("2..64:x2"),
                  sizes = parse_axis_range("1MiB..4MiB:1MiB"), all = parse_axis_range("3..5");
  CHECK(grid_values(eights, 64) == std::vector<double>{8, 16, 24, 32, 40, 48, 56, 64});
  CHECK(grid_values(powers, 64) == std::vector<double>{2, 4, 8, 16, 32, 64});
  CHECK(grid_values(sizes, 64) == std::vector<double>{1 << 20, 2 << 20, 3 << 20, 4 << 20});
  CHECK(grid_values(all, 64) == std::vector<double>{3, 4, 5});
  CHECK(grid_values(parse_axis_range("0..1:0.25"), 64) == std::vector<double>{0, 0.25, 0.5, 0.75, 1});
  // More steps than values: the nearest steps. 8 to 80 by 8 in three factors of 10^(1/3) = 2.154: 17.2 and 37.1.
  CHECK(grid_values(parse_axis_range("8..80:8"), 4) == std::vector<double>{8, 16, 40, 80});
  CHECK(eights.whole);
  CHECK(field_value(eights, 24).is_number_integer());
  CHECK(eights.steps() == 7);
  CHECK(powers.steps() == 5);
  CHECK(powers.steps_to(16) == Approx(3));
  CHECK(powers.after(3) == 16);
  CHECK(!parse_axis_range("1MiB..4MiB").is_discrete());
  // Whole numbers stay whole over many factors: 3^20.
  CHECK(parse_axis_range("1..3486784401:x3").after(19) == 1162261467.0);
}

TEST_CASE("steps that do not lead from end to end, or are of another kind, are refused") {
  CHECK(says(refusal("8..1024:x3"),
             "no step reaches the last end; the nearest steps reach 648 and 1944"));  // 8·3^4, 8·3^5
  CHECK(says(refusal("8..60:8"), "the nearest steps reach 56 and 64"));
  CHECK(says(refusal("8..64:"), "the step \"\" is no number"));
  CHECK(says(refusal("8..64:0"), "has to be above zero"));
  CHECK(says(refusal("8..64:1MiB"), "of the ends' kind: a number without a unit"));
  CHECK(says(refusal("1MiB..4MiB:1"), "of the ends' kind: a size"));
  CHECK(says(refusal("8..64:x1"), "a number above 1"));
  CHECK(says(refusal("0..64:x2"), "the first end above zero"));
  CHECK(says(refusal("8..64:x2MiB"), "a number above 1"));
  CHECK(says(refusal("8..9:4"), "beyond the last end"));
}

TEST_CASE("a grid's steps are factors, or differences from zero; whole numbers are there once") {
  // 1 to 1000 in three steps: factors of 10.
  const auto factors = grid_values({1, 1000, false, nullptr}, 4);
  REQUIRE(factors.size() == 4);
  CHECK(factors[1] == Approx(10));
  CHECK(factors[2] == Approx(100));
  CHECK((factors.front() == 1 && factors.back() == 1000));
  const auto differences = grid_values({0, 3, false, nullptr}, 4);
  CHECK(differences == std::vector<double>{0, 1, 2, 3});
  CHECK(grid_values({2, 5, true, nullptr}, 4) == std::vector<double>{2, 3, 4, 5});
  // 1 to 8 in four steps: 1, 1.68, 2.83, 4.76, 8.
  CHECK(grid_values({1, 8, true, nullptr}, 5) == std::vector<double>{1, 2, 3, 5, 8});
  // 1 to 1000 in 63: the small ones would be there several times.
  const auto many = grid_values({1, 1000, true, nullptr}, 64);
  for (std::size_t i = 1; i < many.size(); ++i) CHECK(many[i] > many[i - 1]);
  CHECK(many.size() < 64);
  CHECK(many.back() == 1000);
}

TEST_CASE("a range in steps is the list of its values, which ends within the last end") {
  const auto expanded = [](Json json) {
    expand_ranges(json);
    return json;
  };
  // 1, 2, ..., 8 kB; 16 kB would be beyond 9 kB.
  CHECK(expanded("1kB..9kB:x2") == Json({"1kB", "2kB", "4kB", "8kB"}));
  CHECK(expanded("8..64:8") == Json({8, 16, 24, 32, 40, 48, 56, 64}));
  CHECK(expanded("2..5") == Json({2, 3, 4, 5}));
  // Without steps, of two dimensions, backwards, or no range at all: as it was, for the reader to refuse.
  for (const char* other : {"1kB..9kB", "1kB..9s:x2", "9..1", "..", "a..b", "1.5", "v1..2:x", "1..1e12"})
    CHECK(expanded(other) == other);
  CHECK(expanded({{"name", "2..4"}, {"description", "1..3"}, {"size", "1B..2B:1B"}, {"list", {{{"k", "1..2"}}}}}) ==
        Json{{"name", "2..4"}, {"description", "1..3"}, {"size", {"1B", "2B"}}, {"list", {{{"k", {1, 2}}}}}});
}
