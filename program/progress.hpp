// The progress of a long command on standard error: a bar on a terminal, one line a minute elsewhere.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace stepcast {

/// Returns "1200 of 5000 points, 1 min 35 s left". Leaves out the time until there is a rate.
/// @param begun    those that were there from the start and do not count for the rate
/// @param seconds  since the start
std::string progress_text(std::size_t done, std::size_t all, std::size_t begun, double seconds,
                          const std::string& unit);

class Progress {
 public:
  /// @param program  name at the start of its lines
  explicit Progress(std::string program);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// The first call gives those that were there from the start.
  /// @param detail  text after the time left
  void show(std::size_t done, std::size_t all, const std::string& unit, const std::string& detail = "");
  /// Prints a line that stays.
  void note(const std::string& text);
  /// Removes the bar, so that another message can be written.
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
