// Every CUDA kernel against its CPU reference, on fresh random input. Needs no test framework, so that it also builds on
// a bare GPU node.
//
//     stepcast_kernel_check [LARGEST] [SEED]     sizes up to LARGEST elements (default 2^20)
//
// Exit code 77 where there is no GPU, or 1 with REQUIRE_GPU=1 in the environment.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <random>
#include <string>

#include "kernels/cuda/check.hpp"

using namespace stepcast::kernels;

namespace {

int check_all(std::int64_t largest, std::uint64_t seed) {
  const Context context;
  int wrong = 0, checks = 0;
  for (const Kernel& kernel : compressor_kernels()) {
    if (!has_launch(kernel.name())) {
      std::printf("none  %s: a library that it needs was not found\n", kernel.name().c_str());
      continue;
    }
    std::optional<std::string> first;
    // Around a warp, a group of four, a bucket and a tile; primes; powers of two.
    for (const std::int64_t n : {1, 2, 3, 4, 5, 31, 32, 33, 127, 513, 4095, 4096, 4097, 65537, 99991, 1000003, 1 << 20, 1 << 24}) {
      if (n > largest || n > kernel.largest) continue;
      for (const Input input : kInputs) {
        ++checks;
        if (const auto found = check_kernel(context, kernel, n, input, seed + static_cast<std::uint64_t>(checks)); found && !first) first = found;
      }
    }
    if (first) ++wrong;
    std::printf("%s %s\n", first ? "WRONG" : "ok   ", first ? first->c_str() : kernel.name().c_str());
  }
  std::printf("%d checks, %d kernels wrong, seed %llu\n", checks, wrong, static_cast<unsigned long long>(seed));
  return wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (!has_device()) {
      const char* required = std::getenv("REQUIRE_GPU");
      const bool fail = required != nullptr && std::string(required) == "1";
      std::printf("no CUDA device%s\n", fail ? ", and REQUIRE_GPU=1" : ": skipped");
      return fail ? 1 : 77;
    }
    return check_all(argc > 1 ? std::stoll(argv[1]) : 1 << 20, argc > 2 ? std::stoull(argv[2]) : std::random_device{}());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "stepcast_kernel_check: %s\n", error.what());
    return 1;
  }
}
