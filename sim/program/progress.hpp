// The progress of a long run on standard error: one live line on a terminal, one line a minute elsewhere.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace stepcast {

/// Returns "1200 of 5000 points, 40.0 points/s, 1 min 35 s left, 2 failed". Leaves out the rate until one is known.
/// @param begun    points that were there from the start and do not count for the rate
/// @param seconds  since the start
std::string progress_text(std::size_t done, std::size_t all, std::size_t failed, std::size_t begun, double seconds);

class Progress {
 public:
  Progress();
  void show(std::size_t done, std::size_t all, std::size_t failed);
  /// Removes the live line, so that another message can be written.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  bool is_terminal_;
  bool is_shown_ = false;
  bool has_begun_ = false;
  std::size_t begun_ = 0;
  Clock::time_point start_ = Clock::now(), last_ = start_;
};

}  // namespace stepcast
