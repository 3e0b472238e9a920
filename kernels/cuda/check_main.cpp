// Every CUDA kernel against its CPU reference, on fresh random input. Needs no test framework, so that it also builds on
// a bare GPU node.
//
//     stepcast_kernel_check [LARGEST] [SEED]     vectors of up to LARGEST elements (default 2^20), layers of small shapes
#include <algorithm>
#include <cstdio>
#include <exception>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/cudnn.hpp"
#include "kernels/layers.hpp"

using namespace stepcast::kernels;

namespace {

/// Around a warp, a group of four, a bucket and a tile; primes; powers of two.
constexpr std::int64_t kSizes[] = {1, 2, 3, 4, 5, 31, 32, 33, 127, 513, 4095, 4096, 4097, 65537, 99991, 1000003, 1 << 20, 1 << 24};
/// Batches of a layer's shape, which has its own odd sizes; an update's n is a number of parameters.
constexpr std::int64_t kBatches[] = {1, 2, 3, 7};
/// Products are defined on numbers: whether a zero of the padding meets an infinity, and whether denormals are kept, is
/// the libraries'.
constexpr Input kNumbers[] = {Input::normal, Input::zeros};

class Checker {
 public:
  Checker(std::int64_t largest, std::uint64_t seed) : largest_(largest), seed_(seed) {}

  /// On each size and input; a line about the kernel, with what is wrong first.
  template <class Sizes, class Inputs>
  void check(const Kernel& kernel, const Sizes& sizes, const Inputs& inputs) {
    if (!has_launch(kernel.name())) {
      std::printf("none  %s: a library that it needs was not found\n", kernel.name().c_str());
      return;
    }
    std::optional<std::string> first;
    for (const std::int64_t n : sizes) {
      if (n > largest_ || n > kernel.largest) continue;
      for (const Input input : inputs) {
        ++checks_;
        if (const auto found = check_kernel(context_, kernel, n, input, seed_ + static_cast<std::uint64_t>(checks_)); found && !first) first = found;
      }
    }
    if (first) ++wrong_;
    std::printf("%s %s\n", first ? "WRONG" : "ok   ", first ? first->c_str() : kernel.described().c_str());
  }

  int report() const {
    std::printf("%d checks, %d kernels wrong, seed %llu\n", checks_, wrong_, static_cast<unsigned long long>(seed_));
    return wrong_ == 0 ? 0 : 1;
  }

 private:
  const Context context_;
  std::int64_t largest_;
  std::uint64_t seed_;
  int wrong_ = 0, checks_ = 0;
};

int check_all(std::int64_t largest, std::uint64_t seed) {
  Checker checker(largest, seed);
  for (const Kernel& kernel : compressor_kernels()) checker.check(kernel, kSizes, kInputs);
  for (const Kernel& kernel : block_layer_kernels()) {
    if (kernel.pass.ends_with("-update")) checker.check(kernel, kSizes, kInputs);
    else checker.check(kernel, kBatches, kInputs);
  }
  for (const Kernel& kernel : product_layer_kernels()) checker.check(kernel, kBatches, kNumbers);
  if (has_cudnn())
    for (const Kernel& kernel : cudnn_layer_kernels()) checker.check(kernel, kBatches, kNumbers);
  // So large that its columns are made in parts, three in fp32 and two in bf16, the last one smaller.
  for (const Precision precision : {Precision::fp32, Precision::bf16}) {
    const LayerKernels large = conv2d_layer({.in = 48, .out = 3, .kernel_height = 3, .kernel_width = 3, .stride = 1, .padding_height = 1, .padding_width = 1, .groups = 1, .height = 224, .width = 224}, precision);
    for (const Kernel* part : large.parts()) checker.check(*part, std::vector<std::int64_t>{8}, std::vector<Input>{Input::normal});
  }
  return checker.report();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (!has_device()) return skip();
    return check_all(argc > 1 ? std::stoll(argv[1]) : 1 << 20, argc > 2 ? std::stoull(argv[2]) : std::random_device{}());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "stepcast_kernel_check: %s\n", error.what());
    return 1;
  }
}
