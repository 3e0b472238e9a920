#include "calibrate/measure.hpp"

#include <algorithm>
#include <random>
#include <set>

#include <fmt/format.h>

#include "calibrate/calibration_error.hpp"
#include "program/progress.hpp"

namespace stepcast::calibrate {
namespace {

constexpr const char* kUnit = "measurements";

struct Task {
  const Subject* subject;
  std::int64_t size;
};

/// The device's own rates, without which there is no profile.
bool is_own_rate(const Subject& subject) { return subject.name.starts_with("device/"); }

/// The tasks of this start that are not measured yet, in random order.
std::vector<Task> list_tasks(const std::vector<Subject>& subjects, const MeasureOptions& options,
                             const SampleFile& file) {
  std::vector<Task> tasks;
  // Later starts also leave out the tasks that the first start left out.
  const auto is_left_out = [&](const Subject& subject, std::int64_t size) {
    return options.start > 0 && !file.has(subject.name, size, 0);
  };
  for (const Subject& subject : subjects)
    for (const std::int64_t size : subject.sizes)
      if (!file.has(subject.name, size, options.start) && !is_left_out(subject, size))
        tasks.push_back({&subject, size});
  std::mt19937_64 random(options.seed + static_cast<std::uint64_t>(options.start));
  std::shuffle(tasks.begin(), tasks.end(), random);
  // The device's own rates come first. If the run is cut off at any later time, the samples still make a profile.
  std::stable_partition(tasks.begin(), tasks.end(), [](const Task& task) { return is_own_rate(*task.subject); });
  return tasks;
}

/// Decides which subjects may be timed. Each is checked once, before its first time, while others are timed. Checks
/// take long on the host, and a start may be cut off. Those of which the file has times were right when these were
/// taken; later starts run the same program on the same device.
class Checks {
 public:
  Checks(const SampleFile& file, std::size_t all) : file_(file), all_(all) {}

  bool is_right(const Subject& subject, const MeasureOptions& options, Progress& progress) {
    if (wrong_.contains(&subject)) return false;
    if (options.start > 0 || !subject.check || !checked_.insert(&subject).second || has_times(subject)) return true;
    progress.show(file_.count(), all_, kUnit, "checking " + subject.name);
    try {
      const auto wrong = subject.check();
      if (!wrong) return true;
      wrong_.insert(&subject);
      progress.note(fmt::format("{} gives a wrong result, so no time is taken: {}", subject.name, *wrong));
      return false;
    } catch (const std::exception& error) {
      throw CalibrationError(fmt::format("checking {}: {}", subject.name, error.what()));
    }
  }
  [[nodiscard]] int wrong() const { return static_cast<int>(wrong_.size()); }

 private:
  [[nodiscard]] bool has_times(const Subject& subject) const {
    return std::any_of(subject.sizes.begin(), subject.sizes.end(),
                       [&](std::int64_t size) { return file_.has(subject.name, size, 0); });
  }
  const SampleFile& file_;
  std::size_t all_;  ///< measurements
  std::set<const Subject*> checked_, wrong_;
};

Record measure_one(const Task& task, const MeasureOptions& options, const Surroundings& surroundings) {
  const Subject& subject = *task.subject;
  const std::unique_ptr<Work> work = subject.prepare(task.size);
  SamplingRules rules = options.rules;
  rules.time_limit *= subject.time_share;
  // Large products draw the most power. If they bring the clock down, the samples before the drop count.
  if (is_own_rate(subject)) rules.most_discarded = 1;
  SampledWork sampled = sample(*work, rules, surroundings);
  for (std::vector<double>* series : {&sampled.cold.seconds, &sampled.warm.seconds})
    for (double& seconds : *series) seconds /= subject.repeats;
  return {subject.name,
          subject.role,
          subject.method,
          task.size,
          options.start,
          subject.bytes(task.size),
          subject.flops(task.size),
          std::move(sampled.cold.seconds),
          std::move(sampled.warm.seconds),
          sampled.cold.clock,
          sampled.cold.discarded,
          sampled.steady,
          sampled.cold.settled,
          subject.repeats};
}

}  // namespace

int measure(const std::vector<Subject>& subjects, const MeasureOptions& options, SampleFile& file,
            const Surroundings& surroundings) {
  std::size_t all = 0;
  for (const Subject& subject : subjects) all += subject.sizes.size() * static_cast<std::size_t>(options.starts);
  const std::vector<Task> tasks = list_tasks(subjects, options, file);
  Progress progress("stepcast-calibrate");
  Checks checks(file, all);
  for (const Task& task : tasks) {
    const bool is_right = checks.is_right(*task.subject, options, progress);
    if (surroundings.is_interrupted()) throw Interrupted("interrupted");
    if (!is_right) continue;
    const std::string name = fmt::format("{}, size {}", task.subject->name, task.size);
    progress.show(file.count(), all, kUnit, fmt::format("start {} of {}, {}", options.start + 1, options.starts, name));
    const auto leave_out = [&](const std::exception& why) {
      progress.note(fmt::format("{}, is left out: {}", name, why.what()));
    };
    try {
      file.append(measure_one(task, options, surroundings));
    } catch (const Interrupted&) {
      throw;
    } catch (const UnsteadyClock& error) {
      leave_out(error);
    } catch (const LeftOut& error) {
      leave_out(error);
    } catch (const std::exception& error) {
      throw CalibrationError(fmt::format("{}: {}", name, error.what()));
    }
  }
  return checks.wrong();
}

}  // namespace stepcast::calibrate
