// PowerSGD and ATOMO on the matrix view of n elements (call.hpp). It has n_r rows and n_c columns, stored row by row as
// gradients are. Factors of r columns are stored column by column.
#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "kernels/code/triplets.hpp"
#include "kernels/cpu/lists.hpp"
#include "kernels/cpu/singular.hpp"
#include "kernels/workspace.hpp"

namespace stepcast::kernels {
namespace {

constexpr std::int64_t kRank = 4;           // PowerSGD's
constexpr std::int64_t kTriplets = 3;       // ATOMO's, the models' default
constexpr double kProductTolerance = 1e-5;  // sums of fp32 products, relative to the largest
constexpr std::int64_t kLargestDecomposed = 1 << 17;

// Parameter 0 is the rank.
struct Shape : MatrixView {
  std::int64_t r;
  explicit Shape(std::int64_t n, std::int64_t parameter = kRank) : MatrixView(matrix_view(n)), r(rank(parameter)) {}
  explicit Shape(const Call& c) : Shape(c.n, c.parameters[0]) {}
  [[nodiscard]] double matrix() const { return static_cast<double>(elements()); }
  [[nodiscard]] double factors() const { return static_cast<double>((rows + columns) * r); }
};

Buffer matrix(std::int64_t n, Fill fill = Fill::values) {
  return {"matrix", Element::f32, matrix_view(n).elements(), fill, fill == Fill::zero, kProductTolerance};
}
Buffer p_factor(std::int64_t n, Fill fill) {
  return {"P", Element::f32, Shape(n).rows * Shape(n).r, fill, fill == Fill::zero, kProductTolerance};
}
Buffer q_factor(std::int64_t n, Fill fill) {
  return {"Q", Element::f32, Shape(n).columns * Shape(n).r, fill, fill == Fill::zero, kProductTolerance};
}

double product_bytes(std::int64_t n) { return 4 * (Shape(n).matrix() + Shape(n).factors()); }
double product_flops(std::int64_t n) { return 2 * Shape(n).matrix() * static_cast<double>(Shape(n).r); }

/// (PQᵀ) at row i and column j.
double reconstructed(const Shape& s, const float* p, const float* q, std::int64_t i, std::int64_t j) {
  double sum = 0;
  for (std::int64_t k = 0; k < s.r; ++k)
    sum += static_cast<double>(p[k * s.rows + i]) * static_cast<double>(q[k * s.columns + j]);
  return sum;
}

/// Modified Gram-Schmidt in place, with dot products in double. Each column is freed of those before it and made a unit
/// vector. A column depends on those before it if less than kDependent of its length is left. It then becomes zero.
void orthonormalize(float* columns, std::int64_t length, std::int64_t r) {
  const auto dot = [&](std::int64_t i, std::int64_t j) {
    double sum = 0;
    for (std::int64_t l = 0; l < length; ++l)
      sum += static_cast<double>(columns[i * length + l]) * static_cast<double>(columns[j * length + l]);
    return sum;
  };
  std::vector<double> removed(r);  // squares of the lengths that were taken from each column
  for (std::int64_t i = 0; i < r; ++i) {
    const double square = dot(i, i), whole = square + removed[i];
    const double inverse = square <= kDependent * kDependent * whole ? 0.0 : 1 / square;
    for (std::int64_t j = i + 1; j < r; ++j) {
      const double product = dot(i, j), factor = product * inverse;
      removed[j] += product * factor;
      for (std::int64_t l = 0; l < length; ++l)
        columns[j * length + l] = static_cast<float>(static_cast<double>(columns[j * length + l]) -
                                                     factor * static_cast<double>(columns[i * length + l]));
    }
    const double scale = std::sqrt(inverse);
    for (std::int64_t l = 0; l < length; ++l)
      columns[i * length + l] = static_cast<float>(static_cast<double>(columns[i * length + l]) * scale);
  }
}

/// cuBLAS may treat denormals as zeros, so they count as zeros on both sides.
std::optional<std::string> compare_products(const Kernel& kernel, const Call& expected, const Call& got) {
  const auto flushed = [](const float* x, std::int64_t count) {
    std::vector<float> all(x, x + count);
    std::replace_if(
        all.begin(), all.end(), [](float value) { return std::abs(value) < std::numeric_limits<float>::min(); }, 0.0F);
    return all;
  };
  const std::vector<Buffer> buffers = kernel.buffers(got.n);
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const int at = static_cast<int>(i);
    const std::vector<float> e = flushed(expected.at<float>(at), buffers[i].count),
                             g = flushed(got.at<float>(at), buffers[i].count);
    if (auto wrong = difference(buffers[i], e.data(), g.data())) return wrong;
  }
  return std::nullopt;
}

/// Adds a product that cuBLAS computes.
void add_product(std::vector<Kernel>& list, Kernel kernel) {
  kernel.compare = [kernel](const Call& expected, const Call& got) { return compare_products(kernel, expected, got); };
  list.push_back(std::move(kernel));
}

void add_power_sgd(std::vector<Kernel>& list) {
  // P = MQ
  add_product(list, {"matrix-product",
                     "powersgd-p",
                     {kRank},
                     [](std::int64_t n) {
                       return std::vector<Buffer>{matrix(n), q_factor(n, Fill::values), p_factor(n, Fill::zero)};
                     },
                     product_bytes,
                     product_flops,
                     [](const Call& c) {
                       const Shape s(c);
                       for (std::int64_t i = 0; i < s.rows; ++i)
                         for (std::int64_t k = 0; k < s.r; ++k) {
                           double sum = 0;
                           for (std::int64_t j = 0; j < s.columns; ++j)
                             sum += static_cast<double>(c.at<float>(0)[i * s.columns + j]) *
                                    static_cast<double>(c.at<float>(1)[k * s.columns + j]);
                           c.at<float>(2)[k * s.rows + i] = static_cast<float>(sum);
                         }
                     }});
  // Q = MᵀP
  add_product(list, {"matrix-product",
                     "powersgd-q",
                     {kRank},
                     [](std::int64_t n) {
                       return std::vector<Buffer>{matrix(n), p_factor(n, Fill::values), q_factor(n, Fill::zero)};
                     },
                     product_bytes,
                     product_flops,
                     [](const Call& c) {
                       const Shape s(c);
                       std::vector<double> sums(s.columns * s.r);
                       for (std::int64_t i = 0; i < s.rows; ++i)
                         for (std::int64_t k = 0; k < s.r; ++k)
                           for (std::int64_t j = 0; j < s.columns; ++j)
                             sums[k * s.columns + j] += static_cast<double>(c.at<float>(0)[i * s.columns + j]) *
                                                        static_cast<double>(c.at<float>(1)[k * s.rows + i]);
                       std::transform(sums.begin(), sums.end(), c.at<float>(2),
                                      [](double sum) { return static_cast<float>(sum); });
                     }});
  // M = PQᵀ
  add_product(
      list, {"matrix-product",
             "powersgd-decode",
             {kRank},
             [](std::int64_t n) {
               return std::vector<Buffer>{p_factor(n, Fill::values), q_factor(n, Fill::values), matrix(n, Fill::zero)};
             },
             product_bytes,
             product_flops,
             [](const Call& c) {
               const Shape s(c);
               for (std::int64_t i = 0; i < s.rows; ++i)
                 for (std::int64_t j = 0; j < s.columns; ++j)
                   c.at<float>(2)[i * s.columns + j] =
                       static_cast<float>(reconstructed(s, c.at<float>(0), c.at<float>(1), i, j));
             }});
  // M ← M - PQᵀ, the residual: "matrix-product" and "subtract" of the models' error feedback in one.
  add_product(list, {"reconstruct-subtract",
                     "powersgd",
                     {kRank},
                     [](std::int64_t n) {
                       return std::vector<Buffer>{
                           p_factor(n, Fill::values),
                           q_factor(n, Fill::values),
                           {"matrix", Element::f32, matrix_view(n).elements(), Fill::values, true, kProductTolerance}};
                     },
                     [](std::int64_t n) { return product_bytes(n) + 4 * Shape(n).matrix(); },
                     [](std::int64_t n) { return product_flops(n) + Shape(n).matrix(); },
                     [](const Call& c) {
                       const Shape s(c);
                       for (std::int64_t i = 0; i < s.rows; ++i)
                         for (std::int64_t j = 0; j < s.columns; ++j) {
                           float& x = c.at<float>(2)[i * s.columns + j];
                           x = static_cast<float>(static_cast<double>(x) -
                                                  reconstructed(s, c.at<float>(0), c.at<float>(1), i, j));
                         }
                     }});
  // The columns of a factor Q. There are r sweeps; sweep i reads and writes columns i to r-1: r(r+1)/2 in all.
  list.push_back({"gram-schmidt",
                  "powersgd",
                  {kRank},
                  [](std::int64_t n) {
                    return std::vector<Buffer>{{"columns", Element::f32, Shape(n).columns * Shape(n).r, Fill::values,
                                                true, kProductTolerance}};
                  },
                  [](std::int64_t n) { return 4.0 * static_cast<double>(Shape(n).columns * (Shape(n).r + 1)); },
                  [](std::int64_t n) { return 2.0 * static_cast<double>(Shape(n).columns * Shape(n).r); },
                  [](const Call& c) { orthonormalize(c.at<float>(0), Shape(c).columns, Shape(c).r); },
                  {},
                  static_cast<int>(kRank)});
}

// Stored row by row, the matrix is its transpose stored column by column: A, a x b, with a = n_c and b = n_r.
std::vector<Buffer> triplet_buffers(std::int64_t n, Fill fill, bool written) {
  const MatrixView view = matrix_view(n);
  return {{"U", Element::f32, view.elements(), fill, written},
          {"sigma", Element::f32, view.rows, fill == Fill::values ? Fill::prepared : fill, written},
          {"V", Element::f32, view.rows * view.rows, fill, written}};
}

bool all_finite(const float* x, std::int64_t n) {
  return std::all_of(x, x + n, [](float value) { return std::isfinite(value); });
}

void decompose_matrix(const Call& c) {
  const MatrixView view = matrix_view(c.n);
  float *u = c.at<float>(1), *sigma = c.at<float>(2), *v = c.at<float>(3);
  if (!all_finite(c.at<float>(0), view.elements())) {
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    std::fill_n(u, view.elements(), nan);
    std::fill_n(sigma, view.rows, nan);
    std::fill_n(v, view.rows * view.rows, nan);
    return;
  }
  const Singular found = decompose(c.at<float>(0), view.columns, view.rows);
  const auto narrow = [](double x) { return static_cast<float>(x); };
  std::transform(found.u.begin(), found.u.end(), u, narrow);
  std::transform(found.s.begin(), found.s.end(), sigma, narrow);
  std::transform(found.v.begin(), found.v.end(), v, narrow);
}

/// Singular values must be as expected. Vectors must be orthonormal where the value is not next to nothing, and their
/// product must be the matrix. The tolerance relative to the largest is 1e-4 for small matrices. Each of b columns is
/// rotated with b - 1 others in each of some ten sweeps. Each rotation rounds by 2^-24, independently (see
/// deviation_of): together √(10·b)·2^-24, or 3.2·√b·2^-24. 40 times that covers the method's own tolerance and the
/// worst of all entries: 8·√b·2^-20. Cosine and sine of a rotation are rounded once for a whole column. So its squared
/// length may change by 2·√2·2^-24 in each of 10·b rotations: together 1.8·b·2^-20. That is 5.4e-4 for b = 316, where an
/// H100 was 1.4e-4 off. A singular value, and with it the product, inherits half of that. Singular values below the
/// normal numbers are whole multiples of the least denormal, which counts as a deviation of each entry.
std::optional<std::string> compare_decompositions(const Call& expected, const Call& got) {
  const MatrixView view = matrix_view(got.n);
  const std::int64_t a = view.columns, b = view.rows;
  const double allowed = std::max(1e-4, 8 * std::sqrt(static_cast<double>(b)) * 0x1p-20);
  const double drift = 1.8 * static_cast<double>(b) * 0x1p-20, allowed_of_lengths = std::max(allowed, drift),
               allowed_of_values = std::max(allowed, drift / 2);
  const float *matrix = expected.at<float>(0), *u = got.at<float>(1), *sigma = got.at<float>(2), *v = got.at<float>(3),
              *s = expected.at<float>(2);
  const auto wrong = [](const std::string& what, std::int64_t i, double want, double found, double within) {
    std::ostringstream text;
    text.precision(9);
    text << what << " " << i << ": expected " << want << ", got " << found
         << " (allowed deviation relative to the largest " << within << ")";
    return text.str();
  };
  if (!all_finite(matrix, a * b)) {
    for (int buffer = 1; buffer <= 3; ++buffer)
      for (std::int64_t i = 0; i < (buffer == 1 ? a * b : buffer == 2 ? b : b * b); ++i)
        if (const float x = got.at<float>(buffer)[i]; !std::isnan(x))
          return wrong("non-finite input, entry", i, std::numeric_limits<double>::quiet_NaN(), static_cast<double>(x),
                       allowed);
    return std::nullopt;
  }
  constexpr double kLeast = std::numeric_limits<float>::denorm_min();
  const auto largest = static_cast<double>(s[0]);
  for (std::int64_t i = 0; i < b; ++i)
    if (!(std::abs(static_cast<double>(sigma[i]) - static_cast<double>(s[i])) <= allowed_of_values * largest + kLeast))
      return wrong("sigma", i, static_cast<double>(s[i]), static_cast<double>(sigma[i]), allowed_of_values);
  const auto orthonormal = [&](const char* name, const float* x, std::int64_t length,
                               bool all) -> std::optional<std::string> {
    for (std::int64_t i = 0; i < b; ++i)
      for (std::int64_t j = 0; j <= i; ++j) {
        if (!all && static_cast<double>(s[i]) <= 100 * allowed * largest) continue;
        double sum = 0;
        for (std::int64_t l = 0; l < length; ++l)
          sum += static_cast<double>(x[i * length + l]) * static_cast<double>(x[j * length + l]);
        const double want = i == j ? 1 : 0, within = i == j ? allowed_of_lengths : allowed;
        if (!(std::abs(sum - want) <= within))
          return wrong(std::string("product with column ") + std::to_string(j) + " of " + name + " of column", i, want,
                       sum, within);
      }
    return std::nullopt;
  };
  if (auto found = orthonormal("V", v, b, true)) return found;
  if (auto found = orthonormal("U", u, a, false)) return found;
  double difference = 0, whole = 0;
  for (std::int64_t row = 0; row < a; ++row)
    for (std::int64_t column = 0; column < b; ++column) {
      double sum = 0;
      for (std::int64_t k = 0; k < b; ++k)
        sum += static_cast<double>(u[k * a + row]) * static_cast<double>(sigma[k]) *
               static_cast<double>(v[k * b + column]);
      const auto entry = static_cast<double>(matrix[column * a + row]);
      difference += (sum - entry) * (sum - entry);
      whole += entry * entry;
    }
  if (!(std::sqrt(difference) <= allowed_of_values * std::sqrt(whole) + kLeast * std::sqrt(static_cast<double>(a * b))))
    return wrong("distance of the product from the matrix of Frobenius norm", a, std::sqrt(whole),
                 std::sqrt(difference), allowed_of_values);
  return std::nullopt;
}

void add_atomo(std::vector<Kernel>& list) {
  Kernel svd{"svd",
             "atomo",
             {},
             [](std::int64_t n) {
               std::vector<Buffer> all = {{"matrix", Element::f32, matrix_view(n).elements(), Fill::values}};
               for (const Buffer& buffer : triplet_buffers(n, Fill::zero, true)) all.push_back(buffer);
               return all;
             },
             [](std::int64_t n) {
               const Shape s(n);
               const auto b = static_cast<double>(s.rows);
               return 4 * (2 * s.matrix() + b + b * b);
             },
             [](std::int64_t n) {
               const auto a = static_cast<double>(matrix_view(n).columns), b = static_cast<double>(matrix_view(n).rows);
               return 14 * a * b * b + 8 * b * b * b;
             },
             decompose_matrix};
  svd.largest = kLargestDecomposed;
  svd.slow = true;
  svd.compare = compare_decompositions;
  list.push_back(std::move(svd));

  // The drawn triplets, side by side, and their number; entries beyond them stay. The bytes are for the expected
  // number.
  list.push_back({"gather",
                  "atomo",
                  {kTriplets},
                  [](std::int64_t n) {
                    std::vector<Buffer> all = triplet_buffers(n, Fill::values, false);
                    for (const Buffer& buffer : triplet_buffers(n, Fill::zero, true)) all.push_back(buffer);
                    all[4].tolerance = kSumTolerance;
                    all.push_back({"drawn", Element::u32, 1, Fill::zero, true});
                    return all;
                  },
                  [](std::int64_t n) {
                    const MatrixView view = matrix_view(n);
                    return 8.0 * static_cast<double>(view.rank(kTriplets) * (view.rows + view.columns + 1));
                  },
                  linear(0),
                  [](const Call& c) {
                    const MatrixView view = matrix_view(c.n);
                    const std::int64_t a = view.columns, b = view.rows;
                    double sum = 0;
                    for (std::int64_t i = 0; i < b; ++i) sum += static_cast<double>(c.at<float>(1)[i]);
                    const TripletOdds odds = triplet_odds(c.at<float>(1), b, sum, c.parameters[0]);
                    std::int64_t drawn = 0;
                    for (std::int64_t i = 0; i < b; ++i) {
                      const float sigma = draw_triplet(c.at<float>(1)[i], i, odds, c.seed);
                      if (sigma == 0) continue;
                      std::copy_n(c.at<float>(0) + i * a, a, c.at<float>(3) + drawn * a);
                      c.at<float>(4)[drawn] = sigma;
                      std::copy_n(c.at<float>(2) + i * b, b, c.at<float>(5) + drawn * b);
                      ++drawn;
                    }
                    c.at<std::uint32_t>(6)[0] = static_cast<std::uint32_t>(drawn);
                  },
                  [](const Call& c) {
                    // Singular values as a gradient has them: 1/(i+1).
                    for (std::int64_t i = 0; i < matrix_view(c.n).rows; ++i)
                      c.at<float>(1)[i] = 1.0F / static_cast<float>(i + 1);
                  }});
}

}  // namespace

void add_low_rank(std::vector<Kernel>& list) {
  add_power_sgd(list);
  add_atomo(list);
}

}  // namespace stepcast::kernels
