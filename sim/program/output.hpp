// The outputs: standard output, or files that appear complete or not at all.
#pragma once

#include <string>
#include <vector>

#include "models/describe/json_fwd.hpp"

namespace stepcast {

/// A document as indented text for files. Names of files and arguments need not be UTF-8, but JSON must be. Invalid
/// bytes become U+FFFD.
std::string json_text(const Json& document);

/// Writes `text` to `path`, or to standard output for "-". A file is written beside its place and then renamed. A
/// reader never sees half of it, and a failure leaves the old one. Symbolic links are followed. Devices, pipes and the
/// like are written to directly.
/// @throws std::runtime_error naming path and cause
void write_output(const std::string& path, const std::string& text);

/// Checks the paths before any work is done. All must be writable, no two may be the same file, and none may be an
/// input. At most one may be standard output, and the plot's suffix must be known to matplotlib. Empty paths are left
/// out.
/// @param inputs  files that the command reads; "-" is none
/// @throws UsageError with the reason
void check_outputs(const std::vector<std::string>& inputs, const std::vector<std::string>& texts,
                   const std::string& plot = "");

/// Makes a file of the report (as JSON) with a script of notebooks/: plot_report.py draws it, make_page.py makes a page.
/// @param asked  options of the script
/// @throws std::runtime_error with the last line that the script said when it fails, such as that matplotlib is missing
void make_with_script(const std::string& script, const Json& report, const std::string& path,
                      const std::vector<std::string>& asked = {});

}  // namespace stepcast
