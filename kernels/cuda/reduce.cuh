// Block sums and maxima, added up in device memory by atomics. Results must be zeroed first.
#pragma once

#include <cub/block/block_reduce.cuh>

#include "kernels/cuda/groups.cuh"

namespace stepcast::kernels {

/// Blocks of a reduction: enough to fill any device, few enough that atomics do not count.
inline unsigned reduction_blocks(std::int64_t work) { return blocks_for(work, 2048); }

/// *total += the block's sum of `value`. All threads of the block must call it.
__device__ inline void add_block_sum(double value, double* total) {
  __shared__ typename cub::BlockReduce<double, kThreads>::TempStorage storage;
  const double sum = cub::BlockReduce<double, kThreads>(storage).Sum(value);
  if (threadIdx.x == 0) atomicAdd(total, sum);
  __syncthreads();  // the storage may be used again
}

struct LargerBits {
  __device__ std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const { return a > b ? a : b; }
};

/// *most = max(*most, the block's largest `value`). All threads of the block must call it.
__device__ inline void keep_block_max(std::uint32_t value, std::uint32_t* most) {
  __shared__ typename cub::BlockReduce<std::uint32_t, kThreads>::TempStorage storage;
  const std::uint32_t largest = cub::BlockReduce<std::uint32_t, kThreads>(storage).Reduce(value, LargerBits{});
  if (threadIdx.x == 0) atomicMax(most, largest);
  __syncthreads();
}

}  // namespace stepcast::kernels
