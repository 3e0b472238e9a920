#include "kernels/cpu/singular.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace stepcast::kernels {
namespace {

double dot(const double* x, const double* y, std::int64_t n) { return std::inner_product(x, x + n, y, 0.0); }

void rotate(double* x, double* y, std::int64_t n, double cosine, double sine) {
  for (std::int64_t i = 0; i < n; ++i) {
    const double before = x[i];
    x[i] = cosine * before - sine * y[i];
    y[i] = sine * before + cosine * y[i];
  }
}

}  // namespace

Singular decompose(const float* matrix, std::int64_t a, std::int64_t b) {
  // Rotations from the right make the columns orthogonal; their lengths are then the singular values.
  std::vector<double> w(matrix, matrix + a * b), v(b * b);
  for (std::int64_t j = 0; j < b; ++j) v[j * b + j] = 1;
  constexpr double epsilon = std::numeric_limits<double>::epsilon();
  bool rotated = true;
  for (int sweep = 0; rotated && sweep < 60; ++sweep) {
    rotated = false;
    for (std::int64_t p = 0; p < b; ++p)
      for (std::int64_t q = p + 1; q < b; ++q) {
        double *x = w.data() + p * a, *y = w.data() + q * a;
        const double xx = dot(x, x, a), yy = dot(y, y, a), xy = dot(x, y, a);
        if (!(std::abs(xy) > 4 * epsilon * std::sqrt(xx) * std::sqrt(yy))) continue;
        rotated = true;
        // tan of the angle: the smaller root of t² + 2ζt - 1 = 0.
        const double zeta = (yy - xx) / (2 * xy),
                     tangent = (zeta >= 0 ? 1.0 : -1.0) / (std::abs(zeta) + std::hypot(1.0, zeta));
        const double cosine = 1 / std::hypot(1.0, tangent), sine = cosine * tangent;
        rotate(x, y, a, cosine, sine);
        rotate(v.data() + p * b, v.data() + q * b, b, cosine, sine);
      }
  }
  std::vector<double> lengths;
  for (std::int64_t j = 0; j < b; ++j) lengths.push_back(std::sqrt(dot(w.data() + j * a, w.data() + j * a, a)));
  std::vector<std::size_t> order(b);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return lengths[i] > lengths[j]; });
  Singular result;
  for (const std::size_t j : order) {
    const auto column = static_cast<std::int64_t>(j);
    result.s.push_back(lengths[j]);
    for (std::int64_t i = 0; i < a; ++i) result.u.push_back(lengths[j] > 0 ? w[column * a + i] / lengths[j] : 0.0);
    result.v.insert(result.v.end(), v.begin() + column * b, v.begin() + (column + 1) * b);
  }
  return result;
}

}  // namespace stepcast::kernels
