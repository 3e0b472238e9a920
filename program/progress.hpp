// How far a long command is, on standard error: a bar on a terminal, one line a minute elsewhere.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace stepcast {

/// "1200 of 5000 points, 1 min 35 s left"; no time before there is a rate.
/// @param begun    those that were there from the start and say nothing about the rate
/// @param seconds  since the start
std::string progress_text(std::size_t done, std::size_t all, std::size_t begun, double seconds,
                          const std::string& unit);

class Progress {
 public:
  /// @param program  whose lines they are
  explicit Progress(std::string program);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// The first call says what was there from the start.
  /// @param detail  follows the time left
  void show(std::size_t done, std::size_t all, const std::string& unit, const std::string& detail = "");
  /// A line of its own that stays.
  void note(const std::string& text);
  /// Takes the bar away, so that another message can be written.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  std::string program_;
  bool is_terminal_;
  bool is_shown_ = false, has_begun_ = false;
  std::size_t begun_ = 0;
  Clock::time_point start_, last_;
};

}  // namespace stepcast
