// The parts of a sweep on their own; sweep_test.sh has the program.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <thread>

#include <unistd.h>

#include "models/describe/json.hpp"
#include "models/scenario/library.hpp"
#include "models/study/expansion.hpp"
#include "sim/answer/answer_cache.hpp"
#include "sim/answer/digest.hpp"
#include "sim/answer/forecast_json.hpp"
#include "sim/answer/frames.hpp"
#include "sim/answer/plan.hpp"
#include "sim/answer/replay_key.hpp"
#include "sim/program/shard_file.hpp"
#include "sim/replay/processes.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/property.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

namespace fs = std::filesystem;

/// A folder that goes when the test ends.
class Scratch {
 public:
  Scratch() : path_(fs::temp_directory_path() / ("stepcast-sweep-test-" + std::to_string(::getpid()))) {
    fs::create_directories(path_);
  }
  ~Scratch() { fs::remove_all(path_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  [[nodiscard]] fs::path operator/(const char* name) const { return path_ / name; }

 private:
  fs::path path_;
};

void write(const fs::path& file, const std::string& text) { std::ofstream(file, std::ios::binary) << text; }

Study study_of(const std::string& set_of_workers, const std::vector<std::string>& sets = {}) {
  std::vector<Override> changes;
  for (const std::string& set : sets) changes.push_back(parse_override(set));
  return parse_study(
      R"({"name": "s", "workload": "resnet50-v100", "cluster": {"workers": )" + set_of_workers +
          R"(, "link": {"bandwidth": "10Gbps", "latency": "25us"}}, "evaluation": {"evaluator": "replay"}})",
      "test", changes, default_library());
}

AnswerPlan plan_of(const Study& study, Shard shard = {}) {
  AnswerPlan plan(study.points, shard, "program");
  plan.foresee(study.points);
  return plan;
}

StepForecast random_forecast() {
  const auto time = [] { return Seconds(positive_between(1e-9, 1e9)); };
  StepForecast f;
  f.first_step = time();
  f.step = time();
  const auto parts = [&] { return Breakdown{time(), time(), time(), time(), time(), time(), time(), time()}; };
  f.breakdown = parts();
  for (int kinds = integer_between(0, 3); kinds > 0; --kinds)
    f.kinds.push_back({integer_between(0, 9), integer_between(1, 9), parts()});
  f.no_period = coin();
  f.steady_state = coin() ? "all streams repeat every 1 step to 1e-10" : "no \"period\" µ";
  if (coin()) f.critical = {"forward", "all-reduce 1/2"};
  f.critical_steps = integer_between(0, 9);
  f.steps = integer_between(1, 1000);
  f.drift = real_between(-1, 1);
  f.lead = real_between(0, 1);
  if (coin()) f.distribution = Distribution{integer_between(1, 100000), time(), time(), time(), time()};
  return f;
}

bool same(const StepForecast& a, const StepForecast& b) {
  const auto distribution = [](const StepForecast& f) {
    return f.distribution
               ? std::vector<double>{static_cast<double>(f.distribution->samples), f.distribution->p5.si(),
                                     f.distribution->p50.si(), f.distribution->p95.si(), f.distribution->p99.si()}
               : std::vector<double>{};
  };
  const auto parts = [](const Breakdown& p) {
    return std::vector<Seconds>{p.forward, p.backward, p.update, p.encode, p.decode, p.exposed_communication,
                                p.stack,   p.waiting};
  };
  const auto same_kinds = [&](const KindBreakdown& x, const KindBreakdown& y) {
    return x.first == y.first && x.count == y.count && parts(x.breakdown) == parts(y.breakdown);
  };
  if (!std::equal(a.kinds.begin(), a.kinds.end(), b.kinds.begin(), b.kinds.end(), same_kinds)) return false;
  return a.first_step == b.first_step && a.step == b.step && parts(a.breakdown) == parts(b.breakdown) &&
         a.steady_state == b.steady_state && a.no_period == b.no_period && a.critical == b.critical &&
         a.critical_steps == b.critical_steps && a.steps == b.steps && a.drift == b.drift && a.lead == b.lead &&
         distribution(a) == distribution(b);
}

}  // namespace

TEST_CASE("the digest is XXH3's of 128 bits, in its canonical byte order") {
  // xxHash 0.8's own self-test: XXH3_128bits of no bytes at all with seed 0 has the halves 99AA06D3014798D8 (high) and
  // 6001C324468D497F (low).
  CHECK(to_string(digest_of("")) == "99aa06d3014798d86001c324468d497f");
  CHECK(digest_of("a") != digest_of("b"));
}

TEST_CASE("frames come off in the order they were put on") {
  std::string packed;
  const std::vector<std::string> texts = {"one", "", std::string("a\0b", 3), std::string(100000, 'x')};
  for (const std::string& text : texts) put_frame(packed, text);
  std::string_view rest = packed;
  for (const std::string& text : texts) CHECK(take_frame(rest) == text);
  CHECK(rest.empty());
}

TEST_CASE("a packed forecast is the same forecast") {
  property("unpack_forecast(parse(dump(pack(f)))) is f, bit by bit", [] {
    const StepForecast f = random_forecast();
    RC_ASSERT(same(unpack_forecast(Json::parse(pack(f).dump())), f));
  });
}

TEST_CASE("replays are the same question when nothing that they depend on differs") {
  ReplayKeys keys("program");
  const auto key = [&](const std::vector<std::string>& sets) {
    return keys.key(study_of("4", sets).points.front().scenario);
  };
  const Digest plain = key({});
  SECTION("what shows or judges an answer does not count") {
    for (const char* set :
         {"/name=other", "/description=a text", "/cluster/name=other", "/workload/name=other",
          "/workload/source=somebody's", "/output={\"plot\": \"a.png\"}", "/evaluation/evaluator=both",
          "/evaluation/tolerance=0.5", "/baseline={\"name\": \"b\", \"set\": {\"/cluster/workers\": 2}}"}) {
      INFO(set);
      CHECK(key({set}) == plain);
    }
  }
  SECTION("all else does") {
    std::set<Digest> seen = {plain};
    for (const char* set :
         {"/workload=vgg16-v100", "/workload/batch=7", "/cluster/workers=5", "/cluster/link/bandwidth=11Gbps",
          "/cluster/link/latency=26us", "/cluster/reduction_cost=1ns/B", "/cluster/transport={\"kind\": \"tcp\"}",
          "/cluster/jitter={\"distribution\": \"gamma\", \"cv\": 0.1}", "/strategy={\"kind\": \"gossip\"}",
          "/strategy={\"kind\": \"all-reduce\", \"collective\": {\"algorithm\": \"binary-tree\"}}",
          "/evaluation/max_steps=300", "/evaluation/seed=2"}) {
      INFO(set);
      CHECK(seen.insert(key({set})).second);
    }
    const std::string jitter = R"(/cluster/jitter={"distribution": "gamma", "cv": 0.1})";
    CHECK(key({jitter, "/evaluation/runs=2"}) != key({jitter}));
    ReplayKeys of_another("another program");
    CHECK(seen.insert(of_another.key(study_of("4").points.front().scenario)).second);
  }
  SECTION("a platform counts by its content, not its name") {
    const Scratch scratch;
    for (const auto& [name, content] :
         std::map<const char*, const char*>{{"a.xml", "one"}, {"b.xml", "one"}, {"c.xml", "two"}})
      write(scratch / name, content);
    const std::string ring = R"(/strategy={"kind": "all-reduce", "collective": {"algorithm": "ring"}})";
    const auto on = [&](const char* name) {
      return key(
          {"/cluster/topology={\"kind\": \"simgrid-xml\", \"file\": \"" + (scratch / name).string() + "\"}", ring});
    };
    CHECK(on("a.xml") == on("b.xml"));
    CHECK(on("a.xml") != on("c.xml"));
    CHECK(on("a.xml") != key({ring}));
  }
}

TEST_CASE("the cache gives back stored answers, also to others and later") {
  const Scratch scratch;
  const fs::path file = scratch / "folder" / "answers.sqlite";
  StepForecast forecast;
  forecast.step = 0.1_s;
  forecast.steady_state = "steady";
  const Digest one = digest_of("one"), two = digest_of("two");
  {
    AnswerCache cache(file), other(file);
    CHECK(!cache.find(one));
    cache.put(one, forecast);
    REQUIRE(cache.find(one));
    CHECK(same(*cache.find(one), forecast));
    CHECK(!cache.find(two));
    REQUIRE(other.find(one));  // another connection sees it at once
    forecast.step = 0.2_s;
    other.put(one, forecast);  // and may replace it
    CHECK(same(*cache.find(one), forecast));
  }
  AnswerCache again(file);
  REQUIRE(again.find(one));
  CHECK(same(*again.find(one), forecast));
}

TEST_CASE("processes that open a new cache at once all get it") {
  // Each round has a new file and 8 processes that wait for one moment to open it. The race lasts a few hundred
  // microseconds. Without a transaction, 6 to 16 of the 160 processes failed.
  constexpr int kTogether = 8;
  for (int round = 0; round < 20; ++round) {
    const Scratch scratch;
    const auto moment = std::chrono::steady_clock::now() + std::chrono::milliseconds(30);
    const auto results = run_in_processes(kTogether, kTogether, [&](std::size_t i) {
      std::this_thread::sleep_until(moment);
      AnswerCache cache(scratch / "answers.sqlite");
      const Digest own = digest_of(std::to_string(i));
      cache.put(own, StepForecast{});
      return Json(cache.find(own).has_value());
    });
    for (const auto& result : results) {
      INFO(result.error);
      CHECK(result.value == true);
    }
  }
}

TEST_CASE("a file that is no cache is refused and left as it is") {
  const Scratch scratch;
  const std::string text(5000, 'x');
  write(scratch / "text", text);
  CHECK_THROWS_WITH(AnswerCache(scratch / "text"),
                    ContainsSubstring("not a database") && ContainsSubstring("--no-cache"));
  CHECK(fs::file_size(scratch / "text") == text.size());
  CHECK_THROWS_WITH(AnswerCache("/dev/null/answers.sqlite"), ContainsSubstring("/dev/null/answers.sqlite"));
}

TEST_CASE("a plan asks each question once, for any number of askers") {
  // p = 2, 4, 8 against p = 2: the baseline is the first point's question.
  const Study study = study_of("[2, 4, 8]", {R"(/baseline={"name": "two", "set": {"/cluster/workers": 2}})"});
  const AnswerPlan plan = plan_of(study);
  REQUIRE(plan.points.size() == 3);
  REQUIRE(plan.questions.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(plan.points[i].replays.at(&study.points[i].scenario) == i);
    CHECK(plan.points[i].replays.at(study.points[i].baseline()) == 0);
  }
  const auto tasks = list_tasks(plan, {false, true, false});  // the second is known
  REQUIRE(tasks.size() == 2);
  CHECK(tasks[0].question == 0);
  CHECK(tasks[1].question == 2);
}

TEST_CASE("every run of a replay is a task of its own") {
  const Study study =
      study_of("[2, 4]", {"/evaluation/runs=3", R"(/cluster/jitter={"distribution": "gamma", "cv": 0.1})"});
  const auto tasks = list_tasks(plan_of(study), {false, false});
  REQUIRE(tasks.size() == 6);
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(tasks[i].question == i / 3);
    CHECK(tasks[i].run == static_cast<int>(i % 3));
  }
}

