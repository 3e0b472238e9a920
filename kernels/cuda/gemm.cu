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

/// The step between one matrix and the next, over the whole grid; nothing if they are not evenly apart.
std::optional<std::int64_t> even_step(const Product& p, std::int64_t outer, std::int64_t inner) {
  if (p.inner_count == 1) return outer;
  if (p.outer_count == 1 || outer == inner * p.inner_count) return inner;
  return std::nullopt;
}

bool is_even(const Product& p) {
  return even_step(p, p.a.outer, p.a.inner) && even_step(p, p.b.outer, p.b.inner) && even_step(p, p.c.outer, p.c.inner);
}

/// Alignment of batches by address for cuBLAS. Matrices: where k elements fill whole 16 bytes, its kernels access
/// 16 bytes at once (cuBLAS, cublasGemmGroupedBatchedEx: else "misaligned memory access errors"). Lists of addresses:
/// other alignments were refused as not supported (NVIDIA/FasterTransformer, issue 149).
constexpr std::int64_t kBatchAlignment = 16;

/// The number of addresses from one list to the next.
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

/// The product in cuBLAS's terms: row-major matrices are the transposes of column-major ones, Cᵀ = Bᵀ Aᵀ, with B first.
struct Arguments {
  cublasOperation_t a, b;
  int m, n, k, lda, ldb, ldc;
  cudaDataType_t type, result_type;
  cublasComputeType_t compute;
  float one = 1, beta;

  Arguments(Precision precision, const Product& p)
      : a(p.a.transposed ? CUBLAS_OP_T : CUBLAS_OP_N),
        b(p.b.transposed ? CUBLAS_OP_T : CUBLAS_OP_N),
        m(dimension(p.m)),
        n(dimension(p.n)),
        k(dimension(p.k)),
        lda(dimension(p.a.pitch)),
        ldb(dimension(p.b.pitch)),
        ldc(dimension(p.c.pitch)),
        type(precision == Precision::bf16 ? CUDA_R_16BF : CUDA_R_32F),
        result_type(p.wide_result ? CUDA_R_32F : type),
        compute(precision == Precision::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F),
        beta(p.accumulate ? 1 : 0) {}
};

void multiply_one(const DeviceCall& call, const Arguments& x, const Product& p) {
  require_cublas(cublasGemmEx(call.blas, x.b, x.a, x.n, x.m, x.k, &x.one, p.b.data, x.type, x.ldb, p.a.data, x.type,
                              x.lda, &x.beta, p.c.data, x.result_type, x.ldc, x.compute, CUBLAS_GEMM_DEFAULT),
                 "a matrix product");
}

/// @pre is_even(p)
void multiply_even(const DeviceCall& call, const Arguments& x, const Product& p) {
  require_cublas(cublasGemmStridedBatchedEx(call.blas, x.b, x.a, x.n, x.m, x.k, &x.one, p.b.data, x.type, x.ldb,
                                            *even_step(p, p.b.outer, p.b.inner), p.a.data, x.type, x.lda,
                                            *even_step(p, p.a.outer, p.a.inner), &x.beta, p.c.data, x.result_type,
                                            x.ldc, *even_step(p, p.c.outer, p.c.inner),
                                            dimension(p.outer_count * p.inner_count), x.compute, CUBLAS_GEMM_DEFAULT),
                 "a batch of matrix products");
}

/// The grid's matrices, of A, B and C.
struct Grid {
  Steps a, b, c;

  Grid(const Arguments& x, const Product& p)
      : a(steps(p.a, x.type)), b(steps(p.b, x.type)), c(steps(p.c, x.result_type)) {}

 private:
  template <class Matrix>
  static Steps steps(const Matrix& matrix, cudaDataType_t type) {
    const std::int64_t size = type == CUDA_R_16BF ? 2 : 4;
    return {static_cast<const unsigned char*>(matrix.data), size * matrix.outer, size * matrix.inner};
  }
};

/// @pre is_aligned(a), b and c of the grid
void multiply_listed(const DeviceCall& call, const Arguments& x, const Product& p, const Grid& grid, void* pointers) {
  const std::int64_t count = p.outer_count * p.inner_count, apart = list_size(p);
  sweep<<<blocks_for(count), kThreads, 0, call.stream>>>(
      count,
      WritePointers{{grid.a, grid.b, grid.c}, static_cast<const unsigned char**>(pointers), p.inner_count, apart});
  const auto a = static_cast<const void* const*>(pointers);
  require_cublas(cublasGemmBatchedEx(call.blas, x.b, x.a, x.n, x.m, x.k, &x.one, a + apart, x.type, x.ldb, a, x.type,
                                     x.lda, &x.beta, static_cast<void* const*>(pointers) + 2 * apart, x.result_type,
                                     x.ldc, dimension(count), x.compute, CUBLAS_GEMM_DEFAULT),
                 "a batch of matrix products");
}

/// One call for each line of the grid, in the direction that has fewer lines. Matrices along a line are evenly apart.
void multiply_lines(const DeviceCall& call, const Arguments& x, const Product& p, const Grid& grid) {
  const bool along_inner = p.inner_count >= p.outer_count;
  Product line = p;
  (along_inner ? line.outer_count : line.inner_count) = 1;
  const auto at = [&](const Steps& matrices, std::int64_t i) {
    return const_cast<unsigned char*>(matrices.base) + i * (along_inner ? matrices.outer : matrices.inner);
  };
  for (std::int64_t i = 0; i < (along_inner ? p.outer_count : p.inner_count); ++i) {
    line.a.data = at(grid.a, i);
    line.b.data = at(grid.b, i);
    line.c.data = at(grid.c, i);
    multiply_even(call, x, line);
  }
}

}  // namespace

std::size_t pointer_bytes(const Product& product) {
  if (is_even(product)) return 0;
  return (3 * sizeof(void*) * list_size(product) + 255) / 256 * 256;
}

void multiply(const DeviceCall& call, Precision precision, const Product& p, void* pointers) {
  const Arguments x(precision, p);
  if (p.outer_count * p.inner_count == 1) return multiply_one(call, x, p);
  if (is_even(p)) return multiply_even(call, x, p);
  const Grid grid(x, p);
  if (is_aligned(grid.a) && is_aligned(grid.b) && is_aligned(grid.c))
    return multiply_listed(call, x, p, grid, pointers);
  multiply_lines(call, x, p, grid);
}

}  // namespace stepcast::kernels
