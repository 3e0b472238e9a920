// Fields that have an effect only sometimes: the messages about them, and that the forecasts agree.
#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/describe/json.hpp"
#include "models/equation/evaluate.hpp"
#include "models/scenario/holds_default.hpp"
#include "models/scenario/library.hpp"
#include "models/scenario/without_effect.hpp"
#include "models/strategy/builder.hpp"
#include "models/study/expansion.hpp"
#include "tests/reader/folder.hpp"
#include "tests/support/catch.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

using Changes = std::vector<std::pair<std::string, Json>>;
using Texts = std::vector<std::string>;

Json json(const char* text) { return Json::parse(text); }

/// Eight workers on four machines, three tensors of 4 MB that are ready one after the other.
Json base() {
  return json(R"({
    "name": "base",
    "workload": {"name": "three", "batch": 1, "forward": "1ms", "backward": "6ms", "update": "1ms", "gradients": [
      {"name": "a", "elements": 1000000, "dims": [1000, 1000]}, {"name": "b", "elements": 1000000, "dims": [1000, 1000]}, {"name": "c", "elements": 500000}]},
    "cluster": {"workers": 8, "link": {"bandwidth": "100Gbps", "latency": "5us"}, "topology": {"kind": "nodes", "gpus_per_node": 2, "inner": {"bandwidth": "300GB/s", "latency": "1us"}}}
  })");
}

Study study_of(const Changes& changes, const Texts& sets = {}) {
  Json scenario = base();
  for (const auto& [pointer, value] : changes) scenario[Json::json_pointer(pointer)] = value;
  std::vector<Override> overrides;
  for (const std::string& set : sets) overrides.push_back(parse_override(set));
  return parse_study(scenario.dump(), "study.json", overrides, default_library());
}

/// A field's value, and the rest of two scenarios: one has no use for it, one has.
struct Case {
  std::string pointer;
  Json value;
  Changes without;
  std::string why;
  Changes with;
  bool by_equations = true;  ///< they can tell whether the step changes
};

