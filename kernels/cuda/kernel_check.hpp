// A kernel on the GPU against its CPU reference.
#pragma once

#include <optional>
#include <string>

#include "kernels/cuda/context.hpp"
#include "kernels/cuda/launch.hpp"
#include "kernels/workspace.hpp"

namespace stepcast::kernels {

/// A kernel's buffers on the device, and scratch.
class DeviceWorkspace {
 public:
  /// Copies of the host's buffers.
  /// @throws CudaError
  DeviceWorkspace(const Launch& launch, const Workspace& host, const Context& context);
  /// Filled by fill_on_device.
  /// @throws CudaError
  DeviceWorkspace(const Launch& launch, const Kernel& kernel, std::int64_t n, std::uint64_t seed,
                  const Context& context);
  /// Uses memory of others.
  /// @param buffers  in the descriptor's order; null for those without elements
  /// @param scratch  at least scratch_bytes(launch, kernel, n, context), shared with all that run on the same stream
  DeviceWorkspace(const Launch& launch, const Kernel& kernel, std::int64_t n, std::uint64_t seed,
                  const Context& context, std::vector<void*> buffers, void* scratch);
  DeviceWorkspace(const DeviceWorkspace&) = delete;
  DeviceWorkspace& operator=(const DeviceWorkspace&) = delete;
  void run() const { launch_.run(call_); }
  /// A buffer's bytes, after all work on the stream.
  /// @throws CudaError
  [[nodiscard]] std::vector<std::byte> read(std::size_t buffer) const;
  /// Launch::remark, after all work on the stream; empty where there is none.
  /// @throws CudaError
  [[nodiscard]] std::string remark() const;

 private:
  void* allocate(std::size_t bytes);
  void connect(std::int64_t n, std::uint64_t seed, const Context& context);

  Launch launch_;
  std::vector<DeviceMemory> memory_;  ///< the buffers that this object owns
  std::vector<std::size_t> sizes_;
  std::vector<void*> pointers_;
  std::vector<std::int64_t> parameters_;
  DeviceCall call_{};
};

/// Scratch of a launch. @throws CudaError
std::size_t scratch_bytes(const Launch& launch, const Kernel& kernel, std::int64_t n, const Context& context);

/// The first difference from the reference, or the library that refuses the kernel; nothing if the kernel is right.
/// @throws CudaError
std::optional<std::string> check_kernel(const Context& context, const Kernel& kernel, std::int64_t n, Input input,
                                        std::uint64_t seed);

}  // namespace stepcast::kernels
