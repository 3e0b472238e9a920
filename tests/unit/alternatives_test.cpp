#include "models/study/alternatives.hpp"

#include <stdexcept>

#include "tests/support/catch.hpp"

using namespace stepcast;

namespace {

/// A study of points given by their values, "" for none.
Study study_of(std::vector<std::string> axes, std::vector<std::string> pointers,
               const std::vector<std::vector<std::string>>& rows) {
  Study study;
  study.axes = std::move(axes);
  study.axis_pointers = std::move(pointers);
  for (const auto& row : rows) {
    StudyPoint point;
    for (std::size_t i = 0; i < row.size(); ++i)
      if (!row[i].empty()) point.coordinates.push_back({study.axes[i], row[i]});
    study.points.push_back(std::move(point));
  }
  return study;
}

std::size_t count_in(const Arrangement& a, std::size_t situation) {
  std::size_t count = 0;
  for (const Contest& contest : a.contests) count += contest.situation == situation;
  return count;
}

std::string refusal(const Arrangement& a, const std::vector<std::string>& choices) {
  try {
    find_alternative(a, choices);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("variants, strategies, compressors, codecs and the workload's variant compete by default") {
  const Study study =
      study_of({"variant", "workload", "/workload/variant", "workers", "ratio", "width", "overlap", "compressor"},
               {"variant", "/workload", "/workload/variant", "/cluster/workers", "/compressor/ratio", "/strategy/width",
                "/codec/overlap", "/compressor"},
               {});
  CHECK(usual_alternatives(study) ==
        std::vector<std::string>{"variant", "/workload/variant", "ratio", "width", "overlap", "compressor"});
}

TEST_CASE("every combination of the other axes is a situation with all alternatives") {
  const Study study = study_of({"workload", "workers", "compressor"}, {"/workload", "/cluster/workers", "/compressor"},
                               {{"a", "2", "none"},
                                {"a", "2", "fp16"},
                                {"a", "4", "none"},
                                {"a", "4", "fp16"},
                                {"b", "2", "none"},
                                {"b", "2", "fp16"}});
  const Arrangement a = arrange(study, study.points, {"compressor"}, "");
  CHECK(a.situation_axes == std::vector<std::string>{"workload", "workers"});
  REQUIRE(a.situations.size() == 3);
  CHECK(a.situations[1] == std::vector<Coordinate>{{"workload", "a"}, {"workers", "4"}});
  REQUIRE(a.alternatives.size() == 2);
  CHECK(label(a.alternatives[1]) == "compressor fp16");
  for (std::size_t s = 0; s < 3; ++s) CHECK(count_in(a, s) == 2);
  CHECK((a.contests[3].situation == 1 && a.contests[3].alternative == 1 && a.contests[3].point == 3));
  // The axis that is searched is of neither.
  const Arrangement along = arrange(study, study.points, {"compressor"}, "workers");
  CHECK(along.situation_axes == std::vector<std::string>{"workload"});
}

TEST_CASE("a variant that sets an axis itself stands in all situations that agree with it on the others") {
  // "alone" has no number of workers, "own" no axis at all.
  const Study study = study_of({"variant", "workload", "workers"}, {"variant", "/workload", "/cluster/workers"},
                               {{"shared", "a", "2"},
                                {"shared", "a", "4"},
                                {"shared", "b", "2"},
                                {"shared", "b", "4"},
                                {"alone", "a", ""},
                                {"alone", "b", ""},
                                {"own", "", ""}});
  const Arrangement a = arrange(study, study.points, {"variant"}, "");
  REQUIRE(a.situations.size() == 4);
  for (std::size_t s = 0; s < 4; ++s) CHECK(count_in(a, s) == 3);
  for (const Contest& contest : a.contests)
    if (contest.point == 5) CHECK(value_on(a.situations[contest.situation], "workload") == "b");
}

TEST_CASE("without axes of situations there is one; variants with unlike axes have their own") {
  const Study plain = study_of({"variant"}, {"variant"}, {{"x"}, {"y"}});
  const Arrangement a = arrange(plain, plain.points, {"variant"}, "");
  REQUIRE(a.situations.size() == 1);
  CHECK(a.situations[0].empty());
  CHECK(a.contests.size() == 2);
  const Study unlike = study_of({"variant", "width", "shards"}, {"variant", "/a/width", "/b/shards"},
                                {{"x", "1", ""}, {"y", "", "1"}, {"y", "", "2"}});
  const Arrangement b = arrange(unlike, unlike.points, {"variant"}, "");
  CHECK(b.situations.size() == 3);
  CHECK(b.contests.size() == 3);
}

TEST_CASE("an alternative is found by its coordinates, the first of those that have them") {
  const Study study = study_of(
      {"variant", "compressor"}, {"variant", "/compressor"},
      {{"AllReduce", "none"}, {"AllReduce", "fp16"}, {"pipelined", "none"}, {"pipelined", "fp16"}, {"server", ""}});
  const Arrangement a = arrange(study, study.points, {"variant", "compressor"}, "");
  CHECK(find_alternative(a, {}) == 0);
  CHECK(find_alternative(a, {"compressor=fp16"}) == 1);
  CHECK(find_alternative(a, {"variant=pipelined"}) == 2);
  CHECK(find_alternative(a, {"variant=pipelined", "compressor=fp16"}) == 3);
  CHECK(label(a.alternatives[3]) == "pipelined, compressor fp16");
  CHECK(says(refusal(a, {"compressor"}), "\"compressor\" is not AXIS=VALUE"));
  CHECK(says(refusal(a, {"compressor=fp61"}),
             "\"fp61\" is no value of compressor; it has none; fp16; did you mean \"fp16\"?"));
  CHECK(says(refusal(a, {"workers=2"}), "workers: no axis of the alternatives; theirs: variant, compressor"));
  CHECK(says(refusal(a, {"variant=server", "compressor=fp16"}), "no alternative has all of"));
}
