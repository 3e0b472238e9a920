#include "kernels/cpu/reference.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/code/bfloat.hpp"

namespace stepcast::kernels {

Deviation deviation_of(Precision precision, std::int64_t terms, std::int64_t inner) {
  constexpr double u = 0x1p-24;
  const double k = real(terms), sum = 4 * u * std::sqrt(k), cut = u * k / 4;
  Deviation one{};
  switch (precision) {
    case Precision::fp32: one = {sum, 2 * u, 0}; break;
    case Precision::tf32: one = {sum + cut + 4 * 0x1p-11, 0x1p-10, 0}; break;
    case Precision::bf16: one = {sum + cut + 4 * 0x1p-8, 0x1p-7, 0}; break;
  }
  if (inner == 0) return {one.tolerance, one.entry_tolerance, std::sqrt(k)};
  return {2 * one.tolerance, 2 * one.entry_tolerance, std::sqrt(real(inner) * real(terms - inner))};
}

double tolerance_of(Precision precision, std::int64_t terms, int products) {
  const double sum = 8 * std::sqrt(real(terms)) * 0x1p-24, rounding = precision == Precision::fp32   ? 0
                                                                      : precision == Precision::tf32 ? 0x1p-7
                                                                                                     : 0x1p-6;
  return products * (sum + rounding);
}

Numbers Operands::read(int buffer, std::int64_t count) const {
  Numbers x(count);
  if (element_ == Element::bf16)
    std::transform(call_.at<std::uint16_t>(buffer), call_.at<std::uint16_t>(buffer) + count, x.begin(),
                   [](std::uint16_t bits) { return static_cast<double>(float_of_bfloat(bits)); });
  else std::copy_n(call_.at<float>(buffer), count, x.begin());
  return x;
}

void Operands::write(int buffer, Numbers& x) const {
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = rounded(x[i]);
    if (element_ == Element::bf16) call_.at<std::uint16_t>(buffer)[i] = bfloat_bits(static_cast<float>(x[i]));
    else call_.at<float>(buffer)[i] = static_cast<float>(x[i]);
  }
}

double Operands::rounded(double x) const {
  const auto single = static_cast<float>(x);
  return static_cast<double>(element_ == Element::bf16 ? float_of_bfloat(bfloat_bits(single)) : single);
}

// The inner loop goes along B's rows in memory.
void add_product(std::int64_t m, std::int64_t n, std::int64_t k, View a, View b, double* c, std::int64_t pitch) {
  for (std::int64_t i = 0; i < m; ++i) {
    double* row = c + i * pitch;
    if (b.transposed) {
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t p = 0; p < k; ++p) row[j] += a.at(i, p) * b.data[j * b.pitch + p];
    } else {
      for (std::int64_t p = 0; p < k; ++p) {
        const double factor = a.at(i, p);
        for (std::int64_t j = 0; j < n; ++j) row[j] += factor * b.data[p * b.pitch + j];
      }
    }
  }
}

Numbers column_sums(const Numbers& x, std::int64_t columns) {
  Numbers sums(columns);
  for (std::size_t i = 0; i < x.size(); ++i) sums[i % sums.size()] += x[i];
  return sums;
}

Kernel layer_kernel(std::string role, std::string method, std::vector<std::int64_t> parameters,
                    std::function<std::vector<Buffer>(std::int64_t)> buffers, std::function<double(std::int64_t)> flops,
                    std::function<void(const Call&)> reference) {
  const auto bytes = [buffers](std::int64_t n) {
    double sum = 0;
    for (const Buffer& buffer : buffers(n)) sum += real(buffer.count) * static_cast<double>(size_of(buffer.element));
    return sum;
  };
  return {std::move(role), std::move(method), std::move(parameters), std::move(buffers),
          bytes,           std::move(flops),  std::move(reference)};
}

}  // namespace stepcast::kernels
