#include "models/report/table_notes.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "models/report/footnotes.hpp"
#include "models/report/metrics.hpp"

namespace stepcast {

std::string table_notes(const Report& report) {
  std::string text;
  const auto flagged = std::count_if(report.points.begin(), report.points.end(), has_large_gap);
  if (flagged > 0)
    text += fmt::format("! {} of {} points take more than {} times their lower bound\n", flagged, report.points.size(),
                        kLargeGap);
  const auto replayed = std::count_if(report.points.begin(), report.points.end(), [](const PointReport& p) {
    return p.evaluator == Evaluator::automatic && p.answers.replay;
  });
  const auto all = static_cast<std::ptrdiff_t>(report.points.size());
  if (replayed > 0)
    text += replayed == all
                ? "answered by the replay, because equations would be an estimate\n"
                : fmt::format("{} of {} points answered by the replay, because equations would be an estimate\n",
                              replayed, all);
  Notes notes;
  for (const PointReport& p : report.points) notes.insert(notes.end(), p.notes.begin(), p.notes.end());
  return text + note_lines(notes);
}

}  // namespace stepcast
