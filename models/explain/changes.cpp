#include "models/explain/changes.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <type_traits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/collective/collective.hpp"
#include "models/compressor/compressor.hpp"
#include "models/describe/writer.hpp"
#include "models/fabric/machines.hpp"
#include "models/part/worker_kinds.hpp"
#include "models/price/cluster_prices.hpp"
#include "models/scenario/collective_choice.hpp"
#include "models/unit/format.hpp"
#include "models/workload/blocks.hpp"
#include "models/workload/layer_times.hpp"

namespace stepcast {
namespace {

/// "/cluster/topology/inner/bandwidth" -> "topology inner bandwidth"
std::string words_of(std::string pointer) {
  pointer.erase(0, std::string("/cluster/").size());
  std::replace_if(
      pointer.begin(), pointer.end(), [](char c) { return c == '/' || c == '_'; }, ' ');
  return pointer;
}

using Settings = std::vector<std::pair<std::string, Json>>;

constexpr double kHalf = 0.5;

std::string_view text_of(ReduceAfter when) {
  switch (when) {
    case ReduceAfter::last_pass: return "after the last pass alone";
    case ReduceAfter::every_pass: return "after every pass";
    case ReduceAfter::inside_every_pass: return "inside groups after every pass";
  }
  throw std::logic_error("no such time to reduce");
}

/// Sets that this share of the blocks is computed again.
Settings computed_again(const WorkloadTable& w, double share) {
  Settings set{{"/workload/recomputation", name_of(Recomputation::blocks)}};
  if (w.recomputed_share != share) set.emplace_back("/workload/recomputed_share", share);
  return set;
}

/// Of `part`, what is not as in `usual`, and its kind.
Json without_defaults(const Json& part, const Json& usual) {
  Json rest = Json::object();
  for (const auto& [key, value] : part.items()) {
    const auto other = usual.find(key);
    if (key == "kind" || other == usual.end()) rest[key] = value;
    else if (value.is_object() && other->is_object() && value != *other) rest[key] = without_defaults(value, *other);
    else if (value != *other) rest[key] = value;
  }
  return rest;
}

/// The same choice under another strategy, so that a change is of one thing; auto where it does not do that one's
/// operations.
CollectiveChoice kept_choice(const Strategy& strategy, std::initializer_list<Operation> operations) {
  const CollectiveChoice* choice = collective_of(strategy);
  const auto fits = [&](Operation operation) { return fitted(*choice, operation) == *choice; };
  return choice && std::all_of(operations.begin(), operations.end(), fits) ? *choice : CollectiveChoice{};
}

/// Of all-gathers and reduce-scatters among the workers of a group, of which there is nothing inside or between.
CollectiveChoice kept_choice_inside(const Strategy& strategy, bool is_group) {
  CollectiveChoice choice = kept_choice(strategy, {Operation::all_gather, Operation::reduce_scatter});
  const bool is_of_groups = choice.algorithm == Algorithm::hierarchical || choice.algorithm == Algorithm::multi_ring;
  return is_group && is_of_groups ? CollectiveChoice{} : choice;
}

/// A part's numbers, each twice as good: visits what describe() names, and what that holds.
class TwiceAsGood {
 public:
  TwiceAsGood(std::string pointer, std::vector<Change>& changes) : pointer_(std::move(pointer)), changes_(changes) {}

  template <class T>
  void required(const char* name, T& value, const char*, Limits = {}) {
    look(pointer_to(pointer_, name), name, value);
  }
  template <class T>
  void optional(const char* name, T& value, const char*, Limits = {}) {
    look(pointer_to(pointer_, name), name, value);
  }

