#include "kernels/cuda/gemm.hpp"

#include <cstdint>
#include <limits>
#include <optional>

#include "kernels/cuda/error.hpp"
#include "kernels/cuda/groups.cuh"

namespace stepcast::kernels {
namespace {

/// Steps between the matrices of a grid in bytes.
struct Steps {
  const unsigned char* base;
  std::int64_t outer, inner;
};

/// Addresses of all A, of all B from `apart` on, of all C from 2·apart on.
struct WritePointers {
  Steps steps[3];
  const unsigned char** pointers;
  std::int64_t inner_count, apart;
  __device__ void operator()(std::int64_t i) const {
    for (int k = 0; k < 3; ++k)
      pointers[k * apart + i] = steps[k].base + i / inner_count * steps[k].outer + i % inner_count * steps[k].inner;
  }
};

/// Between one matrix and the next, over all of the grid; nothing if they are not evenly apart.
std::optional<std::int64_t> even_step(const Product& p, std::int64_t outer, std::int64_t inner) {
  if (p.inner_count == 1) return outer;
  if (p.outer_count == 1 || outer == inner * p.inner_count) return inner;
  return std::nullopt;
}

bool is_even(const Product& p) {
  return even_step(p, p.a.outer, p.a.inner) && even_step(p, p.b.outer, p.b.inner) && even_step(p, p.c.outer, p.c.inner);
}

/// What cuBLAS asks of batches by address. Matrices: where k elements fill whole 16 bytes, its kernels read and write as
/// many at once (cuBLAS, cublasGemmGroupedBatchedEx: else "misaligned memory access errors"). Lists of addresses: other
/// places were refused as not supported (NVIDIA/FasterTransformer, issue 149).
constexpr std::int64_t kBatchAlignment = 16;

/// Addresses from one list to the next.
std::int64_t list_size(const Product& p) {
  const std::int64_t count = p.outer_count * p.inner_count;
  return (count + kBatchAlignment - 1) / kBatchAlignment * kBatchAlignment;
}

bool is_aligned(const Steps& steps) {
  return reinterpret_cast<std::uintptr_t>(steps.base) % kBatchAlignment == 0 && steps.outer % kBatchAlignment == 0 &&
         steps.inner % kBatchAlignment == 0;
}

int dimension(std::int64_t size) {
  if (size > std::numeric_limits<int>::max())
    throw CublasError("a matrix product of size " + std::to_string(size) +
                      ": cuBLAS takes at most 2^31 - 1; use a smaller batch");
  return static_cast<int>(size);
}

cublasOperation_t operation(const Operand& operand) { return operand.transposed ? CUBLAS_OP_T : CUBLAS_OP_N; }

}  // namespace

std::size_t pointer_bytes(const Product& product) {
  if (is_even(product)) return 0;
  return (3 * sizeof(void*) * static_cast<std::size_t>(list_size(product)) + 255) / 256 * 256;
}

// cuBLAS reads row-major matrices as the transposes of column-major ones: Cᵀ = Bᵀ Aᵀ, with B first.
void multiply(const DeviceCall& call, Precision precision, const Product& p, void* pointers) {
  const cudaDataType_t type = precision == Precision::bf16 ? CUDA_R_16BF : CUDA_R_32F,
                       result_type = p.wide_result ? CUDA_R_32F : type;
  const cublasComputeType_t compute = precision == Precision::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
  const float one = 1, beta = p.accumulate ? 1 : 0;
  const int m = dimension(p.m), n = dimension(p.n), k = dimension(p.k), lda = dimension(p.a.pitch),
            ldb = dimension(p.b.pitch), ldc = dimension(p.c.pitch);
  const std::int64_t count = p.outer_count * p.inner_count;
  if (count == 1) {
    require_cublas(cublasGemmEx(call.blas, operation(p.b), operation(p.a), n, m, k, &one, p.b.data, type, ldb, p.a.data,
                                type, lda, &beta, p.c.data, result_type, ldc, compute, CUBLAS_GEMM_DEFAULT),
                   "a matrix product");
    return;
  }
  if (is_even(p)) {
    require_cublas(
        cublasGemmStridedBatchedEx(call.blas, operation(p.b), operation(p.a), n, m, k, &one, p.b.data, type, ldb,
                                   *even_step(p, p.b.outer, p.b.inner), p.a.data, type, lda,
                                   *even_step(p, p.a.outer, p.a.inner), &beta, p.c.data, result_type, ldc,
                                   *even_step(p, p.c.outer, p.c.inner), dimension(count), compute, CUBLAS_GEMM_DEFAULT),
        "a batch of matrix products");
    return;
  }
  const std::int64_t size = precision == Precision::bf16 ? 2 : 4, result_size = p.wide_result ? 4 : size;
  const auto steps = [](const void* data, std::int64_t outer, std::int64_t inner) {
    return Steps{static_cast<const unsigned char*>(data), outer, inner};
  };
  const Steps in_a = steps(p.a.data, size * p.a.outer, size * p.a.inner),
              in_b = steps(p.b.data, size * p.b.outer, size * p.b.inner),
              in_c = steps(p.c.data, result_size * p.c.outer, result_size * p.c.inner);
  if (!is_aligned(in_a) || !is_aligned(in_b) || !is_aligned(in_c)) {
    // Along one direction alone all are evenly apart.
    const bool along_inner = p.inner_count >= p.outer_count;
    Product line = p;
    (along_inner ? line.outer_count : line.inner_count) = 1;
    const auto at = [&](const Steps& matrices, std::int64_t i) {
      return const_cast<unsigned char*>(matrices.base) + i * (along_inner ? matrices.outer : matrices.inner);
    };
    for (std::int64_t i = 0; i < (along_inner ? p.outer_count : p.inner_count); ++i) {
      line.a.data = at(in_a, i);
      line.b.data = at(in_b, i);
      line.c.data = at(in_c, i);
      multiply(call, precision, line);
    }
    return;
  }
  const std::int64_t apart = list_size(p);
  sweep<<<blocks_for(count), kThreads, 0, call.stream>>>(
      count, WritePointers{{in_a, in_b, in_c}, static_cast<const unsigned char**>(pointers), p.inner_count, apart});
  const auto a = static_cast<const void* const*>(pointers);
  require_cublas(cublasGemmBatchedEx(call.blas, operation(p.b), operation(p.a), n, m, k, &one, a + apart, type, ldb, a,
                                     type, lda, &beta, static_cast<void* const*>(pointers) + 2 * apart, result_type,
                                     ldc, dimension(count), compute, CUBLAS_GEMM_DEFAULT),
                 "a batch of matrix products");
}

}  // namespace stepcast::kernels
