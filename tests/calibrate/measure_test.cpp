// The rules of sampling and resuming, on work whose times and clocks are made up.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>

#include "calibrate/calibration_error.hpp"
#include "calibrate/measure.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"

#include <unistd.h>

using namespace stepcast;
using namespace stepcast::test;
using namespace stepcast::calibrate;
namespace fs = std::filesystem;

namespace {

/// A clock that only the work advances.
struct World {
  double now = 0;
  int runs = 0, cold_runs = 0;
  int interrupted_after = 1 << 30;  ///< cold runs
  std::function<Sample(int run)> next;

  [[nodiscard]] Surroundings surroundings() {
    return {[this] { return now; }, [this] { return cold_runs >= interrupted_after; }};
  }
};

class MadeUp : public Work {
 public:
  explicit MadeUp(World& world) : world_(world) {}
  Sample cold() override {
    ++world_.cold_runs;
    return run();
  }
  std::vector<Sample> warm(int runs) override {
    std::vector<Sample> samples;
    for (int i = 0; i < runs; ++i) samples.push_back(run());
    return samples;
  }

 private:
  Sample run() {
    const Sample one = world_.next(world_.runs++);
    world_.now += one.seconds;
    return one;
  }
  World& world_;
};

constexpr SamplingRules kRules{{5, 20, 0.01}, 10, 10, 20, 0.95, 0.5};

class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("stepcast-measure-" + std::to_string(::getpid()))) {
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  [[nodiscard]] fs::path operator/(const char* name) const { return path_ / name; }

 private:
  fs::path path_;
};

const nlohmann::ordered_json kHeader{{"format", "stepcast-samples"},
                                     {"version", kSamplesVersion},
                                     {"device", {{"name", "made up"}, {"date", "2026-11-21"}}}};

Subject subject_of(World& world, const std::string& name, std::vector<std::int64_t> sizes) {
  return {name,
          "role",
          name,
          std::move(sizes),
          [](std::int64_t n) { return 8.0 * static_cast<double>(n); },
          [](std::int64_t n) { return static_cast<double>(n); },
          2,
          {},
          [&world](std::int64_t) { return std::make_unique<MadeUp>(world); }};
}

std::size_t lines_of(const fs::path& path) {
  std::ifstream file(path);
  std::size_t count = 0;
  for (std::string line; std::getline(file, line);) ++count;
  return count;
}

}  // namespace

TEST_CASE("a window is steady when it does not trend") {
  CHECK(is_steady({1, 1, 1, 1, 1}));
  CHECK_FALSE(is_steady({1.4, 1.3, 1.2, 1.1, 1.0}));
  CHECK(is_steady({1.004, 1.003, 1.002, 1.001, 1.0}));    // 0.4 % over the window: below 2 %
  CHECK(is_steady({1.0, 1.2, 0.9, 1.1, 1.0, 0.9, 1.2}));  // scattered, no trend to be told from it
  CHECK_FALSE(is_steady({1, 2}));
}

TEST_CASE("warm-up goes on until times no longer fall") {
  // Ten percent off each run until the 60th, then constant: windows of ten are steady from the seventh on.
  World world;
  world.next = [](int run) { return Sample{1e-3 * std::pow(0.9, std::min(run, 60)), 1e9}; };
  MadeUp work(world);
  const SampledWork sampled = sample(work, kRules, world.surroundings());
  CHECK(sampled.steady);
  const double settled = 1e-3 * std::pow(0.9, 60);
  for (const double seconds : sampled.cold.seconds)
    require_close(settled, seconds, 1e-12, "cold samples are of the steady state");
  CHECK(sampled.cold.settled);
  CHECK(sampled.cold.seconds.size() == 5);  // no scatter: the least
  CHECK(sampled.warm.seconds.size() == 5);
}

TEST_CASE("samples at a dropped clock are left out and counted") {
  const auto at = [](double clock) { return Sample{1.0 / clock, clock}; };
  const Kept kept = keep_at_clock({at(1e9), at(0.94e9), at(1e9), at(0.96e9), at(1e9), at(0.5e9)}, 0.95);
  CHECK(kept.discarded == 2);
  CHECK(kept.seconds.size() == 4);
  CHECK(kept.clock == 1e9);
  CHECK(keep_at_clock({{1, 0}, {2, 0}}, 0.95).seconds.size() == 2);  // no clock known: all kept

  World world;
  world.next = [](int run) { return run % 4 == 3 ? Sample{2e-3, 0.5e9} : Sample{1e-3, 1e9}; };
  MadeUp work(world);
  const SampledWork sampled = sample(work, kRules, world.surroundings());
  for (const double seconds : sampled.cold.seconds) CHECK(seconds == 1e-3);
  CHECK(sampled.cold.discarded >= 1);
  CHECK(sampled.cold.clock == 1e9);
}