 private:
  template <class T>
  void look(const std::string& pointer, std::string_view name, T& value) {
    if constexpr (std::is_same_v<T, BytesPerSecond> || std::is_same_v<T, Bytes>) quantity(pointer, value * 2.0);
    else if constexpr (std::is_same_v<T, Seconds> || std::is_same_v<T, SecondsPerByte>) quantity(pointer, value / 2.0);
    else if constexpr (IsOptional<T>::value) {
      if (value) look(pointer, name, *value);
    } else if constexpr (IsVariant<T>::value) {
      std::visit([&](auto& part) { descend(pointer, part); }, value);
    } else if constexpr (std::is_same_v<T, std::vector<WorkerGroup>>) {
      for (std::size_t i = 0; i < value.size(); ++i) descend(pointer_to(pointer, i), value[i]);
    } else if constexpr (std::is_same_v<T, Link> || std::is_same_v<T, NodeRacks>) {
      descend(pointer, value);
    } else if constexpr (std::is_same_v<T, int>) {
      if (name == "nics" || name.ends_with("_links")) add(pointer, std::to_string(2L * value), 2L * value);
    } else if constexpr (std::is_same_v<T, std::vector<int>>) {
      if (name != "parallel") return;
      std::vector<int> cables = value;
      for (int& count : cables) count *= 2;
      add(pointer, "twice as many cables", cables);
    } else if constexpr (std::is_same_v<T, double>) {
      if (name == "oversubscription" && value > 1)
        add(pointer, fmt::format("{:.3g}", std::max(1.0, value / 2)), std::max(1.0, value / 2));
    }
  }

  template <class Part>
  void descend(const std::string& pointer, Part& part) {
    TwiceAsGood inner(pointer, changes_);
    Part::describe(inner, part);
  }

  template <class Q>
  void quantity(const std::string& pointer, Q better) {
    if (better != Q{}) add(pointer, human_text(better), exact_text(better));
  }

  void add(const std::string& pointer, const std::string& better, Json value) {
    changes_.push_back({ChangeOf::cluster, words_of(pointer) + " " + better, {{pointer, std::move(value)}}});
  }

  std::string pointer_;
  std::vector<Change>& changes_;
};

class Changes {
 public:
  explicit Changes(const Scenario& scenario) : s_(scenario) {}

  std::vector<Change> all() {
    cluster();
    std::visit([this](const auto& strategy) { exchange_of(strategy); }, s_.strategy);
    if (trains(s_)) {
      passes(*s_.workload);
      recomputation(*s_.workload);
      if (gives_shapes(*s_.workload) && !s_.workload->fused_update)
        add(ChangeOf::execution, "one kernel updates all tensors", "/workload/fused_update", true);
      if (s_.workload->transformer) code_of(*s_.workload->transformer);
      training();
    }
    return std::move(changes_);
  }

 private:
  void add(ChangeOf of, std::string what, const std::string& pointer, Json value) {
    changes_.push_back({of, std::move(what), {{pointer, std::move(value)}}});
  }

  void cluster() {
    Cluster numbers = s_.cluster;
    numbers.fits.clear();  // for the reader; nothing is computed from them
    TwiceAsGood visitor("/cluster", changes_);
    Cluster::describe(visitor, numbers);
    // A platform file has links of its own.
    if (std::holds_alternative<SimGridXml>(s_.cluster.topology))
      std::erase_if(changes_,
                    [](const Change& change) { return change.set.front().first.starts_with("/cluster/link/"); });

    if (!std::holds_alternative<CollectiveBenchmark>(s_.strategy)) {
      std::vector<WorkerGroup> twice;
      if (const std::vector<WorkerKind> kinds = worker_kinds(s_.cluster); kinds.size() > s_.cluster.groups.size())
        twice.push_back({.count = kinds.front().count});
      twice.insert(twice.end(), s_.cluster.groups.begin(), s_.cluster.groups.end());
      Json groups = Json::array();
      for (WorkerGroup& group : twice) {
        group.speed *= 2;
        groups.push_back(without_defaults(write_value(group), write_value(WorkerGroup{.count = 0})));
      }
      add(ChangeOf::cluster, "workers compute twice as fast", "/cluster/groups", groups);
    }
    if (worker_kinds(s_.cluster).size() > 1)
      add(ChangeOf::cluster, "all workers alike", "/cluster/groups", Json::array());
    // Without randomness there is nothing to repeat.
    if (s_.cluster.jitter.cv > 0)
      changes_.push_back(
          {ChangeOf::cluster, "no jitter", {{"/cluster/jitter", Json::object()}, {"/evaluation/runs", 1}}});
    add(ChangeOf::cluster, fmt::format("{} workers", 2L * s_.cluster.workers), "/cluster/workers",
        2L * s_.cluster.workers);
  }