Changes strategy(const char* text) { return {{"/strategy", json(text)}}; }
Changes both(Changes a, const Changes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

std::vector<Case> cases() {
  const Changes none = strategy(R"({"kind": "all-reduce", "exchange": {"grouping": "per-tensor"}})");
  const Changes slow =
      both(none, {{"/cluster/link/bandwidth", "10Gbps"}});  // an exchange takes longer than a tensor's gap
  const Changes top_k{{"/compressor", json(R"({"kind": "top-k"})")}, {"/codec/device", "v100-datasheet"}};
  const Changes codes = both(
      strategy(
          R"({"kind": "sharded", "quantized_gather": {}, "exchange": {"grouping": "per-tensor", "overlap": false}})"),
      {{"/codec/device", "v100-datasheet"}});
  const Changes ring = strategy(R"({"kind": "all-reduce", "collective": {"algorithm": "ring"}})");
  const Changes bucketed =
      strategy(R"({"kind": "all-reduce", "exchange": {"grouping": "bucketed", "bucket_cap": "5MB"}})");
  const Changes whole = strategy(R"({"kind": "all-reduce", "exchange": {"grouping": "whole-model"}})");
  const Changes servers = strategy(R"({"kind": "parameter-server", "shards": 2})");
  const Changes plain_star{{"/cluster/topology", json(R"({"kind": "star"})")}};
  const Changes in_network =
      both(both(strategy(R"({"kind": "all-reduce", "collective": {"algorithm": "in-network"}})"), plain_star),
           {{"/cluster/in_network_factor", 1}});
  const auto between_machines = [](const char* algorithm) {
    const Json collective{{"algorithm", "hierarchical"}, {"between", algorithm}};
    return Changes{{"/strategy", Json{{"kind", "all-reduce"}, {"collective", collective}}}};
  };
  const Changes replay{{"/evaluation/evaluator", "replay"}};
  const Changes equations = both(none, {{"/evaluation/evaluator", "equations"}});
  const Changes jitter = both(replay, {{"/cluster/jitter", json(R"({"distribution": "gamma", "cv": 0.1})")}});
  const Changes platform =
      both(both(ring, replay), {{"/cluster/topology", json(R"({"kind": "simgrid-xml", "file": "cluster.xml"})")}});
  return {
      {"/workload/backward_spread",
       "elements",
       {{"/workload/gradients",
         json(
             R"([{"name": "a", "elements": 1000000, "gap": "4ms"}, {"name": "b", "elements": 500000, "gap": "2ms"}])")},
        {"/workload/backward", nullptr}},
       "gradients have gaps",
       slow},
      {"/workload/backward_spread",
       "elements",
       {{"/workload",
         json(
             R"({"name": "l", "batch": 1, "layers": [{"name": "a", "forward": "1ms", "backward": "2ms", "gradients": [{"name": "a", "elements": 1000}]}]})")}},
       "layers have their own times",
       slow},
      {"/workload/backward_spread",
       "elements",
       {{"/workload", json(R"({"from": "resnet50", "profile": "v100-datasheet"})")}},
       "times follow from the layers' shapes",
       slow},
      {"/workload/backward_spread",
       "elements",
       {{"/workload", json(R"({"from": "gpt2-xl", "profile": "v100-datasheet"})")}},
       "times follow from the layers' shapes",
       slow},
      {"/workload/autocast",
       true,
       {{"/workload", json(R"({"from": "resnet50", "profile": "a100-datasheet"})")}},
       "dtype is no wider than compute_dtype",
       {{"/workload", json(R"({"from": "resnet50", "profile": "a100-datasheet", "dtype": "bf16"})")}}},
      {"/workload/autocast",
       true,
       {},
       "times are given",
       {{"/workload", json(R"({"from": "resnet50", "profile": "a100-datasheet", "dtype": "bf16"})")}}},
      {"/workload/fused_update",
       true,
       {},
       "the time of the update is given",
       {{"/workload", json(R"({"from": "resnet50", "profile": "v100-datasheet"})")}}},
      {"/workload/recomputation",
       "blocks",
       {{"/workload", json(R"({"from": "inception-v3", "profile": "v100-datasheet"})")}},
       "no layer names mark blocks by a number between dots",
       {{"/workload", json(R"({"from": "resnet50", "profile": "v100-datasheet"})")}}},
      {"/workload/recomputed_share",
       0.5,
       {{"/workload", json(R"({"from": "resnet50", "profile": "v100-datasheet"})")}},
       "recomputation is none",
       {{"/workload", json(R"({"from": "resnet50", "profile": "v100-datasheet", "recomputation": "blocks"})")}}},
      {"/workload/recomputation",
       "blocks",
       {{"/workload", json(R"({"from": "resnet50", "profile": "v100-datasheet", "recomputed_share": 0.05})")}},
       "recomputed_share 0.05 of 16 blocks is none",
       both(whole, {{"/workload", json(R"({"from": "gpt2-xl", "profile": "h100", "recomputed_share": 0.05})")}})},
      {"/workload/transformer/composed",
       true,
       {{"/workload", json(R"({"from": "gpt2-xl", "profile": "h100", "transformer": {"gated": true}})")}},
       "norms with biases and SiLU are one kernel each, and positions are a table",
       {{"/workload", json(R"({"from": "llama-2-7b", "profile": "h100"})")}}},
      // Lists: said of axes only.
      {"/cluster/link/bandwidth", json(R"(["1Gbps", "2Gbps"])"), platform, "topology simgrid-xml has its own links",
       ring, false},
      {"/cluster/link/latency", json(R"(["1ms", "2ms"])"), platform, "topology simgrid-xml has its own links", ring,
       false},
      {"/cluster/reduction_cost", "1ns/B",
       strategy(R"({"kind": "parameter-server", "server_reduction_cost": "0.1ns/B"})"), "server_reduction_cost is set",
       servers},
      {"/cluster/reduction_cost", "1ns/B",
       strategy(R"({"kind": "collective", "operation": "all-gather", "size": "1MB"})"), "all-gather adds nothing",
       strategy(R"({"kind": "collective", "operation": "reduce-scatter", "size": "1MB"})")},
      {"/cluster/collective_cost", "1ms", servers, "the strategy has no collectives", ring},
      {"/cluster/collective_byte_cost", "1ps/B", servers, "the strategy has no collectives", ring},
      {"/cluster/protocols", json(R"([{"name": "slow", "latency_factor": 9}])"), servers,
       "the strategy has no collectives", ring},
      {"/cluster/algorithms", json(R"(["binary-tree"])"), servers, "the strategy has no collectives",
       strategy(R"({"kind": "all-reduce"})")},
      // Groups of two: the ring of their first ranks and that of their second ones leave a machine by ranks 2 and 3.
      {"/cluster/topology/nic_of_gpu",
       "neighbours",
       {},
       "a machine has one NIC",
       both(
           strategy(
               R"({"kind": "all-reduce", "collective": {"algorithm": "hierarchical", "group_size": 2, "between": "ring"}})"),
           {{"/cluster/topology/gpus_per_node", 4}, {"/cluster/topology/nics", 2}})},
      {"/cluster/topology/nic_of_gpu",
       "neighbours",
       {{"/cluster/topology/nics", 2}},
       "each GPU has a separate NIC",
       {}},
      {"/cluster/ring_latency", "slowest", servers, "the strategy has no collectives", ring},
      {"/cluster/ring_latency", "slowest",
       strategy(R"({"kind": "all-reduce", "collective": {"algorithm": "halving-doubling"}})"),
       "the algorithm is halving-doubling", ring},
      {"/cluster/ring_latency", "slowest",
       both(both(ring, replay), {{"/cluster/transport", json(R"({"kind": "tcp"})")}}),
       "transport tcp keeps each link's latency", ring, false},
      {"/cluster/in_network_factor", 0.5, servers, "the strategy has no collectives", in_network},
      {"/cluster/in_network_factor", 0.5, ring, "the algorithm is ring",
       both(between_machines("in-network"), {{"/cluster/in_network_factor", 1}})},
      {"/cluster/in_network_factor", 0.5, between_machines("ring"),
       "the algorithm is hierarchical, with ring between groups", in_network},
      // Hybrid sharding sums between groups by a choice of its own, whatever gathers inside them.
      {"/cluster/in_network_factor", 0.5, strategy(R"({"kind": "sharded"})"),
       "no algorithm that auto may choose has one here",
       both(
           strategy(
               R"({"kind": "sharded", "group_size": 4, "collective": {"algorithm": "hierarchical", "group_size": 2}, "all_reduce": {"algorithm": "in-network"}})"),
           {{"/cluster/in_network_factor", 1}})},
      {"/cluster/jitter/distribution", "gamma", ring, "cv is 0", both(replay, {{"/cluster/jitter/cv", 0.1}}), false},
      {"/cluster/jitter/cv", 0.1,
       both(both(replay, strategy(R"({"kind": "collective", "size": "1MB"})")),
            {{"/cluster/jitter/distribution", "gamma"}}),
       "strategy collective computes nothing", both(replay, {{"/cluster/jitter/distribution", "gamma"}}), false},
      // Costs are no times.
      {"/cluster/prices/worker",
       2.0,
       both(strategy(R"({"kind": "collective", "size": "1MB"})"), {{"/cluster/prices", json(R"({"worker": 0.0})")}}),
       "strategy collective has no training to price",
       {{"/cluster/prices", json(R"({"worker": 0.0})")}},
       false},
      {"/cluster/prices/server", 0.5, both(ring, {{"/cluster/prices", json(R"({"worker": 1.0})")}}),
       "no parameter server has a separate host", both(servers, {{"/cluster/prices", json(R"({"worker": 1.0})")}}),
       false},
      {"/cluster/prices/server", 0.5,
       both(strategy(R"({"kind": "parameter-server", "shards": 2, "placement": "co-located"})"),
            {{"/cluster/prices", json(R"({"worker": 1.0})")}}),
       "no parameter server has a separate host", both(servers, {{"/cluster/prices", json(R"({"worker": 1.0})")}}),
       false},
      {"/strategy/collective/group_size", 4, ring, "the algorithm is ring",
       strategy(R"({"kind": "all-reduce", "collective": {"algorithm": "hierarchical"}})")},
      {"/strategy/collective/group_size", 4,
       strategy(R"({"kind": "collective", "operation": "all-to-all", "size": "1MB"})"),
       "no algorithm that auto may choose has one here",
       strategy(R"({"kind": "sharded", "collective": {"algorithm": "hierarchical"}})")},
      {"/strategy/collective/group_size", 4,
       both(strategy(R"({"kind": "all-reduce", "carrier": "in-collective"})"),
            {{"/compressor", json(R"({"kind": "8-bit"})")}, {"/codec/device", "v100-datasheet"}}),
       "the algorithm is ring",
       strategy(R"({"kind": "all-reduce", "collective": {"algorithm": "hierarchical"}, "carrier": "auto"})")},
      {"/strategy/collective/pipeline_segments", 3,
       strategy(R"({"kind": "all-reduce", "collective": {"algorithm": "hierarchical", "between": "ring"}})"),
       "the algorithm is hierarchical, with ring between groups",
       strategy(
           R"({"kind": "all-reduce", "collective": {"algorithm": "hierarchical", "between": "double-binary-tree"}})")},
      {"/strategy/collective/pipeline_segments", 3, ring, "the algorithm is ring",
       strategy(R"({"kind": "all-reduce", "collective": {"algorithm": "double-binary-tree"}})")},
      {"/strategy/collective/pipeline_segments", 3, strategy(R"({"kind": "sharded"})"),
       "no algorithm that auto may choose has one here",
       strategy(R"({"kind": "pipelined", "width": 1, "collective": {"algorithm": "double-binary-tree"}})")},
      {"/strategy/collective/rings", 1, ring, "the algorithm is ring",
       both(strategy(R"({"kind": "all-reduce", "collective": {"algorithm": "multi-ring"}})"),
            {{"/cluster/topology/nics", 2}})},
      {"/strategy/collective/between", "recursive-doubling", ring, "the algorithm is ring",
       strategy(R"({"kind": "all-reduce", "collective": {"algorithm": "hierarchical"}})")},
      {"/strategy/collective/exchange_order", "far-first", ring, "the algorithm is ring",
       strategy(R"({"kind": "all-reduce", "collective": {"algorithm": "halving-doubling"}})")},
      {"/strategy/collective/exchange_order", "far-first",
       strategy(R"({"kind": "all-reduce", "collective": {"algorithm": "hierarchical", "between": "ring"}})"),
       "the algorithm is hierarchical, with ring between groups",
       strategy(
           R"({"kind": "all-reduce", "collective": {"algorithm": "hierarchical", "between": "halving-doubling"}})"),
       false},
      {"/strategy/exchange/bucket_cap", "4MB", whole, "grouping is whole-model",
       strategy(R"({"kind": "all-reduce", "exchange": {"grouping": "bucketed"}})")},
      {"/strategy/exchange/first_bucket", "5MB",
       strategy(R"({"kind": "sharded", "exchange": {"grouping": "per-tensor"}})"), "grouping is per-tensor", bucketed},
      {"/strategy/exchange/overlap", false, whole, "grouping is whole-model, which never overlaps", bucketed},
      {"/stack/backward_slowdown", 1.5, whole, "grouping is whole-model, which never overlaps", bucketed},
      {"/stack/backward_slowdown", 1.5,
       strategy(R"({"kind": "parameter-server", "exchange": {"grouping": "per-tensor", "overlap": false}})"),
       "overlap is false", strategy(R"({"kind": "parameter-server", "exchange": {"grouping": "per-tensor"}})")},
      {"/strategy/bucket_cap", "1MB", strategy(R"({"kind": "local-sgd"})"), "grouping is whole-model",
       strategy(R"({"kind": "local-sgd", "grouping": "bucketed"})")},
      {"/strategy/islands/bucket_cap", "1MB",
       strategy(R"({"kind": "local-sgd", "islands": {"size": 2, "grouping": "per-tensor"}})"), "grouping is per-tensor",
       strategy(R"({"kind": "local-sgd", "islands": {"size": 2}})")},
      {"/strategy/islands/overlap", false,
       strategy(R"({"kind": "local-sgd", "islands": {"size": 2, "grouping": "whole-model"}})"),
       "grouping is whole-model, which never overlaps",
       strategy(R"({"kind": "local-sgd", "islands": {"size": 2, "grouping": "per-tensor"}})")},
      {"/stack/backward_slowdown", 1.5, strategy(R"({"kind": "local-sgd"})"), "strategy local-sgd slows no backward",
       strategy(R"({"kind": "local-sgd", "islands": {"size": 2, "grouping": "per-tensor"}})")},
      {"/strategy/all_reduce/algorithm", "reduce-broadcast", strategy(R"({"kind": "sharded"})"),
       "all workers share out one copy of the state", strategy(R"({"kind": "sharded", "group_size": 2})")},
      {"/strategy/prefetch", 0,
       strategy(R"({"kind": "sharded", "stage": "optimizer-state", "exchange": {"grouping": "per-tensor"}})"),
       "stage is optimizer-state, which keeps gathered parameters",
       strategy(R"({"kind": "sharded", "exchange": {"grouping": "per-tensor"}})")},
      {"/strategy/prefetch", 0,
       strategy(R"({"kind": "sharded", "exchange": {"grouping": "per-tensor", "overlap": false}})"), "overlap is false",
       strategy(R"({"kind": "sharded", "exchange": {"grouping": "per-tensor"}})")},
      {"/strategy/prefetch", 0,
       strategy(R"({"kind": "sharded", "stage": "gradients", "exchange": {"grouping": "per-tensor"}})"),
       "stage is gradients, which keeps gathered parameters",
       strategy(R"({"kind": "sharded", "exchange": {"grouping": "per-tensor"}})")},
      {"/strategy/backward_group_size", 2,
       strategy(R"({"kind": "sharded", "stage": "gradients", "exchange": {"grouping": "per-tensor"}})"),
       "stage is gradients, which keeps gathered parameters",
       strategy(R"({"kind": "sharded", "exchange": {"grouping": "per-tensor", "overlap": false}})")},
      {"/strategy/backward_group_size", 2, strategy(R"({"kind": "sharded", "exchange": {"grouping": "whole-model"}})"),
       "grouping is whole-model, which is gathered once",
       strategy(R"({"kind": "sharded", "exchange": {"grouping": "per-tensor", "overlap": false}})")},
      {"/strategy/backward_group_size", 2,
       strategy(R"({"kind": "sharded", "group_size": 2, "exchange": {"grouping": "per-tensor", "overlap": false}})"),
       "the forward pass gathers among these workers, too",
       strategy(R"({"kind": "sharded", "exchange": {"grouping": "per-tensor", "overlap": false}})")},
      {"/strategy/quantized_gather/bits", 4, both(codes, {{"/cluster/workers", 1}}), "a single worker gathers nothing",
       codes},
      {"/strategy/quantized_gather/block", 512, both(codes, {{"/cluster/workers", 1}}),
       "a single worker gathers nothing", codes},
      {"/strategy/reduce_after", "every-pass", strategy(R"({"kind": "sharded"})"), "a step is one pass",
       both(slow, both(strategy(R"({"kind": "sharded"})"), {{"/workload/accumulation", 2}}))},
      {"/strategy/reduce_dtype", "tf32", strategy(R"({"kind": "sharded"})"), "the workload's dtype, fp32, is as wide",
       both(strategy(R"({"kind": "sharded"})"), {{"/workload/dtype", "bf16"}})},
      // No pipeline's forecast looks at its first steps.
      {"/strategy/warmup_steps",
       3,
       strategy(R"({"kind": "pipelined"})"),
       "steps are forecast for the steady pipeline",
       {}},
      {"/strategy/bound", 1, servers, "consistency is synchronous",
       both(replay, strategy(R"({"kind": "parameter-server", "consistency": "stale-synchronous"})")), false},
      {"/strategy/backup_workers", 2, servers, "consistency is synchronous",
       both(replay, strategy(R"({"kind": "parameter-server", "consistency": "backup-workers"})")), false},
      {"/strategy/balance", "greedy", strategy(R"({"kind": "parameter-server"})"), "there is one shard", servers},
      {"/strategy/server_reduction_cost", "1ns/B", both(servers, top_k),
       "messages of top-k are added by the kernels that decode them", servers},
      {"/strategy/server_update_factor", 3, strategy(R"({"kind": "parameter-server", "two_way": true})"),
       "two_way is true, and workers update", servers},
      {"/strategy/sum_in_machine", true, both(servers, plain_star), "each worker is a machine", servers},
      {"/strategy/duplex", false, strategy(R"({"kind": "parameter-server", "shards": 2, "placement": "co-located"})"),
       "several co-located shards push and pull in turn",
       strategy(R"({"kind": "parameter-server", "exchange": {"grouping": "per-tensor"}})")},
      {"/compressor/framework", "torch", top_k, "packing is ideal", both(top_k, {{"/compressor/packing", "grace"}})},
      {"/codec/device",
       "h100-datasheet",
       none,
       "nothing is compressed",
       {{"/compressor", json(R"({"kind": "top-k"})")}},
       false},
      {"/codec/device",
       "h100-datasheet",
       {{"/compressor", json(R"({"kind": "ratio", "ratio": 2})")}},
       "compressor ratio states its costs",
       {{"/compressor", json(R"({"kind": "top-k"})")}},
       false},
      {"/stack/gather_cost", "1ms", ring, "no messages are gathered", top_k},
      {"/stack/gather_cost", "1ms", servers, "no messages are gathered",
       strategy(R"({"kind": "parameter-server", "shards": 2, "sum_in_machine": true})")},
      {"/stack/gather_cost",
       "1ms",
       {{"/compressor", json(R"({"kind": "ratio", "ratio": 2})")}},
       "no messages are gathered",
       {{"/compressor", json(R"({"kind": "ratio", "ratio": 2})")}, {"/codec/scope", "machines"}}},
      {"/stack/negotiation_cost", "1ms", {{"/strategy", "gossip"}}, "strategy gossip does not negotiate", none},
      {"/stack/cycle", "1ms", {{"/strategy", "gossip"}}, "strategy gossip waits for no cycle", ring},
      {"/stack/cycle", "1ms",
       strategy(R"({"kind": "all-reduce", "exchange": {"grouping": "bucketed", "priority": true}})"),
       "parts with priority wait for no cycle", ring},
      {"/stack/cycle", "1ms", {{"/cluster/workers", 1}}, "a single worker exchanges nothing", ring},
      {"/stack/connections", 2, ring, "connection_bandwidth is null", {{"/stack/connection_bandwidth", "1Gbps"}}},
      {"/stack/connection_bandwidth", "2Mbps", both(ring, {{"/cluster/link/bandwidth", "1Mbps"}}),
       "no host's link has more than the connections", both(ring, {{"/cluster/link/bandwidth", "40Mbps"}})},
      {"/stack/byte_cost_limit",
       "1MB",
       ring,
       "gather_byte_cost and sum_byte_cost are 0",
       {{"/stack/sum_byte_cost", "1ns/B"}}},
      {"/strategy/dimensions",
       json("[8]"),
       {{"/strategy", json(R"({"kind": "gossip", "graph": "complete"})")}},
       "graph is complete",
       {{"/strategy", json(R"({"kind": "gossip", "graph": "torus", "overlap": false})")}}},
      {"/strategy/edges",
       json(R"([{"a": 0, "b": 1}])"),
       {{"/strategy", json(R"({"kind": "gossip"})")}},
       "graph is ring",
       {}},
      {"/strategy/choosers",
       "all",
       {{"/strategy", json(R"({"kind": "gossip"})")}},
       "workers exchange with all neighbours",
       both(replay, {{"/strategy", json(R"({"kind": "gossip", "asynchronous": true})")}}),
       false},
      {"/strategy/exchange/partition", "1MB", both(bucketed, {{"/cluster/workers", 1}}),
       "a single worker exchanges nothing", bucketed},
      {"/stack/gather_byte_cost", "1ns/B", ring, "no messages are gathered", top_k},
      {"/codec/slowdown", 20, none, "nothing is compressed", top_k},
      {"/codec/slowdown",
       20,
       {{"/compressor", json(R"({"kind": "ratio", "ratio": 2})")}},
       "compressor ratio states its costs",
       top_k},
      {"/codec/overlap", false, none, "nothing is compressed", both(top_k, none)},
      {"/codec/overlap", false, both(top_k, whole), "grouping is whole-model, which never overlaps", both(top_k, none)},
      {"/codec/overlap", false, both(top_k, strategy(R"({"kind": "local-sgd", "grouping": "per-tensor"})")),
       "strategy local-sgd encodes after its steps", both(top_k, none)},
      {"/codec/overlap", false, both(top_k, strategy(R"({"kind": "pipelined", "width": 1})")), "there is one segment",
       both(top_k, strategy(R"({"kind": "pipelined", "width": 1, "segments": 2})"))},
      {"/codec/overlap", false, both(top_k, strategy(R"({"kind": "sharded", "exchange": {"grouping": "per-tensor"}})")),
       "strategy sharded encodes a unit when it is reduced", both(top_k, none)},
      {"/codec/scope", "machines", none, "nothing is compressed", top_k},
      {"/codec/scope", "machines", both(plain_star, top_k), "each worker is a machine", top_k},
      {"/inner_compressor", "fp16", both(none, {{"/codec/scope", "machines"}}), "nothing is compressed",
       both(top_k, {{"/codec/scope", "machines"}})},
      {"/codec/min_elements", 600000, none, "nothing is compressed", top_k},
      {"/codec/min_elements",
       600000,
       {{"/compressor", json(R"({"kind": "ratio", "ratio": 2})")}},
       "compressor ratio knows no tensors",
       top_k},
      {"/codec/whole_vectors", true, none, "nothing is compressed", top_k, false},
      {"/codec/sharing", "fair", both(replay, none), "nothing is compressed", both(replay, top_k), false},
      {"/evaluation/fidelity", {"full", "auto"}, equations, "evaluator is equations", replay, false},
      {"/evaluation/tolerance", {0.5, 0.4}, replay, "evaluator is replay", {{"/evaluation/evaluator", "both"}}, false},
      {"/evaluation/max_steps", {50, 60}, equations, "evaluator is equations", replay, false},
      {"/evaluation/runs",
       {3, 4},
       both(replay, {{"/cluster/jitter/distribution", "gamma"}}),
       "there is no jitter",
       jitter,
       false},
      {"/evaluation/seed", {3, 4}, replay, "there is no jitter", jitter, false},
  };
}

bool is_said(const Study& study, const std::string& note) {
  const Texts& notes = study.points.at(0).notes;
  return std::find(notes.begin(), notes.end(), note) != notes.end();
}
/// Whether anything is said of the field, at any point.
bool is_named(const Study& study, const std::string& pointer) {
  for (const StudyPoint& point : study.points)
    for (const std::string& note : point.notes)
      if (note.starts_with(pointer + " ")) return true;
  return false;
}

double step_of(const Study& study) {
  const Scenario& scenario = study.points.at(0).scenario;
  return evaluate(build_step_graph(scenario, make_workload(scenario)), scenario.cluster).step.si();
}

}  // namespace

