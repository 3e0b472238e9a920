#include "sim/program/slow_kernels.hpp"

#include <algorithm>
#include <variant>

#include <fmt/format.h>

#include "models/scenario/device_of_codec.hpp"
#include "models/scenario/tensor_compressors.hpp"
#include "sim/answer/answer_study.hpp"
#include "sim/program/point_progress.hpp"

namespace stepcast {
namespace {

/// The options with kernels of that slowness.
StudyOptions with_slow_kernels(StudyOptions options) {
  options.sets.push_back(fmt::format("/codec/slowdown={}", kComposedSlowdown));
  return options;
}

}  // namespace

bool may_have_slow_kernels(const Study& study) {
  const auto is_plain = [](const StudyPoint& point) { return point.scenario.codec.slowdown == 1; };
  const auto prices_kernels = [](const StudyPoint& point) {
    const std::vector<const Compressor*> all = all_compressors_of(point.scenario);
    return std::any_of(all.begin(), all.end(), [&](const Compressor* one) {
      return !std::holds_alternative<NoCompressor>(*one) && !codec_times(point.scenario, *one);
    });
  };
  return std::all_of(study.points.begin(), study.points.end(), is_plain) &&
         std::any_of(study.points.begin(), study.points.end(), prices_kernels);
}

void slow_down_kernels(Scenario& scenario) { scenario.codec.slowdown = kComposedSlowdown; }

void add_slow_kernels(const StudyOptions& options, const Study& study, int jobs, Report& report) {
  const auto is_unmeasured = [](const PointReport& point) {
    return std::any_of(point.notes.begin(), point.notes.end(),
                       [](const Note& note) { return note.code == NoteCode::unmeasured_compressor; });
  };
  const auto is_replayed = [](const PointReport& point) { return point.answers.replay.has_value(); };
  if (report.answer.empty() || options.file == "-" || study.points.size() < 2 || !may_have_slow_kernels(study) ||
      std::none_of(report.points.begin(), report.points.end(), is_unmeasured) ||
      std::any_of(report.points.begin(), report.points.end(), is_replayed))
    return;
  const std::string answer = answer_study(load(with_slow_kernels(options)), jobs, shown_progress()).answer;
  report.answer_notes.insert(
      report.answer_notes.begin(),
      fmt::format("with compressors' kernels {} times as slow, as composed of a framework's operations: {}",
                  kComposedSlowdown, answer == report.answer ? "the same" : answer));
}

}  // namespace stepcast
