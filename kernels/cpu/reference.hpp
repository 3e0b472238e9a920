// Code shared by the product layers' descriptors and CPU references. Operands are taken as stored; bf16 is widened
// exactly. Sums are in double, and results are rounded to the buffer's type. Operands in tf32 keep their 23 bits here:
// the tolerance covers the bits that the tensor core drops.
#pragma once

#include <utility>

#include "kernels/cpu/typed.hpp"
#include "kernels/products.hpp"

namespace stepcast::kernels {

using Numbers = std::vector<double>;

inline Element element_of(Precision precision) { return precision == Precision::bf16 ? Element::bf16 : Element::f32; }

/// A result of matrix products: how large its entries are, and how far they may be from their reference.
struct Deviation {
  double tolerance, entry_tolerance;  ///< as Buffer has them
  double size;
};

/// Tolerance of a matrix product of `terms` terms, or of two products in a row. Two products have `terms` terms
/// together, the first of them `inner`.
///
/// Inputs are independent standard normal numbers. An entry of K terms is therefore normal, and its size is about √K. A
/// sum of many independent errors is normal too. If the error deviates by σ sizes, the tolerance is 4σ of the largest
/// of N entries, which is about √(2 ln N) sizes. One of the entries exceeds it once in N^15. For N = 1, where the size
/// is the scale, this happens once in 10^4. Rounding errors add up as if independent: Higham and Mary, A new approach
/// to probabilistic rounding error analysis, SIAM J. Sci. Comput. 41(5), 2019. The bound that always holds is √K times
/// as large: K·u of the sum of magnitudes, which is K^1.5·u sizes (Higham, Accuracy and Stability of Numerical
/// Algorithms, 2nd ed., section 3.1).
///
/// - Sums in fp32, u = 2^-24. Partial sums of j terms are about √j. Their errors together are u·√(Σ j) < u·√K·√K, so
///   σ = u·√K. Tensor cores cut off instead of rounding, once in every four products or more (Fasi et al., Numerical
///   behavior of NVIDIA tensor cores, PeerJ Comput. Sci. 7:e330, 2021). This always shrinks the sum, by u on average:
///   K/4 times u of partial sums.
/// - tf32 keeps 10 bits of each operand's mantissa. An operand that is cut off loses 0.36·2^-10 of itself on average
///   and deviates by 0.23·2^-10 from that. The averages of both operands shrink every entry by 0.72·2^-10 of it, and
///   σ < 2^-11. If operands are rounded, both are less.
/// - bf16's operands are exact. Results that round to neighbours are up to 2^-7 of the entry apart. cuDNN may cut a sum
///   into s parts and add these in bf16. cuBLAS may by default and in PyTorch, but Context forbids it. A convolution's
///   data gradient adds rounded columns. The first of two products may have rounded to a neighbour. A rounding deviates
///   by 0.43·2^-8. The parts and their sums, one after the other, deviate by √(1 + s/2) of that: σ < 2^-8 for up to
///   eight parts.
Deviation deviation_of(Precision precision, std::int64_t terms, std::int64_t inner = 0);

/// The deviation of a result that follows from `products` matrix products in a row, through functions and steps. It is
/// relative to the result's largest entry.
///
/// The sum of K terms about 1 is about √K, and so is the largest entry.
/// - Each addition in fp32 errs by 2^-24 of a partial sum of at most about √K. All additions together err by
///   √K·√K·2^-24, which is √K·2^-24 of the largest. The tolerance is eight times that for the worst of many entries.
/// - tf32 drops 13 bits of each operand, an error of up to 2^-10 each. A term's error is then at most 2^-9 of it. The
///   sum's error is again about √K times that: 2^-9 of the largest. The tolerance is four times that for the worst:
///   2^-7.
/// - bf16 has 8 bits: where two sums differ at all, their roundings may differ by a unit in the last place, 2^-7. The
///   tolerance is twice that, since the GPU rounds the columns of a convolution's gradient before it sums them.
double tolerance_of(Precision precision, std::int64_t terms, int products = 1);

/// Buffers of a layer as numbers.
class Operands {
 public:
  Operands(const Call& call, Precision precision) : call_(call), element_(element_of(precision)) {}
  [[nodiscard]] Numbers read(int buffer, std::int64_t count) const;
  /// Rounds x as it is stored, so that later parts see the stored numbers.
  void write(int buffer, Numbers& x) const;
  [[nodiscard]] double rounded(double x) const;

 private:
  const Call& call_;
  Element element_;
};

/// A part of row-major numbers: rows `pitch` apart; or, transposed, columns.
struct View {
  const double* data;
  std::int64_t pitch;
  bool transposed = false;
  [[nodiscard]] double at(std::int64_t row, std::int64_t column) const {
    return transposed ? data[column * pitch + row] : data[row * pitch + column];
  }
};

/// C (m x n, rows `pitch` apart) += A (m x k) B (k x n).
void add_product(std::int64_t m, std::int64_t n, std::int64_t k, View a, View b, double* c, std::int64_t pitch);

/// Sum of x[r][i] over the rows r, for each column i.
Numbers column_sums(const Numbers& x, std::int64_t columns);

// Descriptors ----------------------------------------------------------------------------------------------------

inline Buffer values(Role role, const char* name, Precision precision, std::int64_t count) {
  return as(role, {name, element_of(precision), count, Fill::values});
}
inline Buffer result(Role role, const char* name, Precision precision, std::int64_t count, double tolerance) {
  return as(role, {name, element_of(precision), count, Fill::zero, true, tolerance});
}
inline Buffer result(Role role, const char* name, Precision precision, std::int64_t count, const Deviation& deviation) {
  Buffer buffer = result(role, name, precision, count, deviation.tolerance);
  buffer.entry_tolerance = deviation.entry_tolerance;
  buffer.size = deviation.size;
  return buffer;
}
/// One product of inputs, or a sum of them.
inline Buffer product_result(Role role, const char* name, Precision precision, std::int64_t count,
                             const Deviation& deviation) {
  Buffer buffer = result(role, name, precision, count, deviation);
  buffer.product = true;
  return buffer;
}

/// A kernel whose least traffic is each of its buffers once.
Kernel layer_kernel(std::string role, std::string method, std::vector<std::int64_t> parameters,
                    std::function<std::vector<Buffer>(std::int64_t)> buffers, std::function<double(std::int64_t)> flops,
                    std::function<void(const Call&)> reference);

inline double real(std::int64_t count) { return static_cast<double>(count); }

/// kernel(role, buffers, operations of a sample, reference) for the parts of a layer.
inline auto kernel_maker(std::vector<std::int64_t> parameters, Precision p) {
  return [parameters = std::move(parameters), p](const char* role, auto buffers, double operations,
                                                 void (*reference)(const Call&, Precision)) {
    return layer_kernel(
        role, name_of(p), parameters, buffers, [=](std::int64_t n) { return real(n) * operations; },
        [=](const Call& call) { reference(call, p); });
  };
}

}  // namespace stepcast::kernels