TEST_CASE("a field without effect has a note, and no other field") {
  for (const Case& one : cases()) {
    INFO(one.pointer << ": " << one.why);
    if (one.why.starts_with("topology simgrid-xml")) continue;  // below
    const auto written = [&](Changes rest) { return both(std::move(rest), {{one.pointer, one.value}}); };
    const Study without = study_of(written(one.without));
    CHECK(is_said(without, one.pointer + " has no effect: " + one.why));
    CHECK_FALSE(is_named(study_of(one.without), one.pointer));
    if (one.by_equations) CHECK(step_of(without) == step_of(study_of(one.without)));
    if (one.with.empty()) continue;
    const Study with = study_of(written(one.with));
    CHECK_FALSE(is_named(with, one.pointer));
    if (one.by_equations) CHECK(step_of(with) != step_of(study_of(one.with)));
  }
}

TEST_CASE("links of a platform's file are its own: the cluster needs none, and one that it has changes nothing") {
  const Folder folder;
  folder.write("cluster.xml", "<platform/>");
  for (const Case& one : cases()) {
    if (!one.why.starts_with("topology simgrid-xml")) continue;
    Json scenario = base();
    for (const auto& [pointer, value] : one.without) scenario[Json::json_pointer(pointer)] = value;
    const auto said = [&] { return load_study(folder.write("study.json", scenario.dump()), {}, default_library()); };
    CHECK(is_said(said(), one.pointer + " has no effect: " + one.why));
    const Json link = scenario["cluster"]["link"];
    scenario["cluster"].erase("link");
    CHECK(said().points.at(0).notes == Texts{});
    scenario["cluster"]["link"] = link;
    scenario[Json::json_pointer(one.pointer)] = one.value;
    CHECK(is_said(said(), one.pointer + " has no effect: " + one.why));
    CHECK_FALSE(is_named(study_of(both(one.with, {{one.pointer, one.value}})), one.pointer));
  }
}

