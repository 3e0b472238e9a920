#include "program/progress.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "models/unit/format.hpp"
#include "program/streams.hpp"

namespace stepcast {
namespace {

std::string bar(std::size_t done, std::size_t all) {
  constexpr std::size_t kWidth = 20;
  const std::size_t full = all == 0 ? 0 : std::min(kWidth, kWidth * done / all);
  return fmt::format("[{:<{}}]", std::string(full, '#'), kWidth);
}

}  // namespace

std::string progress_text(std::size_t done, std::size_t all, std::size_t begun, double seconds,
                          const std::string& unit) {
  std::string text = fmt::format("{} of {} {}", done, all, unit);
  if (done <= begun || seconds <= 0 || done >= all) return text;
  const double each = seconds / static_cast<double>(done - begun);
  return text + fmt::format(", {} left", duration_text(Seconds(each * static_cast<double>(all - done))));
}

Progress::Progress(std::string program) : program_(std::move(program)), is_terminal_(::isatty(STDERR_FILENO) == 1) {}

void Progress::show(std::size_t done, std::size_t all, const std::string& unit, const std::string& detail) {
  const auto now = Clock::now();
  if (!has_begun_) {
    has_begun_ = true;
    begun_ = done;
    start_ = last_ = now;
  }
  if (!is_terminal_ && now - last_ < std::chrono::minutes(1)) return;
  last_ = now;
  std::string text = progress_text(done, all, begun_, std::chrono::duration<double>(now - start_).count(), unit);
  if (!detail.empty()) text += ", " + detail;
  if (is_terminal_) tell("\r\x1b[K{} {}", bar(done, all), text);
  else tell("{}: {}\n", program_, text);
  is_shown_ = is_terminal_;
}

void Progress::note(const std::string& text) {
  clear();
  tell("{}: {}\n", program_, text);
}

void Progress::clear() {
  if (is_shown_) tell("\r\x1b[K");
  is_shown_ = false;
}

}  // namespace stepcast
