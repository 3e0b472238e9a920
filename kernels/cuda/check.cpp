#include "kernels/cuda/check.hpp"

namespace stepcast::kernels {

DeviceWorkspace::DeviceWorkspace(const Launch& launch, const Workspace& host, const Context& context) : launch_(launch) {
  const Call call = host.call();
  for (std::size_t i = 0; i < host.buffers().size(); ++i) {
    memory_.emplace_back(host.bytes(i));
    sizes_.push_back(host.bytes(i));
    pointers_.push_back(memory_.back().data());
    if (host.bytes(i) > 0) require_cuda(cudaMemcpy(pointers_.back(), host.data(i), host.bytes(i), cudaMemcpyHostToDevice), "copying input to the device");
  }
  parameters_ = host.parameters();
  call_.n = call.n;
  call_.buffers = pointers_.data();
  call_.parameters = parameters_.data();
  call_.seed = call.seed;
  call_.stream = context.stream();
  call_.blas = context.blas();
  call_.dnn = context.dnn();
  call_.solver = context.solver();
  memory_.emplace_back(launch.scratch_bytes(call_));
  call_.scratch = memory_.back().data();
}

std::vector<std::byte> DeviceWorkspace::read(std::size_t buffer) const {
  require_cuda(cudaGetLastError(), "launching");
  require_cuda(cudaStreamSynchronize(call_.stream), "running");
  std::vector<std::byte> bytes(sizes_[buffer]);
  if (!bytes.empty()) require_cuda(cudaMemcpy(bytes.data(), pointers_[buffer], bytes.size(), cudaMemcpyDeviceToHost), "copying results from the device");
  return bytes;
}

std::optional<std::string> check_kernel(const Context& context, const Kernel& kernel, std::int64_t n, Input input, std::uint64_t seed) {
  Workspace host(kernel, n, input, seed);
  const DeviceWorkspace device(find_launch(kernel.name()), host, context);
  device.run();
  kernel.reference(host.call());
  const auto named = [&](const std::string& wrong) { return kernel.described() + ", n = " + std::to_string(n) + ", " + name_of(input) + " input: " + wrong; };
  if (kernel.compare) {
    std::vector<std::vector<std::byte>> got;
    std::vector<void*> pointers;
    for (std::size_t i = 0; i < host.buffers().size(); ++i) pointers.push_back(got.emplace_back(device.read(i)).data());
    Call call = host.call();
    call.buffers = pointers.data();
    if (const auto wrong = kernel.compare(host.call(), call)) return named(*wrong);
    return std::nullopt;
  }
  for (std::size_t i = 0; i < host.buffers().size(); ++i) {
    const std::vector<std::byte> got = device.read(i);
    if (const auto wrong = difference(host.buffers()[i], host.data(i), got.data()))
      return named(*wrong);
  }
  return std::nullopt;
}

}  // namespace stepcast::kernels
