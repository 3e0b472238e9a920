#include "sim/program/point_progress.hpp"

#include <memory>

#include <fmt/format.h>

namespace stepcast {

void show(Progress& progress, const AnswerCount& count, std::size_t failed) {
  progress.show(count.done + count.runs_ended, count.points + count.runs,
                count.runs > 0 ? "points and replays" : "points", failed > 0 ? fmt::format("{} failed", failed) : "");
}

PointProgress shown_progress() {
  return [progress = std::make_shared<Progress>("stepcast")](const AnswerCount& count) { show(*progress, count); };
}

}  // namespace stepcast
