#include "models/unit/units.hpp"

namespace stepcast {
namespace {

constexpr double kKi = 1024.0, kMi = kKi * 1024.0, kGi = kMi * 1024.0, kTi = kGi * 1024.0;

constexpr Unit kTime[] = {{"s", 1.0},   {"ms", 1e-3},  {"us", 1e-6},  {"\u00b5s", 1e-6},
                          {"ns", 1e-9}, {"ps", 1e-12}, {"min", 60.0}, {"h", 3600.0}};
constexpr Unit kSize[] = {{"B", 1.0},   {"kB", 1e3},  {"MB", 1e6},  {"GB", 1e9}, {"TB", 1e12},
                          {"KiB", kKi}, {"MiB", kMi}, {"GiB", kGi}, {"TiB", kTi}};
constexpr Unit kBandwidth[] = {{"Gbps", 1e9 / 8}, {"Gb/s", 1e9 / 8},  {"Gbit/s", 1e9 / 8}, {"Mbps", 1e6 / 8},
                               {"Mb/s", 1e6 / 8}, {"Tbps", 1e12 / 8}, {"Tb/s", 1e12 / 8},  {"kbps", 1e3 / 8},
                               {"kb/s", 1e3 / 8}, {"bps", 1.0 / 8},   {"b/s", 1.0 / 8},    {"GB/s", 1e9},
                               {"MB/s", 1e6},     {"kB/s", 1e3},      {"TB/s", 1e12},      {"B/s", 1.0},
                               {"KiB/s", kKi},    {"MiB/s", kMi},     {"GiB/s", kGi},      {"TiB/s", kTi}};
constexpr Unit kTimePerByte[] = {{"ns/B", 1e-9},      {"ps/B", 1e-12}, {"us/B", 1e-6},
                                 {"\u00b5s/B", 1e-6}, {"ms/B", 1e-3},  {"s/B", 1.0}};
constexpr Unit kWork[] = {{"FLOP", 1.0},   {"kFLOP", 1e3},  {"MFLOP", 1e6}, {"GFLOP", 1e9},
                          {"TFLOP", 1e12}, {"PFLOP", 1e15}, {"EFLOP", 1e18}};
constexpr Unit kComputeRate[] = {{"FLOPS", 1.0},   {"kFLOPS", 1e3},  {"MFLOPS", 1e6}, {"GFLOPS", 1e9},
                                 {"TFLOPS", 1e12}, {"PFLOPS", 1e15}, {"EFLOPS", 1e18}};
constexpr Unit kFrequency[] = {{"MHz", 1e6}, {"GHz", 1e9}, {"kHz", 1e3}, {"Hz", 1.0}};

}  // namespace

template <>
std::span<const Unit> units_of<Seconds>() {
  return kTime;
}
template <>
std::span<const Unit> units_of<Bytes>() {
  return kSize;
}
template <>
std::span<const Unit> units_of<BytesPerSecond>() {
  return kBandwidth;
}
template <>
std::span<const Unit> units_of<SecondsPerByte>() {
  return kTimePerByte;
}
template <>
std::span<const Unit> units_of<Flops>() {
  return kWork;
}
template <>
std::span<const Unit> units_of<FlopsPerSecond>() {
  return kComputeRate;
}
template <>
std::span<const Unit> units_of<Hertz>() {
  return kFrequency;
}

template <>
std::string_view dimension_name<Seconds>() {
  return "time";
}
template <>
std::string_view dimension_name<Bytes>() {
  return "size";
}
template <>
std::string_view dimension_name<BytesPerSecond>() {
  return "bandwidth";
}
template <>
std::string_view dimension_name<SecondsPerByte>() {
  return "time per byte";
}
template <>
std::string_view dimension_name<Flops>() {
  return "work";
}
template <>
std::string_view dimension_name<FlopsPerSecond>() {
  return "compute rate";
}
template <>
std::string_view dimension_name<Hertz>() {
  return "frequency";
}

}  // namespace stepcast
