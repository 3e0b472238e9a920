// The terminal that standard output may be: its width and its colours.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace stepcast {

/// Characters of a line, if standard output is a terminal: COLUMNS, or as the terminal says; 0 for files and pipes.
std::size_t terminal_width();

/// Whether standard output is a terminal that shows colours. A NO_COLOR that is not empty means no.
bool shows_colours();

/// The text with its answer (the first line) in bold, warnings ("!") in yellow, failures in red and notes dim.
std::string with_colours(std::string_view text);

}  // namespace stepcast
