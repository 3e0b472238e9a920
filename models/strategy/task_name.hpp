// The names of tasks.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

namespace stepcast {

/// The name of a task: "encode", or "encode 3/161" for one of several. Its text is made when somebody reads it, since
/// most tasks of a study are never shown.
class TaskName {
 public:
  TaskName() = default;
  TaskName(std::string name) : name_(std::move(name)) {}
  TaskName(const char* name) : name_(name) {}
  /// Number i, from 0 on, of `count`.
  TaskName(std::string name, std::size_t i, std::size_t count) : name_(std::move(name)), i_(i), count_(count) {}

  [[nodiscard]] std::string text() const;

 private:
  std::string name_;
  std::size_t i_ = 0, count_ = 1;
};

}  // namespace stepcast
