#include "models/strategy/fragments.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace stepcast {
namespace {

/// The fragment of a bucket between bytes `begin` and `end` of all, by its middle.
int number_at(Bytes begin, Bytes end, Bytes all, int fragments) {
  return static_cast<int>(std::min(fragments - 1.0, std::floor((begin + end) / (all * 2.0) * fragments)));
}

int due_of(int number, const LocalSgdStrategy& strategy) {
  const std::int64_t steps = (std::int64_t{number} + 1) * strategy.steps;
  return static_cast<int>((steps + strategy.fragments - 1) / strategy.fragments);
}

}  // namespace

std::vector<Fragment> fragments_of(const LocalSgdStrategy& strategy, const Workload& workload) {
  const bool whole = strategy.grouping == Grouping::whole_model;
  // The first bucket has the full size, since no bucket can start early.
  const Exchange exchange{.grouping = whole && strategy.fragments > 1 ? Grouping::per_tensor : strategy.grouping,
                          .bucket_cap = strategy.bucket_cap,
                          .first_bucket = {strategy.bucket_cap}};
  std::vector<Fragment> fragments;
  Bytes before{};
  for (const Bucket& bucket : make_buckets(workload, exchange)) {
    const int number = number_at(before, before + bucket.bytes, workload.gradient_bytes, strategy.fragments);
    before += bucket.bytes;
    if (fragments.empty() || fragments.back().number != number)
      fragments.push_back({number, due_of(number, strategy), {}, {}});
    Fragment& fragment = fragments.back();
    fragment.bytes += bucket.bytes;
    if (whole && !fragment.buckets.empty()) {
      Bucket& all = fragment.buckets.back();
      all.last = bucket.last;
      all.bytes += bucket.bytes;
      all.gap += bucket.gap;
    } else {
      fragment.buckets.push_back(bucket);
    }
  }
  return fragments;
}

Bytes most_in_flight(const LocalSgdStrategy& strategy, const Workload& workload) {
  const std::vector<Fragment> fragments = fragments_of(strategy, workload);
  Bytes most{};
  // The sum is largest just after a fragment was sent. One that is used then is gone.
  for (const Fragment& sent : fragments) {
    Bytes sum{};
    for (const Fragment& other : fragments) {
      const int since = (sent.due - other.due + strategy.steps) % strategy.steps;
      if (since < strategy.averaging_steps) sum += other.bytes;
    }
    most = std::max(most, sum);
  }
  return most;
}

}  // namespace stepcast
