#include "sim/program/progress.hpp"

#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>

#include "models/unit/format.hpp"
#include "program/streams.hpp"

namespace stepcast {

std::string progress_text(std::size_t done, std::size_t all, std::size_t failed, std::size_t begun, double seconds) {
  std::string text = fmt::format("{} of {} points", done, all);
  if (done > begun && seconds > 0) {
    const double rate = static_cast<double>(done - begun) / seconds;
    text +=
        fmt::format(", {:.3g} points/s, {} left", rate, duration_text(Seconds(static_cast<double>(all - done) / rate)));
  }
  if (failed > 0) text += fmt::format(", {} failed", failed);
  return text;
}

Progress::Progress() : is_terminal_(::isatty(STDERR_FILENO) == 1) {}

void Progress::show(std::size_t done, std::size_t all, std::size_t failed) {
  const auto now = Clock::now();
  if (!has_begun_) {
    has_begun_ = true;
    begun_ = done;
    start_ = last_ = now;
  }
  if (!is_terminal_ && now - last_ < std::chrono::minutes(1)) return;
  last_ = now;
  const std::string text =
      progress_text(done, all, failed, begun_, std::chrono::duration<double>(now - start_).count());
  if (is_terminal_) tell("\r\x1b[K{}", text);
  else tell("stepcast: {}\n", text);
  is_shown_ = is_terminal_;
}

void Progress::clear() {
  if (is_shown_) tell("\r\x1b[K");
  is_shown_ = false;
}

}  // namespace stepcast
