// The constants of a device's roofline (models/workload/layer_times.hpp), each with its source.
#pragma once

#include <optional>
#include <string>

#include "models/describe/describe.hpp"
#include "models/part/dtype.hpp"
#include "models/part/evidence.hpp"

namespace stepcast {

/// The highest arithmetic rate with operands of one type.
struct PeakRate {
  Dtype dtype = Dtype::fp32;
  FlopsPerSecond rate{};
  Evidence evidence = Evidence::assumed;
  std::string source;
  std::optional<double> spread{};

  template <class V>
  static void describe(V& v, PeakRate& x) {
    v.required("dtype", x.dtype, "type of the operands");
    v.required("rate", x.rate, "highest rate, a multiply-accumulate being two operations", positive);
    v.required("evidence", x.evidence, "kind of source");
    v.required("source", x.source, "source of the number");
    v.optional("spread", x.spread, kSpreadMeaning, kSpread);
  }
  bool operator==(const PeakRate&) const = default;
};

/// One number of a profile and its source.
template <class T>
struct ProfileEntry {
  T value{};
  Evidence evidence = Evidence::assumed;
  std::string source;
  std::optional<double> spread{};

  template <class V>
  static void describe(V& v, ProfileEntry& x) {
    v.required("value", x.value, "the number", positive);
    v.required("evidence", x.evidence, "kind of source");
    v.required("source", x.source, "source of the number, or the reason to assume it");
    v.optional("spread", x.spread, kSpreadMeaning, kSpread);
  }
  bool operator==(const ProfileEntry&) const = default;
};

/// A fraction of a whole and its source.
struct ProfileShare {
  double value = 1;
  Evidence evidence = Evidence::assumed;
  std::string source;

  template <class V>
  static void describe(V& v, ProfileShare& x) {
    v.required("value", x.value, "the share, 1 being all", Limits{0.0, true, 1.0});
    v.required("evidence", x.evidence, "kind of source");
    v.required("source", x.source, "source of the number, or the reason to assume it");
  }
  bool operator==(const ProfileShare&) const = default;
};

/// The sharpness of the roofline's bend; see roofline() in models/workload/layer_times.hpp.
struct RooflineBend {
  double value = 4;
  Evidence evidence = Evidence::assumed;
  std::string source;

  template <class V>
  static void describe(V& v, RooflineBend& x) {
    v.required("value", x.value, "exponent k: 1 adds the two times, a large one takes the longer", between(1, 64));
    v.required("evidence", x.evidence, "kind of source");
    v.required("source", x.source, "source of the number, or the reason to assume it");
  }
  bool operator==(const RooflineBend&) const = default;
};

/// The gain of Winograd convolution with a 3 x 3 kernel and stride 1: multiplications by definition over those
/// executed. A gain of 1 changes nothing; F(2 x 2, 3 x 3) has 36/16 = 2.25 (Lavin and Gray, CVPR 2016). Only fp32
/// kernels use it.
struct WinogradGain {
  double value = 1;
  Evidence evidence = Evidence::assumed;
  std::string source;

  template <class V>
  static void describe(V& v, WinogradGain& x) {
    v.required("value", x.value, "multiplications by definition over those done: 1 without, 2.25 for F(2x2, 3x3)",
               between(1, 9));
    v.required("evidence", x.evidence, "kind of source");
    v.required("source", x.source, "source of the number, or the reason to assume it");
  }
  bool operator==(const WinogradGain&) const = default;
};

}  // namespace stepcast
