// ATOMO's singular value decomposition, by cuSOLVER's Jacobi method.
#include "kernels/cuda/error.hpp"
#include "kernels/cuda/reduce.cuh"
#include "kernels/cuda/solver.hpp"

namespace stepcast::kernels {
namespace {

__global__ void find_largest(const float* x, std::int64_t n, std::uint32_t* most) {
  std::uint32_t mine = 0;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += static_cast<std::int64_t>(gridDim.x) * blockDim.x)
    mine = LargerBits{}(mine, magnitude_bits(x[i]));
  keep_block_max(mine, most);
}

__device__ bool is_finite(std::uint32_t largest) { return largest < 0x7f800000U; }
/// e with 2^e <= largest < 2^(e+1); 0 of 0.
__device__ int exponent_of(std::uint32_t largest) { return largest == 0 ? 0 : ilogbf(float_of(largest)); }

/// The matrix over 2^e of its largest entry, so that squares neither vanish nor overflow; zeros where an entry is not
/// finite.
struct Scale {
  const float* x;
  const std::uint32_t* largest;
  float* y;
  __device__ void operator()(std::int64_t i) const {
    y[i] = is_finite(*largest) ? ldexpf(x[i], -exponent_of(*largest)) : 0.0F;
  }
};

/// Scales back. A matrix of zeros gives U = 0, sigma = 0 and the identity for V. A matrix that is not finite gives NaN.
struct Finish {
  const std::uint32_t* largest;
  float *u, *sigma, *v;
  std::int64_t a, b;
  __device__ void operator()(std::int64_t i) const {
    if (*largest != 0 && is_finite(*largest)) {
      if (i < b) sigma[i] = ldexpf(sigma[i], exponent_of(*largest));
      return;
    }
    const float nan = float_of(0x7fffffffU), zero = *largest == 0 ? 0.0F : nan;
    if (i < a * b) u[i] = zero;
    if (i < b) sigma[i] = zero;
    if (i < b * b) v[i] = *largest == 0 && i % b == i / b ? 1.0F : zero;
  }
};

struct SvdScratch {
  std::size_t work, total;  ///< where the solver's memory begins, after largest, status and the copy
  int count;                ///< floats of it
  SvdScratch(const MatrixView& view, const Solver& solver) {
    const int a = static_cast<int>(view.columns), b = static_cast<int>(view.rows);
    require_cusolver(cusolverDnSgesvdj_bufferSize(solver.handle(), CUSOLVER_EIG_MODE_VECTOR, 1, a, b, nullptr, a,
                                                  nullptr, nullptr, a, nullptr, b, &count, solver.parameters()),
                     "asking for the scratch of an SVD");
    work = (kCopy + static_cast<std::size_t>(view.elements()) * sizeof(float) + 255) / 256 * 256;
    total = work + static_cast<std::size_t>(count) * sizeof(float);
  }
  static constexpr std::size_t kStatus = sizeof(std::uint32_t), kCopy = 256;
};

std::size_t svd_scratch(const DeviceCall& c) { return SvdScratch(matrix_view(c.n), Solver(nullptr)).total; }

void svd(const DeviceCall& c) {
  const MatrixView view = matrix_view(c.n);
  const std::int64_t a = view.columns, b = view.rows, all = view.elements();
  const SvdScratch at(view, *c.solver);
  auto* largest = c.scratch_at<std::uint32_t>();
  auto* status = c.scratch_at<int>(SvdScratch::kStatus);
  auto* copy = c.scratch_at<float>(SvdScratch::kCopy);
  cudaMemsetAsync(largest, 0, sizeof *largest, c.stream);
  find_largest<<<reduction_blocks(all), kThreads, 0, c.stream>>>(c.at<float>(0), all, largest);
  sweep<<<blocks_for(all), kThreads, 0, c.stream>>>(all, Scale{c.at<float>(0), largest, copy});
  // Stored row by row, it is its transpose stored column by column, a x b.
  require_cusolver(
      cusolverDnSgesvdj(c.solver->handle(), CUSOLVER_EIG_MODE_VECTOR, 1, static_cast<int>(a), static_cast<int>(b), copy,
                        static_cast<int>(a), c.at<float>(2), c.at<float>(1), static_cast<int>(a), c.at<float>(3),
                        static_cast<int>(b), c.scratch_at<float>(at.work), at.count, status, c.solver->parameters()),
      "decomposing a matrix");
  sweep<<<blocks_for(all), kThreads, 0, c.stream>>>(
      all, Finish{largest, c.at<float>(1), c.at<float>(2), c.at<float>(3), a, b});
}

std::string svd_remark(const DeviceCall& c) {
  int status = 0;
  require_cuda(cudaMemcpy(&status, c.scratch_at<int>(SvdScratch::kStatus), sizeof status, cudaMemcpyDeviceToHost),
               "copying the status of an SVD");
  return "; gesvdj's status: " + std::to_string(status) + " (0: converged, " +
         std::to_string(matrix_view(c.n).rows + 1) + ": not within its sweeps)";
}

}  // namespace

void add_svd_launches(std::vector<Launch>& list) { list.push_back({"svd/atomo", svd, svd_scratch, svd_remark}); }

}  // namespace stepcast::kernels
