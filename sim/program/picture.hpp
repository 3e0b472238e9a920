// What run and sweep draw: the options that say it.
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

/// What the script is told besides the report and the path; axes and metrics have their full names there.
/// @throws UsageError for an axis that the study does not have
std::vector<std::string> picture_arguments(const PictureOptions& options, const Study& study);

}  // namespace stepcast
