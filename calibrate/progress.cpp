#include "calibrate/progress.hpp"

#include <cmath>
#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>

namespace stepcast::calibrate {
namespace {

std::string duration_text(double seconds) {
  const auto s = static_cast<long long>(std::ceil(seconds));
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{} min {} s", s / 60, s % 60);
  return fmt::format("{} h {} min", s / 3600, s / 60 % 60);
}

}  // namespace

std::string progress_text(std::size_t done, std::size_t begun, std::size_t all, double seconds, const std::string& now) {
  std::string text = fmt::format("{} of {} measured", done, all);
  if (done > begun) text += fmt::format(", {} left", duration_text(seconds * static_cast<double>(all - done) / static_cast<double>(done - begun)));
  return now.empty() ? text : text + ": " + now;
}

Progress::Progress(std::size_t begun, std::size_t all) : begun_(begun), all_(all), is_terminal_(::isatty(STDERR_FILENO) == 1) {}

void Progress::show(std::size_t done, const std::string& now) {
  const auto time = Clock::now();
  if (!is_terminal_ && has_begun_ && time - last_ < std::chrono::minutes(1)) return;
  has_begun_ = true;
  last_ = time;
  const std::string text = progress_text(done, begun_, all_, std::chrono::duration<double>(time - start_).count(), now);
  if (is_terminal_) fmt::print(stderr, "\r\x1b[K{}", text);
  else fmt::print(stderr, "stepcast-calibrate: {}\n", text);
  is_shown_ = is_terminal_;
}

void Progress::note(const std::string& text) {
  clear();
  fmt::print(stderr, "stepcast-calibrate: {}\n", text);
}

void Progress::clear() {
  if (is_shown_) fmt::print(stderr, "\r\x1b[K");
  is_shown_ = false;
}

}  // namespace stepcast::calibrate
