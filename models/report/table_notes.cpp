#include "models/report/table_notes.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "models/report/footnotes.hpp"
#include "models/report/metrics.hpp"
#include "models/unit/format.hpp"
#include "models/unit/text_table.hpp"

namespace stepcast {
namespace {

std::string link_text(const Link& link) {
  return fmt::format("{}, {}", human_text(link.bandwidth), human_text(link.latency));
}

}  // namespace

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

std::string kinds_table(const Report& report, bool markdown) {
  bool speed = false, link = false, codec = false, waiting = false;
  for (const PointReport& p : report.points)
    for (const KindReport& one : p.kinds) {
      speed |= one.kind.speed != p.kinds.front().kind.speed;
      link |= one.kind.link != p.kinds.front().kind.link;
      codec |= one.breakdown.codec() > Seconds{};
      waiting |= one.breakdown.waiting > Seconds{};
    }
  TextTable table(report.axes.size() + 1);
  std::vector<std::string> head(report.axes);
  head.insert(head.end(), {"workers", "alike"});
  const auto title = [&](bool on, const char* text) {
    if (on) head.emplace_back(text);
  };
  title(speed, "speed");
  title(link, "link");
  title(true, "compute");
  title(codec, "codec");
  title(true, "exposed comm");
  title(waiting, "waiting");
  table.add(head);
  bool has_kinds = false;
  for (const PointReport& p : report.points)
    for (const auto& [kind, b] : p.kinds) {
      has_kinds = true;
      const Seconds step = b.total();
      std::vector<std::string> row;
      for (const std::string& axis : report.axes) row.push_back(value_on(p.coordinates, axis));
      row.push_back(kind.count == 1 ? std::to_string(kind.first)
                                    : fmt::format("{} to {}", kind.first, kind.first + kind.count - 1));
      row.push_back(std::to_string(kind.count));
      if (speed) row.push_back(fmt::format("{:.3g}", kind.speed));
      if (link) row.push_back(link_text(kind.link));
      row.push_back(share(b.compute(), step));
      if (codec) row.push_back(share(b.codec(), step));
      row.push_back(share(b.exposed_communication, step));
      if (waiting) row.push_back(share(b.waiting, step));
      table.add(row);
    }
  return has_kinds
             ? "the breakdown above is the mean of all workers; for each kind of workers, by number from 0, it is\n" +
                   (markdown ? "\n" + table.markdown() + "\n" : table.text())
             : "";
}

}  // namespace stepcast
