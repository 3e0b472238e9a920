// The canonical document of a scenario reads back as the same scenario, and leaves nothing out.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "models/describe/json.hpp"
#include "models/describe/reader.hpp"
#include "models/describe/writer.hpp"
#include "models/fabric/machines.hpp"
#include "models/part/host_costs.hpp"
#include "models/scenario/foldable.hpp"
#include "models/scenario/library.hpp"
#include "models/scenario/rules.hpp"
#include "models/study/expansion.hpp"
#include "models/study/schema.hpp"
#include "tests/reader/bad_scenarios.hpp"
#include "tests/reader/shipped.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/property.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

template <class T>
T random_value(const Limits& limits);

/// A describe() visitor that fills every field with a random value that the field allows.
struct Filler {
  template <class T>
  void required(const char*, T& x, const char*, Limits limits = {}) {
    x = random_value<T>(limits);
  }
  template <class T>
  void optional(const char*, T& x, const char*, Limits limits = {}) {
    x = random_value<T>(limits);
  }
};

/// A number of any size that `limits` and is_sane() admit, with all 53 bits in use.
double random_number(const Limits& limits) {
  if (limits.max && limits.exclusive) return positive_between(*limits.max * 1e-15, *limits.max);
  if (limits.max) return std::max(*limits.min, real_between(*limits.min, *limits.max));
  if (limits.min == 0.0 && !limits.exclusive && integer_between(0, 9) == 0) return 0.0;
  return limits.min.value_or(0) + positive_between(1e-29, 1e29) * (1 + real_between(0, 1e-6));
}

std::string random_text() {
  const std::string texts[] = {
      "",     "a name", "slash/tilde~quote\"backslash\\", "tab\tnew line\nNUL", "größer als 10 Gb/s, µs, 計算", "auto",
      "null", "12"};
  return texts[integer_between(0, static_cast<int>(std::size(texts)) - 1)];
}

template <class T>
T random_value(const Limits& limits) {
  if constexpr (std::is_same_v<T, bool>) {
    return coin();
  } else if constexpr (std::is_integral_v<T>) {
    const double low = limits.min.value_or(0) + (limits.exclusive ? 1 : 0),
                 high = std::min(limits.max.value_or(9007199254740991.0),
                                 static_cast<double>(std::numeric_limits<T>::max()));
    if (coin()) return static_cast<T>(std::min(high, low + integer_between(0, 64)));
    return static_cast<T>(std::floor(std::min(high, low + positive_between(1, std::max(2.0, high)))));
  } else if constexpr (std::is_same_v<T, double>) {
    return random_number(limits);
  } else if constexpr (IsQuantity<T>::value) {
    return T(random_number(limits));
  } else if constexpr (std::is_same_v<T, std::string>) {
    return random_text();
  } else if constexpr (Named<T>) {
    return Choices<T>::table[integer_between(0, static_cast<int>(Choices<T>::table.size()) - 1)].value;
  } else if constexpr (IsOptional<T>::value) {
    return coin() ? T(random_value<typename T::value_type>(limits)) : T();
  } else if constexpr (IsOrAuto<T>::value) {
    return {random_value<decltype(T::value)>(limits)};
  } else if constexpr (IsVector<T>::value) {
    T list;
    for (int left = integer_between(0, 3); left > 0; --left)
      list.push_back(random_value<typename T::value_type>(limits));
    return list;
  } else if constexpr (IsMap<T>::value) {
    T map;
    for (int left = integer_between(0, 3); left > 0; --left)
      map[random_text()] = random_value<typename T::mapped_type>(limits);
    return map;
  } else if constexpr (std::is_same_v<T, Formula>) {
    const char* const formulas[] = {"0", "elements * element", "ceil(share*elements * 1 bit) + 8 B",
                                    "-(2 - workers)/3"};
    return Formula(formulas[integer_between(0, 3)]);
  } else if constexpr (IsVariant<T>::value) {
    T part;
    int chosen = integer_between(0, static_cast<int>(std::variant_size_v<T>) - 1);
    for_each_part(&part, [&]<class Alternative>(std::in_place_type_t<Alternative>) {
      if (chosen-- == 0) part = random_value<Alternative>({});
    });
    return part;
  } else {
    T x;
    Filler filler;
    T::describe(filler, x);
    return x;
  }
}

std::string list(const std::vector<Fault>& faults) {
  std::string text;
  for (const Fault& fault : faults) text += to_string(fault) + "\n";
  return text;
}

