#include "calibrate/cuda/flush.hpp"

namespace stepcast::calibrate {
namespace {

/// @param kept  written nowhere, since all that is read are zeros, which the compiler does not know
__global__ void read_all(const uint4* data, std::size_t count, unsigned* kept) {
  unsigned seen = 0;
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
    const uint4 x = data[i];
    seen |= x.x | x.y | x.z | x.w;
  }
  if (seen != 0) *kept = seen;
}

constexpr int kBlocks = 1024, kThreads = 256;

}  // namespace

void flush_l2(void* written, const void* read, std::size_t bytes, cudaStream_t stream) {
  cudaMemsetAsync(written, 0, bytes, stream);  // an error here shows in the check of the launch after it
  read_all<<<kBlocks, kThreads, 0, stream>>>(static_cast<const uint4*>(read), bytes / sizeof(uint4),
                                             static_cast<unsigned*>(written));
}

}  // namespace stepcast::calibrate