TEST_CASE("shards and blocks hold every point once") {
  const Study study =
      study_of("[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]",
               {R"(/cluster/link/latency=["1us", "2us"])", R"(/evaluation/evaluator=["equations", "replay"])"});
  REQUIRE(study.points.size() == 44);
  for (const std::size_t count : {1, 2, 3, 7, 44, 50}) {
    std::multiset<std::size_t> seen;
    std::size_t largest = 0, smallest = 44;
    for (std::size_t index = 0; index < count; ++index) {
      const AnswerPlan plan = plan_of(study, {index, count});
      largest = std::max(largest, plan.points.size());
      smallest = std::min(smallest, plan.points.size());
      std::multiset<std::size_t> worked_on;
      for (const AnswerTask& task : list_tasks(plan, std::vector<bool>(plan.questions.size()))) {
        if (task.question == kNone) worked_on.insert(task.block.begin(), task.block.end());
        else
          for (std::size_t at = 0; at < plan.points.size(); ++at)
            for (const auto& [scenario, question] : plan.points[at].replays)
              if (question == task.question) worked_on.insert(at);
      }
      REQUIRE(worked_on.size() == plan.points.size());
      for (std::size_t at = 0; at < plan.points.size(); ++at) {
        CHECK(worked_on.count(at) == 1);
        seen.insert(plan.points[at].index);
      }
    }
    CHECK(largest - smallest <= 1);
    REQUIRE(seen.size() == 44);
    for (std::size_t i = 0; i < 44; ++i) CHECK(seen.count(i) == 1);
  }
}

TEST_CASE("shards share an axis that has as many values as there are shards") {
  // 16 points, the last axis of 4 values, 4 shards: each has each value once.
  for (std::size_t shard = 0; shard < 4; ++shard) {
    std::set<std::size_t> values;
    for (std::size_t point = 0; point < 16; ++point)
      if (shard_of(point, 4) == shard) values.insert(point % 4);
    CHECK(values.size() == 4);
  }
}

TEST_CASE("a shard's name is i/n with i below n") {
  CHECK(parse_shard("0/1").count == 1);
  CHECK(parse_shard("15/16").index == 15);
  for (const char* text :
       {"", "1", "1/1", "2/1", "-1/2", "0/0", "1/2/3", "0/ 2", " 0/2", "a/b", "0/1000001", "0/99999999999999999999999"})
    CHECK_THROWS_AS(parse_shard(text), std::invalid_argument);
}