/// Written, printed, parsed and read again, the value is the same.
template <class T>
void require_round_trip(const T& value) {
  const std::string text = write_value(value).dump();
  T again;
  std::vector<Fault> faults;
  read_value(parse_json(text, "canonical"), "", again, {}, faults);
  if (!faults.empty()) RC_FAIL(list(faults) + text);
  if (!(again == value)) RC_FAIL("wrote " + text + "\nread  " + write_value(again).dump());
}

/// Changes a random compressor where its fields exclude each other, or the 1000 x 1000 gradient has no such rank.
void mend(Compressor& compressor) {
  constexpr int kLargestRank = 1000;
  if (auto* x = std::get_if<Qsgd>(&compressor); x && x->packing == Packing::grace && x->framework != Framework::dist)
    x->bucket.reset();
  if (auto* x = std::get_if<Inceptionn>(&compressor)) x->share_32 = x->share_16 = std::min(x->share_8 /= 2, 0.25);
  if (auto* x = std::get_if<GradiVeq>(&compressor)) x->dimension = 1 + x->dimension % (x->slice - 1);
  if (auto* x = std::get_if<PowerSgd>(&compressor)) x->rank = std::min(x->rank, kLargestRank);
  if (auto* x = std::get_if<Atomo>(&compressor)) x->rank = std::min(x->rank, kLargestRank);
  if (auto* x = std::get_if<FormulaCompressor>(&compressor)) {
    // Random formulas seldom make sense together. The gradient as it is does, by a share of its bytes.
    MethodFormulas method = FormulaCompressor{}.formulas();
    method.name = "a share";
    method.stages[0].messages[0].bytes = Formula("share * elements * element");
    x->method = method;
    x->parameters = std::map<std::string, double>{{"share", real_between(0.01, 1)}};
  }
}

/// Changes a random profile where kernels have one name, or knots are not in order, and leaves one model of a type with
/// a peak.
void mend(DeviceProfile& profile) {
  if (profile.kernel_models.size() > 1) profile.kernel_models.resize(1);
  for (KernelModel& model : profile.kernel_models) {
    model.dtype = profile.peaks.front().dtype;
    if (model.tiling && !profile.processors) model.tiling.reset();
    if (model.factors) model.factors = ShapeFactors{{1, 4}, {2}, {1, 3, 9}, {1, 0.5, 2, 1.25, 0.875, 3}};
    if (!model.misaligned.empty()) model.misaligned = {{2_B, 5}, {8_B, 1.5}};
    if (model.kind != KernelKind::product) model.misaligned.clear();
  }
  for (std::size_t i = 0; i < profile.kernels.size(); ++i) {
    KernelEntry& kernel = profile.kernels[i];
    kernel.name += std::to_string(i);
    const auto first = [](const RateKnot& a, const RateKnot& b) { return a.bytes < b.bytes; };
    std::sort(kernel.knots.begin(), kernel.knots.end(), first);
    kernel.knots.erase(std::unique(kernel.knots.begin(), kernel.knots.end(),
                                   [](const RateKnot& a, const RateKnot& b) { return a.bytes == b.bytes; }),
                       kernel.knots.end());
    Seconds least = kernel.launch;
    for (RateKnot& knot : kernel.knots) least = knot.time = std::max(least, knot.time);
  }
}

