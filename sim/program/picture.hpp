// The options that say which picture run and sweep draw.
#pragma once

#include <string>
#include <vector>

#include "program/options.hpp"

#include "models/study/study.hpp"

namespace stepcast {

struct PictureOptions {
  std::string path, kind, x, y, lines;
  std::vector<std::string> panels;
};

/// --plot, and --kind, --y, --x, --lines and --panels, which want it.
void add_picture(Command& command, PictureOptions& options);

/// The script's arguments besides the report and the path. They give axes and metrics by their full names.
/// @throws UsageError for an axis that the study does not have
std::vector<std::string> picture_arguments(const PictureOptions& options, const Study& study);

}  // namespace stepcast
