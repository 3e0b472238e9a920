#include "tests/emulator/block.hpp"

#include <bit>
#include <numeric>

namespace stepcast::emulator {

std::vector<unsigned> arranged(std::size_t count, std::minstd_rand& random) {
  std::vector<unsigned> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0U);
  if (order() == Order::last_to_first) std::reverse(numbers.begin(), numbers.end());
  if (order() == Order::shuffled) std::shuffle(numbers.begin(), numbers.end(), random);
  return numbers;
}

Block::Block(const dim3& size, std::minstd_rand& random) {
  for (unsigned z = 0; z < size.z; ++z)
    for (unsigned y = 0; y < size.y; ++y)
      for (unsigned x = 0; x < size.x; ++x) indices_.push_back({x, y, z});
  threads_.resize(indices_.size());
  warps_.resize((threads_.size() + 31) / 32);
  able_.resize((threads_.size() + 63) / 64);
  rank(random);
}

void Block::rank(std::minstd_rand& random) {
  thread_of_rank_ = arranged(threads_.size(), random);
  rank_of_thread_.resize(threads_.size());
  for (unsigned i = 0; i < threads_.size(); ++i) rank_of_thread_[thread_of_rank_[i]] = i;
}

void Block::begin(const uint3& index, std::minstd_rand& random) {
  index_ = index;
  if (order() == Order::shuffled) rank(random);
  for (unsigned i = 0; i < threads_.size(); ++i) allow(i);
  shared_.begin();
  ended_ = at_block_ = at_grid_ = 0;
}

void Block::wait(unsigned thread, State state, Place where) {
  threads_[thread].state = state;
  threads_[thread].where = where;
}

std::optional<std::string> Block::wait_for_block(unsigned thread, Place where) {
  wait(thread, State::at_block, where);
  if (++at_block_ < threads_.size()) return std::nullopt;
  for (unsigned other = 0; other < threads_.size(); ++other)
    if (!(threads_[other].where == where)) return "barriers that differ: " + describe(thread) + "; " + describe(other);
  at_block_ = 0;
  for (unsigned i = 0; i < threads_.size(); ++i) allow(i);
  return std::nullopt;
}

void Block::wait_for_grid(unsigned thread, Place where) {
  wait(thread, State::at_grid, where);
  ++at_grid_;
}

void Block::leave_grid_barrier() {
  at_grid_ = 0;
  for (unsigned i = 0; i < threads_.size(); ++i) allow(i);
}

std::optional<std::string> Block::wait_for_lanes(unsigned thread, std::uint32_t mask, std::uint64_t value,
                                                 Place where) {
  Warp& warp = warps_[thread / 32];
  const unsigned lane = thread % 32;
  wait(thread, State::in_warp, where);
  if ((mask >> lane & 1U) == 0) return "a mask without the lane that gives it: " + describe(thread);
  warp.sent[lane] = value;
  auto meeting = std::find_if(warp.meetings.begin(), warp.meetings.end(),
                              [&](const Meeting& m) { return m.mask == mask && m.where == where; });
  if (meeting == warp.meetings.end()) meeting = warp.meetings.insert(meeting, {where, mask, 0});
  meeting->arrived |= 1U << lane;
  if (meeting->arrived != mask) return std::nullopt;
  warp.meetings.erase(meeting);
  for (unsigned other = 0; other < 32; ++other) {
    if ((mask >> other & 1U) == 0) continue;
    warp.received[other] = warp.sent[other];
    allow(thread - lane + other);
  }
  return std::nullopt;
}

std::string Block::describe(unsigned thread) const {
  if (thread >= threads_.size()) return "lane " + std::to_string(thread % 32) + " does not exist";
  const auto& [x, y, z] = indices_[thread];
  const Place& place = threads_[thread].where;
  const std::string name = "thread (" + std::to_string(x) + ", " + std::to_string(y) + ", " + std::to_string(z) + ")";
  const auto waits = [&](const char* where) {
    return name + " waits " + where + " at " + place.file + ":" + std::to_string(place.line);
  };
  switch (threads_[thread].state) {
    case State::at_block: return waits("for its block");
    case State::at_grid: return waits("for the grid");
    case State::in_warp: return waits("for lanes of its warp");
    case State::ended: return name + " has ended";
    case State::able: break;
  }
  return name + " can go on";
}

std::string Block::describe_stuck() const {
  for (unsigned w = 0; w < warps_.size(); ++w)
    for (const Meeting& meeting : warps_[w].meetings) {
      const auto lane = [&](std::uint32_t lanes) { return 32 * w + static_cast<unsigned>(std::countr_zero(lanes)); };
      return describe(lane(meeting.arrived)) + "; " + describe(lane(meeting.mask & ~meeting.arrived));
    }
  const auto first_not = [&](State state) {
    return std::find_if(threads_.begin(), threads_.end(), [&](const Thread& thread) { return thread.state != state; });
  };
  const auto waiting = first_not(State::ended), other = first_not(waiting->state);
  return describe(static_cast<unsigned>(waiting - threads_.begin())) +
         (other == threads_.end() ? "" : "; " + describe(static_cast<unsigned>(other - threads_.begin())));
}

}  // namespace stepcast::emulator
