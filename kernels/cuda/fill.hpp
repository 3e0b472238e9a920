// Buffers filled on the device, for timings at sizes that take the host too long.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/kernel.hpp"

namespace stepcast::kernels {

/// As the buffer's descriptor wants it, by the seed, but with other numbers than the host's: values are normal with a
/// standard deviation of 0.1, so that products of layers stay finite. What a `prepare` would make is not made: such
/// floating-point numbers are positive like Fill::scale, whole ones of a byte below the buffer's `below`, others 0.
/// Asynchronous on `stream`.
/// @pre the buffer's values are f32 or bf16
void fill_on_device(const Buffer& buffer, void* data, std::int64_t n, std::uint64_t seed, cudaStream_t stream);

}  // namespace stepcast::kernels