/// Changes compressor, codec and strategy where they do not go together.
void match(Compressor& compressor, CodecSettings& codec, Strategy& strategy) {
  const bool dense =
      std::holds_alternative<NoCompressor>(compressor) || std::holds_alternative<RatioCompressor>(compressor);
  const auto* sharded = std::get_if<ShardedStrategy>(&strategy);
  const bool in_parts = std::holds_alternative<EightBit>(compressor) || std::holds_alternative<Fp16>(compressor);
  if ((sharded && (sharded->group_size || !in_parts)) ||
      (std::holds_alternative<CollectiveBenchmark>(strategy) && !dense))
    compressor = NoCompressor{};
  codec.min_elements %= 1000;   // there are larger tensors
  codec.whole_vectors = false;  // one of two, and the other may match
  const bool two_stages = std::holds_alternative<PowerSgd>(compressor);
  if (auto* x = std::get_if<AllReduceStrategy>(&strategy)) x->carrier = Carrier::automatic;
  if (auto* x = std::get_if<LocalSgdStrategy>(&strategy)) {
    x->carrier = Carrier::automatic;
    x->fragments = 1 + x->fragments % std::min(2, x->steps);  // the workload has two tensors
    x->averaging_steps %= x->steps + 1;
    if (x->islands) {  // of 8k workers, k at least 2
      x->steps = 1 + x->steps % 100;
      x->fragments = 1;
      x->averaging_steps %= x->steps + 1;
      x->islands->size = 2 + 2 * (x->islands->size % 2);
      x->islands->steps = 1;
      x->islands->collective = {};
      codec.scope = CodecScope::workers;
    }
  }
  if (auto* x = std::get_if<PipelinedStrategy>(&strategy)) {
    x->carrier = Carrier::automatic;
    if (two_stages) codec.sharing = GpuSharing::fair;
    if (two_stages || std::holds_alternative<Atomo>(compressor)) x->segments = 1;
    if (x->segments > 1) {
      codec.min_elements = 0;
      codec.whole.reset();
    }
  }
  auto* gossip = std::get_if<GossipStrategy>(&strategy);
  if (gossip && gossip->graph != NeighbourGraph::one_peer_exponential) gossip->graph = NeighbourGraph::ring;
  const bool servers = std::holds_alternative<ParameterServerStrategy>(strategy);
  if (gossip) {
    gossip->steps = 1 + gossip->steps % 3;
    if (gossip->average) gossip->average = GlobalAverage{gossip->steps + 1 + gossip->average->steps % 9};
    if (gossip->islands) {  // of 8k workers, k at least 2
      gossip->islands->size = 2 + 2 * (gossip->islands->size % 2);
      gossip->islands->steps = 1;
      gossip->islands->collective = {};
    }
  }
  if (gossip && gossip->asynchronous)
    *gossip = {.overlap = gossip->overlap, .asynchronous = true, .steps = gossip->steps, .islands = gossip->islands};
  const auto* server = std::get_if<ParameterServerStrategy>(&strategy);
  const bool answers = server && server->consistency == Consistency::synchronous && !server->exchange.priority;
  if ((servers && two_stages && !answers) || (gossip && gossip->asynchronous)) compressor = NoCompressor{};
  if (servers || gossip || std::holds_alternative<PipelinedStrategy>(strategy)) codec.scope = CodecScope::workers;
  if (auto* x = std::get_if<QsparseLocalSgd>(&compressor); x && !std::holds_alternative<AllReduceStrategy>(strategy))
    x->local_steps = 1;
}

