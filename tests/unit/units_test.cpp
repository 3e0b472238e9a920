#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <type_traits>

#include "models/unit/format.hpp"
#include "models/unit/parse.hpp"
#include "models/unit/units.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/property.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

/// Every accepted unit with its worth, so that a new one needs a line here.
template <class Q>
void check_units(const std::map<std::string, double>& expected) {
  std::map<std::string, double> found;
  for (const Unit& unit : units_of<Q>()) found.emplace(unit.suffix, unit.factor);
  CHECK(found == expected);
  for (const auto& [suffix, factor] : expected) {
    INFO(suffix);
    CHECK(parse_quantity<Q>("1" + suffix).si() == factor);
    CHECK(parse_quantity<Q>("2.5 " + suffix).si() == 2.5 * factor);  // one space is allowed
    CHECK(parse_quantity<Q>("-3e2" + suffix).si() == -300 * factor);
    CHECK_THAT(allowed_units<Q>(), ContainsSubstring(suffix));
  }
}

template <class Q>
std::string refusal(const std::string& text) {
  try {
    const Q accepted = parse_quantity<Q>(text);
    FAIL("\"" << text << "\" was read as " << accepted.si());
  } catch (const UnitError& error) {
    return error.what();
  }
  return {};
}

template <class Q>
void check_refused(const std::string& text, const std::string& why) {
  INFO(text);
  const std::string message = refusal<Q>(text);
  CHECK_THAT(message, ContainsSubstring(why));
  CHECK_THAT(message, ContainsSubstring(fmt::format("\"{}\"", text.substr(0, 80))));  // the text found
  CHECK_THAT(message, ContainsSubstring(allowed_units<Q>()));                         // the units allowed
}

/// Any finite double, all exponents and signs alike likely.
double any_finite() {
  const auto bits = *rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<std::uint64_t>());
  const double value = std::bit_cast<double>(bits);
  RC_PRE(std::isfinite(value));
  return value;
}

template <class Q>
void check_round_trip(const char* dimension) {
  property(
      std::string("exact text of a ") + dimension + " reads back to the same value",
      [] {
        const Q value(any_finite());
        const std::string text = exact_text(value);
        const Q back = parse_quantity<Q>(text);
        if (!(back == value))
          RC_FAIL(fmt::format("{:.17g} became \"{}\", which is {:.17g}", value.si(), text, back.si()));
      },
      2000);
  property(
      std::string("brief text of a ") + dimension + " reads back within 5e-5",
      [] {
        const Q value(positive_between(1e-12, 1e18));
        const double back = parse_quantity<Q>(brief_text(value)).si();
        if (!(std::abs(back - value.si()) <= 5.001e-5 * std::abs(value.si())))
          RC_FAIL(fmt::format("{:.17g} became \"{}\"", value.si(), brief_text(value)));
      },
      2000);
  // Round numbers of a unit, as people write them: the text is at most as long as the written one.
  property(
      std::string("a round ") + dimension + " keeps a short text",
      [] {
        const auto units = units_of<Q>();
        const Unit& unit = units[integer_between(0, static_cast<int>(units.size()) - 1)];
        const std::string written = fmt::format("{}{}", integer_between(1, 999), unit.suffix);
        const Q value = parse_quantity<Q>(written);
        const std::string text = exact_text(value);
        RC_ASSERT(parse_quantity<Q>(text) == value);
        // 7us is 7 * 1e-6; division by the unit may be a rounding off 7, and then no shorter text exists.
        if (fmt::format("{}{}", value.si() / unit.factor, unit.suffix) == written)
          RC_ASSERT(text.size() <= written.size());
      },
      500);
}

template <class A, class B>
concept Addable = requires(A a, B b) {
  a + b;
};
template <class A, class B>
concept Comparable = requires(A a, B b) {
  a < b;
};

}  // namespace

