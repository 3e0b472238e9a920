// Collectives as rounds of messages.
//
// A collective moves a buffer of n bytes, cut into `blocks` equal blocks, among p
// participants with ranks 0..p-1. It proceeds in rounds. All messages of a round may
// start together. A round starts when every participant has finished the round before.
// When a reducing message arrives, its receiver adds the data to its own buffer.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "models/part/host_costs.hpp"

namespace stepcast {

/// `count` blocks, starting at `first`, with distance `stride`, modulo the number of blocks.
struct Slice {
  int first = 0;
  int count = 0;
  int stride = 1;
};

struct Message {
  int from = 0;
  int to = 0;
  Slice slice;
  bool reduce = false;  ///< the receiver adds the slice to its own; otherwise it overwrites its own
  /// Switches add up all such messages of the round that carry the same slice; each receiver gets the sum.
  bool in_network = false;
};

using Round = std::vector<Message>;

/// The load of a round's busiest participants.
struct RoundLoad {
  SecondsPerByte copies{};  ///< time to copy what one participant sends or receives, for each byte of a block
  double largest = 0.0;     ///< blocks of the largest message
  double reduced = 0.0;     ///< the most blocks that one participant adds
  bool in_network = false;  ///< whether switches add the messages up
};
RoundLoad load_of(const Round& round, const HostCosts& costs);
/// By rank: the time to copy what it sends, or what it receives if that is longer, for each byte of a block.
std::vector<SecondsPerByte> copies_by_rank(const Round& round, const HostCosts& costs);

/// The rounds of one collective, generated one at a time: a ring among p participants has p·2(p-1) messages.
struct Schedule {
  int participants = 1;
  int blocks = 1;
  int rounds = 0;
  std::function<Round(int)> round;  ///< r in [0, rounds)
  /// For r in [0, rounds): an equal round with number r or less. Its messages, in order, have the same ends, number of
  /// blocks and kind. Only the block numbers differ, so both rounds take the same time. Empty: every round is
  /// different.
  std::function<int(int)> like = {};
  /// Whether all rounds have the same number of messages, even if the messages differ.
  bool is_even = false;
  /// For r in [0, rounds): whether its messages go around rings. They may then wait for their ring's mean latency
  /// (ring_latencies.hpp). With SimGrid's TCP they do not: its links keep their latencies. Empty: no round does.
  std::function<bool(int)> around = {};
  /// For r in [0, rounds) of a pipeline: a number for the ends and sizes of its messages, in order. Calls that differ
  /// in their number of segments alone have equal messages where they have equal numbers. Empty: nothing is known.
  std::function<std::int64_t(int)> stages = {};

  [[nodiscard]] int like_round(int r) const { return like ? like(r) : r; }
  [[nodiscard]] bool goes_around(int r) const { return around && around(r); }
};

/// A value for `around`.
inline bool every_round(int /*r*/) { return true; }

/// A set of equal rounds.
struct LikeRounds {
  int first = 0;  ///< number of the first of them
  int times = 1;  ///< how many there are
};
/// All rounds with equal ones combined, in order of their first round.
std::vector<LikeRounds> unlike_rounds(const Schedule& schedule);

/// The messages of all rounds. Among rounds with equal counts, only the first is generated.
std::int64_t message_count(const Schedule& schedule);

/// Largest k with 2^k <= p, for p >= 1.
constexpr int floor_log2(int p) {
  int k = 0;
  while (p >>= 1) ++k;
  return k;
}
/// Smallest k with 2^k >= p, for p >= 1.
constexpr int ceil_log2(int p) { return p <= 1 ? 0 : floor_log2(p - 1) + 1; }

}  // namespace stepcast