TEST_CASE("every field that has an effect only sometimes has a case, and can be compared with its default") {
  std::set<std::string> with_case;
  for (const Case& one : cases()) with_case.insert(one.pointer);
  for (const SometimesField& field : sometimes_fields()) {
    INFO(field.pointer);
    CHECK(with_case.contains(std::string(field.pointer)));
    CHECK_NOTHROW(holds_default(study_of({}).points.at(0).scenario, field.pointer));
  }
  CHECK(with_case.size() == sometimes_fields().size());
}

TEST_CASE("a default needs no note, however it is written") {
  for (const char* cap : {"25MiB", "26214400B"})
    CHECK(study_of({{"/strategy",
                     Json{{"kind", "all-reduce"}, {"exchange", {{"grouping", "whole-model"}, {"bucket_cap", cap}}}}}})
              .points[0]
              .notes.empty());
  // The canonical document of a scenario, as `show` writes it, holds every default.
  for (const char* text : {R"({"kind": "all-reduce"})", R"({"kind": "parameter-server"})", R"({"kind": "pipelined"})",
                           R"({"kind": "local-sgd"})", R"({"kind": "sharded"})", R"({"kind": "gossip"})"}) {
    const Study study = study_of(strategy(text));
    const Study again = parse_study(to_json(study.points[0].scenario).dump(), "again.json", {}, default_library());
    INFO(text);
    CHECK(again.points[0].notes.empty());
  }
  // Sharded exchanges are bucketed by default, others are not.
  CHECK(study_of(strategy(R"({"kind": "sharded", "exchange": {"bucket_cap": "1MiB"}})")).points[0].notes.empty());
}

