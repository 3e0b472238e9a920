// How far a calibration is, on standard error: one live line on a terminal, one line a minute elsewhere.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace stepcast::calibrate {

/// "120 of 500 measured, 4 min left: quantize/qsgd"; no time before one is measured.
/// @param seconds  that `done - begun` of them took
std::string progress_text(std::size_t done, std::size_t begun, std::size_t all, double seconds, const std::string& now);

class Progress {
 public:
  /// @param begun  measurements that were there from the start and say nothing about the rate
  Progress(std::size_t begun, std::size_t all);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void show(std::size_t done, const std::string& now);
  /// A line of its own that stays.
  void note(const std::string& text);
  /// Takes the live line away, so that another message can be written.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  std::size_t begun_, all_;
  bool is_terminal_, is_shown_ = false, has_begun_ = false;
  Clock::time_point start_ = Clock::now(), last_ = start_;
};

}  // namespace stepcast::calibrate
