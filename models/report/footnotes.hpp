// Notes below a table.
#pragma once

#include <string>
#include <vector>

#include "models/describe/note.hpp"

namespace stepcast {

/// The note without numbers, but with digits of names: notes that differ in numbers alone say the same.
std::string without_numbers(std::string note);

/// "note: ...", a line each and each once. Of more than three that differ in numbers alone the first, and how many more
/// there are.
std::string note_lines(const std::vector<std::string>& notes);
inline std::string note_lines(const Notes& notes) { return note_lines(texts_of(notes)); }

}  // namespace stepcast
