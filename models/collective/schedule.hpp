// Collectives as rounds of messages.
//
// A collective moves a buffer of n bytes, cut into `blocks` equal blocks, among p participants of ranks
// 0..p-1. It proceeds in rounds: all messages of a round may start together, and a round starts when every
// participant has finished the one before. After a round's messages have arrived, each receiver of a
// reducing message adds what it received into its own buffer.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace stepcast {

/// `count` blocks, every `stride`-th from `first` on, modulo the number of blocks.
struct Slice {
  int first = 0;
  int count = 0;
  int stride = 1;
};

struct Message {
  int from = 0;
  int to = 0;
  Slice slice;
  bool reduce = false;  ///< the receiver adds the slice to its own; otherwise it replaces its own
};

using Round = std::vector<Message>;

/// What a round asks of its busiest participants, in blocks.
struct RoundLoad {
  double copied = 0.0;   ///< the most that one sends, or receives
  double reduced = 0.0;  ///< the most that one adds up
};
RoundLoad load_of(const Round& round, int participants);

/// The rounds of one collective. Generated one at a time: a ring among p participants has p·2(p-1) messages.
struct Schedule {
  int participants = 1;
  int blocks = 1;
  int rounds = 0;
  std::function<Round(int)> round;  ///< of r in [0, rounds)
  /// Of r in [0, rounds): a round up to r whose messages, in their order, have the same ends, as many blocks and
  /// the same kind. Only which blocks they carry differs, so both take the same time. Empty: every round is its
  /// own.
  std::function<int(int)> like = {};
  /// Whether all rounds have as many messages, though they are not alike.
  bool is_even = false;
  /// Of r in [0, rounds): whether its messages go around rings, and so may wait for the mean of the latencies on theirs
  /// (ring_latencies.hpp), but with SimGrid's TCP, whose links keep theirs. Empty: none do.
  std::function<bool(int)> around = {};

  [[nodiscard]] int like_round(int r) const { return like ? like(r) : r; }
  [[nodiscard]] bool goes_around(int r) const { return around && around(r); }
};

/// For `around`.
inline bool every_round(int /*r*/) { return true; }

/// Rounds that are alike.
struct LikeRounds {
  int first = 0;  ///< number of the first of them
  int times = 1;  ///< how many they are
};
/// All rounds, those that are alike together, in order of the first of them.
std::vector<LikeRounds> unlike_rounds(const Schedule& schedule);

/// Messages of all rounds. Of rounds that have as many, only the first is made.
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
