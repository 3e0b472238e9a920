// Changes of the exchange, and other strategies.
#include <fmt/format.h>

#include "models/collective/collective.hpp"
#include "models/explain/change_list.hpp"
#include "models/fabric/machines.hpp"
#include "models/part/host_costs.hpp"
#include "models/part/worker_kinds.hpp"
#include "models/price/cluster_prices.hpp"
#include "models/scenario/collective_rules.hpp"
#include "models/scenario/part_json.hpp"
#include "models/scenario/tensor_compressors.hpp"
#include "models/strategy/builder.hpp"
#include "models/unit/format.hpp"

namespace stepcast {
namespace {

std::string_view text_of(ReduceAfter when) {
  switch (when) {
    case ReduceAfter::last_pass: return "after the last pass alone";
    case ReduceAfter::every_pass: return "after every pass";
    case ReduceAfter::inside_every_pass: return "inside groups after every pass";
  }
  throw std::logic_error("no such time to reduce");
}

/// The choice's name.
constexpr auto kByName = [](const auto& choice) { return std::string(choice.name); };

/// Synchronous training in buckets, from another strategy.
AllReduceStrategy in_buckets(const CollectiveChoice& collective = {}) {
  return {.collective = collective, .exchange = {.grouping = Grouping::bucketed}};
}

class ExchangeChanges {
 public:
  ExchangeChanges(const Scenario& scenario, ChangeList& changes) : s_(scenario), changes_(changes) {}

  void of(const AllReduceStrategy& x) {
    const auto here = strategy_of(x);
    groupings(here.at(&AllReduceStrategy::exchange));
    priorities(here.at(&AllReduceStrategy::exchange));
    carriers(here);
    scopes();
    cheapest(here);
    servers(x.exchange);
    if (!std::holds_alternative<NoCompressor>(s_.compressor)) return;
    // A single group would not overlap.
    Exchange exchange = x.exchange.grouping == Grouping::whole_model ? ShardedStrategy{}.exchange : x.exchange;
    exchange.partition = {};  // sharded state has no parts
    exchange.priority = false;
    const auto shard = [&](const std::string& where, bool is_group, std::optional<int> group) {
      changes_.add_strategy(kExecution, "gradients and optimizer state sharded" + where,
                            ShardedStrategy{.stage = ShardingStage::gradients,
                                            .collective = kept_choice_inside(s_.strategy, is_group),
                                            .exchange = exchange,
                                            .group_size = group});
    };
    shard("", false, {});
    if (const auto group = machine_group(s_))
      shard(fmt::format(" inside each {}", group_name(s_.cluster)), true, group);
  }

  void of(const ParameterServerStrategy& x) {
    using X = ParameterServerStrategy;
    const auto here = strategy_of(x);
    const bool synchronous = x.consistency == Consistency::synchronous;
    const bool has_backups = x.consistency == Consistency::backup_workers;
    groupings(here.at(&X::exchange));
    // A second message waits for all first ones. With greedy, parts would go to other shards.
    const bool one_message = !any_has(s_, [](const CompressorTraits& traits) { return traits.stages > 1; });
    if (x.period() == 1 && one_message)
      priorities(here.at(&X::exchange), x.shards == 1 || x.balance == ShardBalance::split);
    if (x.shards > 1 && x.balance == ShardBalance::greedy)
      changes_.add(kExecution, "shards of one size", here, &X::balance, ShardBalance::split);
    changes_.add(kExecution, fmt::format("{} shards", 2 * x.shards), here, &X::shards, 2 * x.shards);
    if (x.placement == ServerPlacement::dedicated || x.shards < s_.cluster.workers) {
      X everywhere = x;
      everywhere.placement = ServerPlacement::co_located;
      everywhere.shards = s_.cluster.workers;
      changes_.add_strategy(kExecution, "a shard on every worker", everywhere);
    }
    inner_methods();
    if (!has_backups && !x.sum_in_machine && machine_group(s_) && host_costs(s_.cluster).workers_of_machine > 1)
      sums(here);
    AllReduceStrategy all_reduce{.exchange = x.exchange};
    if (s_.codec.scope == CodecScope::machines) all_reduce.exchange.priority = false;
    const bool sums_encoded = x.two_way && !std::holds_alternative<NoCompressor>(s_.compressor);
    changes_.add_strategy(synchronous && !sums_encoded ? kExecution : kTraining, "all-reduce", all_reduce);
    if (synchronous || has_backups)
      changes_.add(kTraining, "asynchronous servers", here, &X::consistency, Consistency::asynchronous);
    if (synchronous && !x.sum_in_machine && (s_.cluster.jitter.cv > 0 || !workers_are_alike(s_.cluster)))
      changes_.add(kTraining, fmt::format("updates wait for all but {} of the workers", x.backup_workers), here,
                   &X::consistency, Consistency::backup_workers);
    if (has_backups) {
      changes_.add(kTraining, "updates wait for all workers", here, &X::consistency, Consistency::synchronous);
      if (const int more = 2 * x.backup_workers; more < s_.cluster.workers)
        changes_.add(kTraining, fmt::format("{} backup workers", more), here, &X::backup_workers, more);
    }
    if (!x.exchange.priority)
      changes_.add(kTraining, fmt::format("servers every {} steps", 2 * x.steps), here, &X::steps, 2 * x.steps);
  }

