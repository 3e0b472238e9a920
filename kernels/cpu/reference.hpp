// What the product layers' descriptors and CPU references share. Operands are taken as they are stored, bf16 ones widened
// exactly, sums in double; results are rounded to what the buffer holds. tf32's operands keep their 23 bits here: what
// the tensor core drops is in the tolerance.
#pragma once

#include <utility>

#include "kernels/products.hpp"

namespace stepcast::kernels {

using Numbers = std::vector<double>;

inline Element element_of(Precision precision) { return precision == Precision::bf16 ? Element::bf16 : Element::f32; }

/// The deviation of `products` matrix products in a row from their reference, relative to the result's largest entry.
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
  /// Rounds x as it stores it: what comes after sees the stored numbers.
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
  [[nodiscard]] double at(std::int64_t row, std::int64_t column) const { return transposed ? data[column * pitch + row] : data[row * pitch + column]; }
};

/// C (m x n, rows `pitch` apart) += A (m x k) B (k x n).
void add_product(std::int64_t m, std::int64_t n, std::int64_t k, View a, View b, double* c, std::int64_t pitch);

/// x[r][i] for each of `rows` rows: sum over r.
Numbers column_sums(const Numbers& x, std::int64_t columns);

// Descriptors ----------------------------------------------------------------------------------------------------

inline Buffer values(const char* name, Precision precision, std::int64_t count) { return {name, element_of(precision), count, Fill::values}; }
inline Buffer result(const char* name, Precision precision, std::int64_t count, double tolerance) { return {name, element_of(precision), count, Fill::zero, true, tolerance}; }

/// A kernel whose least traffic is each of its buffers once.
Kernel layer_kernel(std::string pass, std::string method, std::vector<std::int64_t> parameters, std::function<std::vector<Buffer>(std::int64_t)> buffers,
                    std::function<double(std::int64_t)> flops, std::function<void(const Call&)> reference);

inline double real(std::int64_t count) { return static_cast<double>(count); }

}  // namespace stepcast::kernels
