// How a scenario becomes the points of a study.
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/describe/json.hpp"
#include "models/scenario/library.hpp"
#include "models/scenario/tensor_compressors.hpp"
#include "models/study/alternatives.hpp"
#include "models/study/choose_points.hpp"
#include "models/study/expansion.hpp"
#include "tests/reader/bad_scenarios.hpp"
#include "tests/reader/folder.hpp"
#include "tests/support/catch.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

Study study_of(const std::string& text, const std::vector<std::string>& sets = {}) {
  std::vector<Override> changes;
  for (const std::string& set : sets) changes.push_back(parse_override(set));
  return parse_study(text, "study.json", changes, default_library());
}

Study study_of(const Changes& changes, const std::vector<std::string>& sets = {}) {
  return study_of(good_scenario(changes), sets);
}

/// "workers=2 batch=8" for each point.
std::vector<std::string> points(const Study& study) {
  std::vector<std::string> texts;
  for (const StudyPoint& point : study.points) {
    std::vector<std::string> words;
    for (const Coordinate& c : point.coordinates) words.push_back(c.axis + "=" + c.value);
    texts.push_back(fmt::format("{}", fmt::join(words, " ")));
  }
  return texts;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("a scenario without lists is a study of one point") {
  const Study study = study_of(Changes{{"/description", "why"}});
  CHECK(study.name == "good");
  CHECK(study.description == "why");
  CHECK(study.axes.empty());
  CHECK(points(study) == Texts{""});
  CHECK_FALSE(study.points[0].baseline());
}

TEST_CASE("comments are left out") {
  const std::string text = "{ // how many\n \"a\": [1, /* two */ 2] }";
  CHECK(parse_json(text, "x.json") == parse_json(R"({"a": [1, 2]})", "x.json"));
}

TEST_CASE("axes vary in document order, the last fastest") {
  // good_scenario() writes the workload before the cluster, and workers before link.
  const Study study = study_of(Changes{
      {"/cluster/link/bandwidth", {"1Gbps", "2Gbps"}}, {"/cluster/workers", {2, 4, 8}}, {"/workload/batch", {16, 32}}});
  CHECK(study.axes == Texts{"batch", "workers", "bandwidth"});
  CHECK(points(study) == Texts{"batch=16 workers=2 bandwidth=1Gbps", "batch=16 workers=2 bandwidth=2Gbps",
                               "batch=16 workers=4 bandwidth=1Gbps", "batch=16 workers=4 bandwidth=2Gbps",
                               "batch=16 workers=8 bandwidth=1Gbps", "batch=16 workers=8 bandwidth=2Gbps",
                               "batch=32 workers=2 bandwidth=1Gbps", "batch=32 workers=2 bandwidth=2Gbps",
                               "batch=32 workers=4 bandwidth=1Gbps", "batch=32 workers=4 bandwidth=2Gbps",
                               "batch=32 workers=8 bandwidth=1Gbps", "batch=32 workers=8 bandwidth=2Gbps"});
  const Scenario& last = study.points.back().scenario;
  CHECK(last.workload->batch == 32);
  CHECK(last.cluster.workers == 8);
  CHECK(last.cluster.link.bandwidth == 2_Gbps);
}

TEST_CASE("a change counts in the list of a part by name") {
  const Study study = study_of(Changes{{"/cluster", Json::parse(R"({"from": "dgx-1-v100", "workers": 64})")},
                                       {"/strategy", Json::parse(R"({"kind": "all-reduce"})")}},
                               Texts{"/cluster/protocols/0/bandwidth_factor=0.3"});
  const Cluster& cluster = study.points.at(0).scenario.cluster;
  REQUIRE(cluster.protocols.size() == 3);
  CHECK((cluster.protocols[0].name == "LL" && cluster.protocols[0].bandwidth_factor == 0.3));
  CHECK(cluster.workers == 64);
}

TEST_CASE("a list of one value is an axis of one value") {
  CHECK(points(study_of(Changes{{"/cluster/workers", Json::array({4})}})) == Texts{"workers=4"});
}

TEST_CASE("whole parts make an axis, and may hold axes of their own") {
  const Study study = study_of(Changes{
      {"/strategy",
       Json::parse(R"([{"kind": "gossip"}, {"kind": "pipelined", "width": [2, 3]}, {"kind": "parameter-server"}])")}});
  CHECK(study.axes == Texts{"strategy", "width"});
  CHECK(points(study) == Texts{"strategy=gossip", "strategy=pipelined width=2", "strategy=pipelined width=3",
                               "strategy=parameter-server"});
}

TEST_CASE("values that read alike are distinguished by their differences, or else by their place") {
  const Study study = study_of(Changes{
      {"/strategy",
       Json::parse(R"([{"kind": "pipelined", "width": 2}, {"kind": "gossip"}, {"kind": "pipelined", "width": 3}])")}});
  CHECK(points(study) == Texts{"strategy=pipelined (width=2)", "strategy=gossip", "strategy=pipelined (width=3)"});
  const auto labels = [](const char* pointer, const char* values) {
    Texts all;
    for (const StudyPoint& point : study_of(Changes{{pointer, Json::parse(values)}}).points)
      all.push_back(point.coordinates.front().value);
    return all;
  };
  CHECK(labels("/cluster/link",
               R"([{"bandwidth": "1Gbps", "latency": "5us"}, {"bandwidth": "1Gbps", "latency": "9us"}])") ==
        Texts{"latency=5us", "latency=9us"});
  CHECK(labels("/strategy", R"([{"kind": "pipelined"}, {"kind": "pipelined", "collective": {"algorithm": "ring"}}])") ==
        Texts{"pipelined", "pipelined (algorithm=ring)"});
  // Lists, and texts too long for a table, are left out.
  CHECK(labels("/cluster/topology",
               R"([{"kind": "torus", "dimensions": [2, 4]}, {"kind": "torus", "dimensions": [8, 1]}])") ==
        Texts{"torus #1", "torus #2"});
}

TEST_CASE("a kind's name alone means it with its defaults, unless a file has that name") {
  const Study study = study_of(
      Changes{{"/strategy", "all-reduce"}, {"/compressor", {"none", "fp16"}}, {"/codec/device", "v100-datasheet"}},
      {"/strategy/exchange/grouping=bucketed"});
  CHECK(points(study) == Texts{"compressor=none", "compressor=fp16"});
  CHECK(std::holds_alternative<NoCompressor>(study.points[0].scenario.compressor));
  CHECK(std::holds_alternative<Fp16>(study.points[1].scenario.compressor));
  AllReduceStrategy expected;
  expected.exchange.grouping = Grouping::bucketed;
  CHECK(std::get<AllReduceStrategy>(study.points[1].scenario.strategy) == expected);
  // Laid over, and in a variant.
  const Study laid = study_of(Changes{
      {"/strategy", Json{{"from", "pipelined"}, {"width", 3}}},
      {"/variants", Json::parse(R"([{"name": "a", "set": {}}, {"name": "b", "set": {"/strategy": "gossip"}}])")}});
  CHECK(std::get<PipelinedStrategy>(laid.points[0].scenario.strategy).width == 3);
  CHECK(std::holds_alternative<GossipStrategy>(laid.points[1].scenario.strategy));
  const Folder folder;
  const std::string file = folder.write("study.json", good_scenario({{"/strategy", "gossip"}}));
  folder.write("strategies/gossip.json", R"({"kind": "pipelined", "width": 5})");
  const Study own = load_study(file, {}, default_library());
  CHECK(std::get<PipelinedStrategy>(own.points[0].scenario.strategy).width == 5);
}

TEST_CASE("a kind makes an axis") {
  const Study study = study_of(Changes{{"/cluster/transport", Json{{"kind", {"ideal", "tcp"}}}},
                                       {"/evaluation", Json{{"evaluator", "replay"}}}});
  CHECK(points(study) == Texts{"kind=ideal", "kind=tcp"});
  CHECK(std::holds_alternative<TcpTransport>(study.points[1].scenario.cluster.transport));
}

TEST_CASE("for a field that is a list, a list of lists is an axis") {
  SECTION("all of it") {
    const Study study =
        study_of(Changes{{"/cluster/topology", Json{{"kind", "torus"}, {"dimensions", {{2, 4}, {2, 2, 2}}}}}});
    CHECK(points(study) == Texts{"dimensions=#1", "dimensions=#2"});
    CHECK(std::get<Torus>(study.points[1].scenario.cluster.topology).dimensions == std::vector{2, 2, 2});
  }
  SECTION("one element of it") {
    const Study study = study_of(Changes{{"/cluster/topology", Json{{"kind", "torus"}, {"dimensions", {4, {2, 4}}}}}});
    CHECK(points(study) == Texts{"1=2", "1=4"});
  }
  SECTION("with an empty one: no group, and one") {
    const Study study =
        study_of(Changes{{"/cluster/groups", Json::parse(R"([[], [{"count": 2, "speed": [0.5, 0.25]}]])")}});
    CHECK(points(study) == Texts{"groups=#1", "groups=#2 speed=0.5", "groups=#2 speed=0.25"});
    CHECK(study.points[0].scenario.cluster.groups.empty());
  }
}

TEST_CASE("null may stand in an axis where null is a value") {
  const Study study = study_of(
      Changes{{"/strategy", Json::parse(R"({"kind": "parameter-server", "server_reduction_cost": [null, "1ns/B"]})")}});
  CHECK(points(study) == Texts{"server_reduction_cost=null", "server_reduction_cost=1ns/B"});
}

TEST_CASE("axes that end alike are called by their whole pointer") {
  const Study study =
      study_of(Changes{{"/cluster/groups", Json::parse(R"([{"count": 2, "bandwidth": ["1Gbps", "2Gbps"]}])")},
                       {"/cluster/link/bandwidth", {"10Gbps", "20Gbps"}},
                       {"/workload/batch", {1, 2}}});
  CHECK(study.axes == Texts{"batch", "/cluster/link/bandwidth", "/cluster/groups/0/bandwidth"});
  CHECK(points(study).front() == "batch=1 /cluster/link/bandwidth=10Gbps /cluster/groups/0/bandwidth=1Gbps");
}

TEST_CASE("variants come first and may differ in their axes") {
  const Study study = study_of(Changes{{"/cluster/workers", {2, 4}}, {"/variants", Json::parse(R"([
      {"name": "ring", "set": {"/strategy": {"kind": "all-reduce", "collective": {"algorithm": "ring"}}}},
      {"name": "servers", "set": {"/strategy": {"kind": "parameter-server", "shards": [1, 2]}, "/cluster/link/latency": "1us"}}])")}});
  CHECK(study.axes == Texts{"variant", "workers", "shards"});
  CHECK(points(study) == Texts{"variant=ring workers=2", "variant=ring workers=4", "variant=servers workers=2 shards=1",
                               "variant=servers workers=2 shards=2", "variant=servers workers=4 shards=1",
                               "variant=servers workers=4 shards=2"});
  CHECK(study.points[0].scenario.cluster.link.latency == 25_us);
  CHECK(study.points[2].scenario.cluster.link.latency == 1_us);
}

TEST_CASE("--set changes, adds, and makes axes") {
  SECTION("a value") {
    const Study study = study_of(Changes{}, {"/cluster/workers=64", "/evaluation/tolerance=1e-3", "/name=other name"});
    CHECK(study.name == "other name");
    CHECK(study.points[0].scenario.cluster.workers == 64);
    CHECK(study.points[0].scenario.evaluation.tolerance == 1e-3);
  }
  SECTION("text that looks like JSON only at a glance") {
    CHECK(study_of(Changes{}, {"/cluster/link/bandwidth=25Gbps"}).points[0].scenario.cluster.link.bandwidth == 25_Gbps);
    CHECK(study_of(Changes{}, {"/description=a = b"}).description == "a = b");
    CHECK(study_of(Changes{}, {"/description=\"quoted\""}).description == "quoted");
    CHECK(study_of(Changes{}, {"/description="}).description.empty());
  }
  SECTION("a list in place of a list") {
    CHECK(points(study_of(Changes{{"/cluster/workers", {1, 2}}}, {"/cluster/workers=[8, 128]"})) ==
          Texts{"workers=8", "workers=128"});
  }
  SECTION("an element of a list") {
    CHECK(points(study_of(Changes{{"/cluster/workers", {1, 2}}}, {"/cluster/workers/1=64"})) ==
          Texts{"workers=1", "workers=64"});
  }
  SECTION("the last of two wins") {
    CHECK(study_of(Changes{}, {"/cluster/workers=2", "/cluster/workers=4"}).points[0].scenario.cluster.workers == 4);
  }
  SECTION("an object that was not there") {
    CHECK(study_of(Changes{},
                   {"/cluster/jitter/cv=0.1", "/cluster/jitter/distribution=gamma", "/evaluation/evaluator=replay"})
              .points[0]
              .scenario.cluster.jitter.cv == 0.1);
  }
  SECTION("a field of a part given by name") {
    const Study study = study_of(Changes{{"/workload", "resnet50-v100"}}, {"/workload/batch=64"});
    CHECK(study.points[0].scenario.workload->batch == 64);
    CHECK(study.points[0].scenario.workload->gradients.size() == 161);
  }
  SECTION("a field of a profile or a network's variant given by name") {
    const Json network = Json::parse(R"({"from": "resnet50", "profile": "v100-datasheet", "variant": "pufferfish",
        "measured": {"forward": "31.9ms", "batch": 32, "dtype": "fp32", "profile": "v100-datasheet"}})");
    const Study study =
        study_of(Changes{{"/workload", network}, {"/codec/device", "v100-datasheet"}, {"/compressor", "fp16"}},
                 {"/workload/profile/bend/value=3", "/workload/measured/profile/bend/value=5",
                  "/codec/device/bend/value=6", "/workload/variant/factorize/rank_ratio=0.125"});
    const Scenario& scenario = study.points[0].scenario;
    CHECK(scenario.workload->profile->name == "v100-datasheet");
    CHECK(scenario.workload->profile->bend.value == 3);
    CHECK(scenario.workload->measured->profile.bend.value == 5);
    CHECK(scenario.codec.device->bend.value == 6);
    CHECK(scenario.workload->variant->factorize->rank_ratio == 0.125);
    const Study axis =
        study_of(Changes{{"/workload", network}},
                 {R"(/workload/profile=["v100-datasheet", "a100-datasheet"])", "/workload/profile/bend/value=3"});
    CHECK(points(axis) == Texts{"profile=v100-datasheet", "profile=a100-datasheet"});
    CHECK(axis.points[1].scenario.workload->profile->bend.value == 3);
    // A network's own file may name the profile.
    const Folder folder;
    folder.write("net.json", network.dump());
    const std::string file = folder.write("s.json", good_scenario({{"/workload", "net.json"}}));
    const auto profile = [&](const std::string& set) {
      return *load_study(file, {parse_override(set)}, default_library()).points.at(0).scenario.workload->profile;
    };
    CHECK(profile("/workload/profile/bend/value=3").name == "v100-datasheet");
    CHECK(profile("/workload/profile/bend/value=3").bend.value == 3);
    CHECK(profile("/workload/profile=a100-datasheet").name == "a100-datasheet");
    CHECK(profile(R"(/workload/profile={"from": "a100-datasheet"})").name == "a100-datasheet");
  }
  SECTION("a field of a part that a scenario has from the one it is laid over") {
    const Folder folder;
    folder.write("lab.json", R"({"workers": 8, "link": {"bandwidth": "10Gbps"}})");
    folder.write(
        "base.json",
        R"({"name": "b", "workload": "resnet50-v100", "cluster": "lab.json", "strategy": "pipelined", "compressor": "top-k"})");
    const std::string file =
        folder.write("s.json", R"({"from": "base.json", "name": "s", "codec": {"device": "v100-datasheet"}})");
    const auto scenario_of = [&](const std::vector<std::string>& sets) {
      std::vector<Override> changes;
      for (const std::string& set : sets) changes.push_back(parse_override(set));
      return load_study(file, changes, default_library()).points.at(0).scenario;
    };
    const Scenario scenario =
        scenario_of({"/cluster/workers=16", "/strategy/width=3", "/compressor/ratio=0.5", "/workload/batch=64"});
    CHECK(scenario.name == "s");
    CHECK(scenario.cluster.workers == 16);
    CHECK(scenario.cluster.link.bandwidth == 10_Gbps);
    CHECK(std::get<PipelinedStrategy>(scenario.strategy).width == 3);
    CHECK(std::get<TopK>(scenario.compressor).ratio == 0.5);
    CHECK(scenario.workload->batch == 64);
    // The whole of a part replaces it; another base has its own.
    CHECK(scenario_of({R"(/cluster={"workers": 2, "link": {"bandwidth": "1Gbps"}})"}).cluster.link.bandwidth == 1_Gbps);
    folder.write("other.json", R"({"name": "o", "workload": "resnet50-v100", "cluster": "lab.json"})");
    CHECK(std::holds_alternative<AllReduceStrategy>(
        scenario_of({"/cluster/workers=4", "/from=" + folder.file("other.json")}).strategy));
  }
  SECTION("a field of the strategy that a scenario without one has") {
    const Study study =
        study_of(Changes{}, {"/strategy/exchange/grouping=bucketed", "/strategy/collective/algorithm=ring"});
    const auto& strategy = std::get<AllReduceStrategy>(study.points[0].scenario.strategy);
    CHECK(strategy.exchange.grouping == Grouping::bucketed);
    CHECK(strategy.collective.algorithm == Algorithm::ring);
    CHECK(std::get<PipelinedStrategy>(
              study_of(Changes{}, {"/strategy/collective/algorithm=ring", "/strategy/kind=pipelined"})
                  .points[0]
                  .scenario.strategy)
              .collective.algorithm == Algorithm::ring);
  }
  SECTION("a field of one of a list of parts") {
    const Study study = study_of(Changes{{"/workload", {"resnet50-v100", "vgg16-v100"}}}, {"/workload/1/batch=64"});
    CHECK(points(study) == Texts{"workload=resnet50-v100", "workload=vgg16-v100"});
    CHECK(study.points[0].scenario.workload->batch == 32);
    CHECK(study.points[1].scenario.workload->batch == 64);
  }
  SECTION("a field of all of a list of parts") {
    const Study study = study_of(Changes{{"/workload", {"resnet50-v100", "vgg16-v100"}}}, {"/workload/batch=[16, 64]"});
    CHECK(points(study) == Texts{"workload=resnet50-v100 batch=16", "workload=resnet50-v100 batch=64",
                                 "workload=vgg16-v100 batch=16", "workload=vgg16-v100 batch=64"});
    CHECK(study.points[3].scenario.workload->batch == 64);
  }
  SECTION("a field of all of a list inside a part") {
    const Study study = study_of(Changes{{"/strategy", Json::parse(R"({"kind": "all-reduce",
                                                       "collective": [{"algorithm": "ring"}, {"algorithm": "auto"}]})")}},
                                 {"/strategy/collective/pipeline_segments=4"});
    REQUIRE(study.points.size() == 2);
    for (const StudyPoint& point : study.points)
      CHECK(std::get<AllReduceStrategy>(point.scenario.strategy).collective.pipeline_segments == OrAuto<int>{4});
  }
  SECTION("before the variants") {
    const Study study =
        study_of(Changes{{"/variants",
                          Json::parse(R"([{"name": "a", "set": {}}, {"name": "b", "set": {"/cluster/workers": 2}}])")}},
                 {"/cluster/workers=16"});
    CHECK(study.points[0].scenario.cluster.workers == 16);
    CHECK(study.points[1].scenario.cluster.workers == 2);
  }
}

namespace {

/// Two variants that set all of the strategy.
const Changes kWholeStrategies{{"/variants", Json::parse(R"([
    {"name": "ring", "set": {"/strategy": {"kind": "all-reduce", "collective": {"algorithm": "ring"}}}},
    {"name": "servers", "set": {"/strategy": {"kind": "parameter-server", "shards": 2}}}])")}};

/// The message of the refused study.
std::string refusal_of(const Changes& changes, const std::vector<std::string>& sets = {}) {
  try {
    study_of(changes, sets);
  } catch (const ScenarioError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("--set changes a field of a part that each variant sets as a whole") {
  const Study study = study_of(kWholeStrategies, {"/strategy/exchange/grouping=per-tensor"});
  REQUIRE(study.points.size() == 2);
  const auto& ring = std::get<AllReduceStrategy>(study.points[0].scenario.strategy);
  CHECK(ring.exchange.grouping == Grouping::per_tensor);
  CHECK(ring.collective.algorithm == Algorithm::ring);
  const auto& servers = std::get<ParameterServerStrategy>(study.points[1].scenario.strategy);
  CHECK(servers.exchange.grouping == Grouping::per_tensor);
  CHECK(servers.shards == 2);
  CHECK(study.notes.empty());
  // A list there is an axis, as anywhere.
  CHECK(points(study_of(kWholeStrategies, {R"(/strategy/exchange/grouping=["per-tensor", "bucketed"])"})).size() == 4);
}

TEST_CASE("a variant changes a field of all of a list of parts") {
  const Study study = study_of(
      Changes{{"/workload", Json::parse(R"({"from": ["resnet50", "wide-resnet50-2"], "profile": "v100-datasheet"})")},
              {"/variants", Json::parse(R"([{"name": "vanilla", "set": {}},
                               {"name": "factorized", "set": {"/workload/variant": "pufferfish"}}])")}});
  CHECK(points(study) == Texts{"variant=vanilla workload=resnet50", "variant=vanilla workload=wide-resnet50-2",
                               "variant=factorized workload=resnet50", "variant=factorized workload=wide-resnet50-2"});
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}})
    CHECK_FALSE(study.points[i].scenario.workload->variant.has_value());
  for (const std::size_t i : {std::size_t{2}, std::size_t{3}})
    CHECK(study.points[i].scenario.workload->variant->name == "pufferfish");
}

TEST_CASE("a change that does not fit one of a list of parts is refused, naming that one") {
  const std::string refusal =
      refusal_of(Changes{{"/workload", Json::parse(R"({"from": ["resnet50", "vgg16"], "profile": "v100-datasheet"})")}},
                 {"/workload/variant=pufferfish"});
  INFO(refusal);
  CHECK(refusal == "--set: /workload/variant: found \"pufferfish\" (with /workload \"vgg16\"); allowed: vanilla");
  // Lists that are no axis take an index alone.
  CHECK(refusal_of(Changes{{"/workload/gradients", Json::parse(R"([{"bytes": 4}, {"bytes": 8}])")}},
                   {"/workload/gradients/bytes=8"})
            .find("where /workload/gradients is a list of 2") != std::string::npos);
}

TEST_CASE("a part from one of several files is a list of parts") {
  const Study study = study_of(Changes{
      {"/workload", Json::parse(R"({"from": ["resnet50", "vgg16"], "profile": "v100-datasheet", "batch": 8})")}});
  CHECK(points(study) == Texts{"workload=resnet50", "workload=vgg16"});
  CHECK(study.points[1].scenario.workload->batch == 8);
  CHECK(points(study_of(Changes{{"/workload", "resnet18"}}, {R"(/workload/from=["resnet50-v100", "vgg16-v100"])"})) ==
        Texts{"workload=resnet50-v100", "workload=vgg16-v100"});
  const std::string unknown = refusal_of(Changes{{"/workload", Json::parse(R"({"from": ["resnet50", "vgg61"]})")}});
  INFO(unknown);
  CHECK(unknown.find("/workload/from/1: found the unknown workload \"vgg61\"") != std::string::npos);
  CHECK(refusal_of(Changes{{"/workload", Json::parse(R"({"from": []})")}}).find("/workload: found an empty list") !=
        std::string::npos);
  // One of them is changed by its place; a list of files is no value of a list.
  const Study second = study_of(Changes{{"/workload", Json::parse(R"({"from": ["resnet50-v100", "vgg16-v100"]})")}},
                                {"/workload/1/batch=8"});
  CHECK(second.points[0].scenario.workload->batch == 32);
  CHECK(second.points[1].scenario.workload->batch == 8);
  CHECK(refusal_of(Changes{{"/workload", Json::parse(R"([{"from": ["resnet50-v100", "vgg16-v100"]}, "alexnet"])")}})
            .find("allowed: one value in each place of an axis") != std::string::npos);
}

TEST_CASE("a change that makes two values of a list alike is named, not the list") {
  const Changes list{{"/workload", Json::parse(R"([{"from": "resnet50", "profile": "v100-datasheet", "batch": 32},
                                                   {"from": "resnet50", "profile": "v100-datasheet", "batch": 64}])")}};
  const std::string remedy = "; leave one of the two out, or let them differ in another field";
  CHECK(
      refusal_of(list, {"/workload/batch=16"}) ==
      "--set: /workload/batch: found 16, which makes /workload/1 equal to /workload/0; allowed: each value of an axis once" +
          remedy);
  CHECK(
      refusal_of(list, {"/workload/1/batch=32"}) ==
      "--set: /workload/1/batch: found 32, which makes /workload/1 equal to /workload/0; allowed: each value of an axis once" +
          remedy);
  CHECK(
      refusal_of(list, {"/workload/0/batch=64"}) ==
      "--set: /workload/0/batch: found 64, which makes /workload/1 equal to /workload/0; allowed: each value of an axis once" +
          remedy);
  CHECK(
      refusal_of(list, {"/workload/batch=16", "/workload/dtype=fp16"}) ==
      "--set: /workload/batch: found 16, beside --set: /workload/dtype, which makes /workload/1 equal to /workload/0; "
      "allowed: each value of an axis once" +
          remedy);
  CHECK(points(study_of(list, {"/workload/batch=16", "/workload/1/dtype=fp16"})).size() == 2);
  Changes with_variant = list;
  with_variant.push_back({"/variants", Json::parse(R"([{"name": "a", "set": {"/workload/batch": 8}}])")});
  CHECK(refusal_of(with_variant).find("/variants/0/set/~1workload~1batch: found 8, which makes /workload/1") !=
        std::string::npos);
  // Alike as they are written.
  CHECK(refusal_of(Changes{{"/cluster/workers", {2, 2}}}).find("/cluster/workers/1: found 2 a second time") !=
        std::string::npos);
  CHECK(refusal_of(Changes{{"/workload", Json::parse(R"({"from": ["vgg16-v100", "vgg16-v100"], "batch": 8})")}})
            .find("found an object a second time") != std::string::npos);
}

TEST_CASE("a fault about a missing kind names the kinds that have the given fields") {
  CHECK(
      refusal_of(Changes{}, {"/strategy/width=3"}) ==
      "--set: /strategy/kind: found nothing; allowed: all-reduce, parameter-server, pipelined, local-sgd, sharded, gossip, "
      "collective; add it: pipelined has width");
  const std::string topology = refusal_of(Changes{}, {"/cluster/topology/nics=2", "/cluster/topology/gpus_per_node=8"});
  INFO(topology);
  CHECK(topology.find("/cluster/topology/kind: found nothing") != std::string::npos);
  CHECK(topology.ends_with("; add it: nodes has nics and gpus_per_node"));
  CHECK(refusal_of(Changes{{"/compressor", {{"rank", 4}}}}).ends_with("; add it: powersgd, atomo have rank"));
  CHECK(refusal_of(Changes{}, {"/strategy/colour=red"}).ends_with("gossip, collective; add it"));
}

TEST_CASE("a second list in a list's place is refused where it was written") {
  const Changes list{{"/workload", Json::parse(R"(["resnet50-v100", "vgg16-v100"])")}};
  const std::string wanted = "; allowed: one value in each place of an axis; write its values into the list around it";
  CHECK(refusal_of(list, {R"(/workload/1/from=["alexnet", "vgg16"])"}) ==
        "--set: /workload/1/from: found a list of 2" + wanted);
  CHECK(refusal_of(list, {R"(/workload/from=["alexnet", "vgg16"])"})
            .find("--set: /workload/from: found a list of 2" + wanted) != std::string::npos);
  CHECK(refusal_of(list, {R"(/workload/1=["alexnet", "vgg16"])"}) == "--set: /workload/1: found a list of 2" + wanted);
  CHECK(refusal_of(
            Changes{{"/workload", Json::parse(R"([{"from": ["resnet50-v100", "vgg16-v100"]}, "bert-base-v100"])")}}) ==
        "study.json: /workload/0/from: found a list of 2" + wanted);
}

TEST_CASE("a measured pass' profile is relative to the file that names it") {
  const Folder folder;
  const auto device = [](const char* peak) {
    const auto assumed = [](const Json& value) {
      return Json{{"value", value}, {"evidence", "assumed"}, {"source", "x"}};
    };
    Json json{{"name", "device"}, {"memory_bandwidth", assumed("100GB/s")}, {"launch_overhead", assumed("1us")}};
    for (const char* share : {"compute_efficiency", "memory_efficiency", "bend"}) json[share] = assumed(1);
    json["peaks"] = Json::array({{{"dtype", "fp32"}, {"rate", peak}, {"evidence", "assumed"}, {"source", "x"}}});
    return json.dump();
  };
  const std::string workload = R"({"name": "net", "batch": 4, "profile": "v100-datasheet",
    "layers": [{"name": "fc", "shape": {"kind": "linear", "in": 1000, "out": 1000}}],
    "measured": {"forward": "1ms", "batch": 4, "dtype": "fp32", "profile": "p.json"}})";
  for (const auto& [name, peak] : {std::pair("x", "1TFLOPS"), std::pair("y", "2TFLOPS")}) {
    folder.write(std::string(name) + "/net.json", workload);
    folder.write(std::string(name) + "/p.json", device(peak));
  }
  const std::string file =
      folder.write("s.json", good_scenario({{"/workload", {{"from", {"x/net.json", "y/net.json"}}}}}));
  const Study study = load_study(file, {}, default_library());
  REQUIRE(study.points.size() == 2);
  CHECK(study.points[0].scenario.workload->measured->profile.peaks[0].rate == 1_TFLOPS);
  CHECK(study.points[1].scenario.workload->measured->profile.peaks[0].rate == 2_TFLOPS);
  // A file that an option lays over is relative to the working folder, and the option is to blame.
  const std::string refusal = [&] {
    try {
      load_study(file, {parse_override("/workload/measured/profile=nowhere.json")}, default_library());
    } catch (const ScenarioError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  }();
  INFO(refusal);
  CHECK(refusal.find("--set: /workload/measured/profile: found \"nowhere.json\", but there is no file nowhere.json") ==
        0);
}

TEST_CASE("--set of a field that a variant's kind lacks is refused, naming the variant") {
  for (const char* set : {"/strategy/kind=nonsense", "/strategy/bogus=1", "/strategy/shards=8"}) {
    const std::string refusal = refusal_of(kWholeStrategies, {set});
    INFO(refusal);
    CHECK(refusal.find("--set: /strategy/") == 0);
    CHECK(refusal.find("over fields of variant \"ring\"") != std::string::npos);
    CHECK(refusal.find("/variants/0/set/~1strategy/") != std::string::npos);
  }
  // The way that the message names.
  CHECK(std::get<ParameterServerStrategy>(
            study_of(kWholeStrategies, {"/variants/1/set/~1strategy/shards=8"}).points[1].scenario.strategy)
            .shards == 8);
}

TEST_CASE("--set of a field that every variant sets itself is refused") {
  const Changes topologies{
      {"/variants",
       Json::parse(
           R"([{"name": "a", "set": {"/cluster/topology": {"kind": "star"}}}, {"name": "b", "set": {"/cluster/topology": {"kind": "racks", "hosts_per_rack": 4}}}])")}};
  SECTION("at their pointer") {
    const std::string refusal = refusal_of(topologies, {R"(/cluster/topology={"kind":"star"})"});
    INFO(refusal);
    CHECK(refusal.find("--set: /cluster/topology: found an object, but every variant sets /cluster/topology itself") ==
          0);
    CHECK(refusal.find("/variants/1/set/~1cluster~1topology") != std::string::npos);
  }
  SECTION("above it") {
    CHECK(refusal_of(topologies,
                     {R"(/cluster={"workers": 8, "link": {"bandwidth": "1Gbps"}, "topology": {"kind": "star"}})"})
              .find("every variant sets /cluster/topology itself") != std::string::npos);
    const Study study = study_of(topologies, {R"(/cluster={"workers": 8, "link": {"bandwidth": "1Gbps"}})"});
    CHECK(study.points[1].scenario.cluster.link.bandwidth == 1_Gbps);
    CHECK(study.notes.empty());
  }
  SECTION("but not where all set the same") {
    const Changes alike{
        {"/variants",
         Json::parse(
             R"([{"name": "a", "set": {"/cluster/workers": 4}}, {"name": "b", "set": {"/cluster/workers": 4}}])")}};
    CHECK(study_of(alike, {"/cluster/workers=4"}).notes.empty());
  }
  SECTION("and can be had without the variants") {
    CHECK(study_of(topologies, {"/variants=[]", R"(/cluster/topology={"kind":"star"})"}).points.size() == 1);
  }
}

TEST_CASE("--set of a field that some variants set is noted") {
  const Study study =
      study_of(Changes{{"/variants",
                        Json::parse(R"([{"name": "a", "set": {}}, {"name": "b", "set": {"/cluster/workers": 2}}])")}},
               {"/cluster/workers=16"});
  REQUIRE(study.notes.size() == 1);
  CHECK(
      study.notes[0] ==
      "--set: /cluster/workers has no effect in 1 of 2 variants, which set /cluster/workers themselves (\"b\"); change /variants/1/set/~1cluster~1workers and its like there");
}

TEST_CASE("--set never replaces a field that a variant sets itself, even if it sets the whole part") {
  const Changes both{
      {"/variants",
       Json::parse(
           R"([{"name": "own", "set": {"/strategy": {"kind": "parameter-server", "shards": 1}, "/strategy/shards": 2}},
                                                   {"name": "whole", "set": {"/strategy": {"kind": "parameter-server", "shards": 1}}}])")}};
  const Study study = study_of(both, {"/strategy/shards=4"});
  CHECK(std::get<ParameterServerStrategy>(study.points[0].scenario.strategy).shards == 2);
  CHECK(std::get<ParameterServerStrategy>(study.points[1].scenario.strategy).shards == 4);
  REQUIRE(study.notes.size() == 1);
  CHECK(study.notes[0].find("(\"own\")") != std::string::npos);
}

TEST_CASE("points whose parts do not go together are refused or left out") {
  // Groups of 4 divide 8 and 12 workers, groups of 8 only 8.
  const Changes grid{
      {"/cluster/workers", {8, 12}},
      {"/strategy",
       Json::parse(R"({"kind": "all-reduce", "collective": {"algorithm": "hierarchical", "group_size": [4, 8]}})")}};
  SECTION("refused, with the remedy") {
    const std::string refusal = refusal_of(grid);
    INFO(refusal);
    CHECK(
        refusal.find(
            "study.json: /strategy/collective/group_size/1: found 8 with 12 workers; allowed: a divisor of the number of workers") !=
        std::string::npos);
    CHECK(
        refusal.find(
            "found 1 of 4 points whose parts do not go together; allowed: none; --set /impossible=leave-out answers the others") !=
        std::string::npos);
  }
  SECTION("left out, with a note") {
    const Study study = study_of(grid, {"/impossible=leave-out"});
    CHECK(points(study) == Texts{"workers=8 group_size=4", "workers=8 group_size=8", "workers=12 group_size=4"});
    CHECK(
        study.notes ==
        Texts{
            "1 of 4 points left out: study.json: /strategy/collective/group_size/1: found 8 with 12 workers; allowed: a divisor of the number of workers"});
  }
  SECTION("one note for each rule that is broken") {
    Changes more = grid;
    more.emplace_back("/cluster/workers", Json{8, 12, 20});
    const Study study = study_of(more, {"/impossible=leave-out"});
    CHECK(points(study).size() == 4);
    REQUIRE(study.notes.size() == 1);
    CHECK(study.notes[0].find("2 of 6 points left out, the first for: ") == 0);
  }
  SECTION("refused where none is left") {
    const std::string refusal = refusal_of(grid, {"/impossible=leave-out", "/strategy/collective/group_size=5"});
    INFO(refusal);
    CHECK(refusal.find("found 5 with 8 workers") != std::string::npos);
    CHECK(refusal.find("leave-out") == std::string::npos);
  }
  SECTION("a wrong value is refused all the same") {
    CHECK(refusal_of(grid, {"/impossible=leave-out", "/cluster/workers=[8, 0]"}).find("/cluster/workers/1: found 0") !=
          std::string::npos);
  }
  SECTION("one note for one rule, whichever value of an axis breaks it") {
    Changes workers{{"/cluster/workers", {8, 9, 10, 12}},
                    {"/cluster/topology",
                     Json::parse(R"({"kind": "nodes", "gpus_per_node": 4, "inner": {"bandwidth": "100GB/s"}})")}};
    const Study study = study_of(workers, {"/impossible=leave-out"});
    CHECK(points(study) == Texts{"workers=8", "workers=12"});
    REQUIRE(study.notes.size() == 1);
    CHECK(study.notes[0].find("2 of 4 points left out, the first for: study.json: /cluster/workers/1: found 9") == 0);
  }
  SECTION("refused where the baseline cannot be") {
    Changes against = grid;
    against.emplace_back("/baseline", Json::parse(R"({"name": "of 12", "set": {"/cluster/workers": 12}})"));
    CHECK(refusal_of(against, {"/impossible=leave-out"}).find("found 8 with 12 workers (in the baseline)") !=
          std::string::npos);
  }
  SECTION("left out with an impossible phase") {
    Changes phased = grid;
    phased.emplace_back(
        "/run",
        Json::parse(
            R"({"samples": 1000, "phases": [{"name": "in threes", "epochs": 1, "set": {"/strategy/collective/group_size": 3}}]})"));
    CHECK(points(study_of(phased, {"/impossible=leave-out"})) == Texts{"workers=12 group_size=4"});
  }
}

TEST_CASE("a stack gives a strategy of its kind the fields that the scenario does not") {
  const auto strategy_with = [](const Json& strategy) {
    Changes changes{{"/stack", "byteps"}};
    if (!strategy.is_null()) changes.push_back({"/strategy", strategy});
    return study_of(changes).points.at(0).scenario;
  };
  // The file: {"sum_in_machine": true, "duplex": false, "exchange": {"grouping": "per-tensor", "partition": "4MB"}}
  const Scenario scenario =
      strategy_with(Json{{"kind", "parameter-server"}, {"shards", 2}, {"exchange", {{"partition", nullptr}}}});
  const auto& servers = std::get<ParameterServerStrategy>(scenario.strategy);
  CHECK(servers.shards == 2);
  CHECK(servers.sum_in_machine);
  CHECK_FALSE(servers.duplex);
  CHECK(servers.exchange.grouping == Grouping::per_tensor);
  CHECK_FALSE(servers.exchange.partition);  // null is given
  CHECK(scenario.cluster.stack.strategies->size() == 1);
  CHECK(scenario.cluster.stack.name.value_or("") == "byteps");
  const Scenario benchmark = strategy_with(Json{{"kind", "collective"}, {"size", "1MB"}});
  CHECK(std::holds_alternative<CollectiveBenchmark>(benchmark.strategy));  // a benchmark is no training
  // A field alone is one of the stack's strategy; a given cap leaves out the stack's cap of the first bucket.
  const auto of = [](const Study& one) { return one.points.at(0).scenario.strategy; };
  CHECK(std::get<ParameterServerStrategy>(of(study_of(Changes{{"/stack", "byteps"}}, {"/strategy/shards=3"}))).shards ==
        3);
  // A kind that is set counts, whatever else was set before.
  for (const std::vector<std::string>& sets :
       {Texts{"/strategy/kind=sharded"}, Texts{"/strategy/exchange/overlap=false", "/strategy/kind=sharded"}})
    CHECK(std::holds_alternative<ShardedStrategy>(of(study_of(Changes{{"/stack", "ddp-nccl-tcp"}}, sets))));
  const Strategy horovod = of(study_of(Changes{{"/stack", "horovod-nccl"}}, {"/strategy/exchange/bucket_cap=16MiB"}));
  CHECK(std::get<AllReduceStrategy>(horovod).exchange.cap_of(0) == 1_MiB);
  CHECK(std::get<AllReduceStrategy>(horovod).exchange.cap_of(1) == 16_MiB);
  CHECK_THROWS_AS(study_of(Changes{{"/stack", "ddp-nccl-tcp"},
                                   {"/strategy", {{"kind", "all-reduce"}, {"exchange", {{"grouping", nullptr}}}}}}),
                  ScenarioError);  // null is no grouping, with a stack or without
  CHECK_THROWS_AS(study_of(Changes{{"/stack", {{"strategies", {{{"kind", "sharded"}, {"bogus", 3}}}}}}}),
                  ScenarioError);
  // Several strategies: those that the stack cannot carry out are impossible points.
  const Study study = study_of(Changes{{"/stack", "fsdp"},
                                       {"/impossible", "leave-out"},
                                       {"/strategy", {{{"kind", "all-reduce"}}, {{"kind", "sharded"}}}}});
  REQUIRE(study.points.size() == 1);
  CHECK(std::get<ShardedStrategy>(study.points[0].scenario.strategy).exchange.grouping == Grouping::per_block);
}

TEST_CASE("points are chosen by their coordinates") {
  const auto chosen = [](const std::vector<std::string>& choices) {
    Study study = study_of(Changes{
        {"/cluster/workers", {2, 4, 8}},
        {"/variants",
         Json::parse(
             R"([{"name": "K = 2", "set": {}}, {"name": "b", "set": {"/cluster/link/latency": ["1us", "2us"]}}])")}});
    choose_points(study, choices);
    return points(study);
  };
  CHECK(chosen({}).size() == 9);
  CHECK(chosen({"variant=K = 2", "workers=4"}) == Texts{"variant=K = 2 workers=4"});
  CHECK(chosen({"/cluster/workers=4", "latency=2us"}) == Texts{"variant=b workers=4 latency=2us"});
  CHECK(chosen({"workers=2", "workers=8", "variant=K = 2"}) ==
        Texts{"variant=K = 2 workers=2", "variant=K = 2 workers=8"});
  CHECK_THROWS_WITH(chosen({"batch=4"}),
                    "batch: no axis of the study (one that --set fixes is none); it has variant, workers, latency");
  CHECK_THROWS_WITH(
      chosen({"worker=4"}),
      "worker: no axis of the study (one that --set fixes is none); it has variant, workers, latency; did you mean workers?");
  CHECK_THROWS_WITH(chosen({"workers=5"}), "\"5\" is no value of workers; it has 2; 4; 8");
  CHECK_THROWS_WITH(chosen({"variant=K=2"}),
                    "\"K=2\" is no value of variant; it has K = 2; b; did you mean \"K = 2\"?");
  CHECK_THROWS_WITH(chosen({"workers"}), "\"workers\" is not AXIS=VALUE");
  CHECK_THROWS_WITH(chosen({"variant=K = 2", "latency=1us"}), "no point has all of variant=K = 2, latency=1us");
}

TEST_CASE("a table with times keeps the batch and dtype that they are for") {
  const auto timed = [](const Study& study) { return study.points.at(0).scenario.workload->timed_batch; };
  CHECK(timed(study_of(Changes{{"/workload", "resnet50-v100"}}, {"/workload/batch=64"})) == 32);
  CHECK(timed(study_of(Changes{{"/workload", Json::parse(R"({"from": "resnet50-v100", "batch": 64})")}})) == 32);
  CHECK(timed(study_of(Changes{{"/workload", Json::parse(R"({"from": "resnet50-v100", "batch": 64})")}},
                       {"/workload/batch=128"})) == 32);
  CHECK(timed(study_of(Changes{{"/workload", "resnet50-v100"},
                               {"/variants", Json::parse(R"([{"name": "a", "set": {"/workload/batch": 64}}])")}})) ==
        32);
  CHECK(timed(study_of(Changes{{"/workload", Json::parse(R"({"from": "resnet50-v100", "batch": 64})")},
                               {"/variants", Json::parse(R"([{"name": "a", "set": {"/workload/batch": 128}}])")}})) ==
        32);
  CHECK(timed(study_of(Changes{{"/workload/batch", 8}}, {"/workload/batch=16"})) == 8);
  const Study study =
      study_of(Changes{{"/workload", "resnet50-v100"},
                       {"/baseline", Json::parse(R"({"name": "fp16", "set": {"/workload/dtype": "fp16"}})")}});
  CHECK_FALSE(study.points[0].scenario.workload->timed_dtype);
  CHECK(study.points[0].baseline()->workload->timed_dtype == Dtype::fp32);
  // A dtype that the table leaves at its default.
  CHECK(study_of(Changes{}, {"/workload/dtype=bf16"}).points[0].scenario.workload->timed_dtype == Dtype::fp32);
  CHECK(study_of(Changes{}, {R"(/workload/dtype=["fp32","bf16"])"}).points[1].scenario.workload->timed_dtype ==
        Dtype::fp32);
  CHECK_FALSE(study_of(Changes{}, {"/workload/dtype=fp32"}).points[0].scenario.workload->timed_dtype);
  CHECK_FALSE(study_of(Changes{{"/workload/dtype", "bf16"}}).points[0].scenario.workload->timed_dtype);
  // Fields that are unchanged, or follow from shapes, need not be kept.
  CHECK_FALSE(timed(study_of(Changes{{"/workload", "resnet50-v100"}}, {"/workload/batch=32"})));
  CHECK_FALSE(timed(study_of(
      Changes{{"/workload", Json::parse(R"({"from": "resnet50", "profile": "v100-datasheet", "batch": 64})")}})));
}

TEST_CASE("a cluster's GPU gives layer times where the workload names no profile") {
  const auto workload_of = [](const Json& workload, const Json& cluster, std::vector<std::string> set = {}) {
    return study_of(Changes{{"/workload", workload}, {"/cluster", cluster}}, std::move(set)).points.at(0).scenario;
  };
  const Json h100 = {{"from", "dgx-h100"}, {"workers", 8}},
             named = {{"from", "resnet50"}, {"profile", "v100-datasheet"}};
  CHECK(workload_of("resnet50", h100).workload->profile->name == "h100");
  CHECK(workload_of("gpt2-xl", h100).workload->profile->name == "h100");
  CHECK(workload_of("resnet50", h100, {"/cluster/gpu=a100-datasheet"}).workload->profile->name == "a100-datasheet");
  // A document that names a profile has one; a table with times needs none.
  const Scenario other = workload_of(named, h100);
  CHECK(other.workload->profile->name == "v100-datasheet");
  CHECK(other.cluster_gpu.value_or("") == "H100");
  CHECK_FALSE(workload_of("resnet50-v100", h100).workload->profile);
  // Points that share a workload's file, on clusters of different GPUs.
  const Study both = study_of(Changes{{"/workload", "resnet50"}, {"/cluster", Json::array({"dgx-a100", "dgx-h100"})}});
  REQUIRE(both.points.size() == 2);
  CHECK(both.points[0].scenario.workload->profile->name == "a100");
  CHECK(both.points[1].scenario.workload->profile->name == "h100");
  // The canonical document says so.
  CHECK(to_json(other)["cluster"]["gpu"] == "h100");
  CHECK(may_be_same_gpu("H100", "NVIDIA H100 80GB HBM3"));
  CHECK(may_be_same_gpu("H100", ""));
  CHECK_FALSE(may_be_same_gpu("H100", "V100"));
}

TEST_CASE("no jitter is the natural first point of a study of jitter") {
  const Study study = study_of(Changes{{"/cluster/jitter", Json::parse(R"({"distribution": "gamma", "cv": [0, 0.1]})")},
                                       {"/evaluation", Json::parse(R"({"evaluator": "replay", "runs": 4})")}});
  CHECK(points(study) == Texts{"cv=0", "cv=0.1"});
  CHECK(runs_of(study.points[0].scenario) == 1);
  CHECK(runs_of(study.points[1].scenario) == 4);
}

TEST_CASE("the baseline is the point with its set applied") {
  const Study study = study_of(Changes{
      {"/cluster/workers", {4, 8}},
      {"/cluster/link/bandwidth", {"1Gbps", "2Gbps"}},
      {"/baseline",
       Json::parse(R"({"name": "two, ring", "set": {"/cluster/workers": 2, "/strategy": {"kind": "gossip"}}})")}});
  REQUIRE(study.points.size() == 4);
  for (const StudyPoint& point : study.points) {
    REQUIRE(point.baseline());
    CHECK(point.scenario.baseline->name == "two, ring");
    CHECK(point.baseline()->cluster.workers == 2);
    CHECK(std::holds_alternative<GossipStrategy>(point.baseline()->strategy));
    CHECK(point.baseline()->cluster.link.bandwidth == point.scenario.cluster.link.bandwidth);
    CHECK_FALSE(point.baseline()->baseline);
    CHECK(point.baseline()->workload == point.scenario.workload);
  }
  CHECK(study.points[0].scenario.cluster.workers == 4);
}

TEST_CASE("points share the workload") {
  SECTION("by name") {
    const Study study =
        study_of(Changes{{"/workload", {"resnet50-v100", "vgg16-v100"}}, {"/cluster/workers", {1, 2, 4}}});
    REQUIRE(study.points.size() == 6);
    CHECK(study.points[0].scenario.workload == study.points[2].scenario.workload);
    CHECK(study.points[3].scenario.workload == study.points[5].scenario.workload);
    CHECK(study.points[0].scenario.workload != study.points[3].scenario.workload);
  }
  SECTION("written inline") {
    const Study study = study_of(Changes{{"/cluster/workers", {1, 2}}, {"/workload/batch", {8, 16}}});
    REQUIRE(study.points.size() == 4);
    CHECK(study.points[0].scenario.workload == study.points[1].scenario.workload);
    CHECK(study.points[0].scenario.workload != study.points[2].scenario.workload);
  }
}

namespace {

constexpr const char* kLab =
    R"({"workers": 8, "link": {"bandwidth": "10Gbps", "latency": "5us"}, "topology": {"kind": "racks", "hosts_per_rack": 4, "oversubscription": 2}})";

/// A scenario whose cluster is `cluster`, beside clusters/lab.json.
Cluster cluster_of(const Folder& folder, const std::string& cluster) {
  folder.write("clusters/lab.json", kLab);
  const std::string file =
      folder.write("s.json", R"({"name": "s", "workload": "resnet50-v100", "cluster": )" + cluster + "}");
  return load_study(file, {}, default_library()).points.at(0).scenario.cluster;
}

}  // namespace

TEST_CASE("'from' lays fields over a part's file") {
  const Folder folder;
  SECTION("key by key") {
    const Cluster c = cluster_of(
        folder, R"({"from": "lab", "workers": 16, "link": {"latency": "1us"}, "topology": {"oversubscription": 4}})");
    CHECK(c.workers == 16);
    CHECK(c.link == Link{10_Gbps, 1_us});
    CHECK(c.topology == Topology(Racks{4, 4.0, {}}));
  }
  SECTION("another kind replaces the whole") {
    const Cluster c = cluster_of(folder, R"({"from": "lab", "topology": {"kind": "torus", "dimensions": [2, 4]}})");
    CHECK(c.topology == Topology(Torus{{2, 4}}));
  }
  SECTION("the same kind keeps the rest") {
    const Cluster c = cluster_of(folder, R"({"from": "lab", "topology": {"kind": "racks", "hosts_per_rack": 2}})");
    CHECK(c.topology == Topology(Racks{2, 2.0, {}}));
  }
  SECTION("through a chain of files, the nearest wins") {
    folder.write("b.json", R"({"from": "clusters/lab.json", "workers": 4, "collective_cost": "1ms"})");
    folder.write("a.json", R"({"from": "b.json", "workers": 2})");
    const Cluster c = cluster_of(folder, R"({"from": "a.json", "link": {"latency": "0s"}})");
    CHECK(c.workers == 2);
    CHECK(c.collective_cost == 1_ms);
    CHECK(c.link == Link{10_Gbps, 0_s});
  }
  SECTION("over a file that is a name") {
    folder.write("alias.json", R"("lab")");
    CHECK(cluster_of(folder, R"({"from": "alias.json", "workers": 3})").workers == 3);
    CHECK(cluster_of(folder, R"("alias.json")").workers == 8);
  }
  SECTION("an axis over it, and inside it") {
    folder.write("clusters/lab.json", kLab);
    const std::string file = folder.write(
        "s.json",
        R"({"name": "s", "workload": "resnet50-v100", "cluster": ["lab", {"from": "lab", "name": "lab at half speed", "link": {"bandwidth": ["5Gbps", "6Gbps"]}}]})");
    const Study study = load_study(file, {}, default_library());
    CHECK(points(study) == Texts{"cluster=lab", "cluster=lab at half speed bandwidth=5Gbps",
                                 "cluster=lab at half speed bandwidth=6Gbps"});
  }
}

TEST_CASE("a strategy laid over a file of another kind replaces it") {
  const Folder folder;
  folder.write("strategies/servers.json", R"({"kind": "parameter-server", "shards": 4})");
  const std::string file = folder.write(
      "s.json", R"({"name": "s", "workload": "resnet50-v100", "cluster": {"workers": 4, "link": {"bandwidth": "1Gbps"}},
      "strategy": ["servers", {"from": "servers", "shards": 2}, {"from": "servers", "kind": "pipelined", "width": 3}]})");
  const Study study = load_study(file, {}, default_library());
  REQUIRE(study.points.size() == 3);
  CHECK(std::get<ParameterServerStrategy>(study.points[0].scenario.strategy).shards == 4);
  CHECK(std::get<ParameterServerStrategy>(study.points[1].scenario.strategy).shards == 2);
  CHECK(std::get<PipelinedStrategy>(study.points[2].scenario.strategy).width == 3);
  CHECK(points(study) == Texts{"strategy=servers", "strategy=servers (shards=2)", "strategy=pipelined"});
}

TEST_CASE("a scenario laid over another") {
  const Folder folder;
  folder.write("base/lab.json", kLab);
  folder.write(
      "base/base.json",
      R"({"name": "base", "workload": "resnet50-v100", "cluster": "lab.json", "evaluation": {"runs": 1, "seed": 5}})");
  SECTION("keeps its references relative to itself") {
    const Study study = load_study(
        folder.write("s.json", R"({"from": "base/base.json", "name": "mine", "evaluation": {"evaluator": "both"}})"),
        {}, default_library());
    CHECK(study.name == "mine");
    CHECK(study.points[0].scenario.cluster.workers == 8);
    CHECK(study.points[0].scenario.evaluation.seed == 5);
    CHECK(study.points[0].scenario.evaluation.evaluator == Evaluator::both);
  }
  SECTION("by bare name, from the same folder") {
    const Study study = load_study(
        folder.write("base/s.json", R"({"from": "base", "cluster": {"from": "lab.json", "workers": [2, 4]}})"), {},
        default_library());
    CHECK(study.name == "base");
    CHECK(points(study) == Texts{"workers=2", "workers=4"});
  }
}

TEST_CASE("bare names are looked up beside the file, beside the scenario, then in the library") {
  const Folder folder, library;
  const auto workers = [&](const std::vector<std::string>& sets = {}) {
    std::vector<Override> changes;
    for (const std::string& set : sets) changes.push_back(parse_override(set));
    return load_study(folder.file("s.json"), changes, library.path()).points.at(0).scenario.cluster.workers;
  };
  const auto cluster = [](int count) {
    return fmt::format(R"({{"workers": {}, "link": {{"bandwidth": "1Gbps"}}}})", count);
  };
  folder.write("s.json", R"({"name": "s", "cluster": "lab", "strategy": {"kind": "collective", "size": "1MB"}})");
  library.write("clusters/lab.json", cluster(3));
  CHECK(workers() == 3);
  CHECK(workers({"/cluster=lab"}) == 3);
  folder.write("clusters/lab.json", cluster(5));
  CHECK(workers() == 5);
  CHECK(workers({"/cluster=lab"}) == 5);
  folder.write("sub/base.json",
               R"({"name": "b", "cluster": "lab", "strategy": {"kind": "collective", "size": "1MB"}})");
  folder.write("s.json", R"({"from": "sub/base.json"})");
  CHECK(workers() == 5);
  folder.write("sub/clusters/lab.json", cluster(7));
  CHECK(workers() == 7);
}

TEST_CASE("a workload's file may refer to another") {
  const Folder folder;
  folder.write("large.json", R"({"from": "resnet50-v100", "name": "large batch", "batch": 256})");
  const std::string file = folder.write(
      "s.json",
      R"({"name": "s", "workload": "large.json", "cluster": {"workers": [1, 2], "link": {"bandwidth": "1Gbps"}}})");
  const Study study = load_study(file, {}, default_library());
  CHECK(study.points[0].scenario.workload->batch == 256);
  CHECK(study.points[0].scenario.workload->gradients.size() == 161);
  CHECK(study.points[0].scenario.workload == study.points[1].scenario.workload);
}

TEST_CASE("profiles and variants of a network make axes") {
  const Study study = study_of(Changes{
      {"/workload",
       Json::parse(
           R"({"from": "resnet18", "profile": ["v100-datasheet", {"from": "p100-datasheet", "name": "P100"}], "variant": ["vanilla", {"name": "thin", "factorize": {"rank_ratio": 0.25}}]})")}});
  CHECK(points(study) == Texts{"profile=v100-datasheet variant=vanilla", "profile=v100-datasheet variant=thin",
                               "profile=P100 variant=vanilla", "profile=P100 variant=thin"});
  CHECK(study.points[0].scenario.workload->profile->name == "v100-datasheet");
  CHECK_FALSE(study.points[0].scenario.workload->variant);
  CHECK(study.points[3].scenario.workload->profile->name == "P100");
  CHECK(study.points[3].scenario.workload->variant->factorize);
}

TEST_CASE("compressors of tensors by name are references too, and hold axes") {
  const Study study = study_of(Changes{
      {"/workload", Json::parse(R"({"from": "resnet18", "profile": "v100-datasheet"})")},
      {"/compressor", "powersgd"},
      {"/other_compressors",
       Json::parse(
           R"([{"tensors": ["fc.*"], "compressor": "top-k"}, {"tensors": ["layer4.*"], "compressor": {"from": "powersgd", "rank": [4, 8]}}])")}});
  CHECK(points(study) == Texts{"rank=4", "rank=8"});
  const auto others = others_of(study.points[1].scenario);
  REQUIRE(others.size() == 2);
  CHECK(others[0].tensors == Texts{"fc.*"});
  CHECK(others[0].compressor == Compressor(TopK{}));
  CHECK(others[1].compressor == Compressor(PowerSgd{.rank = 8}));
  const Study whole = study_of(Changes{
      {"/workload", Json::parse(R"({"from": "resnet18", "profile": "v100-datasheet"})")},
      {"/compressor", "powersgd"},
      {"/other_compressors", Json::parse(R"([{"tensors": ["fc.*"], "compressor": ["top-k", "8-bit", "terngrad"]}])")}});
  CHECK(whole.points.size() == 3);
  CHECK(usual_alternatives(whole) == whole.axes);
}

TEST_CASE("a platform file is relative to the file that names it") {
  const Folder folder;
  const std::string platform = folder.write("clusters/grid.xml", "<platform/>");
  folder.write(
      "clusters/grid.json",
      R"({"workers": 4, "link": {"bandwidth": "1Gbps"}, "topology": {"kind": "simgrid-xml", "file": "grid.xml"}})");
  const std::string file = folder.write(
      "s.json",
      R"({"name": "s", "cluster": "grid", "strategy": {"kind": "collective", "size": "1MB", "collective": {"algorithm": "ring"}}, "evaluation": {"evaluator": "replay"}})");
  const Study study = load_study(file, {}, default_library());
  CHECK(std::get<SimGridXml>(study.points[0].scenario.cluster.topology).file == platform);
}

TEST_CASE("lists in name, description, output and baseline are no axes") {
  for (const char* set : {"/name=[\"a\", \"b\"]", "/description=[\"a\", \"b\"]", "/output/plot=[\"a.png\", \"b.png\"]"})
    CHECK_THROWS_AS(study_of(Changes{}, {set}), ScenarioError);
}

TEST_CASE("a part pasted from its file keeps its $schema, which is for editors") {
  const auto pasted = [](const char* file) { return Json::parse(std::ifstream(default_library() / file)); };
  Json workload = pasted("workloads/resnet50.json");
  workload["profile"] = pasted("profiles/v100-datasheet.json");
  REQUIRE((workload.contains("$schema") && workload["profile"].contains("$schema")));
  Json cluster = pasted("clusters/dgx-h100.json"), strategy = Json::parse(R"({"$schema": "x", "kind": "all-reduce"})");
  REQUIRE(cluster.contains("$schema"));
  const Json compressors = Json::parse(R"([{"$schema": "x", "kind": "none"}, {"$schema": "x", "from": "top-k"}])");
  const Study study = study_of(Changes{{"/workload", workload},
                                       {"/cluster", cluster},
                                       {"/strategy", strategy},
                                       {"/compressor", compressors},
                                       {"/codec", Json{{"device", workload["profile"]}}}});
  REQUIRE(study.points.size() == 2);
  CHECK(study.points[1].scenario.workload->profile->name == "v100-datasheet");
  CHECK_FALSE(to_json(study.points[1].scenario)["workload"].contains("$schema"));
}

TEST_CASE("an axis is chosen by its last name where no other ends so") {
  const auto chosen = [](const std::vector<std::string>& choices) {
    Study study =
        study_of(Changes{{"/cluster/groups", Json::parse(R"([{"count": 2, "bandwidth": ["1Gbps", "2Gbps"]}])")},
                         {"/cluster/link/bandwidth", {"10Gbps", "20Gbps"}}});
    choose_points(study, choices);
    return points(study);
  };
  CHECK(chosen({"/cluster/link/bandwidth=20Gbps"}).size() == 2);
  CHECK_THROWS_WITH(chosen({"bandwidth=20Gbps"}),
                    "bandwidth: 2 axes of the study end so; give one's whole pointer: /cluster/link/bandwidth or "
                    "/cluster/groups/0/bandwidth");
}

TEST_CASE("errors about a choice list all of the axis' values, wanted or not") {
  const auto refusal = [](const Changes& changes, const std::vector<std::string>& choices) -> std::string {
    Study study = expand_study({Json::parse(good_scenario(changes)), Origins("s.json")}, {}, default_library(),
                               kMaxPoints, filter_of(choices));
    try {
      choose_points(study, choices);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "accepted";
  };
  // The report says nothing about 0 workers: they are not asked for.
  const Changes wrong{{"/cluster/workers", {1, 0, 4}}, {"/cluster/link/bandwidth", {"10Gbps", "20Gbps"}}};
  CHECK(refusal(wrong, {"workers=4", "bandwidth=20Gbps"}) == "accepted");
  CHECK(refusal(wrong, {"/cluster/workers=4", "workers=1"}) == "accepted");
  CHECK(refusal(wrong, {"workers=4", "workers=5"}) == "\"5\" is no value of workers; it has 1; 0; 4");
  CHECK(refusal(wrong, {"workers=5"}) == "\"5\" is no value of workers; it has 1; 0; 4");
  CHECK(refusal(wrong, {"workers=4", "bandwidth=30Gbps"}) ==
        "\"30Gbps\" is no value of bandwidth; it has 10Gbps; 20Gbps; did you mean \"10Gbps\"?");
  CHECK(refusal({{"/cluster/workers", {0, 4}},
                 {"/cluster/groups", Json::parse(R"([{"count": 2, "bandwidth": ["1Gbps", "2Gbps"]}])")},
                 {"/cluster/link/bandwidth", {"10Gbps", "20Gbps"}}},
                {"workers=4", "bandwidth=20Gbps"})
            .find("bandwidth: 2 axes of the study end so") == 0);
}

TEST_CASE("with its first point alone, a study has all axes") {
  const Json variants = Json::parse(R"([
      {"name": "none", "set": {"/cluster/link/latency": "3us"}},
      {"name": "servers", "set": {"/strategy": {"kind": "parameter-server", "shards": [1, 2]}}}])");
  const std::string text = good_scenario({{"/cluster/workers", {1, 2, 4}}, {"/variants", variants}});
  const auto read = [&](ReadPoints points) {
    return expand_study({Json::parse(text), Origins("s.json")}, {}, default_library(), kMaxPoints, {}, {}, points);
  };
  const Study all = read(ReadPoints::all), first = read(ReadPoints::first);
  CHECK(all.axis_pointers == Texts{"variant", "/cluster/workers", "/strategy/shards"});
  CHECK(first.axes == all.axes);
  CHECK(first.axis_pointers == all.axis_pointers);
  CHECK(first.axis_values == all.axis_values);
  REQUIRE(first.points.size() == 1);
  CHECK(first.points[0].coordinates == all.points[0].coordinates);
  CHECK(to_json(first.points[0].scenario) == to_json(all.points[0].scenario));
}

TEST_CASE("points that are not wanted do not count towards the largest study") {
  const std::string text = good_scenario({{"/cluster/workers", {1, 2, 4}},
                                          {"/cluster/link/bandwidth", {"1Gbps", "2Gbps"}},
                                          {"/cluster/link/latency", {"1us", "2us", "3us"}}});
  const auto count = [&](std::size_t most, const std::vector<std::string>& choices) {
    return expand_study({Json::parse(text), Origins("s.json")}, {}, default_library(), most, filter_of(choices))
        .points.size();
  };
  // 3 numbers of workers, 2 bandwidths, 3 latencies: with one latency of them 6 points, with one number of workers too 2.
  CHECK(count(18, {}) == 18);
  CHECK(count(6, {"latency=2us"}) == 6);
  CHECK(count(2, {"latency=2us", "workers=4"}) == 2);
  CHECK_THROWS_AS(count(5, {"latency=2us"}), ScenarioError);
}

TEST_CASE("points that are not wanted are not read") {
  Folder folder;
  const std::string file =
      folder.write("s.json", good_scenario({{"/cluster/workers", {1, 0, 4}}, {"/cluster/link/latency", {"1us", "x"}}}));
  const auto chosen = [&](const std::vector<std::string>& choices) {
    return points(load_study(file, {}, default_library(), kMaxPoints, filter_of(choices)));
  };
  CHECK(chosen({"workers=4", "/cluster/link/latency=1us"}) == Texts{"workers=4 latency=1us"});
  CHECK(chosen({"workers=1", "workers=4", "latency=1us"}) == Texts{"workers=1 latency=1us", "workers=4 latency=1us"});
  CHECK(chosen({"workers=7"}).empty());
  try {
    chosen({"workers=4"});
    FAIL("a latency of x");
  } catch (const ScenarioError& error) {
    REQUIRE(error.faults().size() == 1);
    CHECK(error.faults()[0].pointer == "/cluster/link/latency/1");
  }
}

TEST_CASE("A document is the same at single values of a field as at a list of them") {
  const Study study = study_of(Changes{});
  const Document document{to_json(study.points.at(0).scenario), Origins("study.json")};
  const std::vector<std::pair<std::string, std::vector<Json>>> fields = {
      {"/cluster/link/bandwidth", {"1Gbps", "20Gbps"}},
      {"/cluster/link/latency", {"0s", "1ms"}},
      {"/cluster/workers", {2, 8}},
      {"/codec/slowdown", {1.0, 2.5}},
      {"/stack/host_cost", {"0.1ns/B", "2ns/B"}},
  };
  Expander expander("study.json", default_library());
  for (const auto& [pointer, values] : fields) {
    INFO(pointer);
    std::vector<Override> each;
    for (const Json& value : values) each.push_back({pointer, value, "--along", pointer});
    const auto single = expander.at_values(document, each);
    const Study list = expander.expand(document, {{pointer, Json(values), "--along", pointer}});
    REQUIRE(single);
    REQUIRE(single->size() == list.points.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      CHECK(to_json((*single)[i].scenario) == to_json(list.points[i].scenario));
  }
  CHECK_FALSE(expander.at_values(document, {{"/cluster/workers", 0, "--along", "/cluster/workers"}}));
  CHECK_FALSE(expander.at_values(document, {{"/cluster/no_such_field", 1, "--along", "/cluster/no_such_field"}}));
}

TEST_CASE("A point is told of its faults as if no part had been read before it") {
  try {
    study_of(Changes{{"/workers", 3}, {"/strategy/bucket_cap", "1MB"}}, {"/codec/slowdown=[1, 2]"});
    FAIL("unknown keys are refused");
  } catch (const ScenarioError& error) {
    std::size_t of_workers = 0;
    for (const Fault& fault : error.faults()) {
      if (fault.pointer == "/workers") ++of_workers;
      if (fault.pointer == "/workers") CHECK(fault.remedy == "put it into \"cluster\"");
      if (fault.pointer == "/strategy/bucket_cap") CHECK(fault.remedy == "put it into \"exchange\"");
    }
    CHECK(of_workers > 0);
    CHECK(error.faults().size() > of_workers);
  }
}

TEST_CASE("A part that points share is not mixed up with another") {
  const Study study = study_of(Changes{}, {"/codec/slowdown=[1, 2, 3]", "/cluster/workers=[4, 8]"});
  REQUIRE(study.points.size() == 6);
  for (const StudyPoint& point : study.points) {
    const std::string slowdown = value_on(point.coordinates, "slowdown"),
                      workers = value_on(point.coordinates, "workers");
    CHECK(point.scenario.codec.slowdown == std::stod(slowdown));
    CHECK(point.scenario.cluster.workers == (workers == "4" ? 4 : 8));
  }
}
