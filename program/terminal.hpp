// What standard output is to the person in front of it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace stepcast {

/// Characters of a line, if standard output is a terminal: COLUMNS, or as the terminal says; 0 for files and pipes.
std::size_t terminal_width();

/// Whether standard output is a terminal that shows colours. NO_COLOR with any value means no.
bool shows_colours();

/// The text with its answer (the first line) in bold, warnings ("!") in yellow, failures in red and notes dim.
std::string with_colours(std::string_view text);

}  // namespace stepcast
