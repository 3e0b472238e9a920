#include "sim/replay/processes.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <system_error>

#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "models/scenario/fault.hpp"

namespace stepcast {
namespace {

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

struct Child {
  std::size_t task = 0;
  pid_t pid = -1;
  int pipe = -1;
  std::string output;
};

void write_all(int fd, const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t n = ::write(fd, text.data() + at, text.size() - at);
    if (n < 0 && errno != EINTR) return;
    if (n > 0) at += static_cast<std::size_t>(n);
  }
}

[[noreturn]] void live_as_child(int fd, std::size_t task, const std::function<Json(std::size_t)>& work) {
  Json answer = Json::object();
  try {
    answer["value"] = work(task);
  } catch (const ModelError& error) {
    answer["error"] = error.what();
    answer["model"] = true;
  } catch (const std::exception& error) {
    answer["error"] = error.what();
  }
  write_all(fd, answer.dump());
  // No destructors or atexit handlers of the parent's objects.
  std::_Exit(0);
}

Child start(std::size_t task, const std::function<Json(std::size_t)>& work) {
  int ends[2];
  if (::pipe(ends) != 0) fail("cannot make a pipe for a replay process");
  std::cout.flush();
  std::cerr.flush();
  std::fflush(nullptr);
  const pid_t pid = ::fork();
  if (pid < 0) {
    ::close(ends[0]);
    ::close(ends[1]);
    fail("cannot fork a replay process");
  }
  if (pid == 0) {
    ::close(ends[0]);
    live_as_child(ends[1], task, work);
  }
  ::close(ends[1]);
  return {task, pid, ends[0], {}};
}

ChildResult finish(Child& child) {
  ::close(child.pipe);
  int status = 0;
  while (::waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {}
  if (WIFSIGNALED(status)) return {nullptr, fmt::format("the replay process was killed by signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status))), false};
  const Json answer = Json::parse(child.output, nullptr, false);
  if (answer.is_discarded()) return {nullptr, fmt::format("the replay process ended with status {} and no answer", WEXITSTATUS(status)), false};
  if (answer.contains("error")) return {nullptr, answer["error"].get<std::string>(), answer.contains("model")};
  return {answer["value"], "", false};
}

}  // namespace

std::vector<ChildResult> run_in_processes(std::size_t count, int jobs, const std::function<Json(std::size_t)>& work) {
  std::vector<ChildResult> results(count);
  std::vector<Child> running;
  std::size_t next = 0;
  while (next < count || !running.empty()) {
    while (next < count && running.size() < static_cast<std::size_t>(jobs)) running.push_back(start(next++, work));
    std::vector<pollfd> polled;
    for (const Child& child : running) polled.push_back({child.pipe, POLLIN, 0});
    if (::poll(polled.data(), polled.size(), -1) < 0) {
      if (errno == EINTR) continue;
      fail("cannot wait for replay processes");
    }
    for (std::size_t i = running.size(); i-- > 0;) {
      if (polled[i].revents == 0) continue;
      char chunk[65536];
      const ssize_t n = ::read(running[i].pipe, chunk, sizeof chunk);
      if (n < 0 && errno == EINTR) continue;
      if (n > 0) {
        running[i].output.append(chunk, static_cast<std::size_t>(n));
        continue;
      }
      results[running[i].task] = finish(running[i]);
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  return results;
}

int available_cores() {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return 1;
}

}  // namespace stepcast
