// Where results go: standard output, or files that appear whole or not at all.
#pragma once

#include <filesystem>
#include <string>

#include "models/scenario/json.hpp"

namespace stepcast {

/// Writes `text` to `path`, or to standard output when it is "-". A file is written beside its place and then
/// renamed, so a reader never sees half of it, and a failure leaves the old one.
/// @throws std::runtime_error naming path and cause
void write_output(const std::string& path, const std::string& text);

/// Draws the report (as JSON) with notebooks/plot_speedup.py into `path`.
/// @throws std::runtime_error with what the script said when it fails, or when matplotlib is missing
void draw_plot(const Json& report, const std::string& path);

}  // namespace stepcast
