// Options that are refused, with the reason.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>

namespace stepcast {

inline CLI::ValidationError refused(const std::string& option, const std::string& why) {
  return CLI::ValidationError(option, why);
}

/// What `read` makes of an option's text.
/// @throws CLI::ValidationError of the option where `read` throws std::invalid_argument, with what that says
template <class Read>
decltype(auto) read_option(const std::string& option, Read&& read) {
  try {
    return std::forward<Read>(read)();
  } catch (const std::invalid_argument& error) {
    throw refused(option, error.what());
  }
}

}  // namespace stepcast
