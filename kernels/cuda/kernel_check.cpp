#include "kernels/cuda/kernel_check.hpp"

#include <cstring>

#include "kernels/cuda/fill.hpp"

namespace stepcast::kernels {

namespace {

void connect_libraries(DeviceCall& call, const Context& context) {
  call.stream = context.stream();
  call.blas = context.blas();
  call.dnn = context.dnn();
  call.solver = context.solver();
}

}  // namespace

void* DeviceWorkspace::allocate(std::size_t bytes) {
  memory_.emplace_back(bytes);
  sizes_.push_back(bytes);
  pointers_.push_back(memory_.back().data());
  return pointers_.back();
}

void DeviceWorkspace::connect(std::int64_t n, std::uint64_t seed, const Context& context) {
  call_.n = n;
  call_.seed = seed;
  call_.buffers = pointers_.data();
  call_.parameters = parameters_.data();
  connect_libraries(call_, context);
}

DeviceWorkspace::DeviceWorkspace(const Launch& launch, const Workspace& host, const Context& context)
    : launch_(launch), parameters_(host.parameters()) {
  for (std::size_t i = 0; i < host.buffers().size(); ++i) {
    void* data = allocate(host.bytes(i));
    if (host.bytes(i) > 0)
      require_cuda(cudaMemcpy(data, host.data(i), host.bytes(i), cudaMemcpyHostToDevice),
                   "copying input to the device");
  }
  connect(host.call().n, host.call().seed, context);
  call_.scratch = memory_.emplace_back(launch_.scratch_bytes(call_)).data();
}

DeviceWorkspace::DeviceWorkspace(const Launch& launch, const Kernel& kernel, std::int64_t n, std::uint64_t seed,
                                 const Context& context)
    : launch_(launch), parameters_(kernel.parameters) {
  for (const Buffer& buffer : kernel.buffers(n))
    fill_on_device(buffer, allocate(static_cast<std::size_t>(buffer.count) * size_of(buffer.element)), n, seed++,
                   context.stream());
  connect(n, seed, context);
  call_.scratch = memory_.emplace_back(launch_.scratch_bytes(call_)).data();
  require_cuda(cudaGetLastError(), "filling buffers");
}

DeviceWorkspace::DeviceWorkspace(const Launch& launch, const Kernel& kernel, std::int64_t n, std::uint64_t seed,
                                 const Context& context, std::vector<void*> buffers, void* scratch)
    : launch_(launch), pointers_(std::move(buffers)), parameters_(kernel.parameters) {
  for (const Buffer& buffer : kernel.buffers(n))
    sizes_.push_back(static_cast<std::size_t>(buffer.count) * size_of(buffer.element));
  connect(n, seed, context);
  call_.scratch = scratch;
}

std::size_t scratch_bytes(const Launch& launch, const Kernel& kernel, std::int64_t n, const Context& context) {
  DeviceCall call{};
  call.n = n;
  call.parameters = kernel.parameters.data();
  connect_libraries(call, context);
  return launch.scratch_bytes(call);
}

std::vector<std::byte> DeviceWorkspace::read(std::size_t buffer) const {
  require_cuda(cudaGetLastError(), "launching");
  require_cuda(cudaStreamSynchronize(call_.stream), "running");
  std::vector<std::byte> bytes(sizes_[buffer]);
  if (!bytes.empty())
    require_cuda(cudaMemcpy(bytes.data(), pointers_[buffer], bytes.size(), cudaMemcpyDeviceToHost),
                 "copying results from the device");
  return bytes;
}

std::string DeviceWorkspace::remark() const {
  if (launch_.remark == nullptr) return "";
  require_cuda(cudaStreamSynchronize(call_.stream), "running");
  return launch_.remark(call_);
}

namespace {

/// Fills outputs with NaN (integers: all ones) before the call, on both sides. Entries that a kernel does not write
/// stay so. A kernel that wrongly adds to an output, or forgets an entry, then differs.
void spoil_outputs(const Workspace& host) {
  for (std::size_t i = 0; i < host.buffers().size(); ++i)
    if (host.buffers()[i].fill == Fill::zero && host.bytes(i) > 0) std::memset(host.data(i), 0xff, host.bytes(i));
}

std::optional<std::string> compare(const Context& context, const Kernel& kernel, std::int64_t n, Input input,
                                   std::uint64_t seed) {
  const Workspace host(kernel, n, input, seed);
  spoil_outputs(host);
  const DeviceWorkspace device(find_launch(kernel.name()), host, context);
  device.run();
  kernel.reference(host.call());
  if (kernel.compare) {
    std::vector<std::vector<std::byte>> got;
    std::vector<void*> pointers;
    for (std::size_t i = 0; i < host.buffers().size(); ++i) pointers.push_back(got.emplace_back(device.read(i)).data());
    Call call = host.call();
    call.buffers = pointers.data();
    const auto wrong = kernel.compare(host.call(), call);
    return wrong ? std::optional(*wrong + device.remark()) : std::nullopt;
  }
  for (std::size_t i = 0; i < host.buffers().size(); ++i) {
    const std::vector<std::byte> got = device.read(i);
    if (const auto wrong = difference(host.buffers()[i], host.data(i), got.data())) return wrong;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> check_kernel(const Context& context, const Kernel& kernel, std::int64_t n, Input input,
                                        std::uint64_t seed) {
  const auto named = [&](const std::string& wrong) {
    return kernel.described() + ", n = " + std::to_string(n) + ", " + name_of(input) + " input: " + wrong;
  };
  try {
    const auto wrong = compare(context, kernel, n, input, seed);
    return wrong ? std::optional(named(*wrong)) : std::nullopt;
  } catch (const LibraryError& error) {
    cudaGetLastError();  // the next kernel must not report it
    return named(error.what());
  } catch (const CudaError& error) {
    cudaGetLastError();
    if (cudaDeviceSynchronize() == cudaSuccess) return named(error.what());  // the device still works
    throw CudaError(error.code(), named(error.what()));
  } catch (const std::logic_error& error) {
    return named(error.what());
  }
}

}  // namespace stepcast::kernels