  void exchange_of(const AllReduceStrategy& x) {
    groupings(x.exchange);
    carriers(x.carrier);
    cheapest(x.collective);
    servers(x.exchange);
    if (std::holds_alternative<NoCompressor>(s_.compressor)) {
      // Nothing whole would overlap.
      Exchange exchange = x.exchange.grouping == Grouping::whole_model ? ShardedStrategy{}.exchange : x.exchange;
      exchange.backward_slowdown = x.exchange.backward_slowdown;
      strategy(ChangeOf::execution, "gradients and optimizer state sharded",
               ShardedStrategy{.stage = ShardingStage::gradients,
                               .collective = kept_choice_inside(s_.strategy, false),
                               .exchange = exchange});
      if (const auto group = machine_group())
        strategy(ChangeOf::execution,
                 fmt::format("gradients and optimizer state sharded inside each {}", group_name(s_.cluster)),
                 ShardedStrategy{.stage = ShardingStage::gradients,
                                 .collective = kept_choice_inside(s_.strategy, true),
                                 .exchange = exchange,
                                 .group_size = group});
    }
  }
  void exchange_of(const ParameterServerStrategy& x) {
    groupings(x.exchange);
    if (x.shards > 1 && x.balance == ShardBalance::greedy)
      add(ChangeOf::execution, "shards of one size", "/strategy/balance", "split");
    add(ChangeOf::execution, fmt::format("{} shards", 2 * x.shards), "/strategy/shards", 2 * x.shards);
    if (x.placement == ServerPlacement::dedicated || x.shards < s_.cluster.workers) {
      ParameterServerStrategy everywhere = x;
      everywhere.placement = ServerPlacement::co_located;
      everywhere.shards = s_.cluster.workers;
      strategy(ChangeOf::execution, "a shard on every worker", everywhere);
    }
    // Asynchronous servers take gradients at other weights.
    const bool synchronous = x.consistency == Consistency::synchronous;
    strategy(synchronous ? ChangeOf::execution : ChangeOf::training, "all-reduce",
             AllReduceStrategy{.exchange = x.exchange});
    if (!synchronous) return;
    add(ChangeOf::training, "asynchronous servers", "/strategy/consistency", name_of(Consistency::asynchronous));
  }
  void exchange_of(const PipelinedStrategy& x) {
    cheapest(x.collective);
    carriers(x.carrier);
    add(ChangeOf::execution, fmt::format("{} segments", 2 * x.segments), "/strategy/segments", 2 * x.segments);
    if (x.segments > 1) add(ChangeOf::execution, "one segment", "/strategy/segments", 1);
    add(ChangeOf::training, fmt::format("width {}", x.width + 1), "/strategy/width", x.width + 1);
    if (x.width > 1) add(ChangeOf::training, "width 1, synchronous", "/strategy/width", 1);
    strategy(ChangeOf::training, "synchronous all-reduce in buckets",
             AllReduceStrategy{.collective = kept_all_reduce(), .exchange = {.grouping = Grouping::bucketed}});
  }
  void exchange_of(const ShardedStrategy& x) {
    groupings(x.exchange);
    cheapest(x.collective);
    for (const auto& choice : Choices<ShardingStage>::table)
      if (choice.value != x.stage)
        add(ChangeOf::execution, fmt::format("stage {}", choice.name), "/strategy/stage", choice.name);
    if (const auto group = machine_group(); group && x.group(s_.cluster.workers) != *group)
      add(ChangeOf::execution, fmt::format("state sharded inside each {}", group_name(s_.cluster)),
          "/strategy/group_size", *group);
    if (const Nodes* nodes = nodes_in_racks(s_.cluster)) {
      const std::int64_t rack = std::int64_t{nodes->gpus_per_node} * nodes->racks->nodes_per_rack;
      if (rack < s_.cluster.workers && s_.cluster.workers % rack == 0 && x.group(s_.cluster.workers) != rack)
        add(ChangeOf::execution, "state sharded inside each rack", "/strategy/group_size", rack);
    }
    if (x.group(s_.cluster.workers) < s_.cluster.workers)
      add(ChangeOf::execution, "state sharded over all workers", "/strategy/group_size", nullptr);
    if (x.all_reduce != CollectiveChoice{})
      add(ChangeOf::execution, "the cheapest all-reduce between groups", "/strategy/all_reduce", Json::object());
    if (x.stage == ShardingStage::parameters)
      add(ChangeOf::execution, fmt::format("{} units gathered ahead", 2 * x.prefetch + 1), "/strategy/prefetch",
          2 * x.prefetch + 1);
    if (s_.workload->accumulation > 1)
      for (const auto& choice : Choices<ReduceAfter>::table) {
        const bool has_groups = x.group(s_.cluster.workers) < s_.cluster.workers;
        if (choice.value == x.reduce_after || (choice.value == ReduceAfter::inside_every_pass && !has_groups)) continue;
        add(ChangeOf::execution, fmt::format("gradients reduced {}", text_of(choice.value)), "/strategy/reduce_after",
            choice.name);
      }
    if (x.reduced_over(s_.workload->dtype) > 1)
      add(ChangeOf::training, fmt::format("gradients reduced in {}", name_of(s_.workload->dtype)),
          "/strategy/reduce_dtype", nullptr);
    strategy(ChangeOf::execution, "all-reduce, with all state on every worker",
             AllReduceStrategy{.collective = kept_all_reduce(), .exchange = x.exchange});
  }
  void exchange_of(const LocalSgdStrategy& x) {
    for (const auto& choice : Choices<Grouping>::table)
      if (choice.value != x.grouping)
        add(ChangeOf::execution, std::string(choice.name), "/strategy/grouping", choice.name);
    cheapest(x.collective);
    carriers(x.carrier);
    add(ChangeOf::training, fmt::format("averaged every {} steps", 2 * x.steps), "/strategy/steps", 2 * x.steps);
    strategy(ChangeOf::training, "synchronous all-reduce in buckets",
             AllReduceStrategy{.collective = kept_all_reduce(), .exchange = {.grouping = Grouping::bucketed}});
  }
  void exchange_of(const GossipStrategy& x) {
    if (!x.overlap) add(ChangeOf::execution, "overlap with the gradient's computation", "/strategy/overlap", true);
    strategy(ChangeOf::training, "synchronous all-reduce in buckets",
             AllReduceStrategy{.exchange = {.grouping = Grouping::bucketed}});
  }
  void exchange_of(const CollectiveBenchmark& x) {
    for (const CollectiveAlgorithm& entry : collective_algorithms()) {
      if (entry.operation != x.operation || entry.algorithm == x.collective.algorithm ||
          !may_choose(s_.cluster.algorithms, entry.algorithm, x.operation))
        continue;
      if (entry.algorithm == Algorithm::multi_ring && machines(s_.cluster).nics == 1) continue;  // one ring, over again
      add(ChangeOf::execution, std::string(name_of(entry.algorithm)), "/strategy/collective",
          {{"algorithm", name_of(entry.algorithm)}});
    }
    if (x.collective.algorithm == Algorithm::hierarchical && x.collective.between_groups != Algorithm::automatic)
      for (const Algorithm between : algorithms_between(x.operation))
        if (between != x.collective.between_groups)
          add(ChangeOf::execution, fmt::format("{} between groups", name_of(between)), "/strategy/collective/between",
              name_of(between));
    cheapest(x.collective);
  }

