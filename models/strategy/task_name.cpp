#include "models/strategy/task_name.hpp"

#include <fmt/format.h>

namespace stepcast {

std::string TaskName::text() const { return count_ == 1 ? name_ : fmt::format("{} {}/{}", name_, i_ + 1, count_); }

}  // namespace stepcast
