// Parts of message sets, and their order by priority (ByteScheduler, Peng et al., SOSP 2019; P3, Jayarajan et al.,
// SysML 2019).
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "models/workload/workload.hpp"

namespace stepcast {

/// A message set that is exchanged by itself: a bucket, or one of its equal parts.
struct BucketPart {
  std::size_t bucket = 0;
  Bytes bytes{};
  int of = 1;  ///< the bucket's number of parts
};

/// Cuts each bucket of n bytes into ceil(n / partition) equal parts, in the order of the buckets; without partition,
/// each is one part.
std::vector<BucketPart> parts_of(const std::vector<Bucket>& buckets, const std::optional<Bytes>& partition = {});

/// Whether part i is its bucket's first. The others are equal to it.
inline bool begins_bucket(const std::vector<BucketPart>& parts, std::size_t i) {
  return i == 0 || parts[i].bucket != parts[i - 1].bucket;
}

/// A piece of work for one link.
struct Turn {
  Seconds ready{};           ///< from this time on it may begin
  Seconds time{};            ///< that it takes
  std::size_t priority = 0;  ///< higher ones go first
};

/// The order of a link that is never idle while some turn is ready. It takes the ready turn of the highest priority, the
/// first among equals, and never interrupts one.
/// @param then  given a turn's number and end, the turn that becomes possible, if any; it gets the next number
std::vector<std::size_t> order_by_priority(
    std::vector<Turn> turns, const std::function<std::optional<Turn>(std::size_t turn, Seconds end)>& then = {});

}  // namespace stepcast