  void of(const PipelinedStrategy& x) {
    using X = PipelinedStrategy;
    const auto here = strategy_of(x);
    cheapest(here);
    carriers(here);
    changes_.add(kExecution, fmt::format("{} segments", 2 * x.segments), here, &X::segments, 2 * x.segments);
    if (x.segments > 1) changes_.add(kExecution, "one segment", here, &X::segments, 1);
    changes_.add(kTraining, fmt::format("width {}", x.width + 1), here, &X::width, x.width + 1);
    if (x.width > 1) changes_.add(kTraining, "width 1, synchronous", here, &X::width, 1);
    changes_.add_strategy(kTraining, "synchronous all-reduce in buckets", in_buckets(kept_all_reduce(s_)));
  }

  void of(const ShardedStrategy& x) {
    using X = ShardedStrategy;
    const auto here = strategy_of(x);
    const int workers = s_.cluster.workers, group = x.group(workers);
    groupings(here.at(&X::exchange));
    cheapest(here);
    changes_.add_others(kExecution, here, &X::stage,
                        [](const auto& choice) { return fmt::format("stage {}", choice.name); });
    if (const auto machine = machine_group(s_); machine && group != *machine) shard_inside(here, *machine);
    if (const Nodes* nodes = nodes_in_racks(s_.cluster)) {
      const std::int64_t rack = std::int64_t{nodes->gpus_per_node} * nodes->racks->nodes_per_rack;
      if (rack < workers && workers % rack == 0 && group != rack)
        changes_.add(kExecution, "state sharded inside each rack", here, &X::group_size, static_cast<int>(rack));
    }
    if (group < workers) changes_.add(kExecution, "state sharded over all workers", here, &X::group_size, {});
    if (x.all_reduce != CollectiveChoice{})
      changes_.add(kExecution, "the cheapest all-reduce between groups", here, &X::all_reduce, {});
    if (x.stage == ShardingStage::parameters)
      changes_.add(kExecution, fmt::format("{} units gathered ahead", 2 * x.prefetch + 1), here, &X::prefetch,
                   2 * x.prefetch + 1);
    if (s_.workload->accumulation > 1)
      changes_.add_others(
          kExecution, here, &X::reduce_after,
          [](const auto& choice) { return fmt::format("gradients reduced {}", text_of(choice.value)); },
          [&](ReduceAfter when) { return when != ReduceAfter::inside_every_pass || group < workers; });
    second_copy(here, group);
    if (x.quantized_gather) changes_.add(kTraining, "parameters gathered as they are", here, &X::quantized_gather, {});
    else changes_.add(kTraining, "parameters gathered in 8 bits", here, &X::quantized_gather, QuantizedGather{});
    if (group == workers) scopes();
    else inner_methods();
    const Dtype dtype = s_.workload->dtype;
    if (x.reduced_over(dtype) > 1)
      changes_.add(kTraining, fmt::format("gradients reduced in {}", name_of(dtype)), here, &X::reduce_dtype, {});
    if (const auto machine = machine_group(s_); machine && std::holds_alternative<NoCompressor>(s_.compressor))
      changes_.add_strategy(kTraining,
                            fmt::format("state sharded inside each {}, averaged every {} steps between them",
                                        group_name(s_.cluster), LocalSgdStrategy{}.steps),
                            LocalSgdStrategy{.islands = Islands{.size = *machine,
                                                                .sharding = x.stage,
                                                                .grouping = x.exchange.grouping,
                                                                .bucket_cap = x.exchange.bucket_cap,
                                                                .overlap = x.exchange.overlap}});
    changes_.add_strategy(kExecution, "all-reduce, with all state on every worker",
                          AllReduceStrategy{.collective = kept_all_reduce(s_), .exchange = x.exchange});
  }