TEST_CASE("every unit has the value of its name") {
  check_units<Seconds>(
      {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"\u00b5s", 1e-6}, {"ns", 1e-9}, {"ps", 1e-12}, {"min", 60}, {"h", 3600}});
  // k, M, G, T are powers of 1000; Ki, Mi, Gi, Ti powers of 1024.
  check_units<Bytes>({{"B", 1},
                      {"kB", 1e3},
                      {"MB", 1e6},
                      {"GB", 1e9},
                      {"TB", 1e12},
                      {"KiB", 1024},
                      {"MiB", 1048576},
                      {"GiB", 1073741824},
                      {"TiB", 1099511627776}});
  // A bit is an eighth of a byte: 1 Gb/s = 1e9/8 B/s = 1.25e8 B/s.
  check_units<BytesPerSecond>(
      {{"bps", 0.125},    {"b/s", 0.125},   {"kbps", 125},      {"kb/s", 125},         {"Mbps", 1.25e5},
       {"Mb/s", 1.25e5},  {"Gbps", 1.25e8}, {"Gb/s", 1.25e8},   {"Gbit/s", 1.25e8},    {"Tbps", 1.25e11},
       {"Tb/s", 1.25e11}, {"B/s", 1},       {"kB/s", 1e3},      {"MB/s", 1e6},         {"GB/s", 1e9},
       {"TB/s", 1e12},    {"KiB/s", 1024},  {"MiB/s", 1048576}, {"GiB/s", 1073741824}, {"TiB/s", 1099511627776}});
  check_units<SecondsPerByte>(
      {{"s/B", 1}, {"ms/B", 1e-3}, {"us/B", 1e-6}, {"\u00b5s/B", 1e-6}, {"ns/B", 1e-9}, {"ps/B", 1e-12}});
  check_units<Flops>(
      {{"FLOP", 1}, {"kFLOP", 1e3}, {"MFLOP", 1e6}, {"GFLOP", 1e9}, {"TFLOP", 1e12}, {"PFLOP", 1e15}, {"EFLOP", 1e18}});
  check_units<FlopsPerSecond>({{"FLOPS", 1},
                               {"kFLOPS", 1e3},
                               {"MFLOPS", 1e6},
                               {"GFLOPS", 1e9},
                               {"TFLOPS", 1e12},
                               {"PFLOPS", 1e15},
                               {"EFLOPS", 1e18}});
  check_units<Hertz>({{"Hz", 1}, {"kHz", 1e3}, {"MHz", 1e6}, {"GHz", 1e9}});
}

TEST_CASE("a number is decimal, finite and the whole text") {
  CHECK(parse_number("0.9") == 0.9);
  CHECK(parse_number("-3e2") == -300);
  for (const char* text : {"", " 1", "1 ", "+1", "1%", "0x10", "1,000", "inf", "nan", "1e400"}) {
    INFO(text);
    CHECK_FALSE(parse_number(text));
  }
  // A text that begins with a number gives the rest after it; otherwise the reason.
  CHECK((leading_number("90%").value == 90 && leading_number("90%").rest == "%"));
  CHECK(leading_number("90%").error == std::errc{});
  CHECK(leading_number("x").error == std::errc::invalid_argument);
  CHECK(leading_number("inf").error == std::errc::invalid_argument);
  CHECK(leading_number("1e400").error == std::errc::result_out_of_range);  // the largest double is 1.8e308
}

TEST_CASE("quantities without a unit, or with an ambiguous one, are refused") {
  const std::string unknown = "unknown or ambiguous unit";
  check_refused<BytesPerSecond>("10G", unknown);   // bits or bytes?
  check_refused<BytesPerSecond>("10GB", unknown);  // a size
  check_refused<BytesPerSecond>("10gbps", unknown);
  check_refused<BytesPerSecond>("10GBps", unknown);
  check_refused<BytesPerSecond>("10 Gbps extra", unknown);
  check_refused<BytesPerSecond>("10  Gbps", unknown);  // two spaces
  check_refused<BytesPerSecond>("10Gbps ", unknown);
  check_refused<BytesPerSecond>("10", "has no unit");
  check_refused<BytesPerSecond>("10 ", "has no unit");
  check_refused<Bytes>("4KB", unknown);  // 1000 or 1024?
  check_refused<Bytes>("4K", unknown);
  check_refused<Bytes>("0x10B", unknown);  // "0" followed by "x10B"
  check_refused<Bytes>("1,000B", unknown);
  check_refused<Bytes>("4Mb", unknown);  // a bit is no size here
  check_refused<Bytes>("MiB", "does not begin with a number");
  check_refused<Seconds>("", "does not begin with a number");
  check_refused<Seconds>("+5us", "does not begin with a number");
  check_refused<Seconds>(" 5us", "does not begin with a number");
  check_refused<Seconds>("nan s", "does not begin with a number");
  check_refused<Seconds>("nans", "does not begin with a number");
  check_refused<Seconds>("inf s", "does not begin with a number");
  check_refused<Seconds>("-infs", "does not begin with a number");
  check_refused<Seconds>("infinity s", "does not begin with a number");
  check_refused<Seconds>("1e400s", "too large");
  check_refused<Seconds>("-1e400s", "too large");
  check_refused<Seconds>("1e308h", "too large");  // 3.6e311 s is past the largest double, 1.8e308
  check_refused<Seconds>("5US", unknown);
  check_refused<Seconds>("5m", unknown);  // milli or minute?
  check_refused<SecondsPerByte>("0.8ns", unknown);
  check_refused<FlopsPerSecond>("312TFLOP", unknown);
  check_refused<Flops>("3GFLOPS", unknown);
}

