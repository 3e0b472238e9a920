#include "models/workload/global_batch.hpp"

#include <algorithm>

#include "models/part/workload_table.hpp"

namespace stepcast {

std::optional<Passes> share_out(std::int64_t samples, int workers, const Passes& limits) {
  if (samples % workers != 0) return {};
  const std::int64_t share = samples / workers;
  const std::int64_t fewest = std::max<std::int64_t>(limits.accumulation, (share + limits.batch - 1) / limits.batch);
  for (std::int64_t passes = fewest; passes <= std::min<std::int64_t>(share, kMostAccumulation); ++passes)
    if (share % passes == 0) return Passes{static_cast<int>(share / passes), static_cast<int>(passes)};
  return {};
}

}  // namespace stepcast
