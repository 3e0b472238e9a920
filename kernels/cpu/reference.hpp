// Code shared by the product layers' descriptors and CPU references. Operands are taken as stored, bf16
// widened exactly; sums are in double; results are rounded to the buffer's type. tf32's operands keep their 23 bits
// here: the tolerance covers the bits that the tensor core drops.
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

/// Tolerance of a matrix product of `terms` terms, or of two in a row of together `terms`, the first of `inner`.
///
/// Inputs are independent standard normal numbers, so that an entry of K terms is about √K, its size, and normal, and
/// an error that many independent ones add up to is as normal. If the error deviates by σ sizes, then 4σ of the largest
/// of N entries, about √(2 ln N) sizes, are exceeded by one of them once in N^15. For N = 1, where the size is the
/// scale, this happens once in 10^4. Rounding errors add up as if independent: Higham and Mary, A new approach to
/// probabilistic rounding error analysis, SIAM J. Sci. Comput. 41(5), 2019. The bound that always holds (Higham,
/// Accuracy and Stability of Numerical Algorithms, 2nd ed., section 3.1) is K·u of the sum of magnitudes, K^1.5·u
/// sizes: √K times as much.
///
/// - Sums in fp32, u = 2^-24: partial sums of j terms are about √j, their errors together u·√(Σ j) < u·√K·√K: σ = u·√K.
///   Tensor cores cut off instead of rounding, once in every four products or more (Fasi et al., Numerical behavior of
///   NVIDIA tensor cores, PeerJ Comput. Sci. 7:e330, 2021), which always shrinks the sum, by u on average: K/4 times u of
///   partial sums.
/// - tf32 keeps 10 bits of each operand's mantissa. Cut off, an operand loses 0.36·2^-10 of itself on average and
///   deviates
///   by 0.23·2^-10 from that: both operands' averages shrink every entry by 0.72·2^-10 of it, and σ < 2^-11. Rounded, both
///   are less.
/// - bf16's operands are exact. Results that round to neighbours are up to 2^-7 of the entry apart. A sum may be cut
///   into s
///   parts that are added in bf16 (by cuDNN; cuBLAS is forbidden to by Context, but not by default nor in PyTorch); a
/// convolution's data gradient adds rounded columns; the first of two products may have rounded to a neighbour.
///   A rounding deviates by 0.43·2^-8, the parts and their sums, one after the other, by √(1 + s/2) of that: σ < 2^-8 for up
///   to eight parts.
Deviation deviation_of(Precision precision, std::int64_t terms, std::int64_t inner = 0);

/// The deviation of what follows from `products` matrix products in a row through functions and steps, relative to the
/// result's largest entry.
///
/// The sum of K terms about 1 is about √K, and so is the largest entry.
/// - Each addition in fp32 errs by 2^-24 of a partial sum of at most about √K: together by √K·√K·2^-24, √K·2^-24 of the
///   largest. Eight times that for the worst of many entries.
/// - tf32 drops 13 bits of each operand, an error of up to 2^-10 each, so a term's is at most 2^-9 of it, and the sum's
///   again about √K times that: 2^-9 of the largest. Four times for the worst: 2^-7.
/// - bf16 has 8 bits: where two sums differ at all, their roundings may differ by a unit in the last place, 2^-7. Twice
///   that, since the columns of a convolution's gradient are rounded on the GPU before they are summed.
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

/// x[r][i] for each of `rows` rows: sum over r.
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
Kernel layer_kernel(std::string pass, std::string method, std::vector<std::int64_t> parameters,
                    std::function<std::vector<Buffer>(std::int64_t)> buffers, std::function<double(std::int64_t)> flops,
                    std::function<void(const Call&)> reference);

inline double real(std::int64_t count) { return static_cast<double>(count); }

/// kernel(pass, buffers, operations of a sample, reference) for the passes of a layer.
inline auto kernel_maker(std::vector<std::int64_t> parameters, Precision p) {
  return [parameters = std::move(parameters), p](const char* pass, auto buffers, double operations,
                                                 void (*reference)(const Call&, Precision)) {
    return layer_kernel(
        pass, name_of(p), parameters, buffers, [=](std::int64_t n) { return real(n) * operations; },
        [=](const Call& call) { reference(call, p); });
  };
}

}  // namespace stepcast::kernels
