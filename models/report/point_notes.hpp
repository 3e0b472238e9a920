// What a reader should know before trusting a point's number.
#pragma once

#include "models/report/report.hpp"

namespace stepcast {

/// Appends the notes on all but the error band.
/// @param report  of the point, its numbers filled in
void add_notes(const StudyPoint& point, const AnsweredPoint& answered, PointReport& report);

/// That the point does not fit its device's memory, or hardly does. One of its notes.
std::optional<Note> memory_note(const PointReport& report);

}  // namespace stepcast
