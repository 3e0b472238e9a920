// A program's last words on an exception that no subcommand has words for.
#pragma once

#include <exception>
#include <string>

namespace stepcast {

/// One sentence. Exceptions of our own say it themselves; what a library says is put into words: memory that does not
/// suffice, files that cannot be had. What must never happen is told with the request to report it.
std::string sentence_of(const std::exception& error);

}  // namespace stepcast