TEST_CASE("an axis that changes nothing is said to") {
  const Study study = study_of(strategy(
      R"({"kind": "all-reduce", "exchange": {"grouping": "whole-model", "bucket_cap": ["1MiB", "25MiB", "100MiB"]}})"));
  const std::string no_effect = "/strategy/exchange/bucket_cap has no effect: grouping is whole-model";
  CHECK(study.notes == Texts{"an axis changes nothing: " + no_effect});
  // 25 MiB is the default.
  CHECK(study.points[0].notes == Texts{no_effect});
  CHECK(study.points[1].notes.empty());
  CHECK(study.points[2].notes == Texts{no_effect});
  // Values that are references; an axis of one variant.
  CHECK(study_of({{"/codec/device", {"v100-datasheet", "h100-datasheet"}}}).notes ==
        Texts{"an axis changes nothing: /codec/device has no effect: nothing is compressed"});
  CHECK(
      study_of({{"/strategy", json(R"({"kind": "all-reduce"})")},
                {"/variants",
                 json(R"([{"name": "a", "set": {"/codec/overlap": [true, false]}}, {"name": "b", "set": {}}])")}})
          .notes ==
      Texts{"an axis changes nothing: /codec/overlap as /variants/0/set has it has no effect: nothing is compressed"});
  CHECK(study_of({}, {R"(/strategy={"kind": "all-reduce", "exchange": {"grouping": "whole-model"}})",
                      R"(/strategy/exchange/bucket_cap=["1MiB","2MiB"])"})
            .notes.size() == 1);
}

