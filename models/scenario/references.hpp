// Follows the references of a scenario's document to the files of its parts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/scenario/document.hpp"
#include "models/scenario/part_files.hpp"

namespace stepcast {

/// Replaces a reference at the top of the document, as resolve_references does.
void resolve_scenario(Document& document, PartFiles& files, std::vector<Fault>& faults);

/// Replaces every reference of the scenario ("from" at the top, and each part, other compressor and the codec's device
/// given as text or with "from") by the content of its file. Sibling keys are merged into it. A part
/// "from" a list of files becomes a list of parts. A workload that is plain text stays
/// text; its path goes to workload_file, so the points of a study share one copy. Faults
/// (missing files, reference loops) are appended. Their parts become null and given up.
void resolve_references(Document& document, PartFiles& files, std::vector<Fault>& faults);

// Rules of references that changes of a document keep, too (override.cpp).

/// Returns true for "/workload" and, in a list of workloads, for "/workload/2".
bool is_part(std::string_view pointer);

/// Returns true if a text at this pointer is a reference whose target can get other fields. This applies to parts,
/// profiles and a network's variant, also inside lists.
bool may_be_reference(const std::string& pointer);

/// Given times do not follow batch and dtype. Before a change of either, the layer table records the value that its
/// times belong to. Other keys change nothing.
void keep_timing(Json& table, std::string_view key, const Json& value);

/// Converts a part with a list of files to a list of parts: {"from": [a, b], ...} becomes [{"from": a, ...}, ...].
void list_files(Json& value, const std::string& pointer, Document& document);

}  // namespace stepcast