TEST_CASE("a clock that keeps dropping ends the measurement") {
  World world;
  world.next = [](int run) { return run % 3 == 0 ? Sample{1e-3, 1e9} : Sample{2e-3, 0.5e9}; };
  MadeUp work(world);
  CHECK_THROWS_WITH(sample(work, kRules, world.surroundings()),
                    ContainsSubstring("left out because the processor's clock fell below 95 %") &&
                        ContainsSubstring("nvidia-smi -lgc"));
}

TEST_CASE("a clock that drops once, under the load, is measured where it stays") {
  // Ten warm-up runs have alike times, then 1 to 3 s do not settle. The first series has 2·20 samples, the most. Ten of
  // them are fast, so the 90 % quantile is fast. The other 30, three quarters, are left out, so it measures once more.
  World world;
  std::mt19937_64 random(1);
  world.next = [&](int run) {
    return Sample{run < 10 ? 2.0 : std::uniform_real_distribution<double>(1, 3)(random), run < 20 ? 2e9 : 1.5e9};
  };
  MadeUp work(world);
  SamplingRules rules = kRules;
  rules.time_limit = 1e9;
  const SampledWork sampled = sample(work, rules, world.surroundings());
  CHECK(sampled.cold.clock == 1.5e9);
  CHECK(sampled.cold.discarded == 0);
  CHECK(sampled.cold.seconds.size() == 20);
  CHECK(world.cold_runs == 40 + 20);
}

TEST_CASE("the time limit ends a measurement that does not settle") {
  std::mt19937_64 random(1);
  World world;
  world.next = [&](int) { return Sample{std::uniform_real_distribution<double>(1, 3)(random), 1e9}; };
  MadeUp work(world);
  const SampledWork sampled = sample(work, kRules, world.surroundings());
  CHECK_FALSE(sampled.cold.settled);
  // 10 s of samples of 1 to 3 s: from 4 (three of 3 s are not above 10 s) to 11.
  CHECK(sampled.cold.seconds.size() >= 4);
  CHECK(sampled.cold.seconds.size() <= 11);
}

TEST_CASE("the device's own rates come first, the rest in an order drawn at random") {
  const Folder folder;
  World world;
  world.next = [](int) { return Sample{2e-3, 1e9}; };
  std::vector<std::int64_t> sizes(20);
  for (std::size_t i = 0; i < sizes.size(); ++i) sizes[i] = static_cast<std::int64_t>(i);
  const std::vector<Subject> subjects = {subject_of(world, "one", sizes), subject_of(world, "device/copy", {1}),
                                         subject_of(world, "device/launch", {1})};
  {
    SampleFile file(folder / "a.jsonl", kHeader);
    measure(subjects, {kRules, 1, 0, 1}, file, world.surroundings());
  }
  const std::vector<Record> records = read_samples(folder / "a.jsonl")->records;
  REQUIRE(records.size() == 22);
  CHECK((records[0].name.starts_with("device/") && records[1].name.starts_with("device/")));
  std::vector<std::int64_t> order;
  for (std::size_t i = 2; i < records.size(); ++i) order.push_back(records[i].size);
  CHECK_FALSE(std::is_sorted(order.begin(), order.end()));
}

TEST_CASE("measured samples are in the file, and are not measured again") {
  const Folder folder;
  const fs::path path = folder / "a.samples.jsonl";
  World world;
  world.next = [](int) { return Sample{2e-3, 1e9}; };
  const std::vector<Subject> subjects = {subject_of(world, "one", {100, 200}), subject_of(world, "two", {300})};
  // Interrupted during the second of three: 5 cold runs each.
  world.interrupted_after = 7;
  {
    SampleFile file(path, kHeader);
    CHECK_THROWS_AS(measure(subjects, {kRules, 1, 0, 2}, file, world.surroundings()), Interrupted);
    CHECK(file.count() == 1);
  }
  world.interrupted_after = 1 << 30;
  const int before = world.cold_runs;
  {
    SampleFile file(path, kHeader);
    CHECK(file.count() == 1);
    measure(subjects, {kRules, 1, 0, 2}, file, world.surroundings());
    CHECK(file.count() == 3);
    CHECK(world.cold_runs - before == 10);  // the two that were missing
    measure(subjects, {kRules, 1, 0, 2}, file, world.surroundings());
    CHECK(world.cold_runs - before == 10);
    measure(subjects, {kRules, 1, 1, 2}, file, world.surroundings());  // another start measures all three
    CHECK(world.cold_runs - before == 25);
  }
  const auto samples = read_samples(path);
  REQUIRE(samples);
  CHECK(samples->records.size() == 6);
  for (const Record& record : samples->records) {
    CHECK(record.cold == std::vector<double>(5, 1e-3));  // 2 ms of two runs
    CHECK(record.repeats == 2);
    CHECK(record.bytes == 8.0 * static_cast<double>(record.size));
    CHECK(to_json(record_of(to_json(record))) == to_json(record));
  }
}