TEST_CASE("a field for another evaluator is noted only if an axis varies it") {
  CHECK(study_of({{"/evaluation/tolerance", 0.5}}).points[0].notes.empty());
  CHECK(study_of({{"/evaluation/tolerance", {0.5, 0.4}}}).notes.size() == 1);
}

TEST_CASE("a field with an effect at some points of a study has no note") {
  CHECK_FALSE(is_named(
      study_of(strategy(
          R"({"kind": "all-reduce", "exchange": {"grouping": ["whole-model", "bucketed"], "bucket_cap": ["1MiB", "2MiB"]}})")),
      "/strategy/exchange/bucket_cap"));
  const Study variants = study_of(both(
      strategy(R"({"kind": "all-reduce", "exchange": {"grouping": "whole-model", "bucket_cap": "1MiB"}})"),
      {{"/variants",
        json(
            R"([{"name": "whole", "set": {}}, {"name": "buckets", "set": {"/strategy/exchange/grouping": "bucketed"}}])")}}));
  CHECK_FALSE(is_named(variants, "/strategy/exchange/bucket_cap"));
  CHECK(variants.notes.empty());
  // The same for its baseline's points.
  CHECK_FALSE(
      is_named(study_of(both(
                   strategy(R"({"kind": "all-reduce", "exchange": {"grouping": "whole-model", "bucket_cap": "1MiB"}})"),
                   {{"/baseline", json(R"({"name": "b", "set": {"/strategy/exchange/grouping": "bucketed"}})")}})),
               "/strategy/exchange/bucket_cap"));
}