/// A random scenario changed where it breaks a rule between fields.
Scenario random_scenario() {
  Scenario s;
  s.name = random_text();
  s.description = random_text();
  s.cluster = random_value<Cluster>({});
  s.cluster.gpu.reset();  // a file that is there
  s.strategy = random_value<Strategy>({});
  s.compressor = random_value<Compressor>({});
  if (auto* natural = std::get_if<Natural>(&s.compressor); natural && natural->packing == Packing::grace)
    natural->exponent_bits.reset();  // GRACE sends 7
  mend(s.compressor);
  s.codec = random_value<CodecSettings>({});
  DeviceProfile device = s.codec.device ? *s.codec.device : random_value<DeviceProfile>({});
  device.peaks.resize(1, random_value<PeakRate>({}));
  mend(device);
  s.codec.device = device;
  match(s.compressor, s.codec, s.strategy);
  const auto* cut = std::get_if<PipelinedStrategy>(&s.strategy);
  if (coin() && !(cut && cut->segments > 1) && !std::holds_alternative<NoCompressor>(s.compressor) &&
      !std::holds_alternative<RatioCompressor>(s.compressor)) {
    s.codec.whole.reset();
    s.codec.min_elements = 0;
    s.other_compressors = std::vector<OtherCompressor>{
        {{random_text(), "b"}, coin() ? Compressor(Fp16{}) : EightBit{.packing = random_value<Packing>({})}}};
  }
  s.evaluation = random_value<Evaluation>({});
  s.output.plot = coin() ? Shared<std::string>("plot.svg") : Shared<std::string>();
  if (coin()) s.baseline = Baseline{"twice the link", Json{{"/cluster/link/latency", "1us"}, {"/evaluation/seed", 5}}};
  auto table = random_value<WorkloadTable>({});
  table.layers.clear();
  table.transformer.reset();
  table.compute_dtype.reset();
  table.recomputation = Recomputation::none;
  table.global_batch.reset();
  table.profile.reset();
  table.measured.reset();
  if (std::holds_alternative<ShardedStrategy>(s.strategy) || islands_of(s.strategy))
    table.accumulation = 1 + table.accumulation % 1024;
  table.variant.reset();
  table.gradients = {{"a", 1000000, 1_ms, {1000, 1000}}, {"b", 500000, 2_ms}};
  table.parameters.reset();
  table.backward.reset();
  table.forward = 5_ms;
  s.workload = std::make_shared<const WorkloadTable>(table);

  s.evaluation.evaluator = Evaluator::replay;
  s.evaluation.max_steps = 1000000;
  if (s.cluster.jitter.distribution == JitterDistribution::none || s.cluster.jitter.cv == 0) s.cluster.jitter = {};
  if (s.cluster.jitter.cv == 0) s.evaluation.runs = 1;
  if (s.evaluation.fidelity == Fidelity::folded && folding_refusal(s)) s.evaluation.fidelity = Fidelity::automatic;
  const bool open_topology =
      std::holds_alternative<Star>(s.cluster.topology) || std::holds_alternative<Racks>(s.cluster.topology);
  if (!open_topology)
    s.cluster.topology =
        coin() ? Topology(Nodes{8, {100_GBps, random_value<Seconds>(latency_limits)}, 2}) : Topology(Star{});
  if (!std::holds_alternative<Star>(s.cluster.topology)) s.cluster.groups.clear();
  for (WorkerGroup& group : s.cluster.groups) {
    group.count = 1 + group.count % 3;
    if (s.cluster.in_network_factor) group.latency.reset();
  }
  if (!traits(s.cluster.topology).is_tree) s.cluster.in_network_factor.reset();
  if (std::holds_alternative<TcpTransport>(s.cluster.transport) ||
      std::holds_alternative<SimGridXml>(s.cluster.topology))
    s.cluster.protocols.clear();
  for (std::size_t i = 0; i < s.cluster.protocols.size(); ++i)
    s.cluster.protocols[i].name = fmt::format("protocol {}", i);
  s.cluster.algorithms.clear();
  if (coin()) s.cluster.algorithms = {Algorithm::pairwise, Algorithm::nccl_tree};
  s.cluster.workers = 8 * integer_between(2, 1000);
  if (coin()) {
    table.batch = integer_between(1, 1000);
    table.accumulation = integer_between(1, 100);
    table.global_batch = std::int64_t{s.cluster.workers} * table.batch * table.accumulation;
    s.workload = std::make_shared<const WorkloadTable>(table);
  }
  const auto mend = [](CollectiveChoice& choice, const std::vector<Algorithm>& allowed) {
    choice.algorithm = *(allowed.begin() + integer_between(0, static_cast<int>(allowed.size()) - 1));
    if (choice.group_size.value) choice.group_size.value = 8;
    if (choice.rings.value) choice.rings.value = integer_between(1, 8);
    if (choice.between_groups != Algorithm::automatic)
      choice.between_groups = coin() ? Algorithm::ring : Algorithm::recursive_doubling;
  };
  using enum Algorithm;
  const bool dense =
      std::holds_alternative<NoCompressor>(s.compressor) || std::holds_alternative<RatioCompressor>(s.compressor);
  const std::vector<Algorithm> gathering{automatic, ring, recursive_doubling};  // for all-reduce and all-gather alike
  s.cluster.stack.strategies.reset();  // the strategy may not be among random ones
  const auto mend_parts = [&](Exchange& exchange, bool may_cut) {
    if (exchange.grouping == Grouping::whole_model) exchange.priority = false;
    if (exchange.partition && *exchange.partition < 1_MB) exchange.partition = 1_MB;
    const bool all_reduce = std::holds_alternative<AllReduceStrategy>(s.strategy);
    if (std::holds_alternative<QsparseLocalSgd>(s.compressor) || (all_reduce && s.codec.scope != CodecScope::workers))
      exchange.priority = false;
    if (may_cut) return;
    exchange.priority = false;
    exchange.partition = {};
  };
  if (auto* x = std::get_if<AllReduceStrategy>(&s.strategy)) {
    mend_parts(x->exchange, true);
    mend(x->collective, dense ? std::vector{automatic, ring, halving_doubling, double_binary_tree} : gathering);
    if (Bytes& cap = x->exchange.bucket_cap; x->exchange.cap_of(0) > cap)
      std::swap(*x->exchange.first_bucket.value, cap);
  } else if (auto* local = std::get_if<LocalSgdStrategy>(&s.strategy)) {
    mend(local->collective, dense ? std::vector{automatic, ring, halving_doubling, double_binary_tree} : gathering);
  } else if (auto* server = std::get_if<ParameterServerStrategy>(&s.strategy)) {
    server->shards = 1 + server->shards % 2;
    server->backup_workers = std::min(server->backup_workers, s.cluster.workers - 1);
    if (server->consistency != Consistency::asynchronous || server->two_way) server->pull_steps.reset();
    if (server->pull_steps) {
      server->steps = 1 + server->steps % 100;
      server->pull_steps = 1 + *server->pull_steps % 100;
    }
    mend_parts(server->exchange, server->consistency == Consistency::synchronous && server->steps == 1 &&
                                     (server->balance == ShardBalance::split || server->shards == 1));
    const HostCosts machines = host_costs(s.cluster);
    if (server->consistency != Consistency::synchronous ||
        (!machines.is_one_machine() && s.cluster.workers % machines.workers_of_machine != 0))
      server->sum_in_machine = false;
    s.codec.scope = server->sum_in_machine ? CodecScope::machines : CodecScope::workers;
    if (Bytes& cap = server->exchange.bucket_cap; server->exchange.cap_of(0) > cap)
      std::swap(*server->exchange.first_bucket.value, cap);
  } else if (auto* pipelined = std::get_if<PipelinedStrategy>(&s.strategy)) {
    mend(pipelined->collective, dense ? std::vector{automatic, ring, recursive_doubling, binary_tree} : gathering);
  } else if (auto* sharded = std::get_if<ShardedStrategy>(&s.strategy)) {
    if (sharded->group_size) sharded->group_size = 8 * (s.cluster.workers % 16 == 0 ? integer_between(1, 2) : 1);
    if (sharded->backward_group_size) sharded->backward_group_size = 4;
    if (auto& codes = sharded->quantized_gather) {
      codes = QuantizedGather{integer_between(1, 8), integer_between(8, 1 << 20)};
      s.codec.sharing = GpuSharing::serial;
    }
    mend_parts(sharded->exchange, false);
    mend(sharded->collective, {automatic, ring});
    mend(sharded->all_reduce, {automatic, ring, halving_doubling});
    if (Bytes& cap = sharded->exchange.bucket_cap; sharded->exchange.cap_of(0) > cap)
      std::swap(*sharded->exchange.first_bucket.value, cap);
  } else if (auto* benchmark = std::get_if<CollectiveBenchmark>(&s.strategy)) {
    benchmark->operation = coin() ? Operation::all_reduce : Operation::all_gather;
    mend(benchmark->collective, {automatic, ring, recursive_doubling});
    benchmark->size = std::max(benchmark->size, Bytes(65536));  // a byte for each of the most segments
  }
  if (s.codec.scope == CodecScope::machines && coin())
    s.inner_compressor = coin() ? Compressor(Fp16{}) : EightBit{.packing = random_value<Packing>({})};
  return s;
}

