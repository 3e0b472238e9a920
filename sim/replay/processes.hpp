// Work in child processes: SimGrid allows one Engine per process, and a fork costs about a millisecond.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "models/scenario/json.hpp"

namespace stepcast {

/// What one child answered: a value, or the message of the exception (or signal) that ended it.
struct ChildResult {
  Json value;
  std::string error;  ///< empty on success
  bool is_model_error = false;  ///< the exception was a ModelError: the question, not the machine, is at fault
};

/// Runs work(i) for every i in [0, count) in a forked process each, at most `jobs` at a time, and returns the
/// results in the order of i. The parent must not have an Engine or other threads.
/// @throws std::system_error when processes cannot be made
std::vector<ChildResult> run_in_processes(std::size_t count, int jobs, const std::function<Json(std::size_t)>& work);

/// Cores this process may run on.
int available_cores();

}  // namespace stepcast
