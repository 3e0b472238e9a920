#include "calibrate/measure.hpp"

#include <algorithm>
#include <random>
#include <set>

#include <fmt/format.h>

#include "calibrate/error.hpp"
#include "calibrate/progress.hpp"

namespace stepcast::calibrate {
namespace {

struct Task {
  const Subject* subject;
  std::int64_t size;
};

constexpr int kMostUnsteady = 5;

/// What this start still has to measure, in random order.
std::vector<Task> list_tasks(const std::vector<Subject>& subjects, const MeasureOptions& options, const SampleFile& file) {
  std::vector<Task> tasks;
  // What the first start has left out, the others leave out too.
  const auto is_left_out = [&](const Subject& subject, std::int64_t size) { return options.start > 0 && !file.has(subject.name, size, 0); };
  for (const Subject& subject : subjects)
    for (const std::int64_t size : subject.sizes)
      if (!file.has(subject.name, size, options.start) && !is_left_out(subject, size)) tasks.push_back({&subject, size});
  std::mt19937_64 random(options.seed + static_cast<std::uint64_t>(options.start));
  std::shuffle(tasks.begin(), tasks.end(), random);
  // First the device's own rates: cut off at any time later, what was measured makes a profile.
  std::stable_partition(tasks.begin(), tasks.end(), [](const Task& task) { return task.subject->name.starts_with("device/"); });
  return tasks;
}

/// The subjects of which no time is to be taken.
std::set<const Subject*> find_wrong(const std::vector<Task>& tasks, Progress& progress, const SampleFile& file, const Surroundings& surroundings) {
  std::set<const Subject*> checked, found;
  for (const Task& task : tasks) {
    if (!task.subject->check || !checked.insert(task.subject).second) continue;
    progress.show(file.count(), "checking " + task.subject->name);
    try {
      if (const auto wrong = task.subject->check()) {
        found.insert(task.subject);
        progress.note(fmt::format("{} gives a wrong result, so no time is taken: {}", task.subject->name, *wrong));
      }
    } catch (const std::exception& error) {
      throw CalibrationError(fmt::format("checking {}: {}", task.subject->name, error.what()));
    }
    if (surroundings.is_interrupted()) throw Interrupted("interrupted");
  }
  return found;
}

Record measure_one(const Task& task, const MeasureOptions& options, const Surroundings& surroundings) {
  const Subject& subject = *task.subject;
  const std::unique_ptr<Work> work = subject.prepare(task.size);
  SampledWork sampled = sample(*work, options.rules, surroundings);
  for (std::vector<double>* series : {&sampled.cold.seconds, &sampled.warm.seconds})
    for (double& seconds : *series) seconds /= subject.repeats;
  return {subject.name, subject.pass, subject.method, task.size, options.start, subject.bytes(task.size), subject.flops(task.size), std::move(sampled.cold.seconds), std::move(sampled.warm.seconds),
          sampled.cold.clock, sampled.cold.discarded, sampled.steady, sampled.cold.settled, subject.repeats};
}

}  // namespace

int measure(const std::vector<Subject>& subjects, const MeasureOptions& options, SampleFile& file, const Surroundings& surroundings) {
  std::size_t all = 0;
  for (const Subject& subject : subjects) all += subject.sizes.size() * static_cast<std::size_t>(options.starts);
  const std::vector<Task> tasks = list_tasks(subjects, options, file);
  Progress progress(file.count(), all);
  int unsteady = 0;
  std::set<const Subject*> wrong;
  if (options.start == 0) wrong = find_wrong(tasks, progress, file, surroundings);  // later starts run the same program on the same device
  for (const Task& task : tasks) {
    if (wrong.contains(task.subject)) continue;
    const std::string name = fmt::format("{}, size {}", task.subject->name, task.size);
    progress.show(file.count(), fmt::format("start {} of {}, {}", options.start + 1, options.starts, name));
    try {
      file.append(measure_one(task, options, surroundings));
    } catch (const Interrupted&) {
      throw;
    } catch (const UnsteadyClock& error) {
      // One may be too much for the device's power; of several, none can be trusted.
      if (++unsteady > kMostUnsteady) throw CalibrationError(fmt::format("{}: {}", name, error.what()));
      progress.note(fmt::format("{}, is left out: {}", name, error.what()));
    } catch (const LeftOut& error) {
      progress.note(fmt::format("{}, is left out: {}", name, error.what()));
    } catch (const std::exception& error) {
      throw CalibrationError(fmt::format("{}: {}", name, error.what()));
    }
  }
  return static_cast<int>(wrong.size());
}

}  // namespace stepcast::calibrate
