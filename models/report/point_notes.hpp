// Facts that a reader should know before trusting a point's number.
#pragma once

#include "models/report/report.hpp"

namespace stepcast {

/// Appends all notes but the one on the error band.
/// @param report  the point's report, with its numbers
void add_notes(const StudyPoint& point, const AnsweredPoint& answered, PointReport& report);

/// The note that the point does not fit its device's memory, or hardly does.
std::optional<Note> memory_note(const PointReport& report);

}  // namespace stepcast