  void of(const LocalSgdStrategy& x) {
    using X = LocalSgdStrategy;
    const auto here = strategy_of(x);
    changes_.add_others(kExecution, here, &X::grouping, kByName);
    cheapest(here);
    carriers(here);
    if (!x.islands) scopes();
    add_island_changes(s_, changes_);
    changes_.add(kTraining, fmt::format("averaged every {} steps", 2 * x.steps), here, &X::steps, 2 * x.steps);
    if (x.averaging_steps > 0) changes_.add(kTraining, "workers wait for averages", here, &X::averaging_steps, 0);
    else
      changes_.add(kTraining, fmt::format("averages travel during the next {}", steps_text(x.steps)), here,
                   &X::averaging_steps, x.steps);
    add_fragment_changes(s_, changes_);
    changes_.add_strategy(kTraining, "synchronous all-reduce in buckets", in_buckets(kept_all_reduce(s_)));
  }

  void of(const GossipStrategy&) {
    add_gossip_changes(s_, changes_);
    changes_.add_strategy(kTraining, "synchronous all-reduce in buckets", in_buckets());
  }

  void of(const CollectiveBenchmark& x) {
    const auto here = strategy_of(x);
    for (const CollectiveAlgorithm& entry : collective_algorithms()) {
      if (entry.operation != x.operation || entry.algorithm == x.collective.algorithm ||
          !may_choose(s_.cluster.algorithms, entry.algorithm, x.operation))
        continue;
      if (entry.algorithm == Algorithm::multi_ring && machines(s_.cluster).nics == 1) continue;  // the same single ring
      CollectiveChoice choice;
      choice.algorithm = entry.algorithm;
      if (choice.algorithm == Algorithm::in_network && !is_possible(choice, x.operation)) continue;
      changes_.add(kExecution, std::string(name_of(entry.algorithm)), here, &CollectiveBenchmark::collective, choice);
    }
    if (x.collective.algorithm == Algorithm::hierarchical && x.collective.between_groups != Algorithm::automatic)
      for (const Algorithm between : algorithms_between(x.operation)) {
        CollectiveChoice choice = x.collective;
        choice.between_groups = between;
        if (between != x.collective.between_groups &&
            (between != Algorithm::in_network || is_possible(choice, x.operation)))
          changes_.add(kExecution, fmt::format("{} between groups", name_of(between)),
                       here.at(&CollectiveBenchmark::collective), &CollectiveChoice::between_groups, between);
      }
    cheapest(here);
  }

 private:
  [[nodiscard]] bool is_possible(const CollectiveChoice& choice, Operation operation) const {
    std::vector<Fault> faults;
    check_collective(choice, operation, s_.cluster, "", faults);
    return faults.empty();
  }

