// nvcc's built-in names that need no include, for sources that convert.py has converted.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

#include <cuda_runtime_api.h>

#include "tests/emulator/grid.hpp"

#define __global__
#define __device__
#define __host__
#define __launch_bounds__(...)

inline constinit thread_local uint3 threadIdx{}, blockIdx{};
inline constinit thread_local dim3 blockDim{}, gridDim{};

inline void __syncthreads(stepcast::emulator::Place where = stepcast::emulator::Place::here()) {
  stepcast::emulator::meet_block(where);
}

namespace stepcast::emulator {

/// The value of lane `source`.
template <class T>
T value_of_lane(std::uint32_t mask, T value, unsigned source, Place where) {
  static_assert(std::is_arithmetic_v<T>, "as CUDA's own");
  std::uint64_t word = 0;
  std::memcpy(&word, &value, sizeof value);
  const Lanes& words = meet_lanes(mask, word, where);
  if ((mask >> source & 1U) == 0)
    fail("a shuffle from lane " + std::to_string(source) + ", which its mask does not name");
  std::memcpy(&value, &words[source], sizeof value);
  return value;
}

}  // namespace stepcast::emulator

template <class T>
T __shfl_sync(unsigned mask, T value, int source, stepcast::emulator::Place where = stepcast::emulator::Place::here()) {
  return stepcast::emulator::value_of_lane(mask, value, static_cast<unsigned>(source) % 32, where);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lanes,
                  stepcast::emulator::Place where = stepcast::emulator::Place::here()) {
  return stepcast::emulator::value_of_lane(mask, value,
                                           (stepcast::emulator::lane() ^ static_cast<unsigned>(lanes)) % 32, where);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned lanes,
                 stepcast::emulator::Place where = stepcast::emulator::Place::here()) {
  const unsigned me = stepcast::emulator::lane();
  return stepcast::emulator::value_of_lane(mask, value, me >= lanes ? me - lanes : me, where);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned lanes,
                   stepcast::emulator::Place where = stepcast::emulator::Place::here()) {
  const unsigned me = stepcast::emulator::lane();
  return stepcast::emulator::value_of_lane(mask, value, me + lanes < 32 ? me + lanes : me, where);
}
inline unsigned __ballot_sync(unsigned mask, bool predicate,
                              stepcast::emulator::Place where = stepcast::emulator::Place::here()) {
  const stepcast::emulator::Lanes& votes = stepcast::emulator::meet_lanes(mask, predicate ? 1 : 0, where);
  unsigned ballot = 0;
  for (unsigned lane = 0; lane < 32; ++lane)
    if ((mask >> lane & 1U) != 0 && votes[lane] != 0) ballot |= 1U << lane;
  return ballot;
}

// A launch is run by one thread of the host.
template <class T>
T atomicAdd(T* to, std::type_identity_t<T> value) {
  const T before = *to;
  *to += value;
  return before;
}
template <class T>
T atomicMax(T* to, std::type_identity_t<T> value) {
  const T before = *to;
  if (value > before) *to = value;
  return before;
}
template <class T>
T atomicMin(T* to, std::type_identity_t<T> value) {
  const T before = *to;
  if (value < before) *to = value;
  return before;
}

template <class T>
T __ldg(const T* from) {
  return *from;
}
inline int __popc(unsigned bits) { return std::popcount(bits); }
inline float __int_as_float(int bits) { return std::bit_cast<float>(bits); }
// A macro, since glibc has a function of that name from 2.41 on.
#define cospif(x) static_cast<float>(std::cos(3.14159265358979323846 * static_cast<double>(x)))

template <class... Parameters>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void (*)(Parameters...), int, std::size_t) {
  *blocks = stepcast::emulator::kResidentBlocks;
  return cudaSuccess;
}

/// The C++ overload, which knows the kernel's parameters. One that does not is not to be had here.
template <class... Parameters>
cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, void** arguments,
                                        std::size_t shared, cudaStream_t stream,
                                        stepcast::emulator::Place where = stepcast::emulator::Place::here()) {
  stepcast::emulator::run_grid({"a cooperative kernel", typeid(void(Parameters...)), where},
                               {grid, block, shared, stream}, true, [&] {
                                 [&]<std::size_t... i>(std::index_sequence<i...>) {
                                   kernel(*static_cast<Parameters*>(arguments[i])...);
                                 }
                                 (std::index_sequence_for<Parameters...>{});
                               });
  return cudaPeekAtLastError();
}
