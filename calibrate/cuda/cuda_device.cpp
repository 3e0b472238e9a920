// A CUDA device: its facts, its own rates, every kernel of the compressors, updates, layers and whole steps.
#include <algorithm>
#include <random>

#include "calibrate/calibration_error.hpp"
#include "calibrate/cuda/device_timer.hpp"
#include "calibrate/cuda/whole_step.hpp"
#include "calibrate/measured_device.hpp"
#include "calibrate/profile_of_samples.hpp"
#include "kernels/check_shape.hpp"
#include "kernels/code/bfloat.hpp"
#include "kernels/code/half.hpp"
#include "kernels/cuda/kernel_check.hpp"

namespace stepcast::calibrate {
namespace {

using kernels::DeviceMemory;
using kernels::require_cublas;
using kernels::require_cuda;

using Timer = std::shared_ptr<DeviceTimer>;

/// Share of the time limit for a slow kernel.
constexpr double kSlowShare = 0.2;

/// "13.0" of 13000.
std::string version_of(int number) { return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10); }

/// `count` empty kernels, one after the other.
Subject empty_subject(const Timer& timer, const char* name, int count) {
  const auto prepare = [timer, count](std::int64_t) {
    return std::make_unique<DeviceWork>(timer, [timer, count] {
      for (int i = 0; i < count; ++i) kernels::launch_empty(timer->context().stream());
    });
  };
  const auto nothing = [](std::int64_t) { return 0.0; };
  return {name, "", "", {1}, nothing, nothing, static_cast<double>(count), {}, prepare};
}

Subject copy_subject(const Timer& timer) {
  const auto prepare = [timer](std::int64_t bytes) {
    const auto size = static_cast<std::size_t>(bytes);
    const auto from = std::make_shared<DeviceMemory>(size), to = std::make_shared<DeviceMemory>(size);
    require_cuda(cudaMemset(from->data(), 0x5a, size), "filling the copied buffer");
    return std::make_unique<DeviceWork>(timer, [timer, from, to, size] {
      require_cuda(cudaMemcpyAsync(to->data(), from->data(), size, cudaMemcpyDeviceToDevice, timer->context().stream()),
                   "copying");
    });
  };
  return {own::kCopy,
          "",
          "",
          {std::int64_t{256} << 20},
          [](std::int64_t bytes) { return 2.0 * static_cast<double>(bytes); },
          [](std::int64_t) { return 0.0; },
          1,
          {},
          prepare};
}

/// Standard normal numbers of a type, repeated: a device's power, and so its clock, depends on the bits that it
/// multiplies.
std::shared_ptr<DeviceMemory> random_matrix(std::size_t elements, cudaDataType_t type) {
  const std::size_t each = type == CUDA_R_32F ? 4 : 2;
  constexpr std::size_t drawn = (std::size_t{1} << 20) + 7;  // in no step with the rows
  std::mt19937_64 random(7);
  std::normal_distribution<float> normal;
  std::vector<float> wide(drawn);
  for (float& x : wide) x = normal(random);
  std::vector<std::uint16_t> narrow(drawn);
  for (std::size_t i = 0; i < drawn; ++i)
    narrow[i] = type == CUDA_R_16F ? kernels::half_bits(wide[i]) : kernels::bfloat_bits(wide[i]);
  auto memory = std::make_shared<DeviceMemory>(elements * each);
  const void* source = each == 4 ? static_cast<const void*>(wide.data()) : narrow.data();
  for (std::size_t at = 0; at < elements; at += drawn)
    require_cuda(cudaMemcpy(static_cast<char*>(memory->data()) + at * each, source,
                            std::min(drawn, elements - at) * each, cudaMemcpyHostToDevice),
                 "filling a matrix");
  return memory;
}

/// C = A·B of n x n matrices, sums in fp32.
Subject product_subject(const Timer& timer, const char* name, cudaDataType_t type,
                        cublasComputeType_t compute = CUBLAS_COMPUTE_32F) {
  const auto prepare = [timer, type, compute](std::int64_t size) {
    const int n = static_cast<int>(size);
    const auto elements = static_cast<std::size_t>(size) * static_cast<std::size_t>(size);
    const auto a = random_matrix(elements, type), b = random_matrix(elements, type), c = random_matrix(elements, type);
    return std::make_unique<DeviceWork>(timer, [timer, type, compute, n, a, b, c] {
      const float one = 1, zero = 0;
      require_cublas(cublasGemmEx(timer->context().blas(), CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a->data(), type, n,
                                  b->data(), type, n, &zero, c->data(), type, n, compute, CUBLAS_GEMM_DEFAULT),
                     "multiplying matrices");
    });
  };
  const double each = type == CUDA_R_32F ? 4 : 2;
  return {name,
          "",
          "",
          {8192},
          [each](std::int64_t n) { return 3 * each * static_cast<double>(n) * static_cast<double>(n); },
          [](std::int64_t n) { return 2 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n); },
          1,
          {},
          prepare};
}

