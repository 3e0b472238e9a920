// Fingerprints of multisets.
#pragma once

#include <compare>
#include <cstdint>
#include <initializer_list>

#include "models/collective/schedule.hpp"

namespace stepcast {

/// SplitMix64's finaliser (Steele, Lea and Flood 2014): neighbouring inputs give unrelated outputs.
constexpr std::uint64_t mix_bits(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// Bits that depend on all the numbers and on their order.
constexpr std::uint64_t mix_all(std::initializer_list<std::int64_t> numbers) {
  std::uint64_t state = 0;
  for (const std::int64_t number : numbers) state = mix_bits(state ^ static_cast<std::uint64_t>(number));
  return state;
}

/// A 128-bit fingerprint of a multiset of pairs of numbers, as a sum of hashes. Among a billion multisets, two
/// different ones are equal with a chance below 1e-20.
struct Fingerprint {
  std::uint64_t low = 0, high = 0;

  constexpr void add(std::uint64_t a, std::uint64_t b) {
    const std::uint64_t hash = mix_bits(a ^ mix_bits(b));
    low += hash;
    high += mix_bits(~hash ^ b);
  }
  bool operator==(const Fingerprint&) const = default;
  auto operator<=>(const Fingerprint&) const = default;
};

/// Rounds with the same messages take the same time. The blocks in them and the additions do not matter.
/// @param goes_around  the round's value of Schedule::goes_around
inline Fingerprint fingerprint_of(const Round& round, bool goes_around) {
  Fingerprint messages;
  messages.add(goes_around ? 1 : 0, round.size());
  for (const Message& m : round)
    messages.add(static_cast<std::uint64_t>(m.from) << 32 | static_cast<std::uint32_t>(m.to),
                 static_cast<std::uint64_t>(m.slice.count));
  return messages;
}

}  // namespace stepcast
