// A kernel on the GPU against its CPU reference.
#pragma once

#include <optional>
#include <string>

#include "kernels/cuda/context.hpp"
#include "kernels/cuda/launch.hpp"
#include "kernels/workspace.hpp"

namespace stepcast::kernels {

/// A workspace on the device: copies of the host's buffers, and scratch.
class DeviceWorkspace {
 public:
  /// @throws CudaError
  DeviceWorkspace(const Launch& launch, const Workspace& host, const Context& context);
  DeviceWorkspace(const DeviceWorkspace&) = delete;
  DeviceWorkspace& operator=(const DeviceWorkspace&) = delete;
  void run() const { launch_.run(call_); }
  /// A buffer's bytes, after all work on the stream.
  /// @throws CudaError
  [[nodiscard]] std::vector<std::byte> read(std::size_t buffer) const;

 private:
  Launch launch_;
  std::vector<DeviceMemory> memory_;
  std::vector<std::size_t> sizes_;
  std::vector<void*> pointers_;
  std::vector<std::int64_t> parameters_;
  DeviceCall call_{};
};

/// What differs first from the reference; nothing if the kernel is right on this input.
/// @throws CudaError
std::optional<std::string> check_kernel(const Context& context, const Kernel& kernel, std::int64_t n, Input input, std::uint64_t seed);

}  // namespace stepcast::kernels
