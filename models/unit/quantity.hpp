// Physical quantities with their dimension in the type.
//
// A Quantity<T, B, F> is a double in SI units (seconds, bytes, floating-point operations). Its dimension is s^T · B^B ·
// flop^F. Products and quotients get the right dimension. Sums of different dimensions do not compile. A dimensionless
// result is a plain double:
//
//     Seconds t = 25_us + 4_MiB / 10_Gbps;      // α + n/bandwidth
//     double  x = t / 1_ms;                     // a ratio
//
// Conventions: GB = 1e9 bytes, GiB = 2^30 bytes, b = bit, B = byte. unit/parse.hpp reads text such as "10Gbps";
// unit/format.hpp writes it.
#pragma once

#include <compare>

namespace stepcast {

template <int TimeExp, int ByteExp, int FlopExp>
class Quantity {
 public:
  constexpr Quantity() = default;
  /// `si` is in seconds, bytes, flops, or their products and quotients.
  constexpr explicit Quantity(double si) : si_(si) {}

  [[nodiscard]] constexpr double si() const { return si_; }

  constexpr auto operator<=>(const Quantity&) const = default;

  constexpr Quantity& operator+=(Quantity other) {
    si_ += other.si_;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity other) {
    si_ -= other.si_;
    return *this;
  }
  constexpr Quantity& operator*=(double factor) {
    si_ *= factor;
    return *this;
  }

  friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity(a.si_ + b.si_); }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity(a.si_ - b.si_); }
  friend constexpr Quantity operator-(Quantity a) { return Quantity(-a.si_); }
  friend constexpr Quantity operator*(Quantity a, double factor) { return Quantity(a.si_ * factor); }
  friend constexpr Quantity operator*(double factor, Quantity a) { return Quantity(a.si_ * factor); }
  friend constexpr Quantity operator/(Quantity a, double divisor) { return Quantity(a.si_ / divisor); }

 private:
  double si_ = 0.0;
};

namespace detail {
template <int T, int B, int F>
struct DimensionedT {
  using type = Quantity<T, B, F>;
};
template <>
struct DimensionedT<0, 0, 0> {
  using type = double;
};
}  // namespace detail

/// The type of a value of dimension s^T · B^B · flop^F: a Quantity, or double when dimensionless.
template <int T, int B, int F>
using Dimensioned = typename detail::DimensionedT<T, B, F>::type;

template <int T1, int B1, int F1, int T2, int B2, int F2>
constexpr Dimensioned<T1 + T2, B1 + B2, F1 + F2> operator*(Quantity<T1, B1, F1> a, Quantity<T2, B2, F2> b) {
  return Dimensioned<T1 + T2, B1 + B2, F1 + F2>(a.si() * b.si());
}

template <int T1, int B1, int F1, int T2, int B2, int F2>
constexpr Dimensioned<T1 - T2, B1 - B2, F1 - F2> operator/(Quantity<T1, B1, F1> a, Quantity<T2, B2, F2> b) {
  return Dimensioned<T1 - T2, B1 - B2, F1 - F2>(a.si() / b.si());
}

using Seconds = Quantity<1, 0, 0>;
using Bytes = Quantity<0, 1, 0>;
using BytesPerSecond = Quantity<-1, 1, 0>;
using SecondsPerByte = Quantity<1, -1, 0>;
using Flops = Quantity<0, 0, 1>;
using FlopsPerSecond = Quantity<-1, 0, 1>;
using Hertz = Quantity<-1, 0, 0>;

/// β of a bandwidth: the seconds that one byte occupies the link.
constexpr SecondsPerByte inverse(BytesPerSecond rate) { return SecondsPerByte(1.0 / rate.si()); }

inline namespace literals {
#define STEPCAST_LITERAL(suffix, type, factor)                                                          \
  constexpr type operator""_##suffix(long double v) { return type(static_cast<double>(v) * (factor)); } \
  constexpr type operator""_##suffix(unsigned long long v) { return type(static_cast<double>(v) * (factor)); }
STEPCAST_LITERAL(s, Seconds, 1.0)
STEPCAST_LITERAL(ms, Seconds, 1e-3)
STEPCAST_LITERAL(us, Seconds, 1e-6)
STEPCAST_LITERAL(ns, Seconds, 1e-9)
STEPCAST_LITERAL(B, Bytes, 1.0)
STEPCAST_LITERAL(kB, Bytes, 1e3)
STEPCAST_LITERAL(MB, Bytes, 1e6)
STEPCAST_LITERAL(GB, Bytes, 1e9)
STEPCAST_LITERAL(KiB, Bytes, 1024.0)
STEPCAST_LITERAL(MiB, Bytes, 1048576.0)
STEPCAST_LITERAL(GiB, Bytes, 1073741824.0)
STEPCAST_LITERAL(Mbps, BytesPerSecond, 1e6 / 8)
STEPCAST_LITERAL(Gbps, BytesPerSecond, 1e9 / 8)
STEPCAST_LITERAL(GBps, BytesPerSecond, 1e9)
STEPCAST_LITERAL(ns_per_B, SecondsPerByte, 1e-9)
STEPCAST_LITERAL(TFLOPS, FlopsPerSecond, 1e12)
STEPCAST_LITERAL(GHz, Hertz, 1e9)
#undef STEPCAST_LITERAL
}  // namespace literals

}  // namespace stepcast