TEST_CASE("fields from different places are judged separately") {
  const Study study = study_of({{"/variants", json(R"([
      {"name": "whole", "set": {"/strategy": {"kind": "all-reduce", "exchange": {"grouping": "whole-model", "bucket_cap": "1MiB"}}}},
      {"name": "buckets", "set": {"/strategy": {"kind": "all-reduce", "exchange": {"grouping": "bucketed", "bucket_cap": "1MiB"}}}}])")}});
  CHECK(study.points[0].notes ==
        Texts{"/strategy/exchange/bucket_cap as /variants/0/set has it has no effect: grouping is whole-model"});
  CHECK(study.points[1].notes.empty());
  // Elements of an axis of whole parts are places of their own.
  const Study parts = study_of(
      {{"/strategy",
        json(
            R"([{"kind": "sharded", "stage": "optimizer-state", "prefetch": 2}, {"kind": "sharded", "prefetch": 2}])")}});
  CHECK(parts.points[0].notes.size() == 1);
  CHECK(parts.points[1].notes.empty());
}

TEST_CASE("a part's file serves other scenarios, so its fields have no notes") {
  const Folder folder;
  folder.write("strategies/mine.json",
               R"({"kind": "all-reduce", "exchange": {"grouping": "whole-model", "bucket_cap": "1MiB"}})");
  Json scenario = base();
  scenario["strategy"] = "mine";
  const auto load = [&] { return load_study(folder.write("study.json", scenario.dump()), {}, default_library()); };
  CHECK(load().points[0].notes.empty());
  scenario["strategy"] = json(R"({"from": "mine", "exchange": {"bucket_cap": "2MiB"}})");
  CHECK(load().points[0].notes.size() == 1);
  // A scenario laid over another is one scenario.
  scenario["strategy"] =
      json(R"({"kind": "all-reduce", "exchange": {"grouping": "whole-model", "bucket_cap": "1MiB"}})");
  folder.write("study.json", scenario.dump());
  CHECK(load_study(folder.write("over.json", R"({"from": "study.json", "name": "over"})"), {}, default_library())
            .points[0]
            .notes.size() == 1);
}