  void groupings(const Exchange& x) {
    for (const auto& choice : Choices<Grouping>::table)
      if (choice.value != x.grouping)
        add(ChangeOf::execution, std::string(choice.name), "/strategy/exchange/grouping", choice.name);
    if (x.grouping == Grouping::bucketed)
      for (const double factor : {4.0, 0.25}) {
        const Bytes cap = x.bucket_cap * factor;
        Change change{ChangeOf::execution,
                      fmt::format("buckets of {}", human_text(cap)),
                      {{"/strategy/exchange/bucket_cap", exact_text(cap)}}};
        if (x.first_bucket.value && *x.first_bucket.value > cap)
          change.set.emplace_back("/strategy/exchange/first_bucket", exact_text(cap));
        changes_.push_back(std::move(change));
      }
    if (!x.overlap && x.grouping != Grouping::whole_model)
      add(ChangeOf::execution, "overlap with back-propagation", "/strategy/exchange/overlap", true);
  }

  void cheapest(const CollectiveChoice& x) {
    if (x != CollectiveChoice{})
      add(ChangeOf::execution, "the cheapest algorithm", "/strategy/collective", Json::object());
  }

  void servers(const Exchange& x) {
    strategy(
        ChangeOf::execution, "a server shard on every worker",
        ParameterServerStrategy{.shards = s_.cluster.workers, .placement = ServerPlacement::co_located, .exchange = x});
    // Sums that are encoded again are other training.
    if (!std::holds_alternative<NoCompressor>(s_.compressor))
      strategy(
          ChangeOf::training, "a server shard on every worker, which compresses its answer",
          ParameterServerStrategy{
              .shards = s_.cluster.workers, .placement = ServerPlacement::co_located, .two_way = true, .exchange = x});
    strategy(ChangeOf::cluster, fmt::format("{} more hosts, a server shard on each", s_.cluster.workers),
             ParameterServerStrategy{.shards = s_.cluster.workers, .exchange = x});
  }