TEST_CASE("a line without its end is dropped, other samples are refused") {
  const Folder folder;
  const fs::path path = folder / "a.samples.jsonl";
  World world;
  world.next = [](int) { return Sample{2e-3, 1e9}; };
  const std::vector<Subject> subjects = {subject_of(world, "one", {100, 200, 300})};
  {
    SampleFile file(path, kHeader);
    measure(subjects, {kRules, 1, 0, 1}, file, world.surroundings());
  }
  fs::resize_file(path, fs::file_size(path) - 20);
  CHECK(lines_of(path) == 4);
  {
    SampleFile file(path, kHeader);
    CHECK(file.count() == 2);
    measure(subjects, {kRules, 1, 0, 1}, file, world.surroundings());
  }
  CHECK(read_samples(path)->records.size() == 3);
  auto header = kHeader;
  header["device"]["date"] = "2026-11-22";
  CHECK_NOTHROW(SampleFile(path, header));  // the day alone is no difference
  header["device"]["name"] = "another";
  CHECK_THROWS_WITH(SampleFile(path, header), ContainsSubstring("device/name: found \"made up\", here \"another\"") &&
                                                  ContainsSubstring("--fresh"));
  CHECK(read_samples(path)->records.size() == 3);

  std::ofstream(folder / "b.jsonl") << "no samples\n";
  CHECK_THROWS_WITH(SampleFile(folder / "b.jsonl", kHeader), ContainsSubstring("b.jsonl:1: found \"no samples\""));
  std::ofstream(folder / "c.jsonl") << "{\"format\": \"other\"}\n";
  CHECK_THROWS_WITH(SampleFile(folder / "c.jsonl", kHeader), ContainsSubstring("c.jsonl:1:"));
  std::ofstream(folder / "old.jsonl") << R"({"format": "stepcast-samples", "version": 1})"
                                      << "\n"
                                      << R"({"name": "device/launch", "size": 1})"
                                      << "\n";
  CHECK_THROWS_WITH(
      SampleFile(folder / "old.jsonl", kHeader),
      ContainsSubstring("old.jsonl:1: found samples of version 1; allowed: 2") && ContainsSubstring("--fresh"));
  CHECK_THROWS_WITH(SampleFile(folder / "missing/d.jsonl", kHeader), ContainsSubstring("cannot be written"));
  CHECK_FALSE(read_samples(folder / "e.jsonl"));
}

TEST_CASE("a full disk ends the measurement and keeps the samples") {
  if (!fs::exists("/dev/full")) return;
  World world;
  world.next = [](int) { return Sample{2e-3, 1e9}; };
  CHECK_THROWS_WITH(SampleFile("/dev/full", kHeader),
                    ContainsSubstring("/dev/full cannot be written completely: No space left on device"));
}

TEST_CASE("a wrong kernel is not timed, and errors name the failure") {
  const Folder folder;
  World world;
  world.next = [](int) { return Sample{2e-3, 1e9}; };
  std::vector<Subject> subjects = {subject_of(world, "good", {100}), subject_of(world, "bad", {100})};
  subjects[1].check = [] { return std::optional<std::string>("y[3]: expected 1, got 2"); };
  SampleFile file(folder / "a.jsonl", kHeader);
  CHECK(measure(subjects, {kRules, 1, 0, 2}, file, world.surroundings()) == 1);
  CHECK(file.has("good", 100, 0));
  CHECK_FALSE(file.has("bad", 100, 0));
  CHECK(measure(subjects, {kRules, 1, 1, 2}, file, world.surroundings()) ==
        0);  // does not check, and takes no time of it either
  CHECK(file.count() == 2);
  int checks = 0;
  subjects[1].check = [&checks] { return ++checks, std::optional<std::string>(); };
  measure(subjects, {kRules, 1, 0, 2}, file, world.surroundings());
  CHECK(checks == 1);
  // Neither a later start nor one with nothing left to measure checks again.
  measure(subjects, {kRules, 1, 0, 2}, file, world.surroundings());
  measure(subjects, {kRules, 1, 1, 2}, file, world.surroundings());
  CHECK(checks == 1);
  CHECK(file.count() == 4);
  subjects[1].sizes = {200};
  subjects[1].check = {};
  subjects[1].prepare = [](std::int64_t) -> std::unique_ptr<Work> { throw std::runtime_error("out of memory"); };
  CHECK_THROWS_WITH(measure(subjects, {kRules, 1, 0, 1}, file, world.surroundings()),
                    ContainsSubstring("bad, size 200: out of memory"));
}