  void groupings(const Place<Exchange>& here) {
    const Exchange& x = here.part;
    changes_.add_others(kExecution, here, &Exchange::grouping, kByName);
    if (x.grouping == Grouping::bucketed)
      for (const double factor : {4.0, 0.25}) {
        const Bytes cap = x.bucket_cap * factor;
        Settings set{setting(here, &Exchange::bucket_cap, cap)};
        if (x.first_bucket.value && *x.first_bucket.value > cap)
          set.push_back(setting(here, &Exchange::first_bucket, {cap}));
        changes_.add(kExecution, fmt::format("buckets of {}", human_text(cap)), std::move(set));
      }
    if (!x.overlap && x.grouping != Grouping::whole_model)
      changes_.add(kExecution, "overlap with back-propagation", here, &Exchange::overlap, true);
  }

  /// Sums in machines before servers. A compressor encodes the sums.
  void sums(const Place<ParameterServerStrategy>& here) {
    Settings set{setting(here, &ParameterServerStrategy::sum_in_machine, true)};
    if (std::holds_alternative<NoCompressor>(s_.compressor))
      return changes_.add(kExecution, "summed inside machines first", std::move(set));
    set.push_back(setting(codec_of(s_), &CodecSettings::scope, CodecScope::machines));
    changes_.add(kTraining, "summed inside machines, compressed between them", std::move(set));
  }

  /// ByteScheduler and BytePS cut tensors into parts of about this size (recalled). Parts are compressed by themselves.
  void priorities(const Place<Exchange>& here, bool may_cut = true) {
    const Exchange& x = here.part;
    const bool all_reduce = std::holds_alternative<AllReduceStrategy>(s_.strategy);
    if (x.priority || x.grouping == Grouping::whole_model || std::holds_alternative<QsparseLocalSgd>(s_.compressor) ||
        (all_reduce && summed_workers(s_) > 1))
      return;
    Settings set{setting(here, &Exchange::priority, true)};
    if (!x.partition && may_cut) set.push_back(setting(here, &Exchange::partition, std::optional(4_MB)));
    changes_.add(set.size() > 1 && is_changed_by_parts(s_) ? kTraining : kExecution, "parts of the first layers first",
                 std::move(set));
  }

  template <class Kind>
  void cheapest(const Place<Kind>& here) {
    if (here.part.collective != CollectiveChoice{})
      changes_.add(kExecution, "the cheapest algorithm", here, &Kind::collective, {});
  }

  void servers(const Exchange& x) {
    if (summed_workers(s_) > 1) return;  // a full replay of such servers takes minutes
    ParameterServerStrategy servers{.shards = s_.cluster.workers, .exchange = x};
    ParameterServerStrategy beside = servers;
    beside.placement = ServerPlacement::co_located;
    changes_.add_strategy(kExecution, "a server shard on every worker", beside);
    // Encoding sums again is another training.
    beside.two_way = true;
    if (!std::holds_alternative<NoCompressor>(s_.compressor))
      changes_.add_strategy(kTraining, "a server shard on every worker, which compresses its answer", beside);
    changes_.add_strategy(ChangeOf::cluster, fmt::format("{} more hosts, a server shard on each", s_.cluster.workers),
                          servers);
  }

  /// Changes of the carrier. Some carriers encode sums again, which is another training; auto is the cheapest of the
  /// others.
  template <class Kind>
  void carriers(const Place<Kind>& here) {
    if (!compresses_tensors(s_.compressor)) return;
    const bool gathers = any_has(s_, has_parts), recodes = any_has(s_, is_recoded);
    const Carrier now = here.part.carrier;
    const auto offer = [&](ChangeOf of, Carrier carrier, bool fits) {
      if (fits && carrier != now)
        changes_.add(of, fmt::format("carrier {}", name_of(carrier)), here, &Kind::carrier, carrier);
    };
    const bool again = (now == Carrier::all_to_all && recodes) || now == Carrier::in_collective;
    constexpr bool kHasChoice = !std::is_same_v<Kind, PipelinedStrategy>;  // auto there is sum-or-gather
    offer(again ? kTraining : kExecution, Carrier::automatic, again || (kHasChoice && gathers));
    offer(kTraining, Carrier::all_to_all, recodes);
    offer(kTraining, Carrier::in_collective, !any_has(s_, [](const CompressorTraits& one) { return !one.recodable; }));
  }