  /// The workers of a machine or rack, where there are several and all of one size.
  [[nodiscard]] std::optional<int> machine_group() const {
    const int group = natural_group(s_.cluster), workers = s_.cluster.workers;
    return group > 1 && group < workers && workers % group == 0 ? std::optional(group) : std::nullopt;
  }

  /// The same samples in more passes, or in fewer. Times of a table with times do not follow its batch.
  void passes(const WorkloadTable& w) {
    if (!gives_shapes(w)) return;
    const auto offer = [&](int batch, int accumulation) {
      Change change{ChangeOf::execution,
                    fmt::format("{} pass{} of {}", accumulation, accumulation == 1 ? "" : "es", batch),
                    {{"/workload/batch", batch}}};
      if (!w.global_batch) change.set.emplace_back("/workload/accumulation", accumulation);
      changes_.push_back(std::move(change));
    };
    if (w.batch % 2 == 0 && w.accumulation <= kMostAccumulation / 2) offer(w.batch / 2, w.accumulation * 2);
    if (w.accumulation % 2 == 0) offer(w.batch * 2, w.accumulation / 2);
  }

  /// The same network by other kernels.
  void code_of(const Transformer& x) {
    if (!x.fused_loss)
      add(ChangeOf::execution, "a loss that never has all scores at once", "/workload/transformer/fused_loss", true);
    if (!may_be_composed(x)) return;
    const char* other =
        x.composed ? "norms and rotary positions by a kernel each" : "norms and rotary positions by simple operations";
    add(ChangeOf::execution, other, "/workload/transformer/composed", !x.composed);
  }

  void recomputation(const WorkloadTable& w) {
    if (!gives_shapes(w) || blocks_of(list_gradients(w).layers).empty()) return;
    const bool again = w.recomputation != Recomputation::none;
    if (again)
      add(ChangeOf::execution, "all activations kept", "/workload/recomputation", name_of(Recomputation::none));
    for (const double share : {1.0, kHalf})
      if (!again || w.recomputed_share != share)
        changes_.push_back(
            {ChangeOf::execution,
             fmt::format("{}'s activations computed again", share < 1 ? "every second block" : "each block"),
             computed_again(w, share)});
  }

