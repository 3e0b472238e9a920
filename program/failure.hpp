// A program's last words on an exception that no subcommand has words for.
#pragma once

#include <exception>
#include <string>

namespace stepcast {

/// One sentence. Our own exceptions contain it. Errors of a library are put into words: not enough memory,
/// files that cannot be had. An error that must never happen comes with the request to report it.
std::string sentence_of(const std::exception& error);

}  // namespace stepcast
