// Buffers filled on the device, for timings at sizes that take the host too long.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/kernel.hpp"

namespace stepcast::kernels {

/// Fills the buffer by its descriptor and the seed, but with other numbers than the host's. Values are normal with a
/// standard deviation of 0.1, so that products of layers stay finite. `prepare` does not run. Prepared
/// floats are positive like Fill::scale, prepared bytes are below the buffer's `below`, other integers are 0.
/// Asynchronous on `stream`.
/// @pre the buffer's values are f32 or bf16
void fill_on_device(const Buffer& buffer, void* data, std::int64_t n, std::uint64_t seed, cudaStream_t stream);

}  // namespace stepcast::kernels
