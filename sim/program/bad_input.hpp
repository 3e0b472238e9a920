// An input that cannot be used, other than a scenario with its faults.
#pragma once

#include <stdexcept>

namespace stepcast {

/// An unknown name, or a file that is no shard: exit code 3, like a bad scenario.
class BadInput : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace stepcast
