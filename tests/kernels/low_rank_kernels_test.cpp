// PowerSGD and ATOMO: products, orthonormal columns, reconstruction, unbiased triplets.
#include <algorithm>

#include "kernels/code/triplets.hpp"
#include "kernels/cpu/singular.hpp"
#include "tests/kernels/host_references.hpp"
#include "tests/support/property.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

double dot(const std::vector<float>& x, std::int64_t i, std::int64_t j, std::int64_t length) {
  double sum = 0;
  for (std::int64_t l = 0; l < length; ++l)
    sum += static_cast<double>(x[i * length + l]) * static_cast<double>(x[j * length + l]);
  return sum;
}

/// The matrix of n elements whose entries f(row, column) gives.
template <class F>
std::vector<float> matrix_of(std::int64_t n, F f) {
  const MatrixView view = matrix_view(n);
  std::vector<float> x;
  for (std::int64_t i = 0; i < view.rows; ++i)
    for (std::int64_t j = 0; j < view.columns; ++j) x.push_back(static_cast<float>(f(i, j)));
  return x;
}

/// A decomposition's workspace after its reference ran on x.
Workspace decomposed(const std::vector<float>& x, std::int64_t n) { return run("svd/atomo", n, {{0, x}}); }

std::optional<std::string> compared(const Workspace& expected, const Workspace& got) {
  return find_kernel("svd/atomo").compare(expected.call(), got.call());
}

}  // namespace

TEST_CASE("the matrix view: as many rows as fit below as many columns, with less than a row left over") {
  property(
      "rows <= columns, rest < rows",
      [] {
        const std::int64_t n = integer_between(1, 1 << 30);
        const MatrixView view = matrix_view(n);
        RC_ASSERT(view.rows >= 1);
        RC_ASSERT(view.rows <= view.columns);
        RC_ASSERT((view.rows + 1) * (view.rows + 1) > n);
        RC_ASSERT(n - view.elements() >= 0);
        RC_ASSERT(n - view.elements() < view.rows);
      },
      2000);
}

TEST_CASE("PowerSGD: products of a matrix of two rows and three columns") {
  // Rank 4 is cut to 2. M = (1 2 3; 4 5 6), Q's columns (1 0 1) and (0 2 0): MQ's columns are (4 10) and (4 10).
  const std::vector<float> m = {1, 2, 3, 4, 5, 6}, q = {1, 0, 1, 0, 2, 0};
  CHECK(floats(run("matrix-product/powersgd-p", 6, {{0, m}, {1, q}}), 2) == std::vector<float>{4, 10, 4, 10});
  // P's columns (1 0) and (1 1): MᵀP's columns are M's first row and the sum of both.
  const std::vector<float> p = {1, 0, 1, 1};
  CHECK(floats(run("matrix-product/powersgd-q", 6, {{0, m}, {1, p}}), 2) == std::vector<float>{1, 2, 3, 5, 7, 9});
  // PQᵀ = (1 0)ᵀ(1 0 1) + (1 1)ᵀ(0 2 0).
  CHECK(floats(run("matrix-product/powersgd-decode", 6, {{0, p}, {1, q}}), 2) == std::vector<float>{1, 2, 1, 0, 2, 0});
  CHECK(floats(run("reconstruct-subtract/powersgd", 6, {{0, p}, {1, q}, {2, m}}), 2) ==
        std::vector<float>{0, 0, 2, 4, 3, 6});
}