/// A seed of its own for each kernel, so that kernels of one role are measured at different sizes.
std::uint64_t seed_of(const std::string& name, std::uint64_t seed) {
  for (const char c : name) seed = 31 * seed + static_cast<unsigned char>(c);
  return seed;
}

/// Runs the subject that `make` makes. It may not fit the device, or a library may refuse it; either concerns this
/// subject alone.
template <class Make>
std::unique_ptr<Work> work_or_left_out(const Timer& timer, const Make& make) {
  try {
    return std::make_unique<DeviceWork>(timer, [made = make()] { made->run(); });
  } catch (const kernels::CudaError& error) {
    if (error.code() != cudaErrorMemoryAllocation) throw;
    cudaGetLastError();  // not sticky
    throw LeftOut(error.what());
  } catch (const kernels::LibraryError& error) {
    cudaGetLastError();
    throw LeftOut(error.what());
  }
}

Subject kernel_subject(const Timer& timer, const kernels::Kernel& kernel, const Sizes& sizes) {
  const std::uint64_t seed = seed_of(kernel.name(), sizes.seed);
  const auto check = [timer, kernel, seed]() -> std::optional<std::string> {
    for (const std::int64_t n : {33, 4097, 65537})
      if (n <= kernel.largest)
        if (auto wrong = kernels::check_kernel(timer->context(), kernel, n, kernels::Input::normal, seed)) return wrong;
    return std::nullopt;
  };
  kernels::Kernel timed = kernel;
  if (timed.prepare_timed) timed.prepare = timed.prepare_timed;
  const auto prepare = [timer, kernel = std::move(timed), seed](std::int64_t n) {
    const kernels::Launch launch = kernels::find_launch(kernel.name());
    const kernels::Context& context = timer->context();
    // The host takes seconds to fill large vectors, so it does so only if prepared buffers have to fit the input.
    return work_or_left_out(timer, [&] {
      return kernel.prepare ? std::make_shared<kernels::DeviceWorkspace>(
                                  launch, kernels::Workspace(kernel, n, kernels::Input::normal, seed), context)
                            : std::make_shared<kernels::DeviceWorkspace>(launch, kernel, n, seed, context);
    });
  };
  const int count = kernel.slow ? std::min(sizes.count, kLeastSizes + 2) : sizes.count;  // two may be left out
  return {kernel.name(),
          kernel.role,
          kernel.method,
          log_spaced_sizes(sizes.least, std::min(sizes.largest, kernel.largest), count, seed),
          kernel.bytes,
          kernel.flops,
          static_cast<double>(kernel.repeats),
          check,
          prepare,
          kernel.slow ? kSlowShare : 1};
}

Subject update_subject(const Timer& timer, const UpdateToMeasure& update, const Sizes& sizes) {
  Subject subject = kernel_subject(timer, update.kernel, sizes.of_updates());
  subject.role = update.entry;
  return subject;
}

