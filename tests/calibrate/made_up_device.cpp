// A device whose times are made up, for running the whole of stepcast-calibrate without one. Variable MADE_UP_FAULT
// makes it fail as devices do. Its values are "memory" at the largest sizes, "lost" after a hundred samples, "wrong"
// results, and a "clock" that drops under one kernel.
#include <chrono>
#include <cstdlib>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>

#include "calibrate/measured_device.hpp"
#include "calibrate/profile_of_samples.hpp"

namespace stepcast::calibrate {
namespace {

bool fails(const char* fault) {
  const char* wanted = std::getenv("MADE_UP_FAULT");
  return wanted != nullptr && std::string(wanted) == fault;
}

/// The time that the events add to each sample.
constexpr double kEvents = 2e-6;
/// Standard deviation of a time. It is small, so that a missing part shows in a sum of many.
constexpr double kNoise = 0.002;

class MadeUpWork : public Work {
 public:
  explicit MadeUpWork(double seconds, bool drops = false) : seconds_(seconds), drops_(drops) {}
  Sample cold() override {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    static int samples = 0;
    if (++samples > 100 && fails("lost"))
      throw std::runtime_error("running: cudaErrorIllegalAddress (an illegal memory access was encountered)");
    return run(1);
  }
  std::vector<Sample> warm(int runs) override {
    std::vector<Sample> samples;
    for (int i = 0; i < runs; ++i) samples.push_back(run(0.6));
    return samples;
  }

 private:
  Sample run(double factor) {
    const bool dropped = drops_ && ++runs_ % 4 != 0;
    return {kEvents + factor * seconds_ * std::normal_distribution<double>(1, kNoise)(random_), dropped ? 1e9 : 1.7e9};
  }
  double seconds_;
  bool drops_;
  int runs_ = 0;
  std::mt19937_64 random_{std::random_device{}()};
};

constexpr double kLaunch = 4e-6;
/// 400 GB/s up to 8 MB, 1 TB/s beyond.
double seconds_of(double bytes) { return kLaunch + std::min(bytes, 8e6) / 400e9 + std::max(0.0, bytes - 8e6) / 1e12; }
/// An update: 200 GB/s, a fifth of the device's rate of copies, so that no roofline hits it.
double update_seconds(double bytes) { return kLaunch + bytes / 200e9; }

class MadeUpDevice : public Device {
 public:
  [[nodiscard]] MeasuredDevice facts() const override {
    return {"A made-up device", "0.0", "13.0", "13.0", {}, {}, "", "", ""};
  }
  [[nodiscard]] std::vector<Subject> subjects(const Sizes& sizes) const override {
    std::vector<Subject> all = {own_rate(own::kSingle, 0, 0, kLaunch),
                                own_rate(own::kLaunch, 0, 0, own::kChain * kLaunch),
                                own_rate(own::kCopy, 512e6, 0, 512e-6)};
    all[1].repeats = own::kChain;
    for (const char* product : own::kProducts) all.push_back(own_rate(product, 0, 1e12, 50e-3));
    for (const char* role : {"cast", "add", "quantize", "decode", "decode-add", "compact", "radix-select"})
      all.push_back(kernel(
          role, sizes, [](std::int64_t n) { return 12.0 * static_cast<double>(n); }, seconds_of));
    for (const UpdateToMeasure& update : updates_to_measure())
      all.push_back(kernel(update.entry, sizes.of_updates(), update.kernel.bytes, update_seconds));
    return all;
  }
  /// As everything here: its bytes by seconds_of.
  [[nodiscard]] Subject subject(const kernels::Kernel& kernel, int batch) const override {
    const double seconds = seconds_of(kernel.bytes(batch));
    return {subject_name(kernel), "", "", {batch}, kernel.bytes, kernel.flops, 1, {}, [seconds](std::int64_t) {
              return std::make_unique<MadeUpWork>(seconds);
            }};
  }
  /// The sum of its kernels' times.
  [[nodiscard]] Subject subject(const StepToMeasure& step) const override {
    double seconds = 0;
    for (const std::int64_t elements : step.tensors) seconds += update_seconds(step.update.bytes(elements));
    for (const kernels::LayerKernels& layer : step.layers) {
      if (layer.forward) seconds += seconds_of(layer.forward->bytes(step.table.batch));
      if (layer.data_gradient && &layer != &step.layers.front())
        seconds += seconds_of(layer.data_gradient->bytes(step.table.batch));
      if (layer.weight_gradient) seconds += seconds_of(layer.weight_gradient->bytes(step.table.batch));
    }
    const auto nothing = [](std::int64_t) { return 0.0; };
    return {step.name(), "", "", {step.table.batch}, nothing, nothing, 1, {}, [seconds](std::int64_t) {
              return std::make_unique<MadeUpWork>(seconds);
            }};
  }

 private:
  static Subject own_rate(const char* name, double bytes, double flops, double seconds) {
    return {name,
            "",
            "",
            {1},
            [bytes](std::int64_t) { return bytes; },
            [flops](std::int64_t) { return flops; },
            1,
            {},
            [seconds](std::int64_t) { return std::make_unique<MadeUpWork>(seconds); }};
  }
  static Subject kernel(const std::string& role, const Sizes& sizes, const std::function<double(std::int64_t)>& bytes,
                        double (*seconds)(double)) {
    const auto check = [role]() -> std::optional<std::string> {
      return role == "quantize" && fails("wrong") ? std::optional<std::string>("y[0]: expected 1, got 2")
                                                  : std::nullopt;
    };
    // Radix select sweeps four times, as on a real device.
    const double repeats = role == "radix-select" ? 4 : 1;
    const auto prepare = [role, bytes, sizes, seconds, repeats](std::int64_t n) {
      if (n == sizes.largest && fails("memory"))
        throw std::runtime_error("allocating device memory: cudaErrorMemoryAllocation (out of memory)");
      return std::make_unique<MadeUpWork>(repeats * seconds(bytes(n)), role == "quantize" && fails("clock"));
    };
    return {role + "/made-up",
            role,
            "made-up",
            log_spaced_sizes(sizes.least, sizes.largest, sizes.count, sizes.seed),
            bytes,
            [](std::int64_t) { return 0.0; },
            repeats,
            check,
            prepare};
  }
};

}  // namespace

bool has_device() { return true; }
bool has_cudnn() { return false; }
std::unique_ptr<Device> open_device() { return std::make_unique<MadeUpDevice>(); }

}  // namespace stepcast::calibrate
