#include <algorithm>
#include <cstdint>
#include <vector>

#include <cublas_v2.h>

#include "kernels/code/bfloat.hpp"
#include "tests/emulator/runtime.hpp"

namespace {

using stepcast::kernels::bits_of;
using stepcast::kernels::float_of;

constexpr int kBlock = 256;  ///< rows and products at once

/// op(matrix), as it is multiplied.
struct Matrix {
  const void* data;
  cudaDataType_t type;
  int pitch;
  bool transposed, tf32;

  [[nodiscard]] float at(int row, int column) const {
    const std::int64_t i = transposed ? column + std::int64_t{row} * pitch : row + std::int64_t{column} * pitch;
    if (type == CUDA_R_16BF) return stepcast::kernels::float_of_bfloat(static_cast<const std::uint16_t*>(data)[i]);
    const float value = static_cast<const float*>(data)[i];
    return tf32 ? rounded(value) : value;
  }
  /// Rounds to 10 bits of mantissa, to the nearest and from ties away from zero; NaN and infinities stay.
  static float rounded(float x) {
    const std::uint32_t bits = bits_of(x);
    return (bits & 0x7f800000U) == 0x7f800000U ? x : float_of((bits + 0x1000U) & 0xffffe000U);
  }
};

/// C's type, and what C is made of: op(A) m x k, op(B) k x n.
struct Product {
  cublasOperation_t op_a, op_b;
  int m, n, k;
  float alpha;
  cudaDataType_t a_type;
  int lda;
  cudaDataType_t b_type;
  int ldb;
  float beta;
  cudaDataType_t c_type;
  int ldc;
  cublasComputeType_t compute;

  [[nodiscard]] cublasStatus_t check() const {
    const bool valid = m >= 0 && n >= 0 && k >= 0 && lda >= std::max(1, op_a == CUBLAS_OP_N ? m : k) &&
                       ldb >= std::max(1, op_b == CUBLAS_OP_N ? k : n) && ldc >= std::max(1, m);
    if (!valid) return CUBLAS_STATUS_INVALID_VALUE;
    const bool supported = a_type == b_type && (c_type == a_type || c_type == CUDA_R_32F) &&
                           (a_type == CUDA_R_32F || compute == CUBLAS_COMPUTE_32F);
    return supported ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
  }

  void run(const void* a_data, const void* b_data, void* c) const {
    const bool tf32 = compute == CUBLAS_COMPUTE_32F_FAST_TF32;
    const Matrix a{a_data, a_type, lda, op_a == CUBLAS_OP_T, tf32}, b{b_data, b_type, ldb, op_b == CUBLAS_OP_T, tf32};
    std::vector<double> part(std::size_t{kBlock} * kBlock), sums;
    for (int first = 0; first < m; first += kBlock) {
      const int rows = std::min(kBlock, m - first);
      sums.assign(static_cast<std::size_t>(rows) * static_cast<std::size_t>(n), 0);
      for (int begin = 0; begin < k; begin += kBlock) {
        const int depth = std::min(kBlock, k - begin);
        for (int p = 0; p < depth; ++p)
          for (int i = 0; i < rows; ++i) part[p * kBlock + i] = static_cast<double>(a.at(first + i, begin + p));
        for (int j = 0; j < n; ++j) {
          double* const sum = &sums[static_cast<std::size_t>(j) * static_cast<std::size_t>(rows)];
          for (int p = 0; p < depth; ++p) {
            const double factor = static_cast<double>(b.at(begin + p, j));
            const double* const column = &part[p * kBlock];
            for (int i = 0; i < rows; ++i) sum[i] += column[i] * factor;
          }
        }
      }
      for (int j = 0; j < n; ++j)
        for (int i = 0; i < rows; ++i)
          write(c, first + i + std::int64_t{j} * ldc,
                sums[static_cast<std::size_t>(j) * static_cast<std::size_t>(rows) + static_cast<std::size_t>(i)]);
    }
  }

