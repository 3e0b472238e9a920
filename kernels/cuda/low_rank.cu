#include <cooperative_groups.h>
#include <cub/block/block_scan.cuh>

#include "kernels/code/triplets.hpp"
#include "kernels/cuda/error.hpp"
#include "kernels/cuda/reduce.cuh"

namespace stepcast::kernels {
namespace {

// cuBLAS stores matrices column by column: M row by row is its transpose there, of n_c rows and n_r columns.
struct Shape : MatrixView {
  int m, k, r;  ///< n_c, n_r, rank
  explicit Shape(const Call& c)
      : MatrixView(matrix_view(c.n)),
        m(static_cast<int>(columns)),
        k(static_cast<int>(rows)),
        r(static_cast<int>(rank(c.parameters[0]))) {}
};

/// c = alpha·op(a)·op(b) + beta·c in fp32.
void multiply(const DeviceCall& call, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k, float alpha,
              const float* a, int lda, const float* b, int ldb, float beta, float* c, int ldc) {
  require_cublas(cublasSgemm(call.blas, op_a, op_b, m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc),
                 "multiplying matrices");
}

void product_p(const DeviceCall& c) {
  const Shape s(c);
  multiply(c, CUBLAS_OP_T, CUBLAS_OP_N, s.k, s.r, s.m, 1, c.at<float>(0), s.m, c.at<float>(1), s.m, 0, c.at<float>(2),
           s.k);
}
void product_q(const DeviceCall& c) {
  const Shape s(c);
  multiply(c, CUBLAS_OP_N, CUBLAS_OP_N, s.m, s.r, s.k, 1, c.at<float>(0), s.m, c.at<float>(1), s.k, 0, c.at<float>(2),
           s.m);
}
/// Buffers 0 and 1 are P and Q.
void reconstruct(const DeviceCall& c, float alpha, float beta) {
  const Shape s(c);
  multiply(c, CUBLAS_OP_N, CUBLAS_OP_T, s.m, s.k, s.r, alpha, c.at<float>(1), s.m, c.at<float>(0), s.k, beta,
           c.at<float>(2), s.m);
}
void product_m(const DeviceCall& c) { reconstruct(c, 1, 0); }
void reconstruct_subtract(const DeviceCall& c) { reconstruct(c, -1, 1); }

/// Modified Gram-Schmidt in one launch. A thread has the same rows of all columns, so only dot products pass
/// between threads. The sweep that frees column j of column i also sums its product with column i + 1, which is free
/// of i by then.
/// @param products  r x r, and inverses r of them, zeroed
__global__ void orthonormalize(float* columns, std::int64_t length, int r, double* products, double* inverses) {
  const auto grid = cooperative_groups::this_grid();
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x,
                     stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (int j = 0; j < r; ++j) {
    double sum = 0;
    for (std::int64_t l = first; l < length; l += stride)
      sum += static_cast<double>(columns[l]) * static_cast<double>(columns[j * length + l]);
    add_block_sum(sum, products + j);
  }
  for (int i = 0; i < r; ++i) {
    grid.sync();
    float* column = columns + i * length;
    double removed = 0;
    for (int h = 0; h < i; ++h) removed += products[h * r + i] * (products[h * r + i] * inverses[h]);
    const double square = products[i * r + i], whole = square + removed;
    const double inverse = square <= kDependent * kDependent * whole ? 0.0 : 1 / square;
    if (first == 0) inverses[i] = inverse;
    for (int j = i + 1; j < r; ++j) {
      const double factor = products[i * r + j] * inverse;
      double sum = 0;
      for (std::int64_t l = first; l < length; l += stride) {
        float& x = columns[j * length + l];
        x = static_cast<float>(static_cast<double>(x) - factor * static_cast<double>(column[l]));
        sum += static_cast<double>(column[length + l]) * static_cast<double>(x);
      }
      add_block_sum(sum, products + (i + 1) * r + j);
    }
    const double scale = sqrt(inverse);
    for (std::int64_t l = first; l < length; l += stride)
      column[l] = static_cast<float>(static_cast<double>(column[l]) * scale);
  }
}

std::size_t gram_schmidt_scratch(const DeviceCall& c) {
  const auto r = static_cast<std::size_t>(Shape(c).r);
  return (r * r + r) * sizeof(double);
}

void gram_schmidt(const DeviceCall& c) {
  const Shape s(c);
  float* columns = c.at<float>(0);
  std::int64_t length = s.columns;
  int r = s.r, device = 0, processors = 0, resident = 0;
  double *products = c.scratch_at<double>(), *inverses = products + r * r;
  require_cuda(cudaGetDevice(&device), "asking for the device");
  require_cuda(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device),
               "asking for the number of processors");
  require_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, orthonormalize, kThreads, 0),
               "asking for resident blocks");
  require_cuda(cudaMemsetAsync(c.scratch, 0, gram_schmidt_scratch(c), c.stream), "zeroing products");
  // Blocks wait for each other, so all must be resident. Half of the blocks that would fit keep the memory busy. They
  // leave room for the memory that compute-sanitizer adds to each.
  const std::int64_t blocks = static_cast<std::int64_t>(processors) * std::max(1, resident / 2);
  void* arguments[] = {&columns, &length, &r, &products, &inverses};
  require_cuda(cudaLaunchCooperativeKernel(orthonormalize, dim3(blocks_for(length, blocks)), dim3(kThreads), arguments,
                                           0, c.stream),
               "launching Gram-Schmidt");
}

