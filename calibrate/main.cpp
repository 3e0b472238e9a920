// stepcast-calibrate device -o PROFILE.json [--quick]: measures this machine's GPU and writes a device profile, and
// beside it PROFILE.samples.jsonl with every sample, a line for each kernel and size, written as it is measured.
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

#include "calibrate/harness.hpp"
#include "calibrate/profile.hpp"
#include "kernels/cuda/check.hpp"

namespace stepcast::calibrate {
namespace {

using kernels::require_cuda;
using Json = nlohmann::ordered_json;

constexpr const char* kUsage = "usage: stepcast-calibrate device -o PROFILE.json [--quick]";
constexpr std::uint64_t kSeed = 20261121;

struct Options {
  std::filesystem::path output;
  bool quick = false;
};

struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

Options parse(int argc, char** argv) {
  if (argc < 2 || std::string(argv[1]) != "device") throw UsageError(kUsage);
  Options options;
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--quick") options.quick = true;
    else if (word == "-o" && i + 1 < argc) options.output = argv[++i];
    else throw UsageError("\"" + word + "\" is not known or lacks its value; " + kUsage);
  }
  if (options.output.empty()) throw UsageError(kUsage);
  return options;
}

std::ofstream open(const std::filesystem::path& path) {
  std::ofstream file(path);
  if (!file) throw std::runtime_error(path.string() + " cannot be written");
  return file;
}

void require_written(std::ofstream& file, const std::filesystem::path& path) {
  file.flush();
  if (!file) throw std::runtime_error(path.string() + " cannot be written to its end; what was measured so far is in it");
}

DeviceFacts describe_device() {
  int device = 0, driver = 0, runtime = 0;
  cudaDeviceProp properties{};
  require_cuda(cudaGetDevice(&device), "asking for the device");
  require_cuda(cudaGetDeviceProperties(&properties, device), "asking for the device's properties");
  require_cuda(cudaDriverGetVersion(&driver), "asking for the driver's version");
  require_cuda(cudaRuntimeGetVersion(&runtime), "asking for the runtime's version");
  char date[11];
  const std::time_t now = std::time(nullptr);
  std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
  DeviceFacts facts;
  facts.name = std::string(properties.name) + " " + date;
  facts.description = std::string(properties.name) + ", compute capability " + std::to_string(properties.major) + "." + std::to_string(properties.minor) + ", CUDA driver " + std::to_string(driver) + ", runtime " +
                      std::to_string(runtime) + ", measured " + date + " by stepcast-calibrate; kernels with cold L2, layers not measured";
  return facts;
}

double copy_rate(const Harness& harness) {
  constexpr std::size_t bytes = std::size_t{256} << 20;
  const kernels::DeviceMemory from(bytes), to(bytes);
  const double seconds = median(harness.time([&](cudaStream_t stream) { require_cuda(cudaMemcpyAsync(to.data(), from.data(), bytes, cudaMemcpyDeviceToDevice, stream), "copying"); }));
  return 2.0 * static_cast<double>(bytes) / seconds;
}

/// Correct first: a kernel that differs from its reference is not timed.
void require_right(const kernels::Context& context, const kernels::Kernel& kernel) {
  for (const std::int64_t n : {33, 4097, 65537}) {
    if (n > kernel.largest) continue;
    if (const auto wrong = kernels::check_kernel(context, kernel, n, kernels::Input::normal, kSeed)) throw std::runtime_error("wrong result, no time is taken: " + *wrong);
  }
}

KernelTimings measure(const Harness& harness, const kernels::Kernel& kernel, const std::vector<std::int64_t>& sizes, std::ofstream& raw) {
  KernelTimings result{kernel.pass, kernel.method, {}};
  for (const std::int64_t n : sizes) {
    if (n > kernel.largest) continue;
    const kernels::Workspace host(kernel, n, kernels::Input::normal, kSeed);
    const kernels::DeviceWorkspace device(kernels::find_launch(kernel.name()), host, harness.context());
    std::vector<double> samples = harness.time([&](cudaStream_t) { device.run(); });
    for (double& sample : samples) sample /= kernel.repeats;  // a pass is one sweep
    result.timings.push_back({kernel.bytes(n), median(samples)});
    raw << Json{{"pass", kernel.pass}, {"method", kernel.method}, {"elements", n}, {"bytes", kernel.bytes(n)}, {"median_s", median(samples)}, {"iqr_s", interquartile_range(samples)}, {"samples_s", samples}}.dump() << '\n';
  }
  return result;
}

void calibrate_device(const Options& options) {
  std::filesystem::path samples_path = options.output;
  samples_path.replace_extension(".samples.jsonl");
  std::ofstream raw = open(samples_path);
  const std::filesystem::path partial = options.output.string() + ".partial";
  std::ofstream profile = open(partial);

  const Harness harness(options.quick ? StoppingRule{5, 30, 0.02} : StoppingRule{});
  DeviceFacts facts = describe_device();
  facts.launch_overhead = median(harness.time([](cudaStream_t stream) { kernels::launch_empty(stream); }));
  facts.memory_bandwidth = copy_rate(harness);
  facts.fp32_peak = matrix_product_rate(harness, false);
  facts.fp16_peak = matrix_product_rate(harness, true);

  const auto sizes = log_spaced_sizes(1 << 10, options.quick ? 1 << 24 : 1 << 26, options.quick ? 12 : 20, kSeed);
  std::vector<KernelTimings> timings;
  const std::vector<kernels::Kernel> list = kernels::compressor_kernels();
  for (const kernels::Kernel& kernel : list) {
    if (!kernels::has_launch(kernel.name())) continue;  // built without a library that it needs
    std::cerr << "[" << timings.size() + 1 << "/" << list.size() << "] " << kernel.name() << '\n';
    require_right(harness.context(), kernel);
    timings.push_back(measure(harness, kernel, sizes, raw));
    require_written(raw, samples_path);
  }
  profile << profile_document(facts, timings, kSeed).dump(2) << '\n';
  require_written(profile, partial);
  profile.close();
  std::filesystem::rename(partial, options.output);
  std::cout << options.output.string() << ": " << facts.name << '\n';
}

std::string shipped_profiles() {
  std::string names;
  std::error_code ignored;  // a program moved away from its sources has none to list
  for (const auto& file : std::filesystem::directory_iterator(STEPCAST_PROFILES_DIR, ignored)) names += (names.empty() ? "" : ", ") + file.path().stem().string();
  return names;
}

int run(int argc, char** argv) {
  const Options options = parse(argc, argv);
  if (!kernels::has_device()) {
    std::cerr << "stepcast-calibrate: no CUDA device here; shipped profiles: " << shipped_profiles() << '\n';
    return 1;
  }
  calibrate_device(options);
  return 0;
}

}  // namespace
}  // namespace stepcast::calibrate

int main(int argc, char** argv) {
  try {
    return stepcast::calibrate::run(argc, argv);
  } catch (const stepcast::calibrate::UsageError& error) {
    std::cerr << error.what() << '\n';
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "stepcast-calibrate: " << error.what() << '\n';
    return 1;
  }
}
