// Which scenarios are one training run in several ways, and which are several.
#include "models/describe/json.hpp"
#include "models/report/other_trainings.hpp"

#include "models/scenario/library.hpp"
#include "models/study/expansion.hpp"
#include "tests/support/catch.hpp"

using namespace stepcast;

namespace {

/// The fields in which the points of a study with these changes differ.
std::vector<std::string> differences(const std::vector<Override>& changes) {
  const Study study = parse_study(R"({"name": "s", "workload": {"from": "resnet50", "profile": "v100-datasheet"},
      "cluster": {"workers": 8, "link": {"bandwidth": "10Gbps"}}, "codec": {"device": "v100-datasheet"},
      "evaluation": {"evaluator": "replay"}})",
                                  "s.json", changes, default_library());
  std::vector<const Scenario*> scenarios;
  for (const StudyPoint& point : study.points) scenarios.push_back(&point.scenario);
  return differences_in_training(scenarios);
}

Override set(const char* pointer, const char* value) { return {pointer, Json::parse(value), "--set", pointer}; }

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("ways to run synchronous SGD are one training") {
  CHECK(differences(
            {set("/strategy", R"(["all-reduce", "sharded", "parameter-server", {"kind": "pipelined", "width": 1}])"),
             set("/cluster/link/bandwidth", R"(["1Gbps", "10Gbps"])")})
            .empty());
  // A step is of as many samples whether a worker makes them in one pass or in two.
  CHECK(differences({set("/workload", R"([{"from": "resnet50", "profile": "v100-datasheet", "batch": 32},
      {"from": "resnet50", "profile": "v100-datasheet", "batch": 16, "accumulation": 2}])")})
            .empty());
}

TEST_CASE("staleness, compressors, variants, types and the global batch make other trainings") {
  CHECK(differences({set("/strategy", R"(["all-reduce", "gossip"])")}) == Texts{"when gradients are applied"});
  CHECK(differences(
            {set("/strategy",
                 R"([{"kind": "parameter-server"}, {"kind": "parameter-server", "consistency": "asynchronous"}])")}) ==
        Texts{"when gradients are applied"});
  CHECK(differences({set("/strategy", R"({"kind": "local-sgd", "steps": [4, 8]})")}) ==
        Texts{"when gradients are applied"});
  for (const char* other :
       {R"({"kind": "parameter-server", "consistency": "backup-workers", "backup_workers": [1, 2]})",
        R"({"kind": "parameter-server", "consistency": "asynchronous", "pull_steps": [1, 3]})",
        R"({"kind": "gossip", "asynchronous": [false, true]})"})
    CHECK(differences({set("/strategy", other)}) == Texts{"when gradients are applied"});
  CHECK(differences({set("/compressor", R"(["none", "top-k"])")}) == Texts{"compressor"});
  const auto carried = [](const char* compressor, const char* carriers) {
    return differences({set("/compressor", compressor), set("/strategy", R"({"kind": "all-reduce"})"),
                        set("/strategy/carrier", carriers)});
  };
  CHECK(carried(R"("top-k")", R"(["auto", "all-gather", "all-to-all-once", "sum-or-gather"])").empty());
  CHECK(carried(R"("top-k")", R"(["auto", "all-to-all"])") == Texts{"compressor"});
  CHECK(carried(R"("signsgd")", R"(["auto", "all-to-all"])").empty());  // votes of signs are signs
  // Nor are sums encoded again beside them, while those of top-k are.
  const auto beside = [](const char* other) {
    return differences({set("/compressor", R"("signsgd")"), set("/strategy", R"({"kind": "all-reduce"})"),
                        set("/strategy/carrier", R"(["auto", "all-to-all"])"),
                        set("/other_compressors", R"([{"tensors": ["fc.*"], "compressor": "none"}])"),
                        set("/other_compressors/0/compressor", other)});
  };
  CHECK(beside(R"("powersgd")").empty());
  CHECK(beside(R"("top-k")") == Texts{"compressor"});
  CHECK(differences({set("/compressor", R"("top-k")"), set("/codec/min_elements", "[0, 1000]")}) ==
        Texts{"compressor"});
  CHECK(differences({set("/compressor", R"("top-k")"), set("/codec/whole_vectors", "[false, true]")}) ==
        Texts{"compressor"});
  CHECK(differences({set("/compressor", R"("top-k")"),
                     set("/other_compressors", R"([{"tensors": ["fc.*"], "compressor": "8-bit"}])"),
                     set("/other_compressors/0/compressor", R"(["8-bit", "powersgd"])")}) == Texts{"compressor"});
  CHECK(differences({set("/compressor", R"("top-k")"), set("/codec/scope", R"(["workers", "machines"])"),
                     set("/cluster/topology",
                         R"({"kind": "nodes", "gpus_per_node": 2, "inner": {"bandwidth": "100Gbps"}})")}) ==
        Texts{"compressor"});
  CHECK(differences({set("/workload/variant", R"([null, "pufferfish"])")}) == Texts{"variant of the network"});
  CHECK(differences({set("/workload/dtype", R"(["fp32", "fp16"])")}) == Texts{"types of numbers"});
  CHECK(differences({set("/cluster/workers", "[8, 16]")}) == Texts{"global batch"});  // 8 and 16 times the batch
}

TEST_CASE("scenarios without training are not compared as trainings") {
  CHECK(differences({set("/strategy", R"([{"kind": "collective", "size": "1MB"}, "all-reduce"])")}).empty());
}
