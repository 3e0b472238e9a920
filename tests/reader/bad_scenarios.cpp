#include "tests/reader/bad_scenarios.hpp"

#include <fmt/format.h>

namespace stepcast::test {
namespace {

constexpr bool by_schema = true;

Json json(const char* text) { return Json::parse(text); }

/// A list of workers that would make `count` points.
Json numbers(int count) {
  Json list = Json::array();
  for (int i = 1; i <= count; ++i) list.push_back(i);
  return list;
}

std::string nested(int levels, const std::string& open, const std::string& close) {
  std::string text = "1";
  std::string before, after;
  for (int i = 0; i < levels; ++i) {
    before += open;
    after += close;
  }
  return before + text + after;
}

std::string many_keys(int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i) text += fmt::format("{}\"k{}\": 1", i ? ", " : "", i);
  return text + "}";
}

Json tensors(const char* gap_of_second) {
  Json list = json(R"([{"name": "a", "elements": 1000, "gap": "1ms"}, {"name": "b", "elements": 500}])");
  if (gap_of_second) list[1]["gap"] = gap_of_second;
  return list;
}

Json one_layer(const char* gradients) {
  return Json::array({Json{{"name", "l"}, {"forward", "1ms"}, {"backward", "2ms"}, {"gradients", json(gradients)}}});
}

Json strategy(const char* fields) { return json(fields); }

/// Malformed or not plain JSON.
void add_texts(std::vector<BadScenario>& rows) {
  rows.insert(
      rows.end(),
      {
          {"empty file", "", "line 1, column 1", "malformed JSON", "one JSON document"},
          {"only white space", " \n\t ", "line 1, column 1", "malformed JSON", "one JSON document"},
          {"truncated", R"({"name": "x", "cluster": {"workers")", "line 1, column 36",
           "in {\"name\": \"x\", \"cluster\": {\"workers\"", "one JSON document"},
          {"truncated text", R"({"name": "x)", "line 1, column 12", "missing closing quote", "one JSON document"},
          {"trailing comma in an object", R"({"name": "x",})", "line 1, column 13", "unexpected '}'",
           "one JSON document", "remove the comma before the \"}\""},
          {"trailing comma in a list", "{\"cluster\":\n  {\"workers\": [1, 2,\n]}}", "line 2, column 20",
           "in {\"workers\": [1, 2,", "one JSON document", "remove the comma before the \"]\""},
          {"comment without an end", "{\n  \"name\": \"x\" /* how many\n}", "line 3, column 2", "missing closing '*/'",
           "one JSON document"},
          {"single quotes", "{'name': 'x'}", "line 1, column 2", "malformed JSON", "one JSON document"},
          {"no quotes around a key", "{name: 1}", "line 1, column 3", "malformed JSON", "one JSON document"},
          {"NaN", R"({"cluster": {"workers": NaN}})", "line 1, column 25", "malformed JSON", "one JSON document"},
          {"Infinity", R"({"evaluation": {"tolerance": Infinity}})", "line 1, column 30", "malformed JSON",
           "one JSON document"},
          {"negative infinity", R"({"evaluation": {"tolerance": -Infinity}})", "line 1, column 31", "malformed JSON",
           "one JSON document"},
          {"number beyond double", R"({"evaluation": {"tolerance": 1e999}})", "/evaluation/tolerance", "1e999",
           "one JSON document"},
          {"leading zero", R"({"cluster": {"workers": 08}})", "line 1, column 26", "malformed JSON",
           "one JSON document"},
          {"hexadecimal", R"({"cluster": {"workers": 0x10}})", "line 1, column 26", "malformed JSON",
           "one JSON document"},
          {"plus sign", R"({"cluster": {"workers": +8}})", "line 1, column 25", "malformed JSON", "one JSON document"},
          {"two documents", R"({"name": "x"} {"name": "y"})", "line 1, column 15", "malformed JSON",
           "one JSON document"},
          {"UTF-16 with byte order mark", std::string("\xFF\xFE{\0}\0", 6), "line 1, column 1", "malformed JSON",
           "one JSON document"},
          {"invalid UTF-8", "{\"name\": \"\xC3(\"}", "line 1, column 12", "ill-formed UTF-8", "one JSON document"},
          {"control character in a text", "{\"name\": \"a\nb\"}", "line 1, column 12", "control character",
           "one JSON document"},
          {"NUL byte", std::string("{\"name\": \0}", 11), "line 1, column 10", "malformed JSON", "one JSON document"},
          {"10,000 lists in each other", nested(10000, "[", "]"), nested(32, "/0", "").substr(0, 64),
           "nesting deeper than 32 levels", "at most 32 levels"},
          {"10,000 objects in each other", nested(10000, R"({"a": )", "}"), nested(32, "/a", "").substr(0, 64),
           "nesting deeper than 32 levels", "at most 32 levels"},
          {"a key twice", R"({"name": "x", "cluster": {"workers": 8, "link": {"bandwidth": "1Gbps"}, "workers": 16}})",
           "/cluster/workers", "a second time", "each key once", "remove one"},
          {"a thousand keys and one", many_keys(1001), "", "more than 1000 keys", "at most 1000 keys"},
          {"an endless key", fmt::format(R"({{"{:k>5000}": 1}})", ""), "", "a key of 5000 bytes", "at most 1000 bytes"},
          {"a list", "[1, 2]", "", "a list of 2", "an object", "", by_schema},
          {"a number", "42", "", "42", "an object", "", by_schema},
          {"a text", R"("quickstart")", "", "\"quickstart\"", "an object", "", by_schema},
          {"null", "null", "", "null", "an object", "", by_schema},
      });
}

/// Keys that are missing or mean nothing.
void add_keys(std::vector<BadScenario>& rows) {
  rows.insert(
      rows.end(),
      {
          {"unknown key", good_scenario({{"/worklod", "x"}}), "/worklod", "an unknown key", "workload",
           "did you mean \"workload\"?", by_schema},
          {"unknown key that begins like a part", good_scenario({{"/workloads", "x"}}), "/workloads", "an unknown key",
           "workload", "did you mean \"workload\"?", by_schema},
          {"a field of a part beside it",
           good_scenario({{"/strategy", strategy(R"({"kind": "all-reduce", "bucket_cap": "5MB"})")}}),
           "/strategy/bucket_cap", "an unknown key", "exchange", "put it into \"exchange\"", by_schema},
          {"a link's field in its cluster", good_scenario({{"/cluster/latency", "5us"}}), "/cluster/latency",
           "an unknown key", "link", "put it into \"link\"", by_schema},
          {"a cluster where a workload should be", good_scenario({{"/workload", "dgx-h100"}}), "/workload",
           "the unknown workload \"dgx-h100\"", "resnet50", "that is a cluster"},
          {"a kind of compressor where a strategy should be", good_scenario({{"/strategy", "top-k"}}), "/strategy",
           "the unknown strategy \"top-k\"", "all-reduce", "that is a compressor"},
          {"unknown key like nothing", good_scenario({{"/colour", "red"}}), "/colour", "an unknown key",
           "name, description", "", by_schema},
          {"unknown key in cluster", good_scenario({{"/cluster/wrokers", 8}}), "/cluster/wrokers", "an unknown key",
           "workers", "did you mean \"workers\"?", by_schema},
          {"unknown key in link", good_scenario({{"/cluster/link/bandwith", "1Gbps"}}), "/cluster/link/bandwith",
           "an unknown key", "bandwidth, latency", "did you mean \"bandwidth\"?", by_schema},
          {"unknown key with a slash", good_scenario({{"/cluster/a~1b", 1}}), "/cluster/a~1b", "an unknown key",
           "workers", "", by_schema},
          {"key of another kind", good_scenario({{"/strategy", strategy(R"({"kind": "all-reduce", "shards": 4})")}}),
           "/strategy/shards", "an unknown key", "kind, collective, carrier, exchange", "", by_schema},
          {"unknown key in a gradient", good_scenario({{"/workload/gradients/1/element", 5}}),
           "/workload/gradients/1/element", "an unknown key", "elements", "did you mean \"elements\"?", by_schema},
          {"unknown key in evaluation", good_scenario({{"/evaluation", json(R"({"seeds": 3})")}}), "/evaluation/seeds",
           "an unknown key", "seed", "did you mean \"seed\"?", by_schema},
          {"no name", good_scenario({}, {"/name"}), "/name", "nothing", "a required value", "add it", by_schema},
          {"no cluster", good_scenario({}, {"/cluster"}), "/cluster", "nothing", "a required value", "add it",
           by_schema},
          {"no workers", good_scenario({}, {"/cluster/workers"}), "/cluster/workers", "nothing", "number of workers",
           "add it", by_schema},
          {"no link", good_scenario({}, {"/cluster/link"}), "/cluster/link", "nothing", "a required value", "add it"},
          {"no bandwidth", good_scenario({}, {"/cluster/link/bandwidth"}), "/cluster/link/bandwidth", "nothing",
           "a required value", "add it", by_schema},
          {"no batch", good_scenario({}, {"/workload/batch"}), "/workload/batch", "nothing", "samples per worker",
           "add it", by_schema},
          {"no kind", good_scenario({{"/strategy", strategy(R"({"width": 2})")}}), "/strategy/kind", "nothing",
           "all-reduce, parameter-server", "add it", by_schema},
          {"no size of a collective", good_scenario({{"/strategy", strategy(R"({"kind": "collective"})")}}),
           "/strategy/size", "nothing", "bytes of the whole buffer", "add it", by_schema},
      });
}

/// Values of the wrong type.
void add_types(std::vector<BadScenario>& rows) {
  rows.insert(
      rows.end(),
      {
          {"name is a number", good_scenario({{"/name", 5}}), "/name", "5", "a text", "", by_schema},
          {"name is a list", good_scenario({{"/name", json(R"(["a", "b"])")}}), "/name", "a list of 2", "a text", "",
           by_schema},
          {"schema is a number", good_scenario({{"/$schema", 7}}), "/$schema", "7", "a text", "", by_schema},
          {"workers in quotes", good_scenario({{"/cluster/workers", "8"}}), "/cluster/workers", "\"8\"",
           "an integer from 1", "write 8", by_schema},
          {"workers with a unit", good_scenario({{"/cluster/workers", "8 GPUs"}}), "/cluster/workers", "\"8 GPUs\"",
           "an integer from 1", "write 8", by_schema},
          {"workers is true", good_scenario({{"/cluster/workers", true}}), "/cluster/workers", "true", "an integer", "",
           by_schema},
          {"workers is null", good_scenario({{"/cluster/workers", nullptr}}), "/cluster/workers", "null", "an integer",
           "", by_schema},
          {"workers is an object", good_scenario({{"/cluster/workers", Json::object()}}), "/cluster/workers",
           "an empty object", "an integer", "", by_schema},
          {"link is a text", good_scenario({{"/cluster/link", "10Gbps"}}), "/cluster/link", "\"10Gbps\"", "an object",
           "", by_schema},
          {"cluster is a number", good_scenario({{"/cluster", 8}}), "/cluster", "8", "an object", "", by_schema},
          {"cluster is null", good_scenario({{"/cluster", nullptr}}), "/cluster", "null", "an object", "", by_schema},
          {"workload is a number", good_scenario({{"/workload", 50}}), "/workload", "50", "an object", "", by_schema},
          {"strategy is true", good_scenario({{"/strategy", true}}), "/strategy", "true",
           "an object with \"kind\": all-reduce", "", by_schema},
          {"topology is a text", good_scenario({{"/cluster/topology", "star"}}), "/cluster/topology", "\"star\"",
           "an object with \"kind\": star, nodes", "write {\"kind\": \"star\"}", by_schema},
          {"kind is a number", good_scenario({{"/strategy", strategy(R"({"kind": 5})")}}), "/strategy/kind", "5",
           "all-reduce", "", by_schema},
          {"overlap is a text", good_scenario({{"/strategy", strategy(R"({"kind": "gossip", "overlap": "yes"})")}}),
           "/strategy/overlap", "\"yes\"", "true or false", "", by_schema},
          {"overlap is a number", good_scenario({{"/strategy", strategy(R"({"kind": "gossip", "overlap": 1})")}}),
           "/strategy/overlap", "1", "true or false", "", by_schema},
          {"groups is an object", good_scenario({{"/cluster/groups", json(R"({"count": 2})")}}), "/cluster/groups",
           "an object", "a list", "", by_schema},
          {"groups is null", good_scenario({{"/cluster/groups", nullptr}}), "/cluster/groups", "null", "a list", "",
           by_schema},
          {"a group is a number", good_scenario({{"/cluster/groups", json("[2]")}}), "/cluster/groups/0", "2",
           "an object", "", by_schema},
          {"gradients is a number", good_scenario({{"/workload/gradients", 161}}), "/workload/gradients", "161",
           "a list", "", by_schema},
          {"evaluation is a text", good_scenario({{"/evaluation", "replay"}}), "/evaluation", "\"replay\"", "an object",
           "", by_schema},
          {"output is a text", good_scenario({{"/output", "plot.png"}}), "/output", "\"plot.png\"", "an object", "",
           by_schema},
          {"output is a list", good_scenario({{"/output", json(R"([{"plot": "a.png"}])")}}), "/output", "a list of 1",
           "an object", "", by_schema},
          {"baseline is a text", good_scenario({{"/baseline", "one worker"}}), "/baseline", "\"one worker\"",
           "an object", "", by_schema},
          {"baseline that sets nothing", good_scenario({{"/baseline", json(R"({"name": "b", "set": {}})")}}),
           "/baseline/set", "{}", "something that tells the baseline from each point", "set on top of every point"},
          {"baseline sets a list",
           good_scenario({{"/baseline", json(R"({"name": "b", "set": ["/cluster/workers"]})")}}), "/baseline/set",
           "a list of 1", "an object of JSON pointers", "", by_schema},
          {"variants is an object", good_scenario({{"/variants", json(R"({"a": {}})")}}), "/variants", "an object",
           "a list", "", by_schema},
          {"a tensor's elements is a text", good_scenario({{"/workload/gradients/0/elements", "1M"}}),
           "/workload/gradients/0/elements", "\"1M\"", "an integer", "write 1000000", by_schema},
          {"auto misspelt",
           good_scenario({{"/strategy", strategy(R"({"kind": "all-reduce", "collective": {"group_size": "atuo"}})")}}),
           "/strategy/collective/group_size", "\"atuo\"", "an integer of at least 1, or \"auto\"", "", by_schema},
          {"null for auto",
           good_scenario({{"/strategy", strategy(R"({"kind": "all-reduce", "collective": {"group_size": null}})")}}),
           "/strategy/collective/group_size", "null", "an integer of at least 1, or \"auto\"", "", by_schema},
          {"reference is a number", good_scenario({{"/cluster", json(R"({"from": 3})")}}), "/cluster/from", "3",
           "the name or path of a file", "", by_schema},
      });
}

/// Numbers and quantities that are out of range, or have no unit or a doubtful one.
void add_numbers(std::vector<BadScenario>& rows) {
  const auto parameter_server = [](const char* key, Json value) {
    return good_scenario({{"/strategy", Json{{"kind", "parameter-server"}, {key, std::move(value)}}}});
  };
  const auto pipelined = [](const char* key, Json value) {
    return good_scenario({{"/strategy", Json{{"kind", "pipelined"}, {key, std::move(value)}}}});
  };
  const auto evaluation = [](const char* key, Json value) {
    return good_scenario({{"/evaluation", Json{{key, std::move(value)}}}});
  };
  const auto group = [](const char* key, Json value) {
    Json one{{"count", 2}};
    one[key] = std::move(value);
    return good_scenario({{"/cluster/groups", Json::array({one})}});
  };
  rows.insert(
      rows.end(),
      {
          {"3.7 workers", good_scenario({{"/cluster/workers", 3.7}}), "/cluster/workers", "3.7", "an integer from 1",
           "", by_schema},
          {"no worker", good_scenario({{"/cluster/workers", 0}}), "/cluster/workers", "0", "an integer from 1", "",
           by_schema},
          {"minus one worker", good_scenario({{"/cluster/workers", -1}}), "/cluster/workers", "-1", "an integer from 1",
           "", by_schema},
          {"too many workers", good_scenario({{"/cluster/workers", 16777217}}), "/cluster/workers", "16777217",
           "to 16777216", "", by_schema},
          {"batch 0", good_scenario({{"/workload/batch", 0}}), "/workload/batch", "0", "of at least 1", "", by_schema},
          {"batch beyond int", good_scenario({{"/workload/batch", 3000000000}}), "/workload/batch", "3000000000",
           "at most 2147483647"},
          {"no pass", good_scenario({{"/workload/accumulation", 0}}), "/workload/accumulation", "0", "from 1 to 65536",
           "", by_schema},
          {"too many passes", good_scenario({{"/workload/accumulation", 65537}}), "/workload/accumulation", "65537",
           "from 1 to 65536", "", by_schema},
          {"half a pass", good_scenario({{"/workload/accumulation", 1.5}}), "/workload/accumulation", "1.5",
           "an integer from 1", "", by_schema},
          {"H = 0", good_scenario({{"/strategy", Json{{"kind", "local-sgd"}, {"steps", 0}}}}), "/strategy/steps", "0",
           "from 1 to 10000", "", by_schema},
          {"H too large", good_scenario({{"/strategy", Json{{"kind", "local-sgd"}, {"steps", 10001}}}}),
           "/strategy/steps", "10001", "from 1 to 10000", "", by_schema},
          {"more fragments than steps",
           good_scenario({{"/strategy", Json{{"kind", "local-sgd"}, {"steps", 1}, {"fragments", 2}}}}),
           "/strategy/fragments", "2 with 1 step", "at most the number of steps", ""},
          {"averages used after more than a round",
           good_scenario({{"/strategy", Json{{"kind", "local-sgd"}, {"averaging_steps", 9}}}}),
           "/strategy/averaging_steps", "9 with 8 steps", "at most the number of steps", ""},
          {"more fragments than tensors", good_scenario({{"/strategy", Json{{"kind", "local-sgd"}, {"fragments", 8}}}}),
           "/strategy/fragments", "8 fragments of 2 tensors", "at most one fragment a tensor",
           "a tensor for each layer"},
          {"islands that do not divide the workers",
           good_scenario(
               {{"/strategy", Json{{"kind", "local-sgd"}, {"islands", {{"size", 3}}}}}, {"/cluster/workers", 8}}),
           "/strategy/islands/size", "3 of 8 workers", "a divisor of the number of workers", ""},
          {"one island",
           good_scenario(
               {{"/strategy", Json{{"kind", "local-sgd"}, {"islands", {{"size", 8}}}}}, {"/cluster/workers", 8}}),
           "/strategy/islands/size", "8 of 8 workers", "makes several islands", "all-reduce or sharded"},
          {"islands of one worker",
           good_scenario({{"/strategy", Json{{"kind", "local-sgd"}, {"islands", {{"size", 1}}}}}}),
           "/strategy/islands/size", "1", "at least 2", "", by_schema},
          {"collective of other operations in islands",
           good_scenario(
               {{"/strategy",
                 Json{{"kind", "local-sgd"},
                      {"islands",
                       {{"size", 2}, {"sharding", "parameters"}, {"collective", {{"algorithm", "binary-tree"}}}}}}},
                {"/cluster/workers", 8}}),
           "/strategy/islands/collective/algorithm", "binary-tree", "ring", ""},
          {"too many exchanges in a round of islands",
           good_scenario(
               {{"/strategy",
                 Json{{"kind", "local-sgd"}, {"steps", 1000}, {"islands", {{"size", 2}, {"sharding", "parameters"}}}}},
                {"/workload/accumulation", 1000},
                {"/cluster/workers", 8}}),
           "/strategy/steps", "1000 with", "at most 400000", "average more often"},
          {"compressed sums of machines with islands",
           good_scenario({{"/strategy", Json{{"kind", "local-sgd"}, {"islands", {{"size", 2}}}}},
                          {"/compressor", Json{{"kind", "ratio"}, {"ratio", 2}}},
                          {"/codec", Json{{"scope", "machines"}}},
                          {"/cluster/workers", 8}}),
           "/codec/scope", "\"machines\" with islands", "\"workers\"", ""},
          {"negative outer update",
           good_scenario({{"/strategy", Json{{"kind", "local-sgd"}, {"outer_update_factor", -1}}}}),
           "/strategy/outer_update_factor", "-1", "of at least 0", "", by_schema},
          {"overlap of local SGD", good_scenario({{"/strategy", Json{{"kind", "local-sgd"}, {"overlap", true}}}}),
           "/strategy/overlap", "an unknown key", "steps, grouping", "", by_schema},
          {"elements 0", good_scenario({{"/workload/gradients/0/elements", 0}}), "/workload/gradients/0/elements", "0",
           "from 1", "", by_schema},
          {"half an element", good_scenario({{"/workload/gradients/0/elements", 1.5}}),
           "/workload/gradients/0/elements", "1.5", "an integer", "", by_schema},
          {"elements beyond reason", good_scenario({{"/workload/gradients/0/elements", 1e13}}),
           "/workload/gradients/0/elements", "10000000000000", "to 1000000000000", "", by_schema},
          {"K = 0", pipelined("width", 0), "/strategy/width", "0", "from 1 to 1024", "", by_schema},
          {"K too large", pipelined("width", 1025), "/strategy/width", "1025", "from 1 to 1024", "", by_schema},
          {"no segment", pipelined("segments", 0), "/strategy/segments", "0", "from 1", "", by_schema},
          {"negative warm-up", pipelined("warmup_steps", -1), "/strategy/warmup_steps", "-1", "from 0", "", by_schema},
          {"no shard", parameter_server("shards", 0), "/strategy/shards", "0", "from 1 to 65536", "", by_schema},
          {"too many shards", parameter_server("shards", 65537), "/strategy/shards", "65537", "from 1 to 65536", "",
           by_schema},
          {"negative bound", parameter_server("bound", -1), "/strategy/bound", "-1", "from 0", "", by_schema},
          {"negative update factor", parameter_server("server_update_factor", -0.5), "/strategy/server_update_factor",
           "-0.5", "of at least 0", "", by_schema},
          {"no run", evaluation("runs", 0), "/evaluation/runs", "0", "from 1", "", by_schema},
          {"too few steps", evaluation("max_steps", 3), "/evaluation/max_steps", "3", "from 4", "", by_schema},
          {"negative seed", evaluation("seed", -1), "/evaluation/seed", "-1", "of at least 0", "", by_schema},
          {"seed beyond 2^53", evaluation("seed", 9007199254740993), "/evaluation/seed", "9007199254740993",
           "at most 9007199254740991"},
          {"negative tolerance", evaluation("tolerance", -1e-6), "/evaluation/tolerance", "-1e-06", "of at least 0", "",
           by_schema},
          {"empty group", group("count", 0), "/cluster/groups/0/count", "0", "of at least 1", "", by_schema},
          {"group at rest", group("speed", 0), "/cluster/groups/0/speed", "0", "above 0", "", by_schema},
          {"group that goes backwards", group("speed", -1), "/cluster/groups/0/speed", "-1", "above 0", "", by_schema},
          {"group of vanishing speed", group("speed", 1e-40), "/cluster/groups/0/speed", "1e-40",
           "between 1e-30 and 1e+30"},
          {"group without bandwidth", group("bandwidth", "0Gbps"), "/cluster/groups/0/bandwidth", "\"0Gbps\"",
           "above 0"},
          {"oversubscription below 1",
           good_scenario(
               {{"/cluster/topology", json(R"({"kind": "racks", "hosts_per_rack": 4, "oversubscription": 0.5})")}}),
           "/cluster/topology/oversubscription", "0.5", "of at least 1", "", by_schema},
          {"no GPU on a node",
           good_scenario({{"/cluster/topology",
                           json(R"({"kind": "nodes", "gpus_per_node": 0, "inner": {"bandwidth": "100GB/s"}})")}}),
           "/cluster/topology/gpus_per_node", "0", "of at least 1", "", by_schema},
          {"torus with no host along a dimension",
           good_scenario({{"/cluster/topology", json(R"({"kind": "torus", "dimensions": [8, 0]})")}}),
           "/cluster/topology/dimensions/1", "0", "of at least 1", "", by_schema},
          {"ratio below 1", good_scenario({{"/compressor", json(R"({"kind": "ratio", "ratio": 0.5})")}}),
           "/compressor/ratio", "0.5", "of at least 1", "", by_schema},
          {"negative coefficient of variation",
           good_scenario({{"/cluster/jitter", json(R"({"distribution": "gamma", "cv": -0.1})")}}), "/cluster/jitter/cv",
           "-0.1", "from 0 to 10", "", by_schema},
          {"bandwidth factor above 1",
           good_scenario({{"/cluster/transport", json(R"({"kind": "tcp", "bandwidth_factor": 1.5})")}}),
           "/cluster/transport/bandwidth_factor", "1.5", "to 1", "", by_schema},
          {"a protocol quicker than the link",
           good_scenario({{"/cluster/protocols", json(R"([{"name": "a", "latency_factor": 0.5}])")}}),
           "/cluster/protocols/0/latency_factor", "0.5", "of at least 1", "", by_schema},
          {"a protocol of more than the bandwidth",
           good_scenario({{"/cluster/protocols", json(R"([{"name": "a", "bandwidth_factor": 1.5}])")}}),
           "/cluster/protocols/0/bandwidth_factor", "1.5", "above 0 and at most 1", "", by_schema},
          {"group of no workers",
           good_scenario(
               {{"/strategy",
                 strategy(R"({"kind": "all-reduce", "collective": {"algorithm": "hierarchical", "group_size": 0}})")}}),
           "/strategy/collective/group_size", "0", "of at least 1, or \"auto\"", "", by_schema},
          {"bandwidth without unit", good_scenario({{"/cluster/link/bandwidth", 10}}), "/cluster/link/bandwidth", "10",
           "a bandwidth with its unit", "put the number with its unit in quotes; allowed units: Gbps", by_schema},
          {"bandwidth in quotes, without unit", good_scenario({{"/cluster/link/bandwidth", "10"}}),
           "/cluster/link/bandwidth", "\"10\"", "a bandwidth with its unit", "has no unit", by_schema},
          {"doubtful unit", good_scenario({{"/cluster/link/bandwidth", "10G"}}), "/cluster/link/bandwidth", "\"10G\"",
           "a bandwidth with its unit", "unknown or ambiguous unit \"G\"", by_schema},
          {"unit in lower case", good_scenario({{"/cluster/link/bandwidth", "10gbps"}}), "/cluster/link/bandwidth",
           "\"10gbps\"", "a bandwidth with its unit", "did you mean Gbps or Gb/s or GB/s?", by_schema},
          {"bits or bytes", good_scenario({{"/cluster/link/bandwidth", "10GBps"}}), "/cluster/link/bandwidth",
           "\"10GBps\"", "a bandwidth with its unit", "did you mean GB/s or Gbps or Gb/s", by_schema},
          {"unit of another dimension", good_scenario({{"/cluster/link/latency", "25MB"}}), "/cluster/link/latency",
           "\"25MB\"", "a time with its unit", "allowed units: s, ms, us", by_schema},
          {"no number", good_scenario({{"/cluster/link/bandwidth", "fast"}}), "/cluster/link/bandwidth", "\"fast\"",
           "a bandwidth with its unit", "does not begin with a number", by_schema},
          {"not a number, with a unit", good_scenario({{"/cluster/link/latency", "nanus"}}), "/cluster/link/latency",
           "\"nanus\"", "a time with its unit", "does not begin with a number", by_schema},
          {"infinite latency", good_scenario({{"/cluster/link/latency", "inf s"}}), "/cluster/link/latency",
           "\"inf s\"", "a time with its unit", "does not begin with a number", by_schema},
          {"no bandwidth at all", good_scenario({{"/cluster/link/bandwidth", "0Gbps"}}), "/cluster/link/bandwidth",
           "\"0Gbps\"", "a bandwidth above 0"},
          {"negative bandwidth", good_scenario({{"/cluster/link/bandwidth", "-1Gbps"}}), "/cluster/link/bandwidth",
           "\"-1Gbps\"", "a bandwidth above 0", "", by_schema},
          {"bandwidth beyond double", good_scenario({{"/cluster/link/bandwidth", "1e999Gbps"}}),
           "/cluster/link/bandwidth", "\"1e999Gbps\"", "a bandwidth with its unit", "too large"},
          {"bandwidth of nothing real", good_scenario({{"/cluster/link/bandwidth", "1e17B/s"}}),
           "/cluster/link/bandwidth", "\"1e17B/s\"", "above 0 and at most 1e+15 B/s"},
          {"vanishing bandwidth", good_scenario({{"/cluster/link/bandwidth", "1e-100Gbps"}}), "/cluster/link/bandwidth",
           "\"1e-100Gbps\"", "between 1e-30 and 1e+15 in B/s"},
          {"endless latency", good_scenario({{"/cluster/link/latency", "1e300s"}}), "/cluster/link/latency",
           "\"1e300s\"", "a time from 0 to 3600 s"},
          {"a latency that no network has", good_scenario({{"/cluster/link/latency", "1e10h"}}),
           "/cluster/link/latency", "\"1e10h\"", "a time from 0 to 3600 s"},
          {"negative latency", good_scenario({{"/cluster/link/latency", "-5us"}}), "/cluster/link/latency", "\"-5us\"",
           "a time from 0 to 3600 s", "", by_schema},
          {"endless update", good_scenario({{"/workload/update", "1e300s"}}), "/workload/update", "\"1e300s\"",
           "between 1e-30 and 1e+30"},
          {"negative gap", good_scenario({{"/workload/gradients/0/gap", "-1ms"}}), "/workload/gradients/0/gap",
           "\"-1ms\"", "a time of at least 0", "", by_schema},
          {"empty bucket",
           good_scenario({{"/strategy", strategy(R"({"kind": "all-reduce", "exchange": {"bucket_cap": "0B"}})")}}),
           "/strategy/exchange/bucket_cap", "\"0B\"", "a size above 0"},
          {"backward made faster by overlap", good_scenario({{"/stack", Json{{"backward_slowdown", 0.9}}}}),
           "/stack/backward_slowdown", "0.9", "from 1", "", by_schema},
          {"gathers that take less than nothing", good_scenario({{"/stack", Json{{"gather_cost", "-1ms"}}}}),
           "/stack/gather_cost", "\"-1ms\"", "a time of at least 0", "", by_schema},
          {"a stack misspelt", good_scenario({{"/stack", "ddp-nccl-rdm"}}), "/stack",
           "the unknown stack \"ddp-nccl-rdm\"",
           "byteps, bytescheduler, ddp-nccl-rdma, ddp-nccl-tcp, fsdp, gloo, horovod-mpi-tcp",
           "did you mean \"ddp-nccl-rdma\"?"},
          {"a stack that cannot carry out the strategy",
           good_scenario({{"/stack", "byteps"}, {"/strategy", strategy(R"({"kind": "all-reduce"})")}}),
           "/strategy/kind", "\"all-reduce\" with stack byteps", "parameter-server, which the stack can carry out",
           "choose another stack; \"ideal\" has every strategy"},
          {"parts of a sharded state",
           good_scenario({{"/strategy", strategy(R"({"kind": "sharded", "exchange": {"partition": "4MB"}})")}}),
           "/strategy/exchange/partition", "a size with strategy sharded", "null"},
          {"the whole model by priority",
           good_scenario(
               {{"/strategy",
                 strategy(R"({"kind": "all-reduce", "exchange": {"grouping": "whole-model", "priority": true}})")}}),
           "/strategy/exchange/priority", "true with grouping whole-model", "per-tensor, per-block or bucketed"},
          {"collective of nothing", good_scenario({{"/strategy", strategy(R"({"kind": "collective", "size": "0B"})")}}),
           "/strategy/size", "\"0B\"", "a size above 0"},
          {"negative size", good_scenario({{"/strategy", strategy(R"({"kind": "collective", "size": "-1MiB"})")}}),
           "/strategy/size", "\"-1MiB\"", "a size above 0", "", by_schema},
          {"ambiguous size", good_scenario({{"/strategy", strategy(R"({"kind": "collective", "size": "64KB"})")}}),
           "/strategy/size", "\"64KB\"", "a size with its unit", "did you mean kB", by_schema},
      });
}

/// Names that nobody knows.
void add_names(std::vector<BadScenario>& rows) {
  rows.insert(
      rows.end(),
      {
          {"unknown strategy kind", good_scenario({{"/strategy", strategy(R"({"kind": "all-reduced"})")}}),
           "/strategy/kind", "\"all-reduced\"", "all-reduce, parameter-server, pipelined",
           "did you mean \"all-reduce\"?", by_schema},
          {"unknown topology", good_scenario({{"/cluster/topology", json(R"({"kind": "fattree"})")}}),
           "/cluster/topology/kind", "\"fattree\"", "star, nodes, racks, fat-tree", "did you mean \"fat-tree\"?",
           by_schema},
          {"unknown transport", good_scenario({{"/cluster/transport", json(R"({"kind": "infiniband"})")}}),
           "/cluster/transport/kind", "\"infiniband\"", "ideal, tcp", "", by_schema},
          {"unknown compressor kind", good_scenario({{"/compressor", json(R"({"kind": "ration"})")}}),
           "/compressor/kind", "\"ration\"", "none, ratio", "did you mean \"ratio\"?", by_schema},
          {"unknown algorithm",
           good_scenario({{"/strategy", strategy(R"({"kind": "all-reduce", "collective": {"algorithm": "rign"}})")}}),
           "/strategy/collective/algorithm", "\"rign\"", "auto, ring, multi-ring, recursive-doubling",
           "did you mean \"ring\"?", by_schema},
          {"algorithm in capitals",
           good_scenario({{"/strategy", strategy(R"({"kind": "all-reduce", "collective": {"algorithm": "Ring"}})")}}),
           "/strategy/collective/algorithm", "\"Ring\"", "auto, ring", "did you mean \"ring\"?", by_schema},
          {"spelt as others do", good_scenario({{"/compressor", json(R"({"kind": "Power_SGD"})")}}), "/compressor/kind",
           "\"Power_SGD\"", "none, ratio", "did you mean \"powersgd\"?", by_schema},
          {"another tool's word", good_scenario({{"/strategy", strategy(R"({"kind": "ddp"})")}}), "/strategy/kind",
           "\"ddp\"", "all-reduce, parameter-server", "that is \"all-reduce\" here", by_schema},
          {"another tool's word with a field", good_scenario({{"/strategy", strategy(R"({"kind": "ZeRO-2"})")}}),
           "/strategy/kind", "\"ZeRO-2\"", "sharded", "that is \"sharded\" here, with \"stage\": \"optimizer-state\"",
           by_schema},
          {"another tool's word where a name is wanted", good_scenario({{"/strategy", "fsdp"}}), "/strategy",
           "the unknown strategy \"fsdp\"", "or one of all-reduce, parameter-server",
           "did you mean {\"kind\": \"sharded\", \"stage\": \"parameters\"}?"},
          {"another tool's stage",
           good_scenario({{"/strategy", strategy(R"({"kind": "sharded", "stage": "SHARD_GRAD_OP"})")}}),
           "/strategy/stage", "\"SHARD_GRAD_OP\"", "optimizer-state, gradients, parameters",
           "that is \"gradients\" here", by_schema},
          {"what there is not here", good_scenario({{"/compressor", json(R"({"kind": "fp8"})")}}), "/compressor/kind",
           "\"fp8\"", "none, ratio", "stepcast has no equivalent of that word", by_schema},
          {"tensor parallelism", good_scenario({{"/strategy", strategy(R"({"kind": "tp"})")}}), "/strategy/kind",
           "\"tp\"", "all-reduce", "tensor parallelism is not modelled; describe a group of GPUs as one worker",
           by_schema},
          {"Pipe-SGD's K", good_scenario({{"/strategy", strategy(R"({"kind": "pipelined", "K": 2})")}}), "/strategy/K",
           "an unknown key", "width", "that is \"width\" here", by_schema},
          {"H of local SGD", good_scenario({{"/strategy", strategy(R"({"kind": "local-sgd", "H": 4})")}}),
           "/strategy/H", "an unknown key", "steps", "that is \"steps\" here", by_schema},
          {"tau of local SGD", good_scenario({{"/strategy", strategy(R"({"kind": "local-sgd", "tau": 4})")}}),
           "/strategy/tau", "an unknown key", "steps", "that is \"steps\" here", by_schema},
          {"staleness of servers",
           good_scenario({{"/strategy", strategy(R"({"kind": "parameter-server", "staleness": 2})")}}),
           "/strategy/staleness", "an unknown key", "bound", "that is \"bound\" here", by_schema},
          {"mode of servers",
           good_scenario({{"/strategy", strategy(R"({"kind": "parameter-server", "mode": "async"})")}}),
           "/strategy/mode", "an unknown key", "consistency", "that is \"consistency\" here", by_schema},
          {"DDP's bucket_cap_mb",
           good_scenario({{"/strategy", strategy(R"({"kind": "all-reduce", "exchange": {"bucket_cap_mb": 25}})")}}),
           "/strategy/exchange/bucket_cap_mb", "an unknown key", "bucket_cap", "that is \"bucket_cap\" here",
           by_schema},
          {"bucket_size beside exchange",
           good_scenario({{"/strategy", strategy(R"({"kind": "all-reduce", "bucket_size": "25MiB"})")}}),
           "/strategy/bucket_size", "an unknown key", "exchange", "that is \"exchange/bucket_cap\" here", by_schema},
          {"DeepSpeed's zero_stage",
           good_scenario({{"/strategy", strategy(R"({"kind": "sharded", "zero_stage": 3})")}}), "/strategy/zero_stage",
           "an unknown key", "stage", "that is \"stage\" here", by_schema},
          {"num_gpus of a cluster", good_scenario({{"/cluster/num_gpus", 8}}), "/cluster/num_gpus", "an unknown key",
           "workers", "that is \"workers\" here", by_schema},
          {"unknown operation",
           good_scenario(
               {{"/strategy", strategy(R"({"kind": "collective", "size": "1MB", "operation": "allreduce"})")}}),
           "/strategy/operation", "\"allreduce\"", "all-reduce, all-gather", "did you mean \"all-reduce\"?", by_schema},
          {"unknown dtype", good_scenario({{"/workload/dtype", "fp64"}}), "/workload/dtype", "\"fp64\"",
           "fp32, tf32, fp16, bf16", "did you mean", by_schema},
          {"unknown spread", good_scenario({{"/workload/backward_spread", "uniform"}}), "/workload/backward_spread",
           "\"uniform\"", "even, elements", "", by_schema},
          {"unknown evaluator", good_scenario({{"/evaluation", json(R"({"evaluator": "simulate"})")}}),
           "/evaluation/evaluator", "\"simulate\"", "equations, replay, both", "", by_schema},
          {"unknown grouping",
           good_scenario({{"/strategy", strategy(R"({"kind": "all-reduce", "exchange": {"grouping": "buckets"}})")}}),
           "/strategy/exchange/grouping", "\"buckets\"", "whole-model, per-tensor, bucketed",
           "did you mean \"bucketed\"?", by_schema},
          {"unknown consistency",
           good_scenario({{"/strategy", strategy(R"({"kind": "parameter-server", "consistency": "async"})")}}),
           "/strategy/consistency", "\"async\"", "synchronous, backup-workers, asynchronous, stale-synchronous", "",
           by_schema},
          {"unknown placement",
           good_scenario({{"/strategy", strategy(R"({"kind": "parameter-server", "placement": "colocated"})")}}),
           "/strategy/placement", "\"colocated\"", "dedicated, co-located", "did you mean \"co-located\"?", by_schema},
          {"unknown balance", good_scenario({{"/strategy", strategy(R"({"kind": "parameter-server", "balance": 3})")}}),
           "/strategy/balance", "3", "split, greedy", "", by_schema},
          {"a ratio in percent", good_scenario({{"/compressor", json(R"({"kind": "top-k", "ratio": "1%"})")}}),
           "/compressor/ratio", "\"1%\"", "a number above 0", "write 0.01", by_schema},
          {"backward range of workers", good_scenario({{"/cluster/workers", "4..2"}}), "/cluster/workers", "\"4..2\"",
           "an integer", "write one number, a list such as [2, 4], or a range such as \"2..8:2\""},
          {"workers with their unit", good_scenario({{"/cluster/workers", "64 workers"}}), "/cluster/workers",
           "\"64 workers\"", "an integer", "write 64", by_schema},
          {"times for a batch, beside shapes",
           good_scenario(
               {{"/workload", json(R"({"from": "resnet50", "profile": "v100-datasheet", "timed_batch": 8})")}}),
           "/workload/timed_batch", "a batch beside shapes", "null", "remove it"},
          {"unknown distribution",
           good_scenario({{"/cluster/jitter", json(R"({"distribution": "normal", "cv": 0.1})")}}),
           "/cluster/jitter/distribution", "\"normal\"", "none, lognormal, gamma", "", by_schema},
          {"unknown workload", good_scenario({{"/workload", "resnet50-v10"}}), "/workload",
           "the unknown workload \"resnet50-v10\"", "or a path ending in .json", "did you mean \"resnet50-v100\"?"},
          {"unknown workload, laid over", good_scenario({{"/workload", json(R"({"from": "alexnot", "batch": 8})")}}),
           "/workload/from", "the unknown workload \"alexnot\"", "resnet50-v100"},
          {"workload without a name", good_scenario({{"/workload", ""}}), "/workload", "the unknown workload \"\"",
           "resnet50-v100"},
          {"a kind misspelt", good_scenario({{"/strategy", "all-reduc"}}), "/strategy",
           "the unknown strategy \"all-reduc\"", "a path ending in .json, or one of all-reduce, parameter-server",
           "did you mean \"all-reduce\"?"},
          {"a compressor's kind misspelt", good_scenario({{"/compressor", "topk"}}), "/compressor",
           "the unknown compressor \"topk\"", "or one of none, ratio", "did you mean \"top-k\"?"},
          {"a kind that needs more", good_scenario({{"/compressor", "ratio"}}), "/compressor/ratio", "nothing", ""},
          {"missing workload file", good_scenario({{"/workload", "nowhere/net.json"}}), "/workload",
           "\"nowhere/net.json\", but there is no file nowhere/net.json", "an existing JSON file",
           "relative to the file that names them"},
          {"missing cluster file", good_scenario({{"/cluster", json(R"({"from": "no-cluster.json", "workers": 4})")}}),
           "/cluster/from", "\"no-cluster.json\"", "an existing JSON file", "relative to the file"},
          {"missing scenario file", R"({"from": "no-scenario.json"})", "/from", "\"no-scenario.json\"",
           "an existing JSON file", "relative to the file"},
          {"NUL byte in a file name", good_scenario({{"/workload", std::string("resnet50-v100\0", 14)}}), "/workload",
           "the unknown workload", "resnet50-v100", ""},
          {"missing platform file",
           good_scenario({{"/cluster/topology", json(R"({"kind": "simgrid-xml", "file": "no-platform.xml"})")},
                          {"/strategy", json(R"({"kind": "all-reduce", "collective": {"algorithm": "ring"}})")},
                          {"/evaluation", json(R"({"evaluator": "replay"})")}}),
           "/cluster/topology/file", "\"no-platform.xml\", but there is no file /", "an existing SimGrid platform file",
           "relative to the file"},
      });
}

/// Networks given by shape: their layers, profiles and variants.
void add_networks(std::vector<BadScenario>& rows) {
  const Json network = json(R"({
    "name": "small", "batch": 4, "profile": "v100-datasheet",
    "variants": [{"name": "thin", "factorize": {"rank_ratio": 0.25, "keep": ["fc"]}}],
    "layers": [
      {"name": "conv", "shape": {"kind": "conv2d", "in": 3, "out": 8, "kernel": [3, 3], "input": [32, 32]}},
      {"name": "fc", "shape": {"kind": "linear", "in": 7200, "out": 10}}
    ]
  })");
  const auto with = [&](const Changes& changes) {
    Json table = network;
    for (const auto& [pointer, value] : changes) table[Json::json_pointer(pointer)] = value;
    return good_scenario({{"/workload", table}});
  };
  const auto with_models = [&](const char* models, bool has_processors = true) {
    Json profile = {{"from", "v100-datasheet"}, {"kernel_models", json(models)}};
    if (!has_processors) profile["processors"] = nullptr;
    return with({{"/profile", profile}});
  };
  const auto with_kernels = [&](const char* kernels) {
    return with({{"/profile", Json{{"from", "v100-datasheet"}, {"kernels", json(kernels)}}}});
  };
  const auto with_alignments = [&](const char* alignments, const char* kind = "product") {
    Json model =
        json(R"({"dtype": "fp32", "launch": "5us", "memory_share": 0.8, "evidence": "measured", "source": "x"})");
    model["kind"] = kind;
    for (const Json& one : json(alignments)) model["misaligned"].push_back({{"alignment", one}, {"slowdown", 2}});
    return with_models(Json::array({model}).dump().c_str());
  };
  const auto transformer = [](const Changes& changes) {
    Json table = json(
        R"({"name": "t", "batch": 1, "profile": "v100-datasheet", "transformer": {"layers": 2, "hidden": 64, "heads": 8, "vocabulary": 100, "sequence": 32}})");
    for (const auto& [pointer, value] : changes) table[Json::json_pointer(pointer)] = value;
    return good_scenario({{"/workload", table}});
  };
  rows.insert(
      rows.end(),
      {
          {"heads that do not divide the width", transformer({{"/transformer/heads", 6}}),
           "/workload/transformer/heads", "6 heads of width 64 together", "a divisor of hidden"},
          // Width 64 of 64 heads is 1 each.
          {"rotary positions of an odd width",
           transformer({{"/transformer/heads", 64}, {"/transformer/positions", false}}), "/workload/transformer/heads",
           "heads of width 1 with rotary positions", "an even width"},
          {"key heads that do not divide the heads", transformer({{"/transformer/kv_heads", 3}}),
           "/workload/transformer/kv_heads", "3 heads of keys and values for 8 heads", "a divisor of heads",
           "null stands for as many"},
          {"no blocks", transformer({{"/transformer/layers", 0}}), "/workload/transformer/layers", "0",
           "from 1 to 10000", "", by_schema},
          {"a transformer's misspelt field", transformer({{"/transformer/vocab", 5}}), "/workload/transformer/vocab",
           "an unknown key", "vocabulary", "did you mean", by_schema},
          {"layers beside a transformer",
           transformer({{"/layers", json(R"([{"name": "a", "shape": {"kind": "add", "elements": 4}}])")}}),
           "/workload/layers", "layers beside a transformer", "exactly one of layers, gradients and transformer",
           "remove them"},
          {"gradients beside a transformer", transformer({{"/gradients", json(R"([{"name": "a", "elements": 4}])")}}),
           "/workload/gradients", "gradients beside a transformer", "exactly one of layers, gradients and transformer",
           "remove them"},
          {"no profile for a transformer", transformer({{"/profile", nullptr}}), "/workload/profile",
           "nothing, and a transformer gives shapes", "a device profile"},
          {"a total beside a transformer", transformer({{"/forward", "1ms"}}), "/workload/forward",
           "a total beside shapes", "no total", "remove it"},
          {"update beside a transformer", transformer({{"/update", "1ms"}}), "/workload/update", "a time beside shapes",
           "no time", "remove it"},
          {"a total beside shapes", with({{"/forward", "1ms"}}), "/workload/forward", "a total beside shapes",
           "no total", "write it in /workload/measured"},
          {"measured times that are none",
           with({{"/measured", json(R"({"batch": 4, "dtype": "fp16", "profile": "v100-datasheet"})")}}),
           "/workload/measured", "no time", "at least one of forward, backward and update"},
          {"measured on a device without that type",
           with({{"/measured", json(R"({"forward": "1ms", "batch": 4, "dtype": "bf16",
                                        "profile": "v100-datasheet"})")}}),
           "/workload/measured/dtype", "bf16 on the device \"v100-datasheet\"", "fp32, fp16"},
          {"a measured update of nobody knows what optimizer",
           with({{"/measured", json(R"({"update": "1ms", "batch": 4, "dtype": "fp32",
                                        "profile": "v100-datasheet"})")}}),
           "/workload/measured/optimizer", "nothing", "the optimizer that the update is of"},
          {"a measured optimizer without an update",
           with({{"/measured", json(R"({"forward": "1ms", "optimizer": "adam", "batch": 4, "dtype": "fp32",
                                        "profile": "v100-datasheet"})")}}),
           "/workload/measured/update", "nothing", "the time of an update by that optimizer"},
          {"measured on an unknown device",
           with({{"/measured", json(R"({"forward": "1ms", "batch": 4, "dtype": "fp32", "profile": "v99"})")}}),
           "/workload/measured/profile", "the unknown profile \"v99\"", "v100-datasheet"},
          {"measured times of a transformer's sizes",
           transformer({{"/measured", json(R"({"forward": "1ms", "batch": 4, "dtype": "fp16",
                                               "profile": "v100-datasheet"})")}}),
           "/workload/measured", "times of the whole beside a transformer", "null", "compute_efficiency"},
          {"measured times of a table with times",
           good_scenario({{"/workload/measured", json(R"({"forward": "1ms", "batch": 4, "dtype": "fp32",
                                                          "profile": "v100-datasheet"})")}}),
           "/workload/measured", "measured times of the whole network for layers without shapes", "null"},
          // Tables 100·64 + 32·64, last norm 2·64, two blocks of 12·64² + 13·64 = 49,984.
          {"claimed parameters of a transformer", transformer({{"/parameters", 106496}}), "/workload/parameters",
           "106496, but the layers hold 108544", "the sum of all gradient tensors' elements",
           "correct the claim or the transformer's sizes"},
          {"variant that keeps an unknown layer of a transformer",
           transformer({{"/variant", json(R"({"factorize": {"rank_ratio": 0.25, "keep": ["block.1.qvk"]}})")}}),
           "/workload/variant/factorize/keep/0", "\"block.1.qvk\"", "a layer's name", "did you mean \"block.1.qkv\"?"},
          {"too many operations", transformer({{"/transformer/hidden", 1000000}, {"/transformer/sequence", 1000000}}),
           "/workload/transformer", "more than 2^53 multiply-accumulates in \"block.0.qkv\"", "fewer"},
          {"operands wider than gradients", transformer({{"/dtype", "fp16"}, {"/compute_dtype", "fp32"}}),
           "/workload/compute_dtype", "fp32 beside a dtype of fp16", "a type at most as wide as dtype",
           "exchange them"},
          {"operands without a peak", transformer({{"/compute_dtype", "bf16"}}), "/workload/compute_dtype",
           "bf16 on the device \"v100-datasheet\"", "fp32, fp16"},
          {"autocast without a peak for norms",
           transformer({{"/dtype", "tf32"}, {"/compute_dtype", "fp16"}, {"/autocast", true}}), "/workload/autocast",
           "true, with the device \"v100-datasheet\", which has no peak for tf32", "a profile with",
           "leave autocast out"},
          {"fused attention without attention", with({{"/variant", json(R"({"fused_attention": true})")}}),
           "/workload/variant/fused_attention", "true, and no layer has attention", "a table with attention",
           "leave it out"},
          {"fused attention of a transformer", transformer({{"/variant", json(R"({"fused_attention": true})")}}),
           "/workload/variant/fused_attention", "true beside a transformer", "a table with attention",
           "own fused_attention"},
          {"simple operations of nothing", with({{"/variant", json(R"({"composed": true})")}}),
           "/workload/variant/composed", "true, and no layer has GELUs", "a table with", "leave it out"},
          {"simple operations of relu",
           with({{"/layers/1/shape", json(R"({"kind": "activation", "elements": 9, "composed": true})")}}),
           "/workload/layers/1/shape/composed", "true for relu", "false", "leave composed out"},
          {"operands of a table with times", good_scenario({{"/workload/compute_dtype", "fp16"}}),
           "/workload/compute_dtype", "fp16 beside times", "null", "leave it out"},
          {"recomputation of a table with times", good_scenario({{"/workload/recomputation", "blocks"}}),
           "/workload/recomputation", "blocks beside times", "none", "leave it out"},
          {"a global batch of fewer samples than workers",
           good_scenario({{"/workload/global_batch", 3}, {"/cluster/workers", 4}}), "/workload/global_batch",
           "3 for 4 workers", "a multiple of the workers", "leave-out"},
          {"a global batch that workers do not divide",
           good_scenario({{"/workload/global_batch", 4096}, {"/cluster/workers", 48}}), "/workload/global_batch",
           "4096 for 48 workers", "a multiple of the workers",
           "the nearest: 3072 and 4608"},  // whole batches of 48 x 32
          {"a global batch of tokens",
           [&] {
             Json scenario = Json::parse(transformer({{"/global_batch", 8192}}));
             scenario["cluster"]["workers"] = 4;
             scenario["strategy"] = json(R"({"kind": "sharded"})");
             return scenario.dump();
           }(),
           "/workload/global_batch", "8192 samples in 2048 passes of 1 a worker, with sharded parameters",
           "at most 1024 passes", "global_batch counts samples"},
          {"a sequence by another name", good_scenario({{"/workload/seq_len", 4096}}), "/workload/seq_len",
           "an unknown key", "transformer", "that is \"transformer/sequence\" here", by_schema},
          {"NICs of a cluster", good_scenario({{"/cluster/nics", 2}}), "/cluster/nics", "an unknown key", "topology",
           "that is \"topology/nics\" here", by_schema},
          {"a batch by Megatron's name", good_scenario({{"/workload/global_batch_size", 4096}}),
           "/workload/global_batch_size", "an unknown key", "global_batch", "global_batch", by_schema},
          {"unknown profile", with({{"/profile", "v10"}}), "/workload/profile", "the unknown profile \"v10\"",
           "a100-datasheet, ", "did you mean \"v100\"?"},
          {"missing profile file", with({{"/profile", "no-device.json"}}), "/workload/profile",
           "\"no-device.json\", but there is no file", "an existing JSON file", "relative to the file"},
          {"profile is a number", with({{"/profile", 5}}), "/workload/profile", "5", "an object", "", by_schema},
          {"no profile for shapes", with({{"/profile", nullptr}}), "/workload/profile",
           "nothing, and layers give shapes", "a device profile"},
          {"profile for layers with times", good_scenario({{"/workload/profile", "v100-datasheet"}}),
           "/workload/profile", "a profile for layers without shapes", "null"},
          {"profile's share above 1",
           with({{"/profile", Json{{"from", "v100-datasheet"}, {"compute_efficiency", {{"value", 1.5}}}}}}),
           "/workload/profile/compute_efficiency/value", "1.5", "above 0 and at most 1"},
          {"spread below 0",
           with({{"/profile", Json{{"from", "v100-datasheet"}, {"memory_bandwidth", {{"spread", -0.1}}}}}}),
           "/workload/profile/memory_bandwidth/spread", "-0.1", "0 to 100"},
          {"clock without a unit",
           with({{"/profile", Json{{"from", "v100-datasheet"}, {"clock", {{"value", "1530"}}}}}}),
           "/workload/profile/clock/value", "\"1530\"", "a frequency with its unit"},
          {"profile without that type", with({{"/dtype", "bf16"}}), "/workload/dtype",
           "bf16 on the device \"v100-datasheet\"", "fp32, fp16"},
          {"unknown variant", with({{"/variant", "thinn"}}), "/workload/variant", "\"thinn\"", "vanilla, thin",
           "did you mean \"thin\"?"},
          {"variant of layers with times", good_scenario({{"/workload/variant", json(R"({"factorize": null})")}}),
           "/workload/variant", "a variant of layers without shapes", "null"},
          {"rank ratio 0", with({{"/variants/0/factorize/rank_ratio", 0}}), "/workload/variants/0/factorize/rank_ratio",
           "0", "above 0 and at most 1", "", by_schema},
          {"variant that keeps an unknown layer", with({{"/variants/0/factorize/keep/0", "convs"}}),
           "/workload/variants/0/factorize/keep/0", "\"convs\"", "a layer's name", "did you mean \"conv\"?"},
          {"unknown shape", with({{"/layers/0/shape", json(R"({"kind": "conv"})")}}), "/workload/layers/0/shape/kind",
           "\"conv\"", "conv2d, conv_transpose2d, linear", "did you mean \"conv2d\"?", by_schema},
          {"shape without channels", with({{"/layers/1/shape", json(R"({"kind": "linear", "in": 5})")}}),
           "/workload/layers/1/shape/out", "nothing", "a required value", "add it", by_schema},
          {"kernel larger than the input", with({{"/layers/0/shape/kernel", {64, 3}}}),
           "/workload/layers/0/shape/kernel", "[64, 3]", "at most the padded input, [32, 32]"},
          {"kernel in three dimensions", with({{"/layers/0/shape/kernel", {3, 3, 3}}}),
           "/workload/layers/0/shape/kernel", "[3, 3, 3]", "[height, width], two integers"},
          {"channels that groups do not divide", with({{"/layers/0/shape/groups", 2}}),
           "/workload/layers/0/shape/groups", "2 groups of 3 input and 8 output channels", "a divisor of both"},
          {"a layer's name twice", with({{"/layers/1/name", "conv"}}), "/workload/layers/1/name",
           "\"conv\" a second time", "a different name"},
          {"times beside a shape", with({{"/layers/1/forward", "1ms"}}), "/workload/layers/1", "times beside a shape",
           "either times or a shape", "remove the times"},
          {"a layer without shape among others", with({{"/layers/1", json(R"({"name": "fc", "forward": "1ms"})")}}),
           "/workload/layers/1", "a layer without shape among layers with shapes", "shapes for all layers"},
          {"claimed parameters of shapes", with({{"/parameters", 5}}), "/workload/parameters",
           "5, but the layers hold 72226", "the sum of all gradient tensors' elements"},
          {"update beside shapes", with({{"/update", "1ms"}}), "/workload/update", "a time beside shapes", "no time",
           "remove it"},
          {"unknown optimizer", with({{"/optimizer", "adamw"}}), "/workload/optimizer", "\"adamw\"",
           "sgd, momentum, adam", "that is \"adam\" here", by_schema},
          {"unknown evidence",
           with({{"/profile", Json{{"from", "v100-datasheet"}, {"bend", {{"evidence", "guessed"}}}}}}),
           "/workload/profile/bend/evidence", "\"guessed\"",
           "measured, fitted, transferred, datasheet, recalled, assumed"},
          {"profile of a newer format", with({{"/profile", Json{{"from", "v100-datasheet"}, {"schema_version", 3}}}}),
           "/workload/profile/schema_version", "3", "an integer from 1 to 2"},
          {"negative spread",
           with_kernels(
               R"([{"name": "cast", "launch": "5us", "bandwidth": "800GB/s", "evidence": "measured", "source": "x", "spread": -0.1}])"),
           "/workload/profile/kernels/0/spread", "-0.1", "from 0 to 100"},
          {"knot without a time",
           with_kernels(
               R"([{"name": "cast", "launch": "5us", "bandwidth": "800GB/s", "evidence": "measured", "source": "x", "knots": [{"bytes": "1MB"}]}])"),
           "/workload/profile/kernels/0/knots/0/time", "nothing", "a required value"},
          {"knots out of order",
           with_kernels(
               R"([{"name": "cast", "launch": "5us", "bandwidth": "800GB/s", "evidence": "measured", "source": "x", "knots": [{"bytes": "2MB", "time": "6us"}, {"bytes": "1MB", "time": "7us"}]}])"),
           "/workload/profile/kernels/0/knots/1/bytes", "1MB", "more than 2MB, the knot before"},
          {"time that falls below the launch",
           with_kernels(
               R"([{"name": "cast", "launch": "5us", "bandwidth": "800GB/s", "evidence": "measured", "source": "x", "knots": [{"bytes": "1MB", "time": "4us"}]}])"),
           "/workload/profile/kernels/0/knots/0/time", "4us", "at least 5us, the launch"},
          {"a kernel twice",
           with_kernels(
               R"([{"name": "cast", "launch": "5us", "bandwidth": "800GB/s", "evidence": "measured", "source": "x"}, {"name": "cast", "launch": "6us", "bandwidth": "800GB/s", "evidence": "measured", "source": "x"}])"),
           "/workload/profile/kernels/1/name", "\"cast\" a second time", "one entry for each kernel"},
          {"a tiling without processors",
           with_models(
               R"([{"kind": "product", "dtype": "fp32", "launch": "5us", "memory_share": 0.8, "evidence": "measured", "source": "x", "tiling": {"half_tile": 20, "wave": "1us", "tail": 1, "split": "2us"}}])",
               false),
           "/workload/profile/kernel_models/0/tiling", "a tiling, but no processors", "a profile with `processors`"},
          {"a model of a type without a peak",
           with_models(
               R"([{"kind": "norm", "dtype": "bf16", "launch": "5us", "memory_share": 0.8, "evidence": "measured", "source": "x"}])"),
           "/workload/profile/kernel_models/0/dtype", "bf16", "a type that `peaks` has"},
          {"a model twice",
           with_models(
               R"([{"kind": "norm", "dtype": "fp32", "launch": "5us", "memory_share": 0.8, "evidence": "measured", "source": "x"}, {"kind": "norm", "dtype": "fp32", "launch": "6us", "memory_share": 0.8, "evidence": "measured", "source": "x"}])"),
           "/workload/profile/kernel_models/1", "norm in fp32 a second time", "one model for each kind, type and pass"},
          {"factors that are too few",
           with_models(
               R"([{"kind": "product", "dtype": "fp32", "launch": "5us", "memory_share": 0.8, "evidence": "measured", "source": "x", "factors": {"m": [1, 2], "n": [1], "k": [4, 8], "factors": [1, 1, 1]}}])"),
           "/workload/profile/kernel_models/0/factors/factors", "3 factors", "4, one for each knot of m, n and k"},
          {"knots of factors out of order",
           with_models(
               R"([{"kind": "product", "dtype": "fp32", "launch": "5us", "memory_share": 0.8, "evidence": "measured", "source": "x", "factors": {"m": [2, 1], "n": [1], "k": [4], "factors": [1, 1]}}])"),
           "/workload/profile/kernel_models/0/factors/m", "2 knots",
           "at least one knot, each larger than the one before"},
          {"alignments out of order", with_alignments(R"(["4B", "2B"])"),
           "/workload/profile/kernel_models/0/misaligned/1/alignment", "2B", "more than 4B, the alignment before"},
          {"an alignment that rows cannot have", with_alignments(R"(["6B"])"),
           "/workload/profile/kernel_models/0/misaligned/0/alignment", "6B", "2B, 4B or 8B"},
          {"slowdowns of norms", with_alignments(R"(["2B"])", "norm"), "/workload/profile/kernel_models/0/misaligned",
           "slowdowns of norm", "slowdowns of products alone"},
          {"a codec device's kernel twice",
           good_scenario(
               {{"/codec",
                 Json{
                     {"device",
                      {{"from", "v100-datasheet"},
                       {"kernels",
                        json(
                            R"([{"name": "cast", "launch": "5us", "bandwidth": "800GB/s", "evidence": "measured", "source": "x"}, {"name": "cast", "launch": "6us", "bandwidth": "800GB/s", "evidence": "measured", "source": "x"}])")}}}}}}),
           "/codec/device/kernels/1/name", "\"cast\" a second time", "one entry for each kernel"},
          {"a clock without its unit",
           with(
               {{"/profile",
                 Json{
                     {"from", "v100-datasheet"},
                     {"device",
                      json(
                          R"({"name": "a", "compute_capability": "9.0", "driver": "13.0", "toolkit": "13.0", "sm_clock": "1980", "flags": "", "git": "", "date": ""})")}}}}),
           "/workload/profile/device/sm_clock", "\"1980\"", "a frequency with its unit", "MHz"},
          {"a fit's benchmark left out",
           good_scenario(
               {{"/cluster/fits",
                 json(
                     R"([{"source": "x", "from": "1B", "to": "2B", "latency": "1us", "latency_low": "1us", "latency_high": "1us", "bandwidth": null, "bandwidth_low": null, "bandwidth_high": null}])")}}),
           "/cluster/fits/0/benchmark", "nothing", "a required value", "add it", by_schema},
      });
}

/// Compressors, and parts that they cannot be combined with.
void add_compressors(std::vector<BadScenario>& rows) {
  const auto with = [](const char* compressor, Changes changes = {}) {
    changes.emplace_back("/compressor", json(compressor));
    changes.emplace_back("/codec", Json{{"device", "v100-datasheet"}});
    return good_scenario(changes);
  };
  const auto between_machines = [&](const char* kind, const char* scope = "machines") {
    Json scenario = Json::parse(with(R"({"kind": "fp16"})", {{"/strategy", strategy(kind)}, {"/cluster/workers", 4}}));
    scenario["cluster"]["topology"] =
        json(R"({"kind": "nodes", "gpus_per_node": 2, "inner": {"bandwidth": "100Gbps"}})");
    scenario["codec"]["scope"] = scope;
    return scenario.dump();
  };
  const auto inside = [&](const char* inner, const char* scope = "machines") {
    Json scenario = Json::parse(between_machines(R"({"kind": "all-reduce"})", scope));
    scenario["inner_compressor"] = json(inner);
    return scenario.dump();
  };
  const auto under = [&](const char* compressor, const char* kind) {
    return with(compressor, {{"/strategy", strategy(kind)}});
  };
  const auto beside = [&](const char* compressor, const char* others, const char* kind = R"({"kind": "all-reduce"})") {
    return with(compressor, {{"/other_compressors", json(others)}, {"/strategy", strategy(kind)}});
  };
  /// The first tensor, a matrix, has factors beside fp16.
  const auto beside_factors = [&](const char* kind) {
    return with(R"({"kind": "fp16"})",
                {{"/workload/gradients/0/dims", {50, 20}},
                 {"/other_compressors", json(R"([{"tensors": ["a"], "compressor": "powersgd"}])")},
                 {"/strategy", strategy(kind)}});
  };
  rows.insert(
      rows.end(),
      {
          {"ratio 0", with(R"({"kind": "top-k", "ratio": 0})"), "/compressor/ratio", "0", "above 0 and at most 1", "",
           by_schema},
          {"ratio above 1", with(R"({"kind": "random-k", "ratio": 1.5})"), "/compressor/ratio", "1.5",
           "above 0 and at most 1", "", by_schema},
          {"levels 0", with(R"({"kind": "qsgd", "levels": 0})"), "/compressor/levels", "0", "from 1 to 32767", "",
           by_schema},
          {"rank 0", with(R"({"kind": "powersgd", "rank": 0})"), "/compressor/rank", "0", "of at least 1", "",
           by_schema},
          {"rank above every matrix",
           with(R"({"kind": "powersgd", "rank": 30})", {{"/workload/gradients/0/dims", {50, 20}}}), "/compressor/rank",
           "30", "at most 20, the largest min(n, m)"},
          {"low rank of vectors", with(R"({"kind": "atomo"})"), "/compressor/kind",
           "\"atomo\", and no gradient tensor has two dimensions", "a method without factors", "\"dims\""},
          {"bucket where the framework has none", with(R"({"kind": "qsgd", "bucket": 128, "packing": "grace"})"),
           "/compressor/bucket", "128 with packing grace", "null, since there is one norm per tensor"},
          {"shares above all", with(R"({"kind": "inceptionn", "share_8": 0.8, "share_16": 0.5})"),
           "/compressor/share_8", "add up to 1.3", "at most 1"},
          {"dimension of all of the slice", with(R"({"kind": "gradiveq", "slice": 64, "dimension": 64})"),
           "/compressor/dimension", "64", "less than slice (64)"},
          {"unknown packing", with(R"({"kind": "signsgd", "packing": "packed"})"), "/compressor/packing", "\"packed\"",
           "ideal, grace", "", by_schema},
          {"compressor without a device", good_scenario({{"/compressor", json(R"({"kind": "fp16"})")}}),
           "/codec/device", "nothing, and the workload has no device profile", "a device profile", "--gpu v100,"},
          {"unknown device", good_scenario({{"/codec", json(R"({"device": "v100-datashet"})")}}), "/codec/device",
           "the unknown profile \"v100-datashet\"", "v100-datasheet", "did you mean \"v100-datasheet\"?"},
          {"top-k by all-reduce", under(R"({"kind": "top-k"})", R"({"kind": "all-reduce", "carrier": "all-reduce"})"),
           "/strategy/carrier", "\"all-reduce\" with compressor \"top-k\"", "the sum of two messages is not a message"},
          {"fp16 by all-gather", under(R"({"kind": "fp16"})", R"({"kind": "all-reduce", "carrier": "all-gather"})"),
           "/strategy/carrier", "\"all-gather\" with compressor \"fp16\"", "summed on the way"},
          {"top-k inside the ring",
           under(R"({"kind": "top-k"})", R"({"kind": "pipelined", "carrier": "in-collective"})"), "/strategy/carrier",
           "\"in-collective\" with compressor \"top-k\"", "cannot be encoded again"},
          {"nothing inside the ring",
           good_scenario({{"/strategy", strategy(R"({"kind": "all-reduce", "carrier": "in-collective"})")}}),
           "/strategy/carrier", "\"in-collective\" without a compressor", "\"auto\" or \"all-reduce\"",
           "choose a compressor"},
          {"nothing averaged inside the ring",
           good_scenario({{"/strategy", strategy(R"({"kind": "local-sgd", "carrier": "in-collective"})")}}),
           "/strategy/carrier", "\"in-collective\" without a compressor", "\"auto\" or \"all-reduce\"",
           "choose a compressor"},
          {"fp16 of halves inside the ring",
           with(R"({"kind": "fp16"})",
                {{"/workload/dtype", "bf16"},
                 {"/strategy", strategy(R"({"kind": "all-reduce", "carrier": "in-collective"})")}}),
           "/strategy/carrier", "\"in-collective\" with compressor \"fp16\"", "cannot be encoded again"},
          {"factors of sharded gradients",
           with(R"({"kind": "powersgd"})",
                {{"/workload/gradients/0/dims", {50, 20}}, {"/strategy", strategy(R"({"kind": "sharded"})")}}),
           "/compressor/kind", "\"powersgd\" with strategy sharded", "which can be cut in parts",
           "use strategy all-reduce"},
          {"messages of unknown size of sharded gradients", under(R"({"kind": "dgc"})", R"({"kind": "sharded"})"),
           "/compressor/kind", "\"dgc\" with strategy sharded", "one message of known size"},
          {"compressed inside sharding groups",
           under(R"({"kind": "8-bit"})", R"({"kind": "sharded", "group_size": 4})"), "/strategy/group_size",
           "4 with a compressor, on machines of 1", "null: each worker is a machine"},
          {"codes that share the GPU",
           good_scenario({{"/codec", json(R"({"device": "v100-datasheet", "sharing": "fair"})")},
                          {"/evaluation", json(R"({"evaluator": "replay"})")},
                          {"/strategy", strategy(R"({"kind": "sharded", "quantized_gather": {}})")}}),
           "/codec/sharing", "\"fair\" with quantized_gather", "\"serial\""},
          {"codes that nobody prices",
           good_scenario({{"/strategy", strategy(R"({"kind": "sharded", "quantized_gather": {}})")}}), "/codec/device",
           "nothing, and the workload has no device profile", "a device profile", "--gpu a100"},
          {"priority with steps between exchanges",
           good_scenario(
               {{"/strategy",
                 strategy(
                     R"({"kind": "parameter-server", "steps": 2, "exchange": {"grouping": "per-tensor", "priority": true}})")}}),
           "/strategy/exchange/priority", "true with 2 steps from one exchange to the next", "false"},
          {"no bits",
           good_scenario({{"/strategy", strategy(R"({"kind": "sharded", "quantized_gather": {"bits": 0}})")}}),
           "/strategy/quantized_gather/bits", "0", "from 1 to 16", "", by_schema},
          {"8-bit inside a tree",
           under(R"({"kind": "8-bit"})",
                 R"({"kind": "all-reduce", "carrier": "in-collective", "collective": {"algorithm": "binary-tree"}})"),
           "/strategy/collective/algorithm", "\"binary-tree\" with carrier in-collective", "\"ring\""},
          {"DGC by all-to-all", under(R"({"kind": "dgc"})", R"({"kind": "all-reduce", "carrier": "all-to-all"})"),
           "/strategy/carrier", "\"all-to-all\" with compressor \"dgc\"", "one message of known size"},
          {"fp16 by all-to-all", under(R"({"kind": "fp16"})", R"({"kind": "all-reduce", "carrier": "all-to-all"})"),
           "/strategy/carrier", "\"all-to-all\" with compressor \"fp16\"", "summed on the way"},
          {"a codec that takes no time", good_scenario({{"/codec", json(R"({"slowdown": 0})")}}), "/codec/slowdown",
           "0", "above 0"},
          {"all-gather by a tree",
           under(R"({"kind": "signsgd"})",
                 R"({"kind": "all-reduce", "collective": {"algorithm": "double-binary-tree"}})"),
           "/strategy/collective/algorithm", "messages of \"signsgd\" are all-gathered",
           "auto, ring, multi-ring, recursive-doubling, hierarchical (auto also uses bruck"},
          {"other compressors of nothing",
           beside(R"({"kind": "none"})", R"([{"tensors": ["b"], "compressor": "fp16"}])"), "/other_compressors",
           "a list, with compressor none", "a compressor of all other tensors"},
          {"other compressors in segments",
           beside(R"({"kind": "fp16"})", R"([{"tensors": ["b"], "compressor": "8-bit"}])",
                  R"({"kind": "pipelined", "segments": 2})"),
           "/other_compressors", "a list, with 2 segments", "inside a tensor"},
          {"no patterns", beside(R"({"kind": "fp16"})", R"([{"compressor": "8-bit"}])"), "/other_compressors/0/tensors",
           "nothing", "a required value", "add it", true},
          {"another compressor that is none",
           beside(R"({"kind": "fp16"})", R"([{"tensors": ["b"], "compressor": "none"}])"),
           "/other_compressors/0/compressor/kind", "\"none\"", "a method that compresses tensors", "codec whole"},
          {"another compressor that does not exist",
           beside(R"({"kind": "fp16"})", R"([{"tensors": ["b"], "compressor": "topk"}])"),
           "/other_compressors/0/compressor", "the unknown compressor \"topk\"", "top-k", "did you mean \"top-k\"?"},
          {"another compressor without a kind",
           beside(R"({"kind": "fp16"})", R"([{"tensors": ["b"], "compressor": {"rank": 4}}])"),
           "/other_compressors/0/compressor/kind", "nothing", "powersgd", "add it: powersgd, atomo have rank", true},
          {"a pattern without a tensor",
           beside(R"({"kind": "fp16"})", R"([{"tensors": ["fc.*"], "compressor": "8-bit"}])"),
           "/other_compressors/0/tensors", "[\"fc.*\"], which no tensor's name matches", "that no entry before has",
           "such as \"a\""},
          {"a pattern whose tensors another one has",
           beside(R"({"kind": "fp16"})",
                  R"([{"tensors": ["b"], "compressor": "8-bit"}, {"tensors": ["[b]"], "compressor": "top-k"}])"),
           "/other_compressors/1/tensors", "[\"[b]\"], whose tensors stay whole or are in an entry before",
           "that no entry before has", "such as \"a\""},
          {"no tensor left", beside(R"({"kind": "fp16"})", R"([{"tensors": ["*"], "compressor": "8-bit"}])"),
           "/other_compressors", "no tensor left: patterns and codec have all 2", "a tensor for /compressor",
           "make the last entry's compressor the scenario's"},
          {"other compressors of a ratio",
           beside(R"({"kind": "ratio", "ratio": 4})", R"([{"tensors": ["b"], "compressor": "fp16"}])"),
           "/other_compressors", "a list, with compressor ratio", "ratio knows bytes alone"},
          {"another compressor that is a ratio",
           beside(R"({"kind": "fp16"})", R"([{"tensors": ["b"], "compressor": {"kind": "ratio", "ratio": 4}}])"),
           "/other_compressors/0/compressor/kind", "\"ratio\"", "ratio knows bytes alone", "name the method"},
          {"factors of some sharded gradients", beside_factors(R"({"kind": "sharded"})"),
           "/other_compressors/0/compressor/kind", "\"powersgd\" with strategy sharded", "which can be cut in parts"},
          {"factors of some parameters of gossip", beside_factors(R"({"kind": "gossip"})"),
           "/other_compressors/0/compressor/kind", "\"powersgd\" with strategy gossip", "a method with one message"},
          {"factors of some tensors in a pipeline", beside_factors(R"({"kind": "pipelined"})"), "/codec/sharing",
           "\"serial\" with compressor \"powersgd\" in a pipeline", "\"fair\""},
          {"a tree for one of two compressors that is gathered",
           beside(R"({"kind": "fp16"})", R"([{"tensors": ["b"], "compressor": "top-k"}])",
                  R"({"kind": "all-reduce", "collective": {"algorithm": "double-binary-tree"}})"),
           "/strategy/collective/algorithm", "messages of \"top-k\" are all-gathered", "auto, ring"},
          {"another rank above every matrix",
           with(R"({"kind": "fp16"})",
                {{"/workload/gradients/0/dims", {50, 20}},
                 {"/other_compressors",
                  json(R"([{"tensors": ["a"], "compressor": {"kind": "powersgd", "rank": 30}}])")}}),
           "/other_compressors/0/compressor/rank", "30", "at most 20, the largest min(n, m)"},
          {"factors of a vector beside codes",
           with(R"({"kind": "fp16"})",
                {{"/workload/gradients/0/dims", {50, 20}},
                 {"/other_compressors", json(R"([{"tensors": ["b"], "compressor": "powersgd"}])")}}),
           "/other_compressors/0/compressor/kind", "no tensor that it has is a matrix", "a method without factors",
           "give it matrices"},
          {"sums of two compressors",
           beside(R"({"kind": "fp16"})", R"([{"tensors": ["b"], "compressor": "top-k"}])",
                  R"({"kind": "all-reduce", "carrier": "all-reduce"})"),
           "/strategy/carrier", "\"all-reduce\" with compressor \"top-k\"", "the sum of two messages is not a message"},
          {"gathers of two compressors that are summed",
           beside_factors(R"({"kind": "all-reduce", "carrier": "all-gather"})"), "/strategy/carrier",
           "\"all-gather\" with compressor \"fp16\"", "summed on the way"},
          {"one of two compressors inside the ring",
           beside(R"({"kind": "8-bit"})", R"([{"tensors": ["b"], "compressor": "top-k"}])",
                  R"({"kind": "all-reduce", "carrier": "in-collective"})"),
           "/strategy/carrier", "\"in-collective\" with compressor \"top-k\"", "cannot be encoded again"},
          {"local steps of some tensors",
           beside(R"({"kind": "fp16"})",
                  R"([{"tensors": ["b"], "compressor": {"kind": "qsparse-local-sgd", "local_steps": 4}}])"),
           "/other_compressors/0/compressor/local_steps", "4", "1, as /compressor has: all tensors make"},
          {"PowerSGD of some tensors on a server", beside_factors(R"({"kind": "parameter-server"})"),
           "/other_compressors/0/compressor/kind", "\"powersgd\" with strategy parameter-server",
           "a method with one message"},
          {"PowerSGD on a server",
           with(R"({"kind": "powersgd"})",
                {{"/workload/gradients/0/dims", {50, 20}}, {"/strategy", strategy(R"({"kind": "parameter-server"})")}}),
           "/compressor/kind", "\"powersgd\" with strategy parameter-server", "a method with one message"},
          {"all tensors too small to compress",
           good_scenario({{"/compressor", json(R"({"kind": "fp16"})")},
                          {"/codec", json(R"({"device": "v100-datasheet", "min_elements": 100000000})")}}),
           "/codec/min_elements", "100000000, and the largest gradient tensor has", "something to compress"},
          {"all tensors whole by name",
           good_scenario({{"/compressor", json(R"({"kind": "fp16"})")},
                          {"/codec", json(R"({"device": "v100-datasheet", "whole": ["*"]})")}}),
           "/codec/whole", "no compressed tensor: all ", "something to compress", "use compressor none"},
          {"tensors by name in segments",
           good_scenario({{"/compressor", json(R"({"kind": "fp16"})")},
                          {"/strategy", strategy(R"({"kind": "pipelined", "segments": 2})")},
                          {"/codec", json(R"({"device": "v100-datasheet", "whole": ["b"]})")}}),
           "/codec/whole", "patterns with 2 segments", "null: a segment may begin and end inside a tensor"},
          {"vectors in segments",
           good_scenario({{"/compressor", json(R"({"kind": "fp16"})")},
                          {"/strategy", strategy(R"({"kind": "pipelined", "segments": 2})")},
                          {"/codec", json(R"({"device": "v100-datasheet", "whole_vectors": true})")}}),
           "/codec/whole_vectors", "true with 2 segments", "false: a segment"},
          {"small tensors in segments",
           good_scenario({{"/compressor", json(R"({"kind": "fp16"})")},
                          {"/strategy", strategy(R"({"kind": "pipelined", "segments": 2})")},
                          {"/codec", json(R"({"device": "v100-datasheet", "min_elements": 10})")}}),
           "/codec/min_elements", "10 with 2 segments", "inside a tensor"},
          {"a method inside machines that nobody sums", inside(R"("fp16")", "workers"), "/inner_compressor",
           "\"fp16\" as inner_compressor, with codec scope workers", "\"none\": only scope machines",
           "set /codec/scope to machines, or inner_compressor to none"},
          {"factors inside machines", inside(R"("powersgd")"), "/inner_compressor", "\"powersgd\" as inner_compressor",
           "which can be cut in parts", "such as fp16, 8-bit or top-k"},
          {"messages of unknown size inside machines", inside(R"("dgc")"), "/inner_compressor",
           "\"dgc\" as inner_compressor", "one message of known size", "such as fp16, 8-bit or top-k"},
          {"local steps inside machines", inside(R"({"kind": "qsparse-local-sgd", "local_steps": 2})"),
           "/inner_compressor/local_steps", "2", "1: local steps belong to /compressor"},
          {"a fault of the method inside machines", inside(R"({"kind": "top-k", "ratio": 2})"),
           "/inner_compressor/ratio", "2", "1"},
          {"sums in machines of a pipeline", between_machines(R"({"kind": "pipelined"})"), "/codec/scope",
           "\"machines\" with strategy pipelined", "\"workers\""},
          {"servers of each worker's messages, compressed between machines",
           between_machines(R"({"kind": "parameter-server"})"), "/codec/scope", "\"machines\" without sum_in_machine",
           "\"workers\"", "set /strategy/sum_in_machine to true"},
          {"parts by priority, compressed between machines",
           between_machines(R"({"kind": "all-reduce", "exchange": {"grouping": "per-tensor", "priority": true}})"),
           "/codec/scope", "\"machines\" with priority", "\"workers\"", "use strategy parameter-server"},
          {"sums in machines of which each worker compresses its own",
           between_machines(R"({"kind": "parameter-server", "sum_in_machine": true})", "workers"), "/codec/scope",
           "\"workers\" with sum_in_machine", "\"machines\""},
          {"local steps of a compressor by priority",
           under(R"({"kind": "qsparse-local-sgd", "local_steps": 4})",
                 R"({"kind": "all-reduce", "exchange": {"grouping": "per-tensor", "priority": true}})"),
           "/strategy/exchange/priority", "true with 4 local steps", "false"},
          {"PowerSGD in a pipeline",
           with(R"({"kind": "powersgd"})",
                {{"/workload/gradients/0/dims", {50, 20}}, {"/strategy", strategy(R"({"kind": "pipelined"})")}}),
           "/codec/sharing", "\"serial\"", "\"fair\"", "replay"},
          {"ATOMO in segments",
           with(R"({"kind": "atomo"})", {{"/workload/gradients/0/dims", {50, 20}},
                                         {"/strategy", strategy(R"({"kind": "pipelined", "segments": 2})")}}),
           "/strategy/segments", "2 with compressor \"atomo\"", "a cut through a matrix"},
          {"local steps on a server",
           under(R"({"kind": "qsparse-local-sgd", "local_steps": 4})", R"({"kind": "parameter-server"})"),
           "/compressor/local_steps", "4 with strategy parameter-server", "1"},
          {"local steps in local SGD",
           under(R"({"kind": "qsparse-local-sgd", "local_steps": 4})", R"({"kind": "local-sgd"})"),
           "/compressor/local_steps", "4 with strategy local-sgd", "1"},
          {"top-k averaged by all-reduce",
           under(R"({"kind": "top-k"})", R"({"kind": "local-sgd", "carrier": "all-reduce"})"), "/strategy/carrier",
           "\"all-reduce\" with compressor \"top-k\"", "the sum of two messages is not a message"},
          {"all-gather with a tree between groups",
           under(
               R"({"kind": "signsgd"})",
               R"({"kind": "all-reduce", "collective": {"algorithm": "hierarchical", "group_size": 4, "between": "double-binary-tree"}})"),
           "/strategy/collective/between", "\"double-binary-tree\", and messages of \"signsgd\" are all-gathered",
           "auto, ring, recursive-doubling"},
          {"parameters gathered by a tree",
           under(R"({"kind": "signsgd"})",
                 R"({"kind": "local-sgd", "collective": {"algorithm": "double-binary-tree"}})"),
           "/strategy/collective/algorithm", "messages of \"signsgd\" are all-gathered",
           "auto, ring, multi-ring, recursive-doubling"},
          {"top-k of a collective", under(R"({"kind": "top-k"})", R"({"kind": "collective", "size": "1MB"})"),
           "/compressor/kind", "\"top-k\" with strategy collective", "none or ratio", "\"size\""},
          {"fair sharing by equations",
           good_scenario({{"/compressor", json(R"({"kind": "fp16"})")},
                          {"/codec", json(R"({"device": "v100-datasheet", "sharing": "fair"})")},
                          {"/evaluation", json(R"({"evaluator": "equations"})")}}),
           "/evaluation/evaluator", "\"equations\" with codec sharing fair", "\"replay\""},
          {"dims that are not the tensor's", good_scenario({{"/workload/gradients/0/dims", {7, 3}}}),
           "/workload/gradients/0/dims", "[7, 3]", "dimensions whose product is"},
      });
}

/// Training runs.
void add_runs(std::vector<BadScenario>& rows) {
  const auto run = [](const char* text) { return good_scenario({{"/run", json(text)}}); };
  rows.insert(
      rows.end(),
      {
          {"run without samples", run(R"({"phases": [{"name": "all", "epochs": 1}]})"), "/run",
           "neither samples nor tokens", "exactly one of them", "the size of the data set"},
          {"run of samples and tokens", run(R"({"samples": 1000, "tokens": 1e6})"), "/run", "both samples and tokens",
           "exactly one of them"},
          {"tokens of images", run(R"({"tokens": 1e6})"), "/run/tokens", "not given as a transformer", "samples"},
          {"run of no phases", run(R"({"samples": 1000, "phases": []})"), "/run/phases", "an empty list",
           "at least one phase"},
          {"phase of no epochs", run(R"({"samples": 1000, "phases": [{"name": "all", "epochs": 0}]})"),
           "/run/phases/0/epochs", "0", "from 1", "", by_schema},
          {"half an epoch", run(R"({"samples": 1000, "phases": [{"name": "all", "epochs": 0.5}]})"),
           "/run/phases/0/epochs", "0.5", "an integer", "", by_schema},
          {"two phases of one name",
           run(R"({"samples": 1000, "phases": [{"name": "a", "epochs": 1}, {"name": "a", "epochs": 1}]})"),
           "/run/phases/1/name", "\"a\" a second time", "each name once"},
          {"fault in a phase",
           run(R"({"samples": 1000, "phases": [{"name": "a", "epochs": 1, "set": {"/workload/batch": 0}}]})"),
           "/run/phases/0/set/~1workload~1batch", "0 (in phase \"a\")", "an integer of at least 1"},
          {"list in a phase",
           run(R"({"samples": 1000, "phases": [{"name": "a", "epochs": 1, "set": {"/workload/batch": [1, 2]}}]})"),
           "/run/phases/0/set/~1workload~1batch", "a list in phase \"a\"", "one value"},
          {"phase with other workers",
           run(R"({"samples": 1000, "phases": [{"name": "a", "epochs": 1, "set": {"/cluster/workers": 2}}]})"),
           "/run/phases/0/set/~1cluster~1workers", "a change of /cluster/workers in a phase", "the same in all phases"},
          {"one-off cost without evidence",
           run(R"({"samples": 1000, "phases": [{"name": "a", "epochs": 1, "before": {"what": "SVD", "time": "1s", "source": "x"}}]})"),
           "/run/phases/0/before/evidence", "nothing", "a required value", "add it", by_schema},
          {"target of an unknown method",
           run(R"({"samples": 1000, "phases": [{"name": "a", "epochs": 1}], "target": {"metric": "loss", "methods": [{"compressor": "zip", "epochs": 1, "evidence": "measured", "source": "x"}]}})"),
           "/run/target/methods/0/compressor", "\"zip\"", "none, ratio"},
          {"target of two methods, one of them unknown",
           run(R"({"samples": 1000, "phases": [{"name": "a", "epochs": 1}], "target": {"metric": "loss", "methods": [{"compressor": "fp16+zip", "epochs": 1, "evidence": "measured", "source": "x"}]}})"),
           "/run/target/methods/0/compressor", "\"fp16+zip\"", "several kinds joined by +"},
      });
}

/// Lists and variants that make no study.
void add_studies(std::vector<BadScenario>& rows) {
  const auto baseline = [](Json set) { return Changes{{"/baseline", Json{{"name", "b"}, {"set", std::move(set)}}}}; };
  const auto variants = [](const char* text) { return good_scenario({{"/variants", json(text)}}); };
  Json axes = Json::array();
  for (int i = 0; i < 65; ++i)
    axes.push_back(Json{{"name", fmt::format("t{}", i)}, {"elements", {i + 1}}, {"gap", "1ms"}});
  rows.insert(
      rows.end(),
      {
          {"empty axis", good_scenario({{"/cluster/workers", Json::array()}}), "/cluster/workers", "an empty list",
           "a list of at least one", "", by_schema},
          {"empty list of workloads", good_scenario({{"/workload", Json::array()}}), "/workload", "an empty list",
           "a list of at least one", "", by_schema},
          {"list inside an axis", good_scenario({{"/cluster/workers", json("[1, [2, 4]]")}}), "/cluster/workers/1",
           "a list of 2", "one value in each place of an axis", "", by_schema},
          {"bad value in an axis", good_scenario({{"/cluster/workers", json("[1, 2, 0]")}}), "/cluster/workers/2", "0",
           "an integer from 1", "", by_schema},
          {"bad name in an axis",
           good_scenario(
               {{"/strategy", strategy(R"({"kind": "all-reduce", "collective": {"algorithm": ["ring", "tree"]}})")}}),
           "/strategy/collective/algorithm/1", "\"tree\"", "binary-tree", "", by_schema},
          {"unknown kind in an axis",
           good_scenario({{"/strategy", json(R"([{"kind": "gossip"}, {"kind": "gosip"}])")}}), "/strategy/1/kind",
           "\"gosip\"", "gossip", "did you mean \"gossip\"?", by_schema},
          {"value twice in an axis", good_scenario({{"/cluster/workers", json("[8, 16, 8]")}}), "/cluster/workers/2",
           "8 a second time", "each value of an axis once"},
          {"too many points", good_scenario({{"/cluster/workers", numbers(1001)}, {"/workload/batch", numbers(1000)}}),
           "/workload/batch", "a study of 1.001e+06 points or more", "at most 1000000 points", "split the study"},
          {"too many axes", good_scenario({{"/workload/gradients", axes}}), "/workload/gradients/0/elements",
           "one of 65 axes", "at most 64 axes"},
          {"list in the baseline", good_scenario(baseline(json(R"({"/cluster/workers": [1, 2]})"))),
           "/baseline/set/~1cluster~1workers", "a list in the baseline", "one value"},
          {"bad value in the baseline", good_scenario(baseline(json(R"({"/cluster/workers": 0})"))),
           "/baseline/set/~1cluster~1workers", "0 (in the baseline)", "an integer from 1"},
          {"unknown field in the baseline", good_scenario(baseline(json(R"({"/cluster/worker": 1})"))),
           "/baseline/set/~1cluster~1worker", "an unknown key (in the baseline)", "workers",
           "did you mean \"workers\"?"},
          {"baseline breaks a rule",
           good_scenario(
               {{"/strategy", strategy(R"({"kind": "parameter-server", "shards": 4, "placement": "co-located"})")},
                baseline(json(R"({"/cluster/workers": 1})"))[0]}),
           "/strategy/shards", "4 shards on 1 workers' hosts (in the baseline)",
           "at most one co-located shard per worker"},
          {"baseline's pointer is no pointer", good_scenario(baseline(json(R"({"cluster/workers": 1})"))),
           "/baseline/set/cluster~1workers", "the malformed pointer \"cluster/workers\"",
           "the JSON pointer of a field"},
          {"baseline without set", good_scenario({{"/baseline", json(R"({"name": "b"})")}}), "/baseline/set", "nothing",
           "a required value", "add it", by_schema},
          {"variant without name", variants(R"([{"set": {}}])"), "/variants/0/name", "nothing", "a required value",
           "add it", by_schema},
          {"variant without set", variants(R"([{"name": "a"}])"), "/variants/0/set", "nothing", "a required value",
           "add it", by_schema},
          {"variant sets a text", variants(R"([{"name": "a", "set": "/cluster/workers=4"}])"), "/variants/0/set",
           "\"/cluster/workers=4\"", "an object of JSON pointers", "", by_schema},
          {"variants of one name",
           variants(R"([{"name": "a", "set": {}}, {"name": "a", "set": {"/cluster/workers": 4}}])"), "/variants/1/name",
           "\"a\" a second time", "each name once"},
          {"unknown key in a variant", variants(R"([{"name": "a", "set": {}, "sets": {}}])"), "/variants/0/sets",
           "an unknown key", "name, set", "did you mean \"set\"?", by_schema},
          {"variant with a bad value",
           variants(R"([{"name": "a", "set": {}}, {"name": "b", "set": {"/cluster/workers": "many"}}])"),
           "/variants/1/set/~1cluster~1workers", "\"many\"", "an integer from 1"},
          {"variant with a bad value below",
           variants(R"([{"name": "a", "set": {"/cluster/link": {"bandwidth": "1Gbps", "latency": 5}}}])"),
           "/variants/0/set/~1cluster~1link/latency", "5", "a time with its unit"},
          {"variant sets the whole document", variants(R"([{"name": "a", "set": {"": 5}}])"), "/variants/0/set/",
           "an empty pointer", "the JSON pointer of a field"},
          {"variant sets the variants", variants(R"([{"name": "a", "set": {"/variants/0/name": "b"}}])"),
           "/variants/0/set/~1variants~10~1name", "a change of the variants", "another field"},
          {"variant of an unknown workload", variants(R"([{"name": "a", "set": {"/workload": "resnet"}}])"),
           "/variants/0/set/~1workload", "the unknown workload \"resnet\"", "resnet50-v100"},
      });
}

/// Rules between fields.
void add_rules(std::vector<BadScenario>& rows) {
  const Json replay = json(R"({"evaluator": "replay"})");
  const auto topology = [](const char* text) { return good_scenario({{"/cluster/topology", json(text)}}); };
  const auto with_strategy = [](const char* text) { return good_scenario({{"/strategy", json(text)}}); };
  const auto with_edges = [](const char* edges) {
    return good_scenario({{"/strategy", Json{{"kind", "gossip"}, {"graph", "edges"}, {"edges", json(edges)}}}});
  };
  rows.insert(
      rows.end(),
      {
          {"no workload", good_scenario({}, {"/workload"}), "/workload", "nothing", "a workload",
           "use strategy kind \"collective\""},
          {"neither layers nor gradients", good_scenario({}, {"/workload/gradients"}), "/workload",
           "neither layers nor gradients nor a transformer", "exactly one of them", "for totals, write"},
          {"both layers and gradients", good_scenario({{"/workload/layers", one_layer("[]")}}), "/workload",
           "both layers and gradients", "exactly one of the two"},
          {"layers without gradients",
           good_scenario({{"/workload/layers", one_layer("[]")}}, {"/workload/gradients", "/workload/forward"}),
           "/workload/layers", "no gradient tensor in any layer", "at least one"},
          {"forward total beside layers",
           good_scenario({{"/workload/layers", one_layer(R"([{"name": "a", "elements": 5}])")}},
                         {"/workload/gradients"}),
           "/workload/forward", "a total beside layers", "no total", "remove it"},
          {"backward total beside layers",
           good_scenario(
               {{"/workload/layers", one_layer(R"([{"name": "a", "elements": 5}])")}, {"/workload/backward", "2ms"}},
               {"/workload/gradients", "/workload/forward"}),
           "/workload/backward", "a total beside layers", "no total", "remove it"},
          {"gap inside a layer",
           good_scenario({{"/workload/layers", one_layer(R"([{"name": "a", "elements": 5, "gap": "1ms"}])")}},
                         {"/workload/gradients", "/workload/forward"}),
           "/workload/layers", "gradients with a gap inside layers", "gaps only in /workload/gradients"},
          {"gradients without forward", good_scenario({}, {"/workload/forward"}), "/workload/forward", "nothing",
           "the forward time", "add it"},
          {"a gap on one of two gradients", good_scenario({{"/workload/gradients", tensors(nullptr)}}),
           "/workload/gradients", "a gap on 1 of 2 gradients", "on all of them or on none"},
          {"backward total beside gaps",
           good_scenario({{"/workload/gradients", tensors("1ms")}, {"/workload/backward", "3ms"}}),
           "/workload/backward", "a total beside gaps", "not both", "remove one"},
          {"neither gaps nor a total",
           good_scenario({{"/workload/gradients", json(R"([{"name": "a", "elements": 5}])")}}), "/workload/backward",
           "nothing", "the backward time, or a gap on every gradient", "add it"},
          {"claimed parameters", good_scenario({{"/workload/parameters", 1000000}}), "/workload/parameters",
           "1000000, but the table holds 1500", "the sum of all elements"},
          {"torus too small", topology(R"({"kind": "torus", "dimensions": [2, 3]})"), "/cluster/topology",
           "6 hosts for 8 workers", "at least that many hosts"},
          {"torus too large", topology(R"({"kind": "torus", "dimensions": [100000, 100000]})"), "/cluster/topology",
           "10000000000 hosts", "at most 33554432 hosts"},
          {"fat tree of too many cables",
           topology(R"({"kind": "fat-tree", "down": [4, 4], "up": [1, 65536], "parallel": [1, 65536]})"),
           "/cluster/topology", "34359738400 links, two for a cable", "at most 1073741824 links",
           "fewer switches"},  // 2(16 + 4·2^32)
          {"dragonfly of too many links",
           topology(R"({"kind": "dragonfly", "groups": 1, "chassis": 1, "routers": 65536, "hosts": 1})"),
           "/cluster/topology", "4295163905 links", "at most 1073741824 links",
           "fewer switches"},  // 65536·(2 + 65536 + 1) + 1
          {"torus of too many links",
           topology(
               R"({"kind": "torus", "dimensions": [2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2]})"),
           "/cluster/topology", "1677721600 links", "at most 1073741824 links", "fewer switches"},  // 2·25·2^25
          {"torus without dimension", topology(R"({"kind": "torus", "dimensions": []})"),
           "/cluster/topology/dimensions", "an empty list", "at least one dimension"},
          {"fat tree with levels missing",
           topology(R"({"kind": "fat-tree", "down": [4, 4], "up": [1, 2], "parallel": [1]})"), "/cluster/topology",
           "2, 2 and 1 levels in down, up and parallel", "the same number of levels"},
          {"dragonfly too small for the shards",
           good_scenario({{"/cluster/topology",
                           json(R"({"kind": "dragonfly", "groups": 2, "chassis": 2, "routers": 2, "hosts": 1})")},
                          {"/strategy", json(R"({"kind": "parameter-server", "shards": 4})")}}),
           "/cluster/topology", "8 hosts for 8 workers and 4 dedicated shards", "at least that many hosts"},
          {"nodes that are not full",
           topology(R"({"kind": "nodes", "gpus_per_node": 3, "inner": {"bandwidth": "100GB/s"}})"), "/cluster/workers",
           "8 with 3 GPUs on a node", "a multiple of gpus_per_node"},
          {"more NICs than GPUs",
           topology(R"({"kind": "nodes", "gpus_per_node": 4, "nics": 5, "inner": {"bandwidth": "100GB/s"}})"),
           "/cluster/topology/nics", "5 with 4 GPUs on a node", "at most one NIC per GPU"},
          {"TCP by equations",
           good_scenario({{"/cluster/transport", json(R"({"kind": "tcp"})")},
                          {"/evaluation", json(R"({"evaluator": "equations"})")}}),
           "/evaluation/evaluator", "\"equations\" with transport tcp", "\"replay\""},
          {"platform file by equations",
           good_scenario({{"/cluster/topology", json(R"({"kind": "simgrid-xml", "file": "/dev/../etc/passwd"})")},
                          {"/strategy", json(R"({"kind": "all-reduce", "collective": {"algorithm": "ring"}})")},
                          {"/evaluation", json(R"({"evaluator": "equations"})")}}),
           "/evaluation/evaluator", "\"equations\" with topology simgrid-xml", "\"replay\""},
          {"auto with a platform file",
           good_scenario({{"/cluster/topology", json(R"({"kind": "simgrid-xml", "file": "/etc/passwd"})")},
                          {"/strategy", json(R"({"kind": "all-reduce", "collective": {"algorithm": "auto"}})")},
                          {"/evaluation", replay}}),
           "/strategy/collective/algorithm", "\"auto\" for all-reduce with topology simgrid-xml",
           "ring, recursive-doubling"},
          {"auto segments with a platform file",
           good_scenario(
               {{"/cluster/topology", json(R"({"kind": "simgrid-xml", "file": "/etc/passwd"})")},
                {"/strategy", json(R"({"kind": "all-reduce", "collective": {"algorithm": "double-binary-tree"}})")},
                {"/evaluation", replay}}),
           "/strategy/collective/pipeline_segments", "\"auto\" with topology simgrid-xml", "a number of segments"},
          {"groups with a platform file",
           good_scenario({{"/cluster/topology", json(R"({"kind": "simgrid-xml", "file": "/etc/passwd"})")},
                          {"/strategy", json(R"({"kind": "all-reduce", "collective": {"algorithm": "ring"}})")},
                          {"/cluster/groups", json(R"([{"count": 2}])")},
                          {"/evaluation", replay}}),
           "/cluster/groups", "groups with topology simgrid-xml", "an empty list"},
          {"groups larger than the cluster",
           good_scenario({{"/cluster/groups", json(R"([{"count": 5}, {"count": 4}])")}}), "/cluster/groups",
           "groups of 9 workers in all", "at most the cluster's 8 workers"},
          {"protocols with TCP",
           good_scenario({{"/cluster/transport", json(R"({"kind": "tcp"})")},
                          {"/cluster/protocols", json(R"([{"name": "LL"}])")},
                          {"/evaluation", replay}}),
           "/cluster/protocols", "protocols with transport tcp", "protocols with transport ideal only",
           "--set /cluster/protocols=[] removes the protocols"},
          {"protocols with a platform file",
           good_scenario({{"/cluster/topology", json(R"({"kind": "simgrid-xml", "file": "/etc/passwd"})")},
                          {"/strategy", json(R"({"kind": "all-reduce", "collective": {"algorithm": "ring"}})")},
                          {"/cluster/protocols", json(R"([{"name": "LL"}])")},
                          {"/evaluation", replay}}),
           "/cluster/protocols", "protocols with topology simgrid-xml", "a topology whose links are known"},
          {"a protocol twice", good_scenario({{"/cluster/protocols", json(R"([{"name": "LL"}, {"name": "LL"}])")}}),
           "/cluster/protocols/1/name", "\"LL\" a second time", "a different name for each protocol"},
          {"a protocol without name", good_scenario({{"/cluster/protocols", json(R"([{"name": ""}])")}}),
           "/cluster/protocols/0/name", "nothing", "a different name for each protocol"},
          {"group links on a torus",
           good_scenario({{"/cluster/topology", json(R"({"kind": "torus", "dimensions": [2, 4]})")},
                          {"/cluster/groups", json(R"([{"count": 2, "latency": "50us"}])")}}),
           "/cluster/groups", "a group with its own links", "topology star or racks", "give the group a speed only"},
          {"jitter without distribution",
           good_scenario({{"/cluster/jitter", json(R"({"cv": 0.2})")}, {"/evaluation", replay}}),
           "/cluster/jitter/distribution", "\"none\" with cv above 0", "lognormal or gamma"},
          {"jitter by equations",
           good_scenario({{"/cluster/jitter", json(R"({"distribution": "gamma", "cv": 0.2})")},
                          {"/evaluation", json(R"({"evaluator": "equations"})")}}),
           "/evaluation/evaluator", "\"equations\" with jitter", "\"replay\""},
          {"folded jitter",
           good_scenario({{"/cluster/jitter", json(R"({"distribution": "gamma", "cv": 0.2})")},
                          {"/strategy", json(R"({"kind": "parameter-server"})")},
                          {"/evaluation", json(R"({"evaluator": "replay", "fidelity": "folded"})")}}),
           "/evaluation/fidelity", "\"folded\", but jitter makes every worker different", "\"full\" or \"auto\""},
          {"folded TCP",
           good_scenario({{"/cluster/transport", json(R"({"kind": "tcp"})")},
                          {"/evaluation", json(R"({"evaluator": "replay", "fidelity": "folded"})")}}),
           "/evaluation/fidelity", "\"folded\", but TCP flows share links by", "\"full\" or \"auto\""},
          {"all-gather by a binary tree",
           with_strategy(
               R"({"kind": "collective", "operation": "all-gather", "size": "1MB", "collective": {"algorithm": "binary-tree"}})"),
           "/strategy/collective/algorithm", "\"binary-tree\" for all-gather",
           "auto, ring, multi-ring, recursive-doubling, bruck"},
          {"reduce-scatter by halving and doubling",
           with_strategy(
               R"({"kind": "collective", "operation": "reduce-scatter", "size": "1MB", "collective": {"algorithm": "halving-doubling"}})"),
           "/strategy/collective/algorithm", "\"halving-doubling\" for reduce-scatter",
           "auto, ring, multi-ring, recursive-doubling"},
          {"broadcast on a ring",
           with_strategy(
               R"({"kind": "collective", "operation": "broadcast", "size": "1MB", "collective": {"algorithm": "ring"}})"),
           "/strategy/collective/algorithm", "\"ring\" for broadcast", "auto, binomial-tree"},
          {"AllReduce by Bruck", with_strategy(R"({"kind": "all-reduce", "collective": {"algorithm": "bruck"}})"),
           "/strategy/collective/algorithm", "\"bruck\" for all-reduce",
           "auto, ring, multi-ring, recursive-doubling, halving-doubling"},
          {"pipelined by a binomial tree",
           with_strategy(R"({"kind": "pipelined", "collective": {"algorithm": "binomial-tree"}})"),
           "/strategy/collective/algorithm", "\"binomial-tree\" for all-reduce", "auto, ring"},
          {"groups that do not divide the workers",
           with_strategy(R"({"kind": "all-reduce", "collective": {"algorithm": "hierarchical", "group_size": 3}})"),
           "/strategy/collective/group_size", "3 with 8 workers", "a divisor of the number of workers"},
          {"more rings than workers in a group",
           with_strategy(
               R"({"kind": "all-reduce", "collective": {"algorithm": "multi-ring", "rings": 5, "group_size": 4}})"),
           "/strategy/collective/rings", "5 with 4 workers in a group", "at most as many rings as workers in a group"},
          {"more rings than workers",
           with_strategy(
               R"({"kind": "all-reduce", "collective": {"algorithm": "multi-ring", "rings": 9, "group_size": 16}})"),
           "/strategy/collective/rings", "9 with 8 workers in a group", "at most as many rings as workers in a group"},
          {"sums in switches that only forward",
           with_strategy(R"({"kind": "all-reduce", "collective": {"algorithm": "in-network"}})"),
           "/strategy/collective/algorithm", "\"in-network\", and the cluster's switches only forward",
           "another algorithm", "give the cluster an \"in_network_factor\""},
          {"the same between groups",
           with_strategy(
               R"({"kind": "all-reduce", "collective": {"algorithm": "hierarchical", "group_size": 4, "between": "in-network"}})"),
           "/strategy/collective/between", "\"in-network\", and the cluster's switches only forward",
           "another algorithm", "give the cluster an \"in_network_factor\""},
          {"sums between the GPUs of a machine",
           good_scenario({{"/cluster/in_network_factor", 1},
                          {"/cluster/topology",
                           json(R"({"kind": "nodes", "gpus_per_node": 4, "inner": {"bandwidth": "100GB/s"}})")},
                          {"/strategy", json(R"({"kind": "all-reduce", "collective": {"algorithm": "in-network"}})")}}),
           "/strategy/collective/algorithm", "\"in-network\", with several workers on a machine of 4",
           "switches between machines add up, and none inside", "group_size 4 and in-network between"},
          {"sums of links with several latencies",
           good_scenario(
               {{"/cluster/in_network_factor", 1}, {"/cluster/groups", json(R"([{"count": 1, "latency": "1ms"}])")}}),
           "/cluster/in_network_factor", "switches that add up, with a group's own latency", "links of one latency",
           "null"},
          {"switches that add up on a torus",
           good_scenario({{"/cluster/in_network_factor", 1},
                          {"/cluster/topology", json(R"({"kind": "torus", "dimensions": [4, 2]})")}}),
           "/cluster/in_network_factor", "switches that add up, with topology torus",
           "a tree of switches: star, nodes, racks or fat-tree", "null"},
          {"more rings than blocks can be numbered",
           good_scenario(
               {{"/cluster/workers", 65536},
                {"/strategy",
                 json(R"({"kind": "all-reduce", "collective": {"algorithm": "multi-ring", "rings": 20000}})")}}),
           "/strategy/collective/rings", "20000 with 65536 workers", "at most 16384"},  // 2^30 / 2^16
          {"more segments than blocks can be numbered",
           good_scenario(
               {{"/cluster/workers", 65536},
                {"/strategy",
                 json(
                     R"({"kind": "all-reduce", "collective": {"algorithm": "hierarchical", "group_size": 32768, "between": "double-binary-tree", "pipeline_segments": 20000}})")}}),
           "/strategy/collective/pipeline_segments", "20000 in groups of 32768 workers",
           "at most 16384"},  // 2^30 / 2 / 2^15
          {"a tree between groups that is none of theirs",
           with_strategy(
               R"({"kind": "all-reduce", "collective": {"algorithm": "hierarchical", "group_size": 4, "between": "binary-tree"}})"),
           "/strategy/collective/between", "\"binary-tree\" for all-reduce",
           "auto, ring, halving-doubling, recursive-doubling, double-binary-tree"},
          {"a tree between groups that scatter",
           with_strategy(
               R"({"kind": "sharded", "collective": {"algorithm": "hierarchical", "group_size": 4, "between": "double-binary-tree"}})"),
           "/strategy/collective/between", "\"double-binary-tree\" for reduce-scatter",
           "auto, ring, recursive-doubling"},
          {"between groups, if auto has any, what does not all-reduce",
           with_strategy(R"({"kind": "all-reduce", "collective": {"between": "bruck"}})"),
           "/strategy/collective/between", "\"bruck\" for all-reduce", "auto, ring,"},
          {"auto between groups with a platform file",
           good_scenario(
               {{"/cluster/topology", json(R"({"kind": "simgrid-xml", "file": "/etc/passwd"})")},
                {"/strategy",
                 json(R"({"kind": "all-reduce", "collective": {"algorithm": "hierarchical", "group_size": 4}})")},
                {"/evaluation", replay}}),
           "/strategy/collective/between", "\"auto\" with topology simgrid-xml",
           "ring, halving-doubling, recursive-doubling, double-binary-tree", "name one"},
          {"auto segments between groups with a platform file",
           good_scenario(
               {{"/cluster/topology", json(R"({"kind": "simgrid-xml", "file": "/etc/passwd"})")},
                {"/strategy",
                 json(
                     R"({"kind": "all-reduce", "collective": {"algorithm": "hierarchical", "group_size": 4, "between": "double-binary-tree"}})")},
                {"/evaluation", replay}}),
           "/strategy/collective/pipeline_segments", "\"auto\" with topology simgrid-xml", "a number of segments"},
          {"first bucket above the cap",
           with_strategy(
               R"({"kind": "all-reduce", "exchange": {"grouping": "bucketed", "bucket_cap": "1MB", "first_bucket": "2MB"}})"),
           "/strategy/exchange/first_bucket", "2MB", "at most bucket_cap (1MB)"},
          {"dragonfly of more groups than routers",
           good_scenario({{"/cluster/topology",
                           json(R"({"kind": "dragonfly", "groups": 4, "chassis": 2, "routers": 3, "hosts": 2})")}}),
           "/cluster/topology/groups", "4 groups of 3 routers", "at most as many groups as routers"},
          {"averaged by a binomial tree",
           with_strategy(R"({"kind": "local-sgd", "collective": {"algorithm": "binomial-tree"}})"),
           "/strategy/collective/algorithm", "\"binomial-tree\" for all-reduce", "auto, ring"},
          {"a torus of other ranks", with_strategy(R"({"kind": "gossip", "graph": "torus", "dimensions": [3, 2]})"),
           "/strategy/dimensions", "3 x 2, 6 ranks, for 8 workers",
           "dimensions whose product is the number of workers"},
          {"a hypercube of 6",
           good_scenario({{"/strategy", json(R"({"kind": "gossip", "graph": "hypercube"})")}, {"/cluster/workers", 6}}),
           "/strategy/graph", "\"hypercube\" of 6 workers", "a power of two of workers",
           "use 4 or 8 workers, or an exponential graph"},
          {"an edge to nobody", with_edges(R"([{"a": 0, "b": 8}])"), "/strategy/edges/0", "ranks 0 and 8",
           "ranks from 0 to 7"},
          {"an edge to itself", with_edges(R"([{"a": 0, "b": 1}, {"a": 2, "b": 2}])"), "/strategy/edges/1",
           "ranks 2 and 2", "two different ranks"},
          {"an edge with one end", with_edges(R"([{"a": 0}])"), "/strategy/edges/0/b", "nothing", "rank of another one",
           "", by_schema},
          {"an edge twice", with_edges(R"([{"a": 0, "b": 1}, {"a": 1, "b": 0}])"), "/strategy/edges/1", "ranks 1 and 0",
           "each pair once"},
          {"workers apart", with_edges(R"([{"a": 0, "b": 1}, {"a": 2, "b": 3}])"), "/strategy/edges",
           "2 pairs that leave some of 8 workers apart", "pairs that join all workers"},
          {"a complete graph of thousands",
           good_scenario(
               {{"/strategy", json(R"({"kind": "gossip", "graph": "complete"})")}, {"/cluster/workers", 2000}}),
           "/strategy/graph", "\"complete\" of 2000 workers: 3998000 messages a step", "at most 2097152 messages"},
          {"pairs on a ring of five",
           good_scenario({{"/strategy", json(R"({"kind": "gossip", "asynchronous": true})")}, {"/cluster/workers", 5}}),
           "/strategy/graph", "\"ring\" of 5 workers, asynchronous", "a bipartite graph",
           "use a hypercube, or a ring or torus with even sides"},
          {"pairs on a graph that changes",
           with_strategy(R"({"kind": "gossip", "asynchronous": true, "graph": "one-peer-hypercube"})"),
           "/strategy/graph", "\"one-peer-hypercube\" of 8 workers, asynchronous",
           "a graph that does not change by step"},
          {"pairs that send some elements",
           good_scenario({{"/strategy", json(R"({"kind": "gossip", "asynchronous": true})")},
                          {"/compressor", json(R"({"kind": "top-k"})")},
                          {"/codec", json(R"({"device": "v100-datasheet"})")}}),
           "/compressor/kind", "\"top-k\" with asynchronous gossip", "a message has every element"},
          {"pairs by equations",
           good_scenario({{"/strategy", json(R"({"kind": "gossip", "asynchronous": true})")},
                          {"/evaluation/evaluator", "equations"}}),
           "/evaluation/evaluator", "\"equations\" with asynchronous gossip", "pairs meet by chance"},
          {"no worker but backups",
           with_strategy(R"({"kind": "parameter-server", "consistency": "backup-workers", "backup_workers": 8})"),
           "/strategy/backup_workers", "8 of 8 workers", "fewer than the workers"},
          {"backup workers by equations",
           good_scenario({{"/strategy", json(R"({"kind": "parameter-server", "consistency": "backup-workers"})")},
                          {"/evaluation/evaluator", "both"}}),
           "/evaluation/evaluator", "\"both\" with backup-workers consistency", "only replay can tell"},
          {"pulls of synchronous workers", with_strategy(R"({"kind": "parameter-server", "pull_steps": 2})"),
           "/strategy/pull_steps", "2 with synchronous consistency", "null",
           "use /strategy/steps, or asynchronous consistency"},
          {"pulls and pushes that rarely meet",
           with_strategy(
               R"({"kind": "parameter-server", "consistency": "asynchronous", "steps": 101, "pull_steps": 103})"),
           "/strategy/pull_steps", "103 beside 101 steps: 10403 until both fall together", "at most 10000",
           "use a multiple of one for the other"},
          {"pulls of sums",
           good_scenario({{"/strategy", json(R"({"kind": "parameter-server", "consistency": "asynchronous",
                                                 "pull_steps": 2, "two_way": true})")}}),
           "/strategy/pull_steps", "2 with two_way",
           "null: between pulls, workers would update from their own gradients"},
          {"gossip in two stages",
           good_scenario({{"/strategy", json(R"({"kind": "gossip"})")},
                          {"/compressor", json(R"({"kind": "powersgd"})")},
                          {"/codec/device", "v100-datasheet"},
                          {"/workload/gradients/0/dims", {50, 20}}}),
           "/compressor/kind", "\"powersgd\" with strategy gossip", "a method with one message"},
          {"more co-located shards than workers",
           with_strategy(R"({"kind": "parameter-server", "shards": 9, "placement": "co-located"})"), "/strategy/shards",
           "9 shards on 8 workers' hosts", "at most one co-located shard per worker",
           "use fewer shards or dedicated hosts"},
          {"more shards than bytes", with_strategy(R"({"kind": "parameter-server", "shards": 6001})"),
           "/strategy/shards", "6001 shards for 6000 bytes", "at most one shard per gradient byte"},
          {"sharding groups that do not divide the workers", with_strategy(R"({"kind": "sharded", "group_size": 3})"),
           "/strategy/group_size", "3 with 8 workers",
           "null or a divisor of the number of workers above 1, such as 2 or 4"},
          {"sharding groups of more than all workers", with_strategy(R"({"kind": "sharded", "group_size": 16})"),
           "/strategy/group_size", "16 with 8 workers", "such as 8"},
          {"sharding groups of one", with_strategy(R"({"kind": "sharded", "group_size": 1})"), "/strategy/group_size",
           "1 with 8 workers, which splits nothing", "such as 2", "use strategy all-reduce"},
          {"a second copy by groups that do not divide the workers",
           with_strategy(R"({"kind": "sharded", "backward_group_size": 3})"), "/strategy/backward_group_size",
           "3 with 8 workers that share the parameters", "such as 2 or 4"},
          {"codes that are no shorter",
           good_scenario({{"/codec", json(R"({"device": "v100-datasheet"})")},
                          {"/strategy", json(R"({"kind": "sharded", "quantized_gather": {"bits": 16, "block": 2}})")}}),
           "/strategy/quantized_gather/bits", "16, with a scale for 2 elements: 4 B an element, and fp32 has 4B",
           "codes that are shorter"},
          {"a second copy in groups larger than the first one's",
           with_strategy(R"({"kind": "sharded", "group_size": 2, "backward_group_size": 4})"),
           "/strategy/backward_group_size", "4 with 2 workers", "such as 2"},
          {"sharding groups of the only worker",
           good_scenario({{"/cluster/workers", 1}, {"/strategy", json(R"({"kind": "sharded", "group_size": 8})")}}),
           "/strategy/group_size", "8 with 1 worker", "null or 1"},
          {"no group at all", with_strategy(R"({"kind": "sharded", "group_size": 0})"), "/strategy/group_size", "0",
           "at least 1", "", by_schema},
          {"an all-gather between sharding groups",
           with_strategy(R"({"kind": "sharded", "group_size": 4, "all_reduce": {"algorithm": "bruck"}})"),
           "/strategy/all_reduce/algorithm", "\"bruck\" for all-reduce", "auto, ring"},
          {"groups that do not divide a sharding group",
           with_strategy(
               R"({"kind": "sharded", "group_size": 4, "collective": {"algorithm": "hierarchical", "group_size": 8}})"),
           "/strategy/collective/group_size", "8 with 4 workers", "a divisor of the number of workers"},
          {"asynchronous by equations",
           good_scenario({{"/strategy", json(R"({"kind": "parameter-server", "consistency": "asynchronous"})")},
                          {"/evaluation", json(R"({"evaluator": "equations"})")}}),
           "/evaluation/evaluator", "\"equations\" with asynchronous consistency", "\"replay\""},
          {"stale-synchronous by both",
           good_scenario({{"/strategy", json(R"({"kind": "parameter-server", "consistency": "stale-synchronous"})")},
                          {"/evaluation", json(R"({"evaluator": "both"})")}}),
           "/evaluation/evaluator", "\"both\" with stale-synchronous consistency", "\"replay\""},
          {"plot of unknown format", good_scenario({{"/output", json(R"({"plot": "figure.xlsx"})")}}), "/output/plot",
           "\"figure.xlsx\"", "ends in .png, .svg or .pdf"},
      });
}

/// --set.
void add_overrides(std::vector<BadScenario>& rows) {
  const auto row = [&](std::string name, std::string set, std::string pointer, std::string found, std::string allowed,
                       std::string remedy = "", Changes changes = {}) {
    rows.push_back({std::move(name),
                    good_scenario(changes),
                    std::move(pointer),
                    std::move(found),
                    std::move(allowed),
                    std::move(remedy),
                    false,
                    {std::move(set)}});
  };
  const std::string pointer_wanted = "the JSON pointer of a field, such as /cluster/workers";
  row("--set without value", "/cluster/workers", "", "\"/cluster/workers\"", "/json/pointer=value");
  row("--set of nothing", "", "", "\"\"", "/json/pointer=value");
  row("--set without slash", "cluster.workers=4", "", "\"cluster.workers=4\"", "/json/pointer=value");
  row("--set with a bad escape", "/cluster/work~ers=4", "/cluster/work~ers", "the malformed pointer", pointer_wanted);
  row("--set of invalid UTF-8", "/name=\xFF", "", "/name=", "UTF-8");
  row("--set of a bad value", "/cluster/workers=lots", "/cluster/workers", "\"lots\"", "an integer from 1");
  row("--set of NaN", "/cluster/workers=NaN", "/cluster/workers", "\"NaN\"", "an integer from 1");
  row("--set of a number beyond double", "/evaluation/tolerance=1e999", "/evaluation/tolerance", "\"1e999\"",
      "a number of at least 0");
  row("--set of 3.7", "/cluster/workers=3.7", "/cluster/workers", "3.7", "an integer from 1");
  row("--set of an unknown field", "/cluster/wrokers=4", "/cluster/wrokers", "an unknown key", "workers",
      "did you mean \"workers\"?");
  row("--set of an unknown field far down", "/machine/gpu/count=4", "/machine", "an unknown key", "name, description");
  row("--set that leaves the rest out", "/baseline/name=x", "/baseline/set", "nothing", "a required value", "add it");
  row("--set through a text", "/name/first=x", "/name/first", "where /name is \"good\"", pointer_wanted);
  row("--set through a bandwidth", "/cluster/link/bandwidth/value=10", "/cluster/link/bandwidth/value",
      "where /cluster/link/bandwidth is \"10Gbps\"", pointer_wanted);
  row("--set through a number", "/cluster/workers/0=4", "/cluster/workers/0", "where /cluster/workers is 8",
      pointer_wanted);
  row("--set beyond a list", "/workload/gradients/2/elements=4", "/workload/gradients/2/elements",
      "where /workload/gradients is a list of 2", pointer_wanted);
  row("--set of a list's unnumbered element", "/workload/gradients/first=4", "/workload/gradients/first",
      "where /workload/gradients is a list of 2", pointer_wanted);
  row("--set after a list's end", "/workload/gradients/-=4", "/workload/gradients/-",
      "where /workload/gradients is a list of 2", pointer_wanted);
  row("--set into a list that is not there", "/cluster/groups/0/speed=0.5", "/cluster/groups", "an object", "a list");
  row("--set of a truncated list", "/cluster/workers=[1, 2", "line 1, column 6", "malformed JSON", "one JSON document");
  row("--set of an object with a key twice", R"(/cluster/link={"bandwidth": "1Gbps", "bandwidth": "2Gbps"})",
      "/bandwidth", "a second time", "each key once");
  row("--set of deep nesting", "/cluster/workers=" + nested(100000, "[", "]"), nested(32, "/0", "").substr(0, 64),
      "nesting deeper", "at most 32 levels");
  row("--set of an unknown workload", "/workload=resnet-50", "/workload", "the unknown workload \"resnet-50\"",
      "resnet50-v100");
  row("--set of a missing file", "/workload=my/net.json", "/workload", "there is no file my/net.json",
      "an existing JSON file", "relative to the working folder");
  row("--set of an axis with a bad value", "/cluster/workers=[4, 0]", "/cluster/workers/1", "0", "an integer from 1");
  row("--set of one bad element of an axis", "/cluster/workers/1=0", "/cluster/workers/1", "0", "an integer from 1", "",
      {{"/cluster/workers", json("[4, 8]")}});
  row("--set that breaks a rule", "/strategy/shards=9", "/strategy/shards", "9 shards on 8 workers' hosts",
      "at most one", "", {{"/strategy", json(R"({"kind": "parameter-server", "placement": "co-located"})")}});
}

/// Input that was once accepted silently, or ended in a crash.
void add_hostile(std::vector<BadScenario>& rows) {
  const auto run = [](const char* fields) {
    Json whole = json(R"({"samples": 1000, "phases": [{"name": "p", "epochs": 2}]})");
    whole.update(json(fields));
    return good_scenario({{"/run", whole}});
  };
  const auto target = [&](const char* methods) {
    Json whole = {{"target", {{"metric", "90 %"}, {"methods", json(methods)}}}};
    return run(whole.dump().c_str());
  };
  const auto phase = [&](const char* set) {
    return run(Json{{"phases", Json::array({Json{{"name", "p"}, {"epochs", 2}, {"set", json(set)}}})}}.dump().c_str());
  };
  const std::string deep = nested(1700, "/a", "").substr(0, 3400);
  rows.insert(
      rows.end(),
      {
          {"a NUL after the document", std::string("{\"name\": \"x\"}\0{}", 16), "line 1, column 14", "a NUL byte",
           "one JSON document"},
          {"a pointer of 1,700 levels",
           good_scenario(),
           deep.substr(0, 400) + "...",
           "a pointer of 1700 levels",
           "at most 32 levels",
           "",
           false,
           {deep + "=1"}},
          {"a variant's pointer of 33 levels",
           good_scenario(
               {{"/variants", Json::array({Json{{"name", "v"}, {"set", {{nested(33, "/a", "").substr(0, 66), 1}}}}})}}),
           pointer_to("/variants/0/set", nested(33, "/a", "").substr(0, 66)), "a pointer of 33 levels",
           "at most 32 levels"},
          {"an index with a zero before it",
           good_scenario(),
           "/workload/gradients/00/elements",
           "the index 00",
           "a number without zeros before it",
           "",
           false,
           {"/workload/gradients/00/elements=5"}},
          {"a buffer below a byte",
           good_scenario({{"/strategy", strategy(R"({"kind": "collective", "size": "1e-30B"})")}}), "/strategy/size",
           "1e-30B", "a size of at least 1 B"},
          {"more segments than a buffer has bytes",
           good_scenario({{"/strategy", strategy(R"({"kind": "collective", "size": "20B", "collective":
              {"algorithm": "double-binary-tree", "pipeline_segments": 1024}})")}}),
           "/strategy/collective/pipeline_segments", "1024 segments for 20B", "at most one segment per byte"},
          // Five elements of four bytes are 20.
          {"more pieces than a gradient has bytes",
           good_scenario({{"/workload/gradients/0/elements", 3},
                          {"/workload/gradients/1/elements", 2},
                          {"/strategy", strategy(R"({"kind": "pipelined", "segments": 1024})")}}),
           "/strategy/segments", "1024 segments for 20 bytes of gradient", "at most one segment per gradient byte"},
          {"tensors of one name", good_scenario({{"/workload/gradients/1/name", "a"}}), "/workload/gradients/1/name",
           "\"a\" a second time", "a different name", "rename it"},
          {"a method of a target twice",
           target(R"([{"compressor": "none", "epochs": 1, "evidence": "assumed", "source": "x"},
                      {"compressor": "none", "epochs": 2, "evidence": "assumed", "source": "x"}])"),
           "/run/target/methods/1", "the epochs of \"none\" a second time", "each method once", "remove one"},
          {"a method of a target for an unknown variant",
           target(
               R"([{"compressor": "none", "variant": "pruned", "epochs": 1, "evidence": "assumed", "source": "x"}])"),
           "/run/target/methods/0/variant", "\"pruned\"", "null, or a variant of the workload: vanilla"},
          {"a phase that sets the name", phase(R"({"/name": "y"})"), "/run/phases/0/set/~1name",
           "a change of /name in a phase", "a field that a phase can change", "for the whole scenario"},
          {"a phase that sets the baseline", phase(R"({"/baseline": null})"), "/run/phases/0/set/~1baseline",
           "a change of /baseline in a phase", "a field that a phase can change", "for the whole scenario"},
          {"a variant that sets from",
           good_scenario({{"/variants", json(R"([{"name": "v", "set": {"/from": "quickstart"}}])")}}),
           "/variants/0/set/~1from", "a change of the scenario that this one is laid over", "another field",
           "at the top"},
      });
}

}  // namespace

std::string good_scenario(const Changes& changes, const std::vector<std::string>& erased) {
  Json scenario = json(R"({
    "name": "good",
    "workload": {
      "name": "two tensors", "batch": 32, "forward": "10ms",
      "gradients": [{"name": "a", "elements": 1000, "gap": "1ms"}, {"name": "b", "elements": 500, "gap": "2ms"}]
    },
    "cluster": {"workers": 8, "link": {"bandwidth": "10Gbps", "latency": "25us"}}
  })");
  for (const auto& [pointer, value] : changes) scenario[Json::json_pointer(pointer)] = value;
  for (const std::string& pointer : erased) {
    const Json::json_pointer at(pointer);
    scenario[at.parent_pointer()].erase(at.back());
  }
  return scenario.dump();
}

std::vector<BadScenario> bad_scenarios() {
  std::vector<BadScenario> rows;
  add_texts(rows);
  add_keys(rows);
  add_types(rows);
  add_numbers(rows);
  add_names(rows);
  add_networks(rows);
  add_compressors(rows);
  add_runs(rows);
  add_studies(rows);
  add_rules(rows);
  add_overrides(rows);
  add_hostile(rows);
  return rows;
}

}  // namespace stepcast::test
