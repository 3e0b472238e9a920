// Every CUDA kernel against its CPU reference, on fresh random input. Needs no test framework, so that it also builds
// on a bare GPU node.
//
//     stepcast_kernel_check [LARGEST] [SEED]
//
// Vectors have up to LARGEST elements (default 2^20); layers have small shapes. From 2^17 on, a convolution is checked
// that is so large that it is done in parts. From 2^20 on, so are the convolutions of our own whose speed is measured.
// LARGEST 0 only checks that all libraries start and that cuDNN convolves.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <exception>
#include <future>
#include <iterator>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "kernels/cuda/cudnn.hpp"
#include "kernels/cuda/kernel_check.hpp"
#include "kernels/layers.hpp"

using namespace stepcast::kernels;

namespace {

/// Around a warp, a group of four, a bucket and a tile; primes; powers of two.
constexpr std::int64_t kSizes[] = {1,   2,    3,    4,    5,     31,    32,      33,      127,
                                   513, 4095, 4096, 4097, 65537, 99991, 1000003, 1 << 20, 1 << 24};
/// Batches of a layer's shape, which has its own odd sizes; an update's n is a number of parameters.
constexpr std::int64_t kBatches[] = {1, 2, 3, 7};
/// Products are checked on numbers only. The libraries decide whether a zero of the padding meets an infinity, and
/// whether denormals are kept.
constexpr Input kNumbers[] = {Input::normal, Input::zeros, Input::whole};
/// A check at 2^24 elements holds a few hundred megabytes of the device's memory.
constexpr unsigned kMostThreads = 8;

/// A kernel, and the sizes and inputs of its check.
struct Task {
  Kernel kernel;
  std::vector<std::int64_t> sizes;
  std::vector<Input> inputs;
};

std::vector<Task> list_tasks(std::int64_t largest) {
  if (largest < 1)
    return has_cudnn() ? std::vector<Task>{{convolution_kernels(ConvolutionPath::cudnn).front(), {1}, {Input::normal}}}
                       : std::vector<Task>{};
  std::vector<Task> tasks;
  const auto add = [&](const Kernel& kernel, const auto& sizes, const auto& inputs) {
    tasks.push_back({kernel, {}, {std::begin(inputs), std::end(inputs)}});
    std::copy_if(std::begin(sizes), std::end(sizes), std::back_inserter(tasks.back().sizes),
                 [&](std::int64_t n) { return n <= largest && n <= kernel.largest; });
  };
  for (const Kernel& kernel : compressor_kernels()) add(kernel, kSizes, kInputs);
  for (const Kernel& kernel : block_layer_kernels()) {
    if (kernel.role.ends_with("-update")) add(kernel, kSizes, kInputs);
    else add(kernel, kBatches, kInputs);
  }
  for (const Kernel& kernel : product_layer_kernels()) add(kernel, kBatches, kNumbers);
  if (has_cudnn())
    for (const Kernel& kernel : convolution_kernels(ConvolutionPath::cudnn)) add(kernel, kBatches, kNumbers);
  if (largest < 1 << 17) return tasks;
  // So large that its columns are made in parts, three in fp32 and two in bf16, the last one smaller.
  for (const Precision precision : {Precision::fp32, Precision::bf16}) {
    const LayerKernels large = conv2d_layer(square_conv2d(48, 3, 3, 1, 224), precision);
    for (const Kernel* part : large.parts()) add(*part, std::array<std::int64_t, 1>{8}, std::array{Input::normal});
  }
  return tasks;
}

/// The findings of all tasks, added by several threads.
class Findings {
 public:
  /// A line about a kernel; `wrong` describes its error.
  void add(const Kernel& kernel, const std::optional<std::string>& wrong, int checks) {
    const std::lock_guard lock(mutex_);
    checks_ += checks;
    if (wrong) ++wrong_;
    std::printf("%s %s\n", wrong ? "WRONG" : "ok   ", wrong ? wrong->c_str() : kernel.described().c_str());
    std::fflush(stdout);
  }
  void add_none(const Kernel& kernel) {
    const std::lock_guard lock(mutex_);
    std::printf("none  %s: a library that it needs was not found\n", kernel.name().c_str());
  }
  int report(std::uint64_t seed) const {
    std::printf("%d checks, %d kernels wrong, seed %llu\n", checks_, wrong_, static_cast<unsigned long long>(seed));
    return wrong_ == 0 ? 0 : 1;
  }

 private:
  std::mutex mutex_;
  int checks_ = 0, wrong_ = 0;
};

/// Checks every size and input, and reports the first that differs.
void check(const Context& context, const Task& task, std::uint64_t seed, Findings& findings) {
  if (!has_launch(task.kernel.name())) return findings.add_none(task.kernel);
  std::optional<std::string> first;
  int checks = 0;
  try {
    for (const std::int64_t n : task.sizes)
      for (const Input input : task.inputs)
        if (const auto found =
                check_kernel(context, task.kernel, n, input, seed + static_cast<std::uint64_t>(++checks));
            found && !first)
          first = found;
  } catch (const std::exception& error) {
    // A lost device fails all threads: each reports the kernel it was checking.
    findings.add(task.kernel, error.what(), checks);
    throw;
  }
  findings.add(task.kernel, first, checks);
}

/// The references take most of the time, so several threads share the tasks, each with a stream of its own.
int check_all(std::int64_t largest, std::uint64_t seed) {
  const std::vector<Task> tasks = list_tasks(largest);
  Findings findings;
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    const Context context;
    for (std::size_t i = next++; i < tasks.size(); i = next++) check(context, tasks[i], seed + 1000 * i, findings);
  };
  std::vector<std::future<void>> threads;
  for (unsigned i = 0; i < std::clamp(std::thread::hardware_concurrency(), 1U, kMostThreads); ++i)
    threads.push_back(std::async(std::launch::async, work));
  for (std::future<void>& thread : threads) thread.get();
  return findings.report(seed);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (!has_device()) return skip();
    return check_all(argc > 1 ? std::stoll(argv[1]) : 1 << 20,
                     argc > 2 ? std::stoull(argv[2]) : std::random_device{}());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "stepcast_kernel_check: %s\n", error.what());
    return 1;
  }
}