 private:
  /// With beta 0 C is not read: it may hold NaN.
  void write(void* c, std::int64_t i, double sum) const {
    double result = static_cast<double>(alpha) * sum;
    if (c_type == CUDA_R_16BF) {
      auto& to = static_cast<std::uint16_t*>(c)[i];
      if (beta != 0) result += static_cast<double>(beta) * static_cast<double>(stepcast::kernels::float_of_bfloat(to));
      to = stepcast::kernels::bfloat_bits(static_cast<float>(result));
    } else {
      auto& to = static_cast<float*>(c)[i];
      if (beta != 0) result += static_cast<double>(beta) * static_cast<double>(to);
      to = static_cast<float>(result);
    }
  }
};

float scalar(const void* value) { return *static_cast<const float*>(value); }

std::int64_t bytes_of(cudaDataType_t type) { return type == CUDA_R_32F ? 4 : 2; }

/// Products that have run report writes out of bounds like a kernel.
cublasStatus_t finish() {
  if (const auto damage = stepcast::emulator::find_damage())
    stepcast::emulator::report_error(cudaErrorLaunchFailure, "a matrix product: " + *damage);
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

const char* cublasGetStatusString(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS: return "success";
    case CUBLAS_STATUS_INVALID_VALUE: return "an invalid size or pitch";
    case CUBLAS_STATUS_NOT_SUPPORTED: return "types that do not go together";
  }
  return "unknown";
}

cublasStatus_t cublasSgemm(cublasHandle_t, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
                           const float* alpha, const float* a, int lda, const float* b, int ldb, const float* beta,
                           float* c, int ldc) {
  const Product product{op_a, op_b,       m,   n,     k,          *alpha, CUDA_R_32F,
                        lda,  CUDA_R_32F, ldb, *beta, CUDA_R_32F, ldc,    CUBLAS_COMPUTE_32F};
  if (const cublasStatus_t wrong = product.check(); wrong != CUBLAS_STATUS_SUCCESS) return wrong;
  product.run(a, b, c);
  return finish();
}

cublasStatus_t cublasGemmEx(cublasHandle_t, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
                            const void* alpha, const void* a, cudaDataType_t a_type, int lda, const void* b,
                            cudaDataType_t b_type, int ldb, const void* beta, void* c, cudaDataType_t c_type, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t) {
  const Product product{op_a, op_b,         m,      n,   k,      scalar(alpha), a_type, lda, b_type,
                        ldb,  scalar(beta), c_type, ldc, compute};
  if (const cublasStatus_t wrong = product.check(); wrong != CUBLAS_STATUS_SUCCESS) return wrong;
  product.run(a, b, c);
  return finish();
}

cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n,
                                          int k, const void* alpha, const void* a, cudaDataType_t a_type, int lda,
                                          long long a_step, const void* b, cudaDataType_t b_type, int ldb,
                                          long long b_step, const void* beta, void* c, cudaDataType_t c_type, int ldc,
                                          long long c_step, int count, cublasComputeType_t compute, cublasGemmAlgo_t) {
  const Product product{op_a, op_b,         m,      n,   k,      scalar(alpha), a_type, lda, b_type,
                        ldb,  scalar(beta), c_type, ldc, compute};
  if (const cublasStatus_t wrong = product.check(); wrong != CUBLAS_STATUS_SUCCESS) return wrong;
  const auto at = [](const void* data, cudaDataType_t type, long long elements) {
    return static_cast<const unsigned char*>(data) + bytes_of(type) * elements;
  };
  for (int i = 0; i < count; ++i)
    product.run(at(a, a_type, i * a_step), at(b, b_type, i * b_step),
                const_cast<unsigned char*>(at(c, c_type, i * c_step)));
  return finish();
}

cublasStatus_t cublasGemmBatchedEx(cublasHandle_t, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
                                   const void* alpha, const void* const* a, cudaDataType_t a_type, int lda,
                                   const void* const* b, cudaDataType_t b_type, int ldb, const void* beta,
                                   void* const* c, cudaDataType_t c_type, int ldc, int count,
                                   cublasComputeType_t compute, cublasGemmAlgo_t) {
  const Product product{op_a, op_b,         m,      n,   k,      scalar(alpha), a_type, lda, b_type,
                        ldb,  scalar(beta), c_type, ldc, compute};
  if (const cublasStatus_t wrong = product.check(); wrong != CUBLAS_STATUS_SUCCESS) return wrong;
  // As a device may ask for, whose kernels move 16 bytes at once.
  const auto is_aligned = [](const void* address) { return reinterpret_cast<std::uintptr_t>(address) % 16 == 0; };
  if (!is_aligned(a) || !is_aligned(b) || !is_aligned(c)) return CUBLAS_STATUS_NOT_SUPPORTED;
  for (int i = 0; i < count; ++i)
    if (!is_aligned(a[i]) || !is_aligned(b[i]) || !is_aligned(c[i])) return CUBLAS_STATUS_NOT_SUPPORTED;
  for (int i = 0; i < count; ++i) product.run(a[i], b[i], c[i]);
  return finish();
}
