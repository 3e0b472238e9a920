// Divides a global batch among the workers.
#pragma once

#include <cstdint>
#include <optional>

namespace stepcast {

/// A worker's step: `accumulation` passes with `batch` samples each.
struct Passes {
  int batch = 1, accumulation = 1;
  bool operator==(const Passes&) const = default;
};

/// A worker's share of `samples`: the smallest number of equal passes, at least `limits.accumulation`, with at most
/// `limits.batch` samples each. Returns nothing if the workers do not divide the samples, or if the number of passes
/// would exceed kMostAccumulation.
std::optional<Passes> share_out(std::int64_t samples, int workers, const Passes& limits);

}  // namespace stepcast
