// Runs the kernels' CPU references on chosen input.
#pragma once

#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "kernels/workspace.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"

namespace stepcast::test {

using namespace stepcast::kernels;

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();
inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
// Around a warp, a group of four, a bucket of 512 and a tile of 4096; primes; a power of two.
inline constexpr std::int64_t kSizes[] = {1, 2, 3, 5, 31, 33, 511, 513, 4097, 99991, 1 << 20};

/// Runs a kernel's reference with its buffer `at` set to x; the workspace then holds the results.
inline Workspace run(const std::string& name, std::int64_t n,
                     const std::vector<std::pair<std::size_t, std::vector<float>>>& inputs, std::uint64_t seed = 1) {
  const Kernel kernel = find_kernel(name);
  Workspace workspace(kernel, n, Input::normal, seed);
  for (const auto& [at, x] : inputs) {
    REQUIRE(workspace.bytes(at) == x.size() * sizeof(float));
    std::memcpy(workspace.data(at), x.data(), workspace.bytes(at));
  }
  kernel.reference(workspace.call());
  return workspace;
}

inline std::vector<float> floats(const Workspace& workspace, std::size_t at) {
  const auto* first = static_cast<const float*>(workspace.data(at));
  return {first, first + workspace.bytes(at) / sizeof(float)};
}

inline std::vector<float> gradient(std::int64_t n, Input input, std::uint64_t seed) {
  return floats(Workspace(find_kernel("sign-pack/signsgd"), n, input, seed), 0);
}

/// Encodes x by `encode` (whose outputs begin at buffer `first`) and decodes the outputs by `decode`.
inline std::vector<float> decoded(const std::string& decode, const Workspace& encoded,
                                  const std::vector<std::size_t>& wire, std::int64_t n) {
  const Kernel kernel = find_kernel(decode);
  Workspace workspace(kernel, n, Input::normal, 1);
  for (std::size_t i = 0; i < wire.size(); ++i) {
    REQUIRE(workspace.bytes(i) == encoded.bytes(wire[i]));
    std::memcpy(workspace.data(i), encoded.data(wire[i]), workspace.bytes(i));
  }
  kernel.reference(workspace.call());
  return floats(workspace, wire.size());
}

inline double norm_of(const std::vector<float>& x) {
  double sum = 0;
  for (const float value : x) sum += static_cast<double>(value) * static_cast<double>(value);
  return std::sqrt(sum);
}

}  // namespace stepcast::test