  [[nodiscard]] Dtype dtype() const { return s_.workload ? s_.workload->dtype : Dtype::fp32; }

  /// Carriers that encode sums again, as other training does, and auto, which does not.
  void carriers(Carrier now) {
    if (std::holds_alternative<NoCompressor>(s_.compressor) || std::holds_alternative<RatioCompressor>(s_.compressor))
      return;
    const CompressorTraits traits = traits_of(s_.compressor, dtype());
    const auto offer = [&](Carrier carrier, bool fits) {
      if (fits && carrier != now)
        add(ChangeOf::training, fmt::format("carrier {}", name_of(carrier)), "/strategy/carrier", name_of(carrier));
    };
    offer(Carrier::automatic, now == Carrier::all_to_all || now == Carrier::in_collective);
    offer(Carrier::all_to_all, traits.one_gathered_message);
    offer(Carrier::in_collective, traits.recodable);
  }

  /// Whether the compressor's messages are gathered, and the algorithm that was chosen gathers nothing.
  [[nodiscard]] bool needs_another_algorithm(const Compressor& compressor) const {
    const CollectiveChoice* choice = collective_of(s_.strategy);
    if (!choice || choice->algorithm == Algorithm::automatic || fitted(*choice, Operation::all_gather) == *choice)
      return false;
    return !traits_of(compressor, dtype()).summable;
  }

  [[nodiscard]] CollectiveChoice kept_all_reduce() const { return kept_choice(s_.strategy, {Operation::all_reduce}); }

  template <class Kind>
  void strategy(ChangeOf of, std::string what, const Kind& other) {
    add(of, std::move(what), "/strategy", without_defaults(write_value(Strategy(other)), write_value(Kind{})));
  }

  void training() {
    for_each_part(static_cast<const Compressor*>(nullptr), [&]<class Part>(std::in_place_type_t<Part>) {
      // A ratio of what, nobody says.
      if (Part::kind == RatioCompressor::kind || std::holds_alternative<Part>(s_.compressor)) return;
      Change change{ChangeOf::training,
                    Part::kind == NoCompressor::kind ? "no compressor" : std::string(Part::kind),
                    {{"/compressor", {{"kind", Part::kind}}}}};
      if (needs_another_algorithm(Part{})) {
        change.what += ", algorithm auto";
        change.set.emplace_back("/strategy/collective/algorithm", name_of(Algorithm::automatic));
      }
      changes_.push_back(std::move(change));
    });
    if (!std::holds_alternative<PipelinedStrategy>(s_.strategy))
      strategy(ChangeOf::training, "pipelined, width 2", PipelinedStrategy{.collective = kept_all_reduce()});
    if (!std::holds_alternative<LocalSgdStrategy>(s_.strategy))
      strategy(ChangeOf::training, fmt::format("local SGD, averaged every {} steps", LocalSgdStrategy{}.steps),
               LocalSgdStrategy{.collective = kept_all_reduce()});
    if (!std::holds_alternative<GossipStrategy>(s_.strategy)) strategy(ChangeOf::training, "gossip", GossipStrategy{});
    const WorkloadTable& w = *s_.workload;
    if (w.global_batch)
      add(ChangeOf::training, fmt::format("global batch of {}", 2 * *w.global_batch), "/workload/global_batch",
          2 * *w.global_batch);
    else
      add(ChangeOf::training, fmt::format("accumulation of {}", 2 * w.accumulation), "/workload/accumulation",
          2 * w.accumulation);
    // A table of times keeps them whatever its batch, dtype or variant are said to be.
    if (!gives_shapes(w)) return;
    if (w.variant) add(ChangeOf::training, "the network unfactorized", "/workload/variant", nullptr);
    for (const WorkloadVariant& variant : w.variants)
      if (!w.variant || variant.name != w.variant->name)
        add(ChangeOf::training, "variant " + variant.name, "/workload/variant", variant.name);
    for (const PeakRate& peak : w.profile ? w.profile->peaks : std::vector<PeakRate>{}) {
      if (w.compute_dtype) {
        if (peak.dtype != *w.compute_dtype && size_of(peak.dtype) <= size_of(w.dtype))
          add(ChangeOf::training, fmt::format("operands in {}", name_of(peak.dtype)), "/workload/compute_dtype",
              name_of(peak.dtype));
      } else if (peak.dtype != w.dtype) {
        if (size_of(peak.dtype) < size_of(w.dtype) || (peak.dtype == Dtype::tf32 && w.dtype == Dtype::fp32))
          add(ChangeOf::training, fmt::format("operands in {}, gradients in {}", name_of(peak.dtype), name_of(w.dtype)),
              "/workload/compute_dtype", name_of(peak.dtype));
        add(ChangeOf::training, fmt::format("operands and gradients in {}", name_of(peak.dtype)), "/workload/dtype",
            name_of(peak.dtype));
      }
    }
    if (!w.global_batch)
      add(ChangeOf::training, fmt::format("batch of {}", 2L * w.batch), "/workload/batch", 2L * w.batch);
  }

