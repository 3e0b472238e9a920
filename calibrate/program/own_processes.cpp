#include "calibrate/program/own_processes.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calibrate/calibration_error.hpp"

namespace stepcast::calibrate {
namespace {

volatile std::sig_atomic_t stop = 0;  // the only thing that a signal handler may set

extern "C" void ask_to_stop(int) { stop = 1; }

}  // namespace

void catch_stop_signals() {
  struct sigaction action {};
  action.sa_handler = ask_to_stop;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

bool stop_requested() { return stop != 0; }

int run_self(const std::vector<std::string>& arguments) {
  std::vector<char*> argv = {const_cast<char*>("stepcast-calibrate")};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  pid_t child = 0;
  if (const int code = ::posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, argv.data(), environ); code != 0)
    throw CalibrationError(fmt::format("cannot start a process: {}", std::strerror(code)));
  bool passed_on = false;
  for (;;) {
    if (stop_requested() && !passed_on) {
      ::kill(child, SIGTERM);
      passed_on = true;
    }
    int status = 0;
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == 0) {
      // Waiting without end could miss a wish that comes just before.
      ::usleep(20'000);
      continue;
    }
    if (ended < 0 && errno == EINTR) continue;
    if (ended < 0) throw CalibrationError(fmt::format("cannot wait for a process: {}", std::strerror(errno)));
    if (WIFSIGNALED(status))
      throw CalibrationError(fmt::format(
          "a process start was ended by signal {} ({}); the measurements are kept, and the same command continues "
          "from there",
          WTERMSIG(status), strsignal(WTERMSIG(status))));
    return WEXITSTATUS(status);
  }
}

}  // namespace stepcast::calibrate