Scenario read_again(const Scenario& scenario, const std::string& file) {
  return parse_study(to_json(scenario).dump(1), file, {}, default_library()).points.at(0).scenario;
}

/// Appends the pointers of fields that `schema` names and `json` lacks.
void find_missing(const Json& whole, const Json& schema, const Json& json, const std::string& pointer,
                  std::vector<std::string>& missing, std::size_t& seen) {
  if (schema.contains("$ref"))
    find_missing(whole, whole[Json::json_pointer(schema["$ref"].get<std::string>().substr(1))], json, pointer, missing,
                 seen);
  if (schema.contains("anyOf"))
    for (const Json& choice : schema["anyOf"]) find_missing(whole, choice, json, pointer, missing, seen);
  if (json.is_array() && schema.contains("items"))
    for (std::size_t i = 0; i < json.size(); ++i)
      find_missing(whole, schema["items"], json[i], pointer_to(pointer, i), missing, seen);
  if (!json.is_object() || !schema.contains("properties") || !schema.contains("additionalProperties")) return;
  const Json& properties = schema["properties"];
  if (properties.contains("kind") &&
      properties["kind"].dump().find("{\"const\":" + json["kind"].dump() + "}") == std::string::npos)
    return;
  for (const auto& [name, field] : properties.items()) {
    if (name == "$schema") continue;  // only in files
    if (pointer.empty() && (name == "from" || name == "variants" || name == "impossible"))
      continue;  // only in studies, not in points
    const std::string at = pointer_to(pointer, name);
    ++seen;
    if (json.contains(name)) find_missing(whole, field, json[name], at, missing, seen);
    else missing.push_back(at);
  }
}

}  // namespace