TEST_CASE("Gram-Schmidt: orthogonal unit vectors with the same span") {
  for (const std::int64_t n : {1, 2, 7, 33, 4097, 99991, 1 << 20})
    for (const Input input : {Input::normal, Input::denormals}) {
      const std::int64_t length = matrix_view(n).columns, r = matrix_view(n).rank(4);
      const std::vector<float> before = floats(Workspace(find_kernel("gram-schmidt/powersgd"), n, input, 3), 0);
      const std::vector<float> q = floats(run("gram-schmidt/powersgd", n, {{0, before}}), 0);
      // Denormals are multiples of 1.4e-45 of about 1e-42: the rest of a column is rounded to 1e-3 of its length.
      const double allowed = input == Input::normal ? 1e-5 : 2e-2;
      for (std::int64_t i = 0; i < r; ++i)
        for (std::int64_t j = 0; j <= i; ++j) {
          INFO("n " << n << ", columns " << i << " and " << j << ": " << dot(q, i, j, length));
          CHECK(std::abs(dot(q, i, j, length) - (i == j ? 1 : 0)) <= allowed);
        }
      if (input != Input::normal) continue;
      for (std::int64_t j = 0; j < r; ++j) {
        // The rest of a column after its projections on the unit vectors.
        std::vector<double> left(before.begin() + j * length, before.begin() + (j + 1) * length);
        double size = 0, rest = 0;
        for (std::int64_t i = 0; i < r; ++i) {
          double product = 0;
          for (std::int64_t l = 0; l < length; ++l)
            product += static_cast<double>(q[i * length + l]) * static_cast<double>(before[j * length + l]);
          for (std::int64_t l = 0; l < length; ++l) left[l] -= product * static_cast<double>(q[i * length + l]);
        }
        for (std::int64_t l = 0; l < length; ++l) {
          size += std::pow(static_cast<double>(before[j * length + l]), 2);
          rest += std::pow(left[l], 2);
        }
        CHECK(std::sqrt(rest) <= 1e-5 * std::sqrt(size));
      }
    }
}

TEST_CASE("Gram-Schmidt: a column that depends on those before it becomes zero") {
  const std::int64_t n = 10000, length = 100;
  std::vector<float> x = floats(Workspace(find_kernel("gram-schmidt/powersgd"), n, Input::normal, 3), 0);
  // Column 1 is thrice column 0, column 3 the sum of 0 and 2.
  for (std::size_t l = 0; l < 100; ++l) {
    x[100 + l] = 3 * x[l];
    x[300 + l] = x[l] + x[200 + l];
  }
  const std::vector<float> q = floats(run("gram-schmidt/powersgd", n, {{0, x}}), 0);
  for (const std::int64_t j : {1, 3})
    CHECK(std::all_of(q.begin() + j * length, q.begin() + (j + 1) * length, [](float value) { return value == 0; }));
  require_close(1, dot(q, 0, 0, length), 1e-6, "column 0");
  require_close(1, dot(q, 2, 2, length), 1e-6, "column 2");
  CHECK(std::abs(dot(q, 0, 2, length)) <= 1e-6);
  // Zeros stay zeros; NaN is not hidden.
  const std::vector<float> zeros(4 * length);
  CHECK(floats(run("gram-schmidt/powersgd", n, {{0, zeros}}), 0) == zeros);
  x[5] = kNan;
  const std::vector<float> seen = floats(run("gram-schmidt/powersgd", n, {{0, x}}), 0);
  CHECK(std::all_of(seen.begin(), seen.end(), [](float value) { return std::isnan(value); }));
}

TEST_CASE("PowerSGD: a matrix of rank four comes back") {
  // M = AB of rank 4: one power iteration from any Q whose columns B does not make dependent gives PPᵀM = M.
  const std::int64_t n = 120 * 120;
  const std::vector<float> a = gradient(480, Input::normal, 1), b = gradient(480, Input::normal, 2),
                           start = gradient(480, Input::normal, 3);
  const std::vector<float> m = floats(run("matrix-product/powersgd-decode", n, {{0, a}, {1, b}}), 2);
  const std::vector<float> p = floats(
      run("gram-schmidt/powersgd", n, {{0, floats(run("matrix-product/powersgd-p", n, {{0, m}, {1, start}}), 2)}}), 0);
  const std::vector<float> q = floats(run("matrix-product/powersgd-q", n, {{0, m}, {1, p}}), 2);
  const std::vector<float> back = floats(run("matrix-product/powersgd-decode", n, {{0, p}, {1, q}}), 2),
                           left = floats(run("reconstruct-subtract/powersgd", n, {{0, p}, {1, q}, {2, m}}), 2);
  for (std::size_t i = 0; i < m.size(); ++i)
    if (!(std::abs(back[i] - m[i]) <= 1e-4F && std::abs(left[i]) <= 1e-4F))
      FAIL(m[i] << " became " << back[i] << ", left " << left[i]);
}

