#include "program/failure.hpp"

#include <filesystem>
#include <new>
#include <stdexcept>
#include <system_error>

#include <fmt/format.h>

#include "models/describe/json.hpp"

namespace stepcast {

std::string sentence_of(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
      dynamic_cast<const std::length_error*>(&error) != nullptr)
    return "not enough memory for this request; ask for less at once, or raise the limit (ulimit -v)";
  if (const auto* file = dynamic_cast<const std::filesystem::filesystem_error*>(&error))
    return fmt::format("{}: {}", file->path1().string(), file->code().message());
  if (dynamic_cast<const std::logic_error*>(&error) != nullptr ||
      dynamic_cast<const Json::exception*>(&error) != nullptr)
    return fmt::format("a fault of the program itself ({}); please report it with the command", error.what());
  return error.what();
}

}  // namespace stepcast