// ATOMO's draw.

/// One block. The sum is in order, as the reference adds.
__global__ void draw_triplets(const float* sigma, int count, std::int64_t budget, std::uint64_t seed, float* drawn,
                              std::uint32_t* sources, std::uint32_t* number) {
  __shared__ TripletOdds odds;
  __shared__ typename cub::BlockScan<std::uint32_t, kThreads>::TempStorage storage;
  if (threadIdx.x == 0) {
    double sum = 0;
    for (int i = 0; i < count; ++i) sum += static_cast<double>(sigma[i]);
    odds = triplet_odds(sigma, count, sum, budget);
  }
  __syncthreads();
  std::uint32_t before = 0;
  for (int base = 0; base < count; base += kThreads) {
    const int i = base + static_cast<int>(threadIdx.x);
    const float value = i < count ? draw_triplet(sigma[i], i, odds, seed) : 0.0F;
    const bool mine = !(value == 0);
    std::uint32_t place = 0, sum = 0;
    cub::BlockScan<std::uint32_t, kThreads>(storage).ExclusiveSum(mine ? 1U : 0U, place, sum);
    if (mine) {
      drawn[before + place] = value;
      sources[before + place] = static_cast<std::uint32_t>(i);
    }
    before += sum;
    __syncthreads();  // the storage is used again
  }
  if (threadIdx.x == 0) *number = before;
}

__global__ void copy_columns(const float* from, std::int64_t length, const std::uint32_t* sources,
                             const std::uint32_t* number, float* to) {
  const std::int64_t all = length * static_cast<std::int64_t>(*number),
                     stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < all; i += stride)
    to[i] = from[static_cast<std::int64_t>(sources[i / length]) * length + i % length];
}

std::size_t gather_scratch(const DeviceCall& c) {
  return sizeof(std::uint32_t) * static_cast<std::size_t>(matrix_view(c.n).rows);
}

void gather_triplets(const DeviceCall& c) {
  const MatrixView view = matrix_view(c.n);
  auto *sources = c.scratch_at<std::uint32_t>(), *number = c.at<std::uint32_t>(6);
  draw_triplets<<<1, kThreads, 0, c.stream>>>(c.at<float>(1), static_cast<int>(view.rows), c.parameters[0], c.seed,
                                              c.at<float>(4), sources, number);
  // Enough blocks for twice the expected triplets; more triplets are copied as well.
  const std::int64_t expected = 2 * view.rank(c.parameters[0]);
  copy_columns<<<blocks_for(expected * view.columns, 2048), kThreads, 0, c.stream>>>(c.at<float>(0), view.columns,
                                                                                     sources, number, c.at<float>(3));
  copy_columns<<<blocks_for(expected * view.rows, 2048), kThreads, 0, c.stream>>>(c.at<float>(2), view.rows, sources,
                                                                                  number, c.at<float>(5));
}

}  // namespace

void add_low_rank_launches(std::vector<Launch>& list) {
  list.push_back({"matrix-product/powersgd-p", product_p, no_scratch});
  list.push_back({"matrix-product/powersgd-q", product_q, no_scratch});
  list.push_back({"matrix-product/powersgd-decode", product_m, no_scratch});
  list.push_back({"reconstruct-subtract/powersgd", reconstruct_subtract, no_scratch});
  list.push_back({"gram-schmidt/powersgd", gram_schmidt, gram_schmidt_scratch});
  list.push_back({"gather/atomo", gather_triplets, gather_scratch});
}

}  // namespace stepcast::kernels
