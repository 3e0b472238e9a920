// Runs a kernel on the host: a grid's blocks one after the other, a block's threads as fibers that are switched only
// where they wait for each other.
//
// What a run shows: results, for the order of threads and blocks that was chosen; accesses out of bounds; memory used
// before it was written, which is filled with a pattern; waiting that never ends.
// What it does not show: time; races between instructions that no barrier or warp operation separates, unless an order
// of whole stretches between them reveals it; a missing fence; what asynchronous streams do. cuBLAS and CUB are
// replaced by simple stand-ins, roundings of the device's functions (exp, tanh) are the host's.
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

/// In which order threads go on that could, and blocks of a grid one after the other. Whoever is first goes as far as
/// it can before the next one begins, so that stretches between barriers are as far apart as they can be.
enum class Order { first_to_last, last_to_first, shuffled };

/// How the host thread's next launches run, at first as the environment has it: STEPCAST_EMULATED_ORDER, first-to-last
/// (the default), last-to-first or shuffled.
/// @throws std::invalid_argument for another order in the environment
void set_order(Order order);
Order order();
/// What memory holds before its first use, which hangs on the order: words of ones (NaN, -1), of bytes 0x7f (3.4e38),
/// or of 1, since indices and minima may hide large numbers as sums hide small ones.
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

/// All blocks of a grid; a cooperative one's at once. What goes wrong becomes the last error (cudaGetLastError).
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

/// What `__shared__ T name;` is converted to: one variable for each declaration, told by the type of its lambda, and in
/// templates for each instantiation.
template <class T, class Declaration>
T& shared(Declaration) {
  static_assert(std::is_trivially_default_constructible_v<T> && alignof(T) <= 64,
                "a __shared__ variable is not initialized");
  static const std::size_t variable = new_shared_variable();
  return *static_cast<T*>(shared_memory(variable, sizeof(T)));
}

}  // namespace stepcast::emulator
