// Sweeps that need the 128 values of the 8-bit code in ascending order.
#pragma once

#include "kernels/code/quantizers.hpp"
#include "kernels/cuda/groups.cuh"

namespace stepcast::kernels {

/// The table is made once a block, then op(g, values) for each group of four.
template <class Op>
__global__ void sweep_groups_with_values(std::int64_t groups, Op op) {
  __shared__ float values[128];
  for (int code = static_cast<int>(threadIdx.x); code < 128; code += static_cast<int>(blockDim.x)) values[code] = eight_bit_value(code);
  __syncthreads();
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t g = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; g < groups; g += stride) op(g, values);
}

template <class Op>
void sweep_with_values(const DeviceCall& c, const Op& op) {
  const std::int64_t groups = ceil_div(c.n, 4);
  sweep_groups_with_values<<<blocks_for(groups, 2048), kThreads, 0, c.stream>>>(groups, op);
}

}  // namespace stepcast::kernels