TEST_CASE("a subject is checked just before its first time, and no more once it has one") {
  const Folder folder;
  World world;
  world.next = [](int) { return Sample{2e-3, 1e9}; };
  std::vector<std::string> checked;
  std::vector<Subject> subjects;
  for (const char* name : {"one", "two", "three"}) {
    subjects.push_back(subject_of(world, name, {100, 200}));
    subjects.back().check = [&checked, name] { return checked.emplace_back(name), std::optional<std::string>(); };
  }
  SampleFile file(folder / "a.jsonl", kHeader);
  world.interrupted_after = 3;  // during the first of six, of 5 cold runs each
  CHECK_THROWS_AS(measure(subjects, {kRules, 1, 0, 1}, file, world.surroundings()), Interrupted);
  CHECK(checked.size() == 1);
  CHECK(file.count() == 0);
  world.interrupted_after = 3 + 5 + 2;  // during the second
  CHECK_THROWS_AS(measure(subjects, {kRules, 1, 0, 1}, file, world.surroundings()), Interrupted);
  REQUIRE(file.count() == 1);
  world.interrupted_after = 1 << 30;
  checked.clear();
  measure(subjects, {kRules, 1, 0, 1}, file, world.surroundings());
  CHECK(file.count() == 6);
  CHECK(checked.size() == 2);  // the one with a time is not checked again
  CHECK(std::find(checked.begin(), checked.end(), read_samples(folder / "a.jsonl")->records.front().name) ==
        checked.end());
}

TEST_CASE("a subject may have a share of the time limit") {
  const Folder folder;
  World world;
  std::mt19937_64 random(1);
  world.next = [&](int) { return Sample{std::uniform_real_distribution<double>(0.1, 0.3)(random), 1e9}; };
  std::vector<Subject> subjects = {subject_of(world, "slow", {1}), subject_of(world, "other", {1})};
  subjects[0].time_share = 0.1;
  SampleFile file(folder / "a.jsonl", kHeader);
  measure(subjects, {kRules, 1, 0, 1}, file, world.surroundings());
  // 10 s are enough for 20 samples of 0.1 to 0.3 s, the most; 1 s is over after 4 to 11 of them.
  const std::vector<Record> records = read_samples(folder / "a.jsonl")->records;
  REQUIRE(records.size() == 2);
  for (const Record& record : records) {
    INFO(record.name << ": " << record.cold.size() << " samples");
    CHECK((record.name == "slow" ? record.cold.size() >= 4 && record.cold.size() <= 11 : record.cold.size() == 20));
    CHECK(record.settled == (record.name == "other"));
  }
}

TEST_CASE("samples at an unfit clock are left out, however many they are") {
  const Folder folder;
  World steady, dropping;
  steady.next = [](int) { return Sample{2e-3, 1e9}; };
  dropping.next = [](int run) { return run % 3 == 0 ? Sample{1e-3, 1e9} : Sample{2e-3, 0.5e9}; };
  const std::vector<Subject> subjects = {subject_of(dropping, "unsteady", {1, 2, 3, 4, 5, 6, 7, 8, 9}),
                                         subject_of(dropping, "device/product", {1}),
                                         subject_of(steady, "steady", {1, 2})};
  SampleFile file(folder / "a.jsonl", kHeader);
  CHECK(measure(subjects, {kRules, 1, 0, 1}, file, steady.surroundings()) == 0);
  CHECK(file.count() == 3);
  CHECK((file.has("steady", 1, 0) && file.has("steady", 2, 0)));
  // Without the device's own rates there is no profile: those at the fast clock are taken, and the others counted.
  REQUIRE(file.has("device/product", 1, 0));
  const std::vector<Record> records = read_samples(folder / "a.jsonl")->records;
  const auto own =
      std::find_if(records.begin(), records.end(), [](const Record& r) { return r.name == "device/product"; });
  for (const double seconds : own->cold) CHECK(seconds == 0.5e-3);  // times of two repeats, at the fast clock
  CHECK(own->discarded > 0);
}
