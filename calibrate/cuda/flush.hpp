// Emptying the device's L2 cache before a cold sample. C++17.
#pragma once

#include <cstddef>

#include <cuda_runtime_api.h>

namespace stepcast::calibrate {

/// Fills L2 with lines that nobody needs: writes `bytes` of `written`, then reads as many of `read`.
/// Writing alone would leave lines that L2 must write to memory as soon as others come. A kernel that only reads
/// would pay for that.
/// @param bytes  a multiple of 16, twice those of L2 or more
/// @param read   zeros
void flush_l2(void* written, const void* read, std::size_t bytes, cudaStream_t stream);

}  // namespace stepcast::calibrate
