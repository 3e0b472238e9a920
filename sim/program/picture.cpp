#include "sim/program/picture.hpp"

#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/report/goal.hpp"
#include "models/study/find_axis.hpp"
#include "program/options.hpp"

namespace stepcast {
namespace {

/// Columns that may colour bars although they are no axes.
bool is_hue(const std::string& name) { return name == "strategy" || name == "compressor"; }

std::string axis_named(const std::string& option, const std::string& name, const Study& study) {
  if (option == "--lines" && is_hue(name)) return name;
  return study.axes[read_option(option, [&] { return find_axis(study, name); })];
}

/// The column of a metric that --by knows, too; other columns have their own names.
std::string column_named(const std::string& name) {
  try {
    return find_metric(name).name;
  } catch (const std::exception&) {
    return name;
  }
}

}  // namespace

void add_picture(Command& command, PictureOptions& options) {
  const Option plot = command.add_option("--plot", options.path, "draw a picture (png, svg, pdf)").type_name("PATH");
  command
      .add_option("--kind", options.kind,
                  "of picture: lines, bars, heatmap, breakdown or winners (default: what suits the study)")
      .one_of({"lines", "bars", "heatmap", "breakdown", "winners"})
      .needs(plot)
      .type_name("KIND");
  command.add_option("--y", options.y, "what the picture shows, such as speedup, busbw or exposed_communication")
      .needs(plot)
      .type_name("METRIC");
  command.add_option("--x", options.x, "the picture's axis along x, or of its bars").needs(plot).type_name("AXIS");
  command.add_option("--lines", options.lines, "the axis of its lines, of bars side by side, or of what competes")
      .needs(plot)
      .type_name("AXIS");
  command.add_option("--panels", options.panels, "axes that make panels, beside those left over")
      .needs(plot)
      .split_at_commas()
      .type_name("AXIS,...");
}

std::vector<std::string> picture_arguments(const PictureOptions& options, const Study& study) {
  std::vector<std::string> arguments;
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) arguments.push_back(fmt::format("{}={}", option, value));
  };
  add("--kind", options.kind);
  if (!options.y.empty()) add("--y", column_named(options.y));
  if (!options.x.empty()) add("--x", axis_named("--x", options.x, study));
  if (!options.lines.empty()) add("--lines", axis_named("--lines", options.lines, study));
  for (const std::string& axis : options.panels) add("--panels", axis_named("--panels", axis, study));
  return arguments;
}

}  // namespace stepcast