TEST_CASE("SVD: known singular values") {
  // diag(3, -5, 1): 5, 3, 1. All ones, 4 x 4: 4, 0, 0, 0.
  const std::vector<float> sigma = floats(decomposed({3, 0, 0, 0, -5, 0, 0, 0, 1}, 9), 2);
  for (std::size_t i = 0; i < 3; ++i)
    require_close(5.0 - 2 * static_cast<double>(i), static_cast<double>(sigma[i]), 1e-6, "sigma");
  const std::vector<float> ones = floats(decomposed(std::vector<float>(16, 1.0F), 16), 2);
  require_close(4, static_cast<double>(ones[0]), 1e-6, "sigma of ones");
  for (std::size_t i = 1; i < 4; ++i) CHECK(std::abs(ones[i]) <= 1e-6);
  // Hilbert's matrix of order 5: 1.567050691, ..., 3.287928772e-6 (MATLAB's svd(hilb(5))).
  const std::vector<float> hilbert = floats(
      decomposed(matrix_of(25, [](std::int64_t i, std::int64_t j) { return 1.0 / static_cast<double>(i + j + 1); }),
                 25),
      2);
  require_close(1.567050691, static_cast<double>(hilbert[0]), 1e-6, "largest of Hilbert's matrix");
  CHECK(std::abs(static_cast<double>(hilbert[4]) - 3.287928772e-6) <= 1e-7);
}

TEST_CASE("SVD: the comparison accepts other signs and nothing else") {
  for (const std::int64_t n : {1, 2, 33, 4097})
    for (const Input input : kInputs) {
      INFO("n " << n << ", " << name_of(input));
      const std::vector<float> x = floats(Workspace(find_kernel("svd/atomo"), n, input, 3), 0);
      const MatrixView view = matrix_view(n);
      const Workspace expected = decomposed(x, n);
      CHECK_FALSE(compared(expected, expected));
      if (input != Input::normal) continue;
      const Workspace other = decomposed(x, n);
      auto *u = static_cast<float*>(other.data(1)), *sigma = static_cast<float*>(other.data(2)),
           *v = static_cast<float*>(other.data(3));
      for (std::int64_t l = 0; l < view.columns; ++l) u[l] = -u[l];
      CHECK(compared(expected, other));  // the product has another sign
      for (std::int64_t l = 0; l < view.rows; ++l) v[l] = -v[l];
      CHECK_FALSE(compared(expected, other));
      sigma[0] *= 1.001F;
      CHECK(compared(expected, other));
      sigma[0] /= 1.001F;
      v[0] += 0.1F;
      CHECK(compared(expected, other));
      v[0] = kNan;
      CHECK(compared(expected, other));
    }
}

TEST_CASE("SVD: large matrices may be further off") {
  // 64 rows: 1e-4 of the largest; 256 rows: half of 1.8·256·2^-20 = 4.39e-4.
  for (const std::int64_t n : {64 * 64, 256 * 256}) {
    const std::vector<float> x = floats(Workspace(find_kernel("svd/atomo"), n, Input::normal, 3), 0);
    const Workspace expected = decomposed(x, n), other = decomposed(x, n);
    auto* sigma = static_cast<float*>(other.data(2));
    const float largest = sigma[0];
    sigma[0] = 1.00011F * largest;
    CHECK(compared(expected, other).has_value() == (n == 64 * 64));
    sigma[0] = 1.00023F * largest;
    CHECK(compared(expected, other));
  }
}

TEST_CASE("SVD: the squared length of a vector of 256 may be off by 1.8·256·2^-20 = 4.39e-4") {
  const std::int64_t n = 256 * 256;
  const std::vector<float> x = floats(Workspace(find_kernel("svd/atomo"), n, Input::normal, 3), 0);
  const Workspace expected = decomposed(x, n);
  const auto with_length = [&](float length) {
    const Workspace other = decomposed(x, n);
    auto* v = static_cast<float*>(other.data(3));
    std::transform(v, v + 256, v, [length](float one) { return length * one; });
    return compared(expected, other);
  };
  CHECK_FALSE(with_length(1.00021F));  // 4.2e-4
  CHECK(with_length(1.00023F));        // 4.6e-4
}

