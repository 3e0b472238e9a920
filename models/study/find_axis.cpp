#include "models/study/find_axis.hpp"

#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/describe/fault.hpp"

namespace stepcast {

std::size_t find_axis(const Study& study, const std::string& name) {
  for (std::size_t i = 0; i < study.axes.size(); ++i)
    if (study.axes[i] == name || study.axis_pointers[i] == name) return i;
  if (study.axes.empty()) throw std::invalid_argument(fmt::format("{}: the study is one point and has no axes", name));
  std::vector<std::string> alike;
  for (const std::string& pointer : study.axis_pointers)
    if (pointer.substr(pointer.rfind('/') + 1) == name) alike.push_back(pointer);
  if (!alike.empty())
    throw std::invalid_argument(fmt::format("{}: {} axes of the study end so; give one's whole pointer: {}", name,
                                            alike.size(), fmt::join(alike, " or ")));
  const std::string near = nearest(name, study.axes),
                    remedy = near.empty() ? "" : fmt::format("; did you mean {}?", near);
  const std::string axes = fmt::format("{}", fmt::join(study.axes, ", "));
  throw std::invalid_argument(
      fmt::format("{}: no axis of the study (one that --set fixes is none); it has {}{}", name, axes, remedy));
}

}  // namespace stepcast
