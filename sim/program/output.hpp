// Where results go: standard output, or files that appear whole or not at all.
#pragma once

#include <string>
#include <vector>

#include "models/describe/json_fwd.hpp"

namespace stepcast {

/// A document as files have it, in lines. Names of files, arguments among them, need not be UTF-8, as JSON must be:
/// what is not stands there as U+FFFD.
std::string json_text(const Json& document);

/// Writes `text` to `path`, or to standard output when it is "-". A file is written beside its place and then
/// renamed, so a reader never sees half of it, and a failure leaves the old one. Symbolic links are followed; what
/// is no regular file (a device, a pipe) is written to directly.
/// @throws std::runtime_error naming path and cause
void write_output(const std::string& path, const std::string& text);

/// Checks before any work is done that the paths can be written, that no two are the same file, nor one of the inputs,
/// that at most one is standard output, and that the plot has a suffix that matplotlib knows. Empty paths are left out.
/// @param inputs  files that the command reads; "-" is none
/// @throws CLI::ValidationError with the reason
void check_outputs(const std::vector<std::string>& inputs, const std::vector<std::string>& texts,
                   const std::string& plot = "");

/// Draws the report (as JSON) with notebooks/plot_speedup.py into `path`.
/// @throws std::runtime_error with the last line that the script said when it fails, such as that matplotlib is missing
void draw_plot(const Json& report, const std::string& path);

}  // namespace stepcast
