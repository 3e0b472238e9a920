#include "calibrate/calibration_progress.hpp"

#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>

#include "models/unit/format.hpp"
#include "program/streams.hpp"

namespace stepcast::calibrate {

std::string progress_text(std::size_t done, std::size_t begun, std::size_t all, double seconds,
                          const std::string& now) {
  std::string text = fmt::format("{} of {} measured", done, all);
  if (done > begun)
    text += fmt::format(", {} left", duration_text(Seconds(seconds * static_cast<double>(all - done) /
                                                           static_cast<double>(done - begun))));
  return now.empty() ? text : text + ": " + now;
}

Progress::Progress(std::size_t begun, std::size_t all)
    : begun_(begun), all_(all), is_terminal_(::isatty(STDERR_FILENO) == 1) {}

void Progress::show(std::size_t done, const std::string& now) {
  const auto time = Clock::now();
  if (!is_terminal_ && has_begun_ && time - last_ < std::chrono::minutes(1)) return;
  has_begun_ = true;
  last_ = time;
  const std::string text = progress_text(done, begun_, all_, std::chrono::duration<double>(time - start_).count(), now);
  if (is_terminal_) tell("\r\x1b[K{}", text);
  else tell("stepcast-calibrate: {}\n", text);
  is_shown_ = is_terminal_;
}

void Progress::note(const std::string& text) {
  clear();
  tell("stepcast-calibrate: {}\n", text);
}

void Progress::clear() {
  if (is_shown_) tell("\r\x1b[K");
  is_shown_ = false;
}

}  // namespace stepcast::calibrate
