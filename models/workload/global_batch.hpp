// A batch of all workers, shared out among them.
#pragma once

#include <cstdint>
#include <optional>

namespace stepcast {

/// A worker's step: so many passes of so many samples.
struct Passes {
  int batch = 1, accumulation = 1;
  bool operator==(const Passes&) const = default;
};

/// A worker's share of `samples`: the least number of equal passes, `limits.accumulation` of them or more, of at most
/// `limits.batch` samples each. Nothing where workers do not divide the samples, or no such number of passes is at most
/// kMostAccumulation.
std::optional<Passes> share_out(std::int64_t samples, int workers, const Passes& limits);

}  // namespace stepcast