TEST_CASE("shipped stacks say where each of their constants is from") {
  const auto files = shipped("stacks");
  REQUIRE(files.size() >= 3);
  for (const auto& file : files) {
    INFO(file.string());
    Stack stack;
    std::vector<Fault> faults;
    Json json = read_json(file);
    json.erase("$schema");
    read_value(json, "", stack, {}, faults);
    CHECK(faults.empty());
    CHECK(stack.name.value_or("") == file.stem().string());
    CHECK(stack.description);
    std::set<std::string> told;
    for (const ConstantOrigin& one : stack.origins.value_or({})) {
      CHECK(json.contains(one.constant));
      CHECK(one.source.size() > 10);
      told.insert(one.constant);
    }
    for (const auto& [key, value] : json.items())
      if (key != "name" && key != "description" && key != "strategies" && key != "origins") CHECK(told.contains(key));
    CHECK(told.size() <= 6);  // more than the rows could determine
  }
}

TEST_CASE("every point of every shipped scenario round-trips") {
  const auto files = shipped("");
  REQUIRE_FALSE(files.empty());
  std::size_t points = 0;
  for (const auto& file : files) {
    INFO(file.string());
    const Study study = load_study(file, {}, default_library());
    for (const StudyPoint& point : study.points) {
      ++points;
      CHECK(to_json(read_again(point.scenario, file.string())) == to_json(point.scenario));
    }
  }
  CHECK(points > 100);
}

TEST_CASE("random parts round-trip") {
  property(
      "cluster", [] { require_round_trip(random_value<Cluster>({})); }, 1000);
  property(
      "strategy", [] { require_round_trip(random_value<Strategy>({})); }, 1000);
  property("compressor", [] { require_round_trip(random_value<Compressor>({})); });
  property("workload", [] { require_round_trip(random_value<WorkloadTable>({})); });
  property("device profile", [] { require_round_trip(random_value<DeviceProfile>({})); });
  property("evaluation", [] { require_round_trip(random_value<Evaluation>({})); });
}

TEST_CASE("random scenarios round-trip through the whole reader") {
  property(
      "canonical document",
      [] {
        const Scenario scenario = random_scenario();
        std::vector<Fault> faults;
        check(scenario, faults);
        if (!faults.empty()) RC_FAIL("the generator broke a rule:\n" + list(faults));
        try {
          const std::string once = to_json(scenario).dump(),
                            twice = to_json(read_again(scenario, "canonical.json")).dump();
          if (once != twice) RC_FAIL(once + "\n" + twice);
        } catch (const ScenarioError& error) {
          RC_FAIL(std::string(error.what()) + "\n" + to_json(scenario).dump());
        }
      },
      500);
}

TEST_CASE("the canonical document writes every default out") {
  const Json schema = scenario_schema();
  for (const char* strategy : {"all-reduce", "parameter-server", "pipelined", "local-sgd", "sharded", "gossip"}) {
    for (const char* topology : {"star", "racks", "nodes"}) {
      Json place{{"kind", topology}};
      if (place["kind"] == "racks") place["hosts_per_rack"] = 4;
      if (place["kind"] == "nodes") place.update({{"gpus_per_node", 4}, {"inner", {{"bandwidth", "100GB/s"}}}});
      const std::string text =
          good_scenario({{"/strategy", Json{{"kind", strategy}}},
                         {"/cluster/topology", place},
                         {"/cluster/groups", Json::parse(R"([{"count": 1}])")},
                         {"/baseline", Json::parse(R"({"name": "b", "set": {"/cluster/link/latency": "1us"}})")}});
      const Json canonical = to_json(parse_study(text, "s.json", {}, default_library()).points.at(0).scenario);
      std::vector<std::string> missing;
      std::size_t seen = 0;
      find_missing(schema, schema, canonical, "", missing, seen);
      INFO(canonical.dump(1));
      CHECK(missing == std::vector<std::string>{});
      CHECK(seen > 40);
    }
  }
}
