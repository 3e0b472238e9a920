// A block's threads: who can go on, and who waits where for whom.
#pragma once

#include <bit>
#include <random>

#include "tests/emulator/fiber.hpp"
#include "tests/emulator/shared_memory.hpp"

namespace stepcast::emulator {

/// Numbers below `count` as order() has them.
std::vector<unsigned> arranged(std::size_t count, std::minstd_rand& random);

class Block {
 public:
  Block(const dim3& size, std::minstd_rand& random);
  /// The block of that index, all threads at the kernel's begin.
  void begin(const uint3& index, std::minstd_rand& random);

  [[nodiscard]] const uint3& index() const { return index_; }
  [[nodiscard]] const uint3& thread_index(unsigned thread) const { return indices_[thread]; }
  [[nodiscard]] bool ended() const { return ended_ == threads_.size(); }
  [[nodiscard]] bool at_grid_barrier() const { return at_grid_ == threads_.size(); }
  /// Null: the thread has not begun, or has ended.
  Fiber*& fiber(unsigned thread) { return threads_[thread].fiber; }
  SharedMemory& shared() { return shared_; }

  /// The first one that can go on, which then is taken to run.
  std::optional<unsigned> take_next() {
    for (std::size_t word = 0; word < able_.size(); ++word) {
      if (able_[word] == 0) continue;
      const unsigned thread = thread_of_rank_[64 * word + static_cast<unsigned>(std::countr_zero(able_[word]))];
      able_[word] &= able_[word] - 1;
      return thread;
    }
    return std::nullopt;
  }
  void allow(unsigned thread) {
    threads_[thread].state = State::able;
    able_[rank_of_thread_[thread] / 64] |= std::uint64_t{1} << rank_of_thread_[thread] % 64;
  }
  void end(unsigned thread) {
    threads_[thread].state = State::ended;
    threads_[thread].fiber = nullptr;
    ++ended_;
  }

  // The thread that runs now waits. All go on, in their order, when the last one has come.

  /// The error, if others wait at another barrier.
  std::optional<std::string> wait_for_block(unsigned thread, Place where);
  void wait_for_grid(unsigned thread, Place where);
  void leave_grid_barrier();
  /// The error, if the mask lacks the lane itself.
  std::optional<std::string> wait_for_lanes(unsigned thread, std::uint32_t mask, std::uint64_t value, Place where);
  [[nodiscard]] const Lanes& received(unsigned thread) const { return warps_[thread / 32].received; }

  /// Describes a block none of whose threads can go on: one that waits, and one that it waits for.
  [[nodiscard]] std::string describe_stuck() const;

 private:
  enum class State { able, at_block, at_grid, in_warp, ended };
  struct Thread {
    State state = State::able;
    Place where{"", 0};  ///< it waits
    Fiber* fiber = nullptr;
  };
  /// Lanes that wait for the others of their mask.
  struct Meeting {
    Place where;
    std::uint32_t mask, arrived;
  };
  struct Warp {
    std::vector<Meeting> meetings;
    Lanes sent{}, received{};
  };

  void rank(std::minstd_rand& random);
  void wait(unsigned thread, State state, Place where);
  [[nodiscard]] std::string describe(unsigned thread) const;

  std::vector<uint3> indices_;
  std::vector<Thread> threads_;
  std::vector<Warp> warps_;
  std::vector<unsigned> thread_of_rank_, rank_of_thread_;
  std::vector<std::uint64_t> able_;  ///< a bit for each rank
  SharedMemory shared_;
  uint3 index_{};
  std::size_t ended_ = 0, at_block_ = 0, at_grid_ = 0;
};

}  // namespace stepcast::emulator
