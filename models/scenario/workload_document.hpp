// References inside a workload, followed before it is read: its device profile and its variant.
#pragma once

#include "models/scenario/document.hpp"

namespace stepcast {

/// Replaces `profile`, where it is text or has "from", by the content of its file in profiles/, and `variant`, where
/// it is text or has "from", by the entry of `variants` with that name ("vanilla": by null). Sibling keys of "from"
/// are laid over what it names.
/// @param file     the file that wrote a pointer below the workload, for relative paths and faults
/// @param faults   their pointers start with `root`, their file is empty unless it is the profile's own
void resolve_workload(Json& workload, const std::string& root, const std::string& file, PartFiles& files, std::vector<Fault>& faults);

}  // namespace stepcast
