#include "sim/replay/processes.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <system_error>

#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "models/describe/fault.hpp"
#include "models/describe/json.hpp"
#include "program/failure.hpp"

namespace stepcast {
namespace {

/// First byte of a child's answer.
constexpr char kValue = 'v', kModelError = 'm', kError = 'e';

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

void write_all(int fd, const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t n = ::write(fd, text.data() + at, text.size() - at);
    if (n < 0 && errno != EINTR) return;
    if (n > 0) at += static_cast<std::size_t>(n);
  }
}

/// SimGrid goes from flow to flow over the links that they share, by recursion. On a torus of 64,000 hosts it needs more
/// stack than the usual 8 MiB.
void allow_deep_recursion() {
  rlimit stack{};
  if (::getrlimit(RLIMIT_STACK, &stack) != 0) return;
  stack.rlim_cur = stack.rlim_max;
  static_cast<void>(::setrlimit(RLIMIT_STACK, &stack));
}

[[noreturn]] void live_as_child(int fd, pid_t parent, const std::function<std::string()>& work) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  allow_deep_recursion();
  if (::getppid() != parent) std::_Exit(1);
  // Ctrl-C reaches the whole group: the parent decides what becomes of its children.
  static_cast<void>(std::signal(SIGINT, SIG_IGN));
  static_cast<void>(std::signal(SIGTERM, SIG_DFL));
  std::string answer;
  try {
    answer = work();
    answer.insert(answer.begin(), kValue);
  } catch (const ModelError& error) {
    answer = kModelError + std::string(error.what());
  } catch (const std::exception& error) {
    answer = kError + sentence_of(error);
  }
  write_all(fd, answer);
  // No destructors or atexit handlers of the parent's objects.
  std::_Exit(0);
}

}  // namespace

ProcessPool::~ProcessPool() {
  for (const Child& child : running_) ::kill(child.pid, SIGKILL);
  for (const Child& child : running_) {
    ::close(child.pipe);
    while (::waitpid(child.pid, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
}

void ProcessPool::start(std::size_t task, const std::function<std::string()>& work) {
  int ends[2];
  if (::pipe(ends) != 0) fail("cannot make a pipe for a replay process");
  std::cout.flush();
  std::cerr.flush();
  static_cast<void>(std::fflush(nullptr));
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) {
    ::close(ends[0]);
    ::close(ends[1]);
    fail("cannot fork a replay process");
  }
  if (pid == 0) {
    ::close(ends[0]);
    live_as_child(ends[1], parent, work);
  }
  ::close(ends[1]);
  running_.push_back({task, pid, ends[0], {}});
}

std::vector<ChildAnswer> ProcessPool::wait(int milliseconds) {
  std::vector<ChildAnswer> ended;
  std::vector<pollfd> polled;
  for (const Child& child : running_) polled.push_back({child.pipe, POLLIN, 0});
  if (::poll(polled.data(), polled.size(), milliseconds) < 0) {
    if (errno == EINTR) return ended;
    fail("cannot wait for replay processes");
  }
  for (std::size_t i = running_.size(); i-- > 0;) {
    if (polled[i].revents == 0) continue;
    char chunk[65536];
    const ssize_t n = ::read(running_[i].pipe, chunk, sizeof chunk);
    if (n < 0 && errno == EINTR) continue;
    if (n > 0) {
      running_[i].output.append(chunk, static_cast<std::size_t>(n));
      continue;
    }
    ended.push_back(finish(running_[i]));
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return ended;
}

ChildAnswer ProcessPool::finish(Child& child) {
  ::close(child.pipe);
  int status = 0;
  while (::waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status))
    return {
        child.task, "",
        fmt::format("the replay process was killed by signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status))),
        false, WTERMSIG(status)};
  if (child.output.empty() || WEXITSTATUS(status) != 0)
    return {child.task, "", fmt::format("the replay process ended with status {} and no answer", WEXITSTATUS(status)),
            false, 0};
  const char kind = child.output.front();
  std::string text = std::move(child.output);
  text.erase(0, 1);
  if (kind == kValue) return {child.task, std::move(text), "", false, 0};
  return {child.task, "", std::move(text), kind == kModelError, 0};
}

std::string pack_json(const Json& value) {
  std::string packed;
  Json::to_cbor(value, packed);
  return packed;
}

Json unpack_json(std::string_view packed) { return Json::from_cbor(packed.begin(), packed.end()); }

std::vector<ChildResult> run_in_processes(std::size_t count, int jobs, const std::function<Json(std::size_t)>& work) {
  std::vector<ChildResult> results(count);
  ProcessPool pool(jobs);
  std::size_t next = 0;
  while (next < count || !pool.empty()) {
    for (; next < count && !pool.full(); ++next) pool.start(next, [&] { return pack_json(work(next)); });
    for (ChildAnswer& answer : pool.wait(-1))
      results[answer.task] = {answer.error.empty() ? unpack_json(answer.bytes) : Json(), std::move(answer.error),
                              answer.is_model_error};
  }
  return results;
}

int available_cores() {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return 1;
}

}  // namespace stepcast
