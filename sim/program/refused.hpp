// Refuses options, with the reason.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>

namespace stepcast {

inline CLI::ValidationError refused(const std::string& option, const std::string& why) {
  return CLI::ValidationError(option, why);
}

/// Reads an option's text with `read`.
/// @throws CLI::ValidationError for the option, with the message of `read`'s std::invalid_argument
template <class Read>
decltype(auto) read_option(const std::string& option, Read&& read) {
  try {
    return std::forward<Read>(read)();
  } catch (const std::invalid_argument& error) {
    throw refused(option, error.what());
  }
}

}  // namespace stepcast
