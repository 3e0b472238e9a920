// Runs a kernel on the host. A grid's blocks run one after the other. A block's threads are fibers, which are switched
// only when they wait for each other.
//
// A run shows results for the chosen order of threads and blocks, and accesses out of bounds. It shows reads of memory
// that was never written, which holds a pattern, and waits that never end.
//
// A run does not show time, a missing fence, or effects of asynchronous streams. It shows races without a barrier or
// warp operation between only if an order of whole stretches reveals them. Simple stand-ins replace cuBLAS and CUB.
// Functions like exp and tanh round as on the host.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <type_traits>
#include <typeinfo>

#include <cuda_runtime_api.h>

namespace stepcast::emulator {

/// A line of the sources.
struct Place {
  const char* file;
  int line;
  /// As a default argument the caller's. (std::source_location, which clang 14 does not have.)
  static constexpr Place here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) { return {file, line}; }
  friend bool operator==(const Place& a, const Place& b) {
    return a.line == b.line && (a.file == b.file || std::strcmp(a.file, b.file) == 0);
  }
};

/// The order in which ready threads continue, and in which blocks of a grid run. The first thread goes as far as it can
/// before the next one begins, so stretches between barriers are as far apart as possible.
enum class Order { first_to_last, last_to_first, shuffled };

/// How the host thread's next launches run, at first as the environment has it: STEPCAST_EMULATED_ORDER, first-to-last
/// (the default), last-to-first or shuffled.
/// @throws std::invalid_argument for another order in the environment
void set_order(Order order);
Order order();
/// The content of memory before its first use. It depends on the order: words of ones (NaN, -1), of bytes 0x7f
/// (3.4e38), or of 1. Indices and minima may hide large numbers, and sums may hide small ones.
void fill_unwritten(void* data, std::size_t bytes);

struct Config {
  Config(dim3 grid_, dim3 block_, std::size_t shared_ = 0, cudaStream_t stream_ = nullptr)
      : grid(grid_), block(block_), shared(shared_), stream(stream_) {}
  dim3 grid, block;
  std::size_t shared;
  cudaStream_t stream;
};

struct Kernel {
  const char* name;                 ///< as the launch has it
  const std::type_info& arguments;  ///< as those of a function: a sweep's tell which one it is
  Place launched;
};

/// Runs all blocks of a grid; those of a cooperative one at once. A fault becomes the last error (cudaGetLastError).
void run_grid(const Kernel& kernel, const Config& config, bool cooperative, const std::function<void()>& thread);

/// The conversion of kernel<<<...>>>(arguments) (convert.py).
struct Name {
  Name(const char* text_, Place launched_ = Place::here()) : text(text_), launched(launched_) {}
  const char* text;
  Place launched;
};
template <class Call, class... Arguments>
void launch(Name name, const Config& config, Call call, const Arguments&... arguments) {
  run_grid({name.text, typeid(void(Arguments...)), name.launched}, config, false, [&] { call(arguments...); });
}

// Access to the running device thread.

/// __syncthreads: by all threads of the block, at the same place. More strictly than a device, which lets those that
/// have ended be missing.
void meet_block(Place where);
/// grid.sync()
void meet_grid(Place where);

/// The values that the lanes of a warp handed in.
using Lanes = std::array<std::uint64_t, 32>;
/// Hands in a value and waits until all lanes of the mask have, at the same place and with the same mask.
const Lanes& meet_lanes(std::uint32_t mask, std::uint64_t value, Place where);
unsigned lane();
/// Ends the launch with an error. Nothing on the thread's stack is destroyed, so `what` should be moved.
[[noreturn]] void fail(std::string what);

std::size_t new_shared_variable();
/// The running block's, filled by fill_unwritten before its first use.
void* shared_memory(std::size_t variable, std::size_t bytes);

/// The conversion of `__shared__ T name;`. Each declaration has one variable, identified by the type of its lambda; in
/// templates, each instantiation has one.
template <class T, class Declaration>
T& shared(Declaration) {
  static_assert(std::is_trivially_default_constructible_v<T> && alignof(T) <= 64,
                "a __shared__ variable is not initialized");
  static const std::size_t variable = new_shared_variable();
  return *static_cast<T*>(shared_memory(variable, sizeof(T)));
}

}  // namespace stepcast::emulator
