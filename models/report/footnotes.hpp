// Notes below a table.
#pragma once

#include <string>
#include <vector>

#include "models/describe/note.hpp"

namespace stepcast {

/// The note without its numbers, but with digits inside names. Notes that differ in numbers alone have the same result.
std::string without_numbers(const std::string& note);

/// The notes as "note: ..." lines, each once. If more than three differ in numbers alone, shows the first and the
/// number of the others.
std::string note_lines(const std::vector<std::string>& notes);
inline std::string note_lines(const Notes& notes) { return note_lines(texts_of(notes)); }

}  // namespace stepcast
