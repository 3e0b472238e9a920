// Buffers on the host, filled as a descriptor wants them, and their comparison: for tests, GPU checks and the harness.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/kernel.hpp"

namespace stepcast::kernels {

/// Kinds of elements under test.
/// - non_finite: standard normal, with some NaN, both infinities and both zeros among them.
/// - whole: 1 or -1 in the first buffer, and also 0 in the others. A sum of products then stays below 2^8, which bf16
///   holds exactly. Buffers that are products then have no tolerance, so that one missing product shows.
enum class Input { normal, zeros, denormals, non_finite, whole };
inline constexpr Input kInputs[] = {Input::normal, Input::zeros, Input::denormals, Input::non_finite};
const char* name_of(Input input);

class Workspace {
 public:
  /// @throws std::bad_alloc
  Workspace(const Kernel& kernel, std::int64_t n, Input input, std::uint64_t seed);
  Workspace(Workspace&&) = default;  // a move keeps the buffers in place; a copy's call would point to the original's

  [[nodiscard]] Call call() const { return {n_, pointers_.data(), parameters_.data(), seed_}; }
  [[nodiscard]] const std::vector<Buffer>& buffers() const { return buffers_; }
  [[nodiscard]] std::size_t bytes(std::size_t buffer) const { return storage_[buffer].size(); }
  [[nodiscard]] void* data(std::size_t buffer) const { return pointers_[buffer]; }
  [[nodiscard]] const std::vector<std::int64_t>& parameters() const { return parameters_; }

 private:
  std::int64_t n_;
  std::uint64_t seed_;
  std::vector<std::int64_t> parameters_;
  std::vector<Buffer> buffers_;
  std::vector<std::vector<std::byte>> storage_;
  std::vector<void*> pointers_;
};

/// Whether a buffer of the kernel is a product, so that Input::whole is worth a check.
bool is_exact_on_whole(const Kernel& kernel, std::int64_t n);

/// The first difference between the expected and the computed buffer beyond the tolerance; nothing if there is none.
std::optional<std::string> difference(const Buffer& buffer, const void* expected, const void* got);

}  // namespace stepcast::kernels