TEST_CASE("a refusal offers the unit that was probably meant") {
  CHECK_THAT(refusal<BytesPerSecond>("10gbps"), ContainsSubstring("did you mean Gbps or Gb/s or GB/s?"));
  CHECK(parse_quantity<Seconds>("25\u03bcs") == 25_us);  // a Greek mu, which looks like the micro sign
  CHECK(parse_quantity<SecondsPerByte>("25\u03bcs/B") == SecondsPerByte(25 * 1e-6));
  CHECK_THAT(refusal<BytesPerSecond>("1.25GBps"), ContainsSubstring("did you mean GB/s or Gbps or Gb/s?"));
  CHECK_THAT(refusal<Bytes>("4KB"), ContainsSubstring("did you mean kB?"));
  CHECK_THAT(refusal<Seconds>("5US"), ContainsSubstring("did you mean us?"));
  CHECK_THAT(refusal<Bytes>("4parsec"), !ContainsSubstring("did you mean"));
  // Endless input is quoted in part.
  CHECK(refusal<Bytes>("1" + std::string(100000, 'x')).size() < 101000);
}

TEST_CASE("exact text is the shortest that reads back to the same value") {
  CHECK(exact_text(10_Gbps) == "10Gbps");
  CHECK(exact_text(25_us) == "25us");
  CHECK(exact_text(4_MiB) == "4MiB");  // "4194304B" is longer
  CHECK(exact_text(25_MB) == "25MB");
  CHECK(exact_text(1.2_ms) == "1.2ms");
  CHECK(exact_text(Bytes(1)) == "1B");
  CHECK(exact_text(Seconds(0)) == "0s");
  CHECK(exact_text(312_TFLOPS) == "312TFLOPS");
  CHECK(exact_text(0.8_ns_per_B) == "0.8ns/B");
  CHECK(exact_text(Seconds(1.0 / 3)) == "0.3333333333333333s");

  check_round_trip<Seconds>("time");
  check_round_trip<Bytes>("size");
  check_round_trip<BytesPerSecond>("bandwidth");
  check_round_trip<SecondsPerByte>("time per byte");
  check_round_trip<Flops>("amount of work");
  check_round_trip<FlopsPerSecond>("compute rate");
  check_round_trip<Hertz>("frequency");
}

TEST_CASE("human text is rounded and has a unit near the size") {
  CHECK(brief_text(Seconds(3.911130e-6)) == "3.9111us");
  CHECK(brief_text(Seconds(-28.3e-9)) == "-28.3ns");
  CHECK(brief_text(Bytes(1073741824)) == "1.0737GB");
  CHECK(brief_text(BytesPerSecond(191281e6)) == "191.28GB/s");
  CHECK(brief_text(Seconds(999.9999e-6)) == "1ms");
  CHECK(brief_text(Seconds(0)) == "0s");
  CHECK(brief_text(BytesPerSecond(0)) == "0B/s");
  CHECK(human_text(Seconds(0.0834)) == "83.4 ms");
  CHECK(human_text(Seconds(-0.0834)) == "-83.4 ms");
  CHECK(human_text(Seconds(1500)) == "1500 s");
  CHECK(human_text(Seconds(2.5e-10)) == "0.25 ns");  // below the smallest unit
  CHECK(human_text(Seconds(0.123456), 2 + 3) == "123.46 ms");
  CHECK(human_text(Bytes(243.3e6)) == "243.3 MB");
  CHECK(human_text(1_KiB) == "1.024 kB");
  CHECK(human_text(Bytes(999)) == "999 B");
  CHECK(human_text(10_Gbps) == "10 Gb/s");
  CHECK(human_text(BytesPerSecond(12.5e9)) == "100 Gb/s");  // 12.5e9 B/s * 8 b/B
  CHECK(human_text(0.8_ns_per_B) == "800 ps/B");
  CHECK(human_text(312_TFLOPS) == "312 TFLOPS");
  CHECK(human_text(Flops(4.1e9)) == "4.1 GFLOP");
}