/// Checked on its own shape.
Subject layer_subject(const Timer& timer, const kernels::Kernel& kernel, int batch) {
  const auto check = [timer, kernel]() -> std::optional<std::string> {
    const kernels::ShapeToCheck shape = kernels::shape_to_check(kernel);
    for (const kernels::Input input : {kernels::Input::normal, kernels::Input::whole}) {
      if (input == kernels::Input::whole && !kernels::is_exact_on_whole(shape.kernel, shape.batch)) continue;
      if (auto wrong = kernels::check_kernel(timer->context(), shape.kernel, shape.batch, input, 5)) return wrong;
    }
    return std::nullopt;
  };
  const auto prepare = [timer, kernel](std::int64_t n) {
    return work_or_left_out(timer, [&] {
      return std::make_shared<kernels::DeviceWorkspace>(kernels::find_launch(kernel.name()), kernel, n, 5,
                                                        timer->context());
    });
  };
  return {subject_name(kernel), "", "", {batch}, kernel.bytes, kernel.flops, 1, check, prepare};
}

Subject step_subject(const Timer& timer, const StepToMeasure& step) {
  const auto prepare = [timer, step](std::int64_t) {
    return work_or_left_out(timer, [&] { return std::make_shared<WholeStep>(step, timer->context()); });
  };
  const auto nothing = [](std::int64_t) { return 0.0; };
  return {step.name(), "", "", {step.table.batch}, nothing, nothing, 1, {}, prepare};
}

class CudaDevice : public Device {
 public:
  [[nodiscard]] MeasuredDevice facts() const override {
    int device = 0, driver = 0, runtime = 0, memory_clock = 0;
    cudaDeviceProp properties{};
    require_cuda(cudaGetDevice(&device), "asking for the device");
    require_cuda(cudaGetDeviceProperties(&properties, device), "asking for the device's properties");
    require_cuda(cudaDriverGetVersion(&driver), "asking for the driver's version");
    require_cuda(cudaRuntimeGetVersion(&runtime), "asking for the runtime's version");
    if (cudaDeviceGetAttribute(&memory_clock, cudaDevAttrMemoryClockRate, device) != cudaSuccess)
      cudaGetLastError();  // not every driver tells
    MeasuredDevice facts;
    facts.name = properties.name;
    facts.compute_capability = std::to_string(properties.major) + "." + std::to_string(properties.minor);
    facts.driver = version_of(driver);
    facts.toolkit = version_of(runtime);
    if (memory_clock > 0) facts.memory_clock = Hertz(1e3 * memory_clock);
    return facts;
  }

  [[nodiscard]] std::vector<Subject> subjects(const Sizes& sizes) const override {
    std::vector<Subject> all = {empty_subject(timer_, own::kSingle, 1),
                                empty_subject(timer_, own::kLaunch, own::kChain),
                                copy_subject(timer_),
                                product_subject(timer_, own::kProducts[0], CUDA_R_32F),
                                product_subject(timer_, own::kProducts[1], CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32),
                                product_subject(timer_, own::kProducts[2], CUDA_R_16F),
                                product_subject(timer_, own::kProducts[3], CUDA_R_16BF)};
    for (const kernels::Kernel& kernel : kernels::compressor_kernels())
      if (kernels::has_launch(kernel.name()))
        all.push_back(kernel_subject(timer_, kernel, sizes));  // some need libraries that may be missing
    for (const UpdateToMeasure& update : updates_to_measure()) all.push_back(update_subject(timer_, update, sizes));
    return all;
  }
  [[nodiscard]] Subject subject(const kernels::Kernel& kernel, int batch) const override {
    return layer_subject(timer_, kernel, batch);
  }
  [[nodiscard]] Subject subject(const StepToMeasure& step) const override { return step_subject(timer_, step); }

 private:
  Timer timer_ = std::make_shared<DeviceTimer>();
};

}  // namespace

bool has_device() { return kernels::has_device(); }
bool has_cudnn() { return kernels::has_cudnn(); }

std::unique_ptr<Device> open_device() { return std::make_unique<CudaDevice>(); }

}  // namespace stepcast::calibrate
