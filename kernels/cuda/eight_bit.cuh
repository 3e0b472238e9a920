// Sweeps that need the tables of the 8-bit code.
#pragma once

#include "kernels/code/quantizers.hpp"
#include "kernels/cuda/groups.cuh"

namespace stepcast::kernels {

/// The table is made once a block, then op(g, table) for each group of four.
template <class Op>
__global__ void sweep_groups_with_table(std::int64_t groups, Op op) {
  __shared__ EightBitTable table;
  for (int i = static_cast<int>(threadIdx.x); i < 128; i += static_cast<int>(blockDim.x)) set_entry(table, i);
  __syncthreads();
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t g = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; g < groups; g += stride)
    op(g, table);
}

template <class Op>
void sweep_with_table(const DeviceCall& c, const Op& op) {
  const std::int64_t groups = ceil_div(c.n, 4);
  sweep_groups_with_table<<<blocks_for(groups, 2048), kThreads, 0, c.stream>>>(groups, op);
}

}  // namespace stepcast::kernels
