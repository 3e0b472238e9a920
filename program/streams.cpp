#include "program/streams.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>

#include <fcntl.h>
#include <unistd.h>

namespace stepcast {

void prepare_streams() {
  std::signal(SIGXFSZ, SIG_IGN);
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) >= 0) continue;
    // The lowest free descriptor is this one. Results that nobody can get are a fault: 0 is not readable, 1 not writable.
    if (::open("/dev/null", descriptor == STDOUT_FILENO ? O_RDONLY : O_WRONLY) < 0) return;
  }
}

void tell(std::string_view text) {
  std::fflush(stdout);  // both streams may be one file: a message stands behind the table before it, not inside
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
  std::clearerr(stderr);
  std::signal(SIGPIPE, before);
}

void print_result(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

std::string finish_output() {
  errno = 0;
  std::cout.flush();
  const bool arrived = std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good();
  if (arrived) return "";
  return errno != 0 ? std::strerror(errno) : "it is closed or full";
}

}  // namespace stepcast