TEST_CASE("ATOMO: as many triplets as there is budget for, the large ones for sure") {
  // Budget 2 of 10, 1, 1, 1: 2·10 > 13, so the first is sure; 1·1 <= 3, so the others have 1/3 each.
  const float sigma[] = {10, 1, 1, 1};
  const TripletOdds odds = triplet_odds(sigma, 4, 13, 2);
  CHECK(odds.sure == 1);
  require_close(1.0 / 3, odds.factor, 1e-12, "probability over sigma");
  property("probabilities add up to the budget", [] {
    std::vector<float> s;
    double sum = 0;
    for (int count = integer_between(4, 30); count > 0; --count)
      s.push_back(static_cast<float>(positive_between(1e-4, 100)));
    std::sort(s.begin(), s.end(), std::greater<>());
    for (const float value : s) sum += static_cast<double>(value);
    const int budget = integer_between(1, 4);
    const TripletOdds found = triplet_odds(s.data(), static_cast<std::int64_t>(s.size()), sum, budget);
    auto total = static_cast<double>(found.sure);
    for (std::size_t i = static_cast<std::size_t>(found.sure); i < s.size(); ++i) {
      RC_ASSERT(static_cast<double>(s[i]) * found.factor <= 1 + 1e-9);
      total += static_cast<double>(s[i]) * found.factor;
    }
    assert_close(budget, total, 1e-9, "expected number");
  });
}

TEST_CASE("ATOMO: triplets drawn are unbiased") {
  // σ_i is worth σ_i/p_i with probability p_i: a deviation of σ_i·sqrt(1/p_i - 1), p_i = 3σ_i/Σσ.
  constexpr int draws = 20000;
  std::vector<float> sigma;
  double all = 0;
  for (int i = 0; i < 12; ++i) {
    sigma.push_back(1.0F / static_cast<float>(i + 2));
    all += static_cast<double>(sigma.back());
  }
  const TripletOdds odds = triplet_odds(sigma.data(), 12, all, 3);
  std::vector<double> sums(12);
  double number = 0;
  for (std::uint64_t seed = 0; seed < draws; ++seed)
    for (std::size_t i = 0; i < 12; ++i) {
      const float drawn = draw_triplet(sigma[i], static_cast<std::int64_t>(i), odds, seed);
      sums[i] += static_cast<double>(drawn);
      number += drawn != 0;
    }
  for (std::size_t i = 0; i < 12; ++i) {
    const auto s = static_cast<double>(sigma[i]);
    const double p = std::min(1.0, s * odds.factor);
    INFO("sigma " << s << ": mean " << sums[i] / draws);
    CHECK(std::abs(sums[i] / draws - s) <= 5 * s * std::sqrt((1 / p - 1) / draws) + 1e-7);
  }
  // Each draw is 0 or 1, so that their number deviates by no more than sqrt(12/4).
  CHECK(std::abs(number / draws - 3) <= 5 * std::sqrt(3.0 / draws));
}

TEST_CASE("ATOMO: the triplets drawn stand side by side") {
  const std::int64_t n = 4097, a = matrix_view(n).columns, b = matrix_view(n).rows;
  const Workspace w = run("gather/atomo", n, {}, 5);
  const std::vector<float> u = floats(w, 0), v = floats(w, 2), drawn_u = floats(w, 3), drawn = floats(w, 4),
                           drawn_v = floats(w, 5);
  const std::uint32_t number = static_cast<const std::uint32_t*>(w.data(6))[0];
  REQUIRE(number > 0);
  REQUIRE(number < 30);
  std::int64_t source = 0;
  for (std::int64_t j = 0; j < number; ++j) {
    CHECK(drawn[j] > 0);
    while (source < b && !std::equal(u.begin() + source * a, u.begin() + (source + 1) * a, drawn_u.begin() + j * a))
      ++source;
    REQUIRE(source < b);  // in their order
    CHECK(std::equal(v.begin() + source * b, v.begin() + (source + 1) * b, drawn_v.begin() + j * b));
  }
}