  /// Gradients are then compressed between machines alone, which is another training.
  void shard_inside(const Place<ShardedStrategy>& here, int machine) {
    Settings set{setting(here, &ShardedStrategy::group_size, machine)};
    const bool compresses = !std::holds_alternative<NoCompressor>(s_.compressor);
    if (compresses && s_.codec.scope != CodecScope::machines)
      set.push_back(setting(codec_of(s_), &CodecSettings::scope, CodecScope::machines));
    changes_.add(compresses ? kTraining : kExecution,
                 fmt::format("state sharded inside each {}", group_name(s_.cluster)), std::move(set));
  }

  /// The parameters once more in each machine, from which backward passes gather.
  void second_copy(const Place<ShardedStrategy>& here, int group) {
    if (here.part.backward_group(s_.cluster.workers) < group)
      changes_.add(kExecution, "backward passes gather from all shares", here, &ShardedStrategy::backward_group_size,
                   {});
    const auto machine = machine_group(s_);
    if (machine && *machine < group && here.part.stage == ShardingStage::parameters &&
        here.part.backward_group(s_.cluster.workers) != *machine)
      changes_.add(kExecution, fmt::format("backward passes gather inside each {}", group_name(s_.cluster)), here,
                   &ShardedStrategy::backward_group_size, machine);
  }

  /// Whether the scenario's method may compress messages inside machines, too.
  [[nodiscard]] bool may_be_inner() const {
    const Compressor& method = s_.compressor;
    return compresses_tensors(method) && !std::holds_alternative<QsparseLocalSgd>(method) &&
           is_cut_in_parts(method, traits_of(method, s_.workload->dtype));
  }

  /// Messages inside machines by another method, where there are some beside a compressor's.
  void inner_methods() {
    if (summed_workers(s_.codec, s_.compressor, s_.cluster) == 1) return;
    const Compressor& now = s_.inner_compressor;
    const auto offer = [&](std::string what, const Compressor& inner) {
      if (inner != now) changes_.add(kTraining, std::move(what), {{"/inner_compressor", write_value(inner)}});
    };
    offer("sums inside machines as they are", NoCompressor{});
    if (size_of(s_.workload->dtype) > 2_B) offer("sums inside machines in fp16", Fp16{});
    if (may_be_inner()) offer(fmt::format("{} inside machines, too", name_of(s_.compressor)), s_.compressor);
  }

  /// Sums are compressed instead of each worker's gradients, or as well, which is another training.
  void scopes() {
    inner_methods();
    const int g = host_costs(s_.cluster).workers_of_machine;
    if (std::holds_alternative<NoCompressor>(s_.compressor) || g == 1 || machine_group(s_) != g) return;
    if (s_.codec.scope == CodecScope::machines) {
      Settings once{setting(codec_of(s_), &CodecSettings::scope, CodecScope::workers)};
      if (!std::holds_alternative<NoCompressor>(s_.inner_compressor))
        once.push_back({"/inner_compressor", write_value(Compressor{NoCompressor{}})});
      if (std::holds_alternative<ShardedStrategy>(s_.strategy))
        changes_.add(kTraining, "compressed once, among all workers", std::move(once));
      return;
    }
    if (const auto* x = std::get_if<AllReduceStrategy>(&s_.strategy); x && x->exchange.priority) return;
    Settings between{setting(codec_of(s_), &CodecSettings::scope, CodecScope::machines)};
    changes_.add(kTraining, "summed inside machines, compressed between them", between);
    if (!may_be_inner()) return;
    between.push_back({"/inner_compressor", write_value(s_.compressor)});
    changes_.add(kTraining, "compressed inside machines, and again between them", std::move(between));
  }

  const Scenario& s_;
  ChangeList& changes_;
};

}  // namespace

void add_exchange_changes(const Scenario& scenario, ChangeList& changes) {
  std::visit([&](const auto& strategy) { ExchangeChanges(scenario, changes).of(strategy); }, scenario.strategy);
}

}  // namespace stepcast