  const Scenario& s_;
  std::vector<Change> changes_;
};

}  // namespace

std::vector<Change> changes_of(const Scenario& scenario) { return Changes(scenario).all(); }

std::vector<Change> leaner_changes(const Scenario& scenario) {
  std::vector<Change> changes;
  if (!trains(scenario) || !gives_shapes(*scenario.workload)) return changes;
  const WorkloadTable& w = *scenario.workload;
  struct Step {
    std::string what;  ///< empty: as it is
    Settings set;
    bool is_told = false;  ///< changes_of has it
  };
  std::vector<Step> passes{{}}, kept{{}}, states{{}};
  for (int parts = 2; w.batch % parts == 0 && w.accumulation <= kMostAccumulation / parts; parts *= 2) {
    Step& step = passes.emplace_back(Step{fmt::format("{} passes of {}", w.accumulation * parts, w.batch / parts),
                                          {{"/workload/batch", w.batch / parts}},
                                          parts == 2});
    if (!w.global_batch) step.set.emplace_back("/workload/accumulation", w.accumulation * parts);
  }
  if (w.recomputation == Recomputation::none && !blocks_of(list_gradients(w).layers).empty())
    for (const double share : {kHalf, 1.0})
      kept.push_back(
          {share < 1 ? "every second block computed again" : "blocks computed again", computed_again(w, share), true});
  if (std::holds_alternative<AllReduceStrategy>(scenario.strategy) &&
      std::holds_alternative<NoCompressor>(scenario.compressor))
    for (const ShardingStage stage : {ShardingStage::gradients, ShardingStage::parameters}) {
      ShardedStrategy sharded;
      sharded.stage = stage;
      sharded.collective = kept_choice_inside(scenario.strategy, false);
      states.push_back(
          {stage == ShardingStage::gradients ? "gradients and optimizer state sharded" : "all state sharded",
           {{"/strategy", without_defaults(write_value(Strategy(sharded)), write_value(ShardedStrategy{}))}},
           stage == ShardingStage::gradients});
    }
  for (const Step& state : states)
    for (const Step& keep : kept)
      for (const Step& pass : passes) {
        std::vector<std::string> what;
        bool is_told = true;
        Change change{ChangeOf::memory, "", {}};
        for (const Step* step : {&pass, &keep, &state}) {
          if (step->what.empty()) continue;
          is_told = what.empty() && step->is_told;
          what.push_back(step->what);
          change.set.insert(change.set.end(), step->set.begin(), step->set.end());
        }
        if (is_told) continue;
        change.what = fmt::format("{}", fmt::join(what, ", "));
        changes.push_back(std::move(change));
      }
  return changes;
}

}  // namespace stepcast
