// Work in child processes: SimGrid allows one Engine per process, and a fork costs about a millisecond.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "models/describe/json.hpp"

namespace stepcast {

/// A child's answer: bytes, or the message of the exception or signal that ended it.
struct ChildAnswer {
  std::size_t task = 0;
  std::string bytes;
  std::string error;            ///< empty on success
  bool is_model_error = false;  ///< the exception was a ModelError: the fault is in the question, not in the machine
  int signal = 0;               ///< the signal that killed it
};

/// Children at work, at most `jobs` at a time. They die with their parent, and with the pool.
/// The parent must not have an Engine or other threads.
class ProcessPool {
 public:
  explicit ProcessPool(int jobs) : jobs_(jobs) {}
  ~ProcessPool();
  ProcessPool(const ProcessPool&) = delete;
  ProcessPool& operator=(const ProcessPool&) = delete;

  [[nodiscard]] bool full() const { return running_.size() >= jobs_; }
  [[nodiscard]] bool empty() const { return running_.empty(); }

  /// Forks a child that answers `task` with the result of work().
  /// @throws std::system_error when no process can be made
  void start(std::size_t task, const std::function<std::string()>& work);

  /// The children that have ended since the last call. Waits for the first for at most `milliseconds` (-1: for ever).
  /// Returns none if a signal came in between.
  /// @throws std::system_error
  std::vector<ChildAnswer> wait(int milliseconds);

 private:
  struct Child {
    std::size_t task = 0;
    pid_t pid = -1;
    int pipe = -1;
    std::string output;
  };
  static ChildAnswer finish(Child& child);

  std::size_t jobs_;
  std::vector<Child> running_;
};

/// A value on its way from a process, as CBOR (RFC 8949). A million numbers as text would take a second.
std::string pack_json(const Json& value);
Json unpack_json(std::string_view packed);

/// The answer of a child in run_in_processes: as ChildAnswer, with a value for the bytes.
struct ChildResult {
  Json value;
  std::string error;            ///< empty on success
  bool is_model_error = false;  ///< the exception was a ModelError: the fault is in the question, not in the machine
};

/// Runs work(i) for every i in [0, count), each in a forked process, at most `jobs` at a time. Returns the results in
/// the order of i. The parent must not have an Engine or other threads.
/// @throws std::system_error when processes cannot be made
std::vector<ChildResult> run_in_processes(std::size_t count, int jobs, const std::function<Json(std::size_t)>& work);

/// Cores this process may run on.
int available_cores();

}  // namespace stepcast