TEST_CASE("human text of zero is in the base unit") {
  CHECK(human_text(Seconds(0)) == "0 s");
  CHECK(human_text(Bytes(0)) == "0 B");
  CHECK(human_text(BytesPerSecond(0)) == "0 b/s");
  CHECK(human_text(Flops(0)) == "0 FLOP");
  CHECK(human_text(FlopsPerSecond(0)) == "0 FLOPS");
  CHECK(human_text(1.98_GHz) == "1.98 GHz");
}

TEST_CASE("literals are in SI") {
  CHECK((1_s).si() == 1);
  CHECK((25_ms).si() == 25 * 1e-3);
  CHECK((2.5_us).si() == 2.5 * 1e-6);
  CHECK((7_ns).si() == 7 * 1e-9);
  CHECK((3_B).si() == 3);
  CHECK((3_kB).si() == 3e3);
  CHECK((3_MB).si() == 3e6);
  CHECK((3_GB).si() == 3e9);
  CHECK((3_KiB).si() == 3072);
  CHECK((25_MiB).si() == 26214400);
  CHECK((1_GiB).si() == 1073741824);
  CHECK((100_Mbps).si() == 1.25e7);
  CHECK((10_Gbps).si() == 1.25e9);
  CHECK((10_GBps).si() == 1e10);
  CHECK((0.5_ns_per_B).si() == 0.5e-9);
  CHECK((312_TFLOPS).si() == 3.12e14);
}

TEST_CASE("products and quotients carry their dimension") {
  STATIC_REQUIRE(std::is_same_v<decltype(4_MiB / 10_Gbps), Seconds>);
  STATIC_REQUIRE(std::is_same_v<decltype(4_MiB * 1_ns_per_B), Seconds>);
  STATIC_REQUIRE(std::is_same_v<decltype(4_MiB / 1_s), BytesPerSecond>);
  STATIC_REQUIRE(std::is_same_v<decltype(1_s / 4_MiB), SecondsPerByte>);
  STATIC_REQUIRE(std::is_same_v<decltype(Flops(1) / 1_TFLOPS), Seconds>);
  STATIC_REQUIRE(std::is_same_v<decltype(1_s / 1_ms), double>);
  STATIC_REQUIRE(std::is_same_v<decltype(inverse(1_Gbps)), SecondsPerByte>);
  STATIC_REQUIRE(Addable<Seconds, Seconds>);
  STATIC_REQUIRE_FALSE(Addable<Seconds, Bytes>);
  STATIC_REQUIRE_FALSE(Addable<Seconds, double>);
  STATIC_REQUIRE_FALSE(Comparable<Seconds, Bytes>);
  STATIC_REQUIRE_FALSE(std::is_convertible_v<double, Seconds>);

  // 25 us + 4194304 B / 1.25e9 B/s = 25e-6 s + 3.3554432e-3 s
  require_close(3.3804432e-3, (25_us + 4_MiB / 10_Gbps).si(), 1e-15, "α + n/bandwidth");
  // β of 10 Gb/s: 1 / 1.25e9 = 0.8 ns/B
  require_close(0.8e-9, inverse(10_Gbps).si(), 1e-15, "β");
  CHECK(25_ms / 1_s == 0.025);
  CHECK(2.0 * 3_s == 6_s);
  CHECK(3_s / 2.0 == 1.5_s);
  CHECK(-(3_s) - 1_s == Seconds(-4));
  CHECK(1_ms < 2_ms);
  Seconds sum = 1_s;
  sum += 2_s;
  sum -= 0.5_s;
  sum *= 4;
  CHECK(sum == 10_s);
}

TEST_CASE("names are enumerated as in a sentence") {
  using Names = std::vector<std::string_view>;
  CHECK(enumerated(Names{"a"}) == "a");
  CHECK(enumerated(Names{"a", "b"}) == "a and b");
  CHECK(enumerated(Names{"a", "b", "c"}) == "a, b and c");
}
