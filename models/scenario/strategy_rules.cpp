#include "models/scenario/strategy_rules.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/part/host_costs.hpp"
#include "models/scenario/collective_rules.hpp"
#include "models/scenario/device_of_codec.hpp"
#include "models/scenario/gossip_rounds.hpp"
#include "models/scenario/neighbour_rules.hpp"
#include "models/scenario/summed_workers.hpp"
#include "models/unit/format.hpp"

namespace stepcast {
namespace {

/// Visitor of the scenario's strategy.
class StrategyChecker {
 public:
  StrategyChecker(const Scenario& scenario, const Workload* workload, std::vector<Fault>& faults)
      : s_(scenario), workload_(workload), faults_(faults) {}

  void operator()(const AllReduceStrategy& x) {
    sum_of_gradients(x.collective);
    check_exchange(x.exchange, "/strategy/exchange");
    check_parts(x.exchange);
  }
  void operator()(const PipelinedStrategy& x) {
    collective(x.collective, Operation::all_reduce);
    if (const double bytes = workload_ ? workload_->gradient_bytes.si() : 0; bytes > 0 && x.segments > bytes)
      fault("/strategy/segments", fmt::format("{} segments for {} bytes of gradient", x.segments, bytes),
            "at most one segment per gradient byte");
    // The start-up transient of K steps in flight lasts a few times K steps.
    const int needed = x.warmup_steps + 4 * (x.width + 1);
    if (asks_replay(s_.evaluation.evaluator) && s_.evaluation.max_steps < needed)
      fault("/evaluation/max_steps",
            fmt::format("{} with {} warm-up steps and width {}", s_.evaluation.max_steps, x.warmup_steps, x.width),
            fmt::format("at least {}, to get beyond the start", needed));
  }
  void operator()(const ShardedStrategy& x) {
    sharding_group(x);
    check_gathers(x);
    check_exchange(x.exchange, "/strategy/exchange");
    if (x.exchange.partition)
      fault("/strategy/exchange/partition", "a size with strategy sharded", "null: its units are gathered whole");
    if (x.exchange.priority)
      fault("/strategy/exchange/priority", "true with strategy sharded",
            "false: its forward pass already waits unit by unit");
    // Each pass has its own collectives.
    constexpr int kMostPasses = 1024;
    const bool reduces = x.reduce_after != ReduceAfter::last_pass;
    if ((x.stage == ShardingStage::parameters || reduces) && workload_ && workload_->accumulation > kMostPasses)
      too_many_passes(reduces ? "gradients reduced after every pass" : "sharded parameters", kMostPasses);
  }
  void operator()(const LocalSgdStrategy& x) {
    sum_of_gradients(x.collective);
    const auto in_a_round = [&](const char* field, int value) {
      if (value > x.steps)
        fault(fmt::format("/strategy/{}", field),
              fmt::format("{} with {} step{}", value, x.steps, x.steps == 1 ? "" : "s"),
              "at most the number of steps from one averaging to the next");
    };
    in_a_round("fragments", x.fragments);
    in_a_round("averaging_steps", x.averaging_steps);
    if (x.islands) {
      check_islands(*x.islands, x.steps, "/strategy/steps");
      whole_blocks(*x.islands, x.steps, "/strategy/steps");
      if (x.islands->steps > 1 && (x.fragments > 1 || x.averaging_steps > 0))
        fault("/strategy/islands/steps",
              fmt::format("{} with {}", x.islands->steps, x.fragments > 1 ? "fragments" : "averages in flight"),
              "1: an average needs islands whose workers have the same parameters");
    }
    const std::size_t tensors = workload_ ? workload_->gradients.size() : 0;
    if (tensors > 0 && static_cast<std::size_t>(x.fragments) > tensors)
      fault("/strategy/fragments", fmt::format("{} fragments of {} tensors", x.fragments, tensors),
            "at most one fragment a tensor", "give the workload a tensor for each layer");
  }
  void operator()(const GossipStrategy& x) {
    const Neighbours neighbours = neighbours_of(x);
    const std::size_t before = faults_.size();
    const int p = s_.cluster.workers;
    if (x.islands)
      check_islands(*x.islands, period_of(x, p), x.average ? "/strategy/average/steps" : "/strategy/steps");
    if (x.islands) whole_blocks(*x.islands, x.steps, "/strategy/steps");
    if (x.islands && x.average) whole_blocks(*x.islands, x.average->steps, "/strategy/average/steps");
    if (faults_.size() > before) return;
    check_neighbours(neighbours, p, faults_);
    if (x.average)
      check_collective(x.average->collective, Operation::all_reduce, s_.cluster, "/strategy/average/collective",
                       faults_, x.islands ? between_groups(x.islands->size, p) : Communicators{});
    check_period(x, neighbours);
    if (x.asynchronous && faults_.size() == before) check_pairs(x, neighbours);
  }
  void operator()(const CollectiveBenchmark& x) {
    collective(x.collective, x.operation);
    if (x.size < 1_B) return fault("/strategy/size", exact_text(x.size), "a size of at least 1 B");
    if (const auto segments = x.collective.pipeline_segments.value; segments && *segments > x.size.si())
      fault("/strategy/collective/pipeline_segments", fmt::format("{} segments for {}", *segments, exact_text(x.size)),
            "at most one segment per byte of the buffer");
  }
  void operator()(const ParameterServerStrategy& x) {
    check_exchange(x.exchange, "/strategy/exchange");
    if (x.placement == ServerPlacement::co_located && x.shards > s_.cluster.workers)
      fault("/strategy/shards", fmt::format("{} shards on {} workers' hosts", x.shards, s_.cluster.workers),
            "at most one co-located shard per worker", "use fewer shards or dedicated hosts");
    if (const double bytes = workload_ ? workload_->gradient_bytes.si() : 0; bytes > 0 && x.shards > bytes)
      fault("/strategy/shards", fmt::format("{} shards for {} bytes of gradient", x.shards, bytes),
            "at most one shard per gradient byte");
    if (x.consistency == Consistency::backup_workers && x.backup_workers >= s_.cluster.workers)
      fault("/strategy/backup_workers", fmt::format("{} of {} workers", x.backup_workers, s_.cluster.workers),
            "fewer than the workers: an update needs a gradient");
    if (x.pull_steps) check_pulls(x);
    if (x.sum_in_machine) check_machines(x);
    if (x.exchange.priority && x.period() > 1)
      fault("/strategy/exchange/priority",
            x.steps > 1 ? fmt::format("true with {} steps from one exchange to the next", x.steps)
                        : fmt::format("true with {} steps from one pull to the next", x.steps_of_pull()),
            "false: only the first of them waits for parameters");
    check_parts(x.exchange);
    if (x.consistency != Consistency::synchronous && asks_equations(s_.evaluation.evaluator))
      fault("/evaluation/evaluator",
            fmt::format("\"{}\" with {} consistency", name_of(s_.evaluation.evaluator), name_of(x.consistency)),
            "\"auto\" or \"replay\": the order of pushes depends on time, which only replay can tell");
  }

 private:
  /// The steps until exchanges and averages of gossip repeat.
  void check_period(const GossipStrategy& x, const Neighbours& neighbours) {
    const std::string every = fmt::format("an exchange every {} steps", x.steps);
    if (x.average && x.steps % x.average->steps == 0)
      return fault("/strategy/average/steps", fmt::format("{}, with {}", x.average->steps, every),
                   "a number that does not divide these: no exchange is left",
                   "use strategy local-sgd, in which all average every few steps");
    const int unlike = unlike_steps(neighbours, s_.cluster.workers);
    const std::int64_t period = period_of(x, s_.cluster.workers);
    if (period <= GossipStrategy::kLongestPeriod) return;
    std::vector<std::string> with;
    if (x.average) with.push_back(every);
    if (unlike > 1) with.push_back(fmt::format("{} unlike exchanges", unlike));
    fault(x.average ? "/strategy/average/steps" : "/strategy/steps",
          fmt::format("{}, with {}: {} steps until all repeats", x.average ? x.average->steps : x.steps,
                      fmt::join(with, " and "), period),
          fmt::format("at most {}", GossipStrategy::kLongestPeriod),
          x.average ? fmt::format("use a multiple of {}", std::int64_t{x.steps} * unlike) : "exchange more often");
  }

  /// Asynchronous pairs.
  void check_pairs(const GossipStrategy& x, const Neighbours& neighbours) {
    if (x.average)
      fault("/strategy/average", "an average with asynchronous gossip", "null: no worker waits for all others",
            "use strategy local-sgd, or neighbours that wait");
    const std::string graph = fmt::format("\"{}\" of {} {}, asynchronous", name_of(neighbours.graph),
                                          s_.cluster.workers / neighbours.island, x.islands ? "islands" : "workers");
    if (changes_by_step(neighbours.graph))
      fault("/strategy/graph", graph,
            "a graph that does not change by step: each worker takes one of its neighbours anyway");
    else if (!allows_pairs(neighbours, x.choosers, s_.cluster.workers))
      fault("/strategy/graph", graph, "a bipartite graph, so that one half chooses and the other answers",
            "set choosers to all, or use a hypercube, or a ring or torus with even sides");
    if (asks_equations(s_.evaluation.evaluator))
      fault("/evaluation/evaluator", fmt::format("\"{}\" with asynchronous gossip", name_of(s_.evaluation.evaluator)),
            "\"auto\" or \"replay\": pairs meet by chance, which only replay can tell");
  }

  /// Pulls at other steps than pushes.
  void check_pulls(const ParameterServerStrategy& x) {
    if (x.consistency != Consistency::asynchronous)
      fault("/strategy/pull_steps", fmt::format("{} with {} consistency", *x.pull_steps, name_of(x.consistency)),
            "null: these workers pull what they wait for", "use /strategy/steps, or asynchronous consistency");
    if (x.two_way)
      fault("/strategy/pull_steps", fmt::format("{} with two_way", *x.pull_steps),
            "null: between pulls, workers would update from their own gradients");
    constexpr int kMost = 10000;
    if (x.period() > kMost)
      fault("/strategy/pull_steps",
            fmt::format("{} beside {} steps: {} until both fall together", *x.pull_steps, x.steps, x.period()),
            fmt::format("at most {}", kMost), "use a multiple of one for the other");
  }

  /// Sums inside machines before servers.
  void check_machines(const ParameterServerStrategy& x) {
    const int g = host_costs(s_.cluster).workers_of_machine, p = s_.cluster.workers;
    if (x.consistency == Consistency::backup_workers)
      fault("/strategy/sum_in_machine", "true with backup-workers consistency",
            "another consistency: an update takes the first workers, and those of a machine push together");
    if (p > g && p % g != 0)
      fault("/strategy/sum_in_machine", fmt::format("true with {} workers on machines of {}", p, g),
            "as many workers on each", fmt::format("use a multiple of {} workers", g));
    if (std::min(g, p) > 1 && !std::holds_alternative<NoCompressor>(s_.compressor) &&
        s_.codec.scope == CodecScope::workers)
      fault("/codec/scope", "\"workers\" with sum_in_machine",
            "\"machines\": the sums of a machine are compressed, not each worker's gradients",
            "set /codec/scope to machines");
  }

  void fault(std::string pointer, std::string found, std::string allowed, std::string remedy = "") {
    faults_.push_back({"", std::move(pointer), std::move(found), std::move(allowed), std::move(remedy)});
  }

  void collective(const CollectiveChoice& choice, Operation operation, const Communicators& among = {}) {
    check_collective(choice, operation, s_.cluster, "/strategy/collective", faults_, among);
  }

  /// Among all workers, or those of one share with codec scope machines or islands.
  void sum_of_gradients(const CollectiveChoice& choice) {
    const int g = summed_workers(s_), p = s_.cluster.workers;
    const bool by_scope = summed_workers(s_.codec, s_.compressor, s_.cluster) > 1;
    const bool leaves = by_scope || g % host_costs(s_.cluster).workers_of_machine == 0;
    if (g > 1 && g < p && leaves && choice.algorithm == Algorithm::hierarchical && !choice.group_size.value)
      return fault("/strategy/collective/algorithm",
                   fmt::format("\"hierarchical\" {}", by_scope ? "with codec scope machines" : "between islands"),
                   "another one: its messages already go between machines alone");
    collective(choice, Operation::all_reduce, g < p && p % g == 0 ? between_groups(g, p) : Communicators{});
  }

  void check_exchange(const Exchange& exchange, const std::string& pointer) {
    if (exchange.grouping == Grouping::bucketed && exchange.cap_of(0) > exchange.bucket_cap)
      fault(pointer + "/first_bucket", exact_text(exchange.cap_of(0)),
            fmt::format("at most bucket_cap ({})", exact_text(exchange.bucket_cap)));
  }

  /// Parts, and their order by priority.
  void check_parts(const Exchange& x) {
    if (!x.partition && !x.priority) return;
    if (const auto* local = std::get_if<QsparseLocalSgd>(&s_.compressor); x.priority && local && local->local_steps > 1)
      fault("/strategy/exchange/priority", fmt::format("true with {} local steps", local->local_steps),
            "false: only the first of them waits for parameters");
    if (x.priority && x.grouping == Grouping::whole_model)
      fault("/strategy/exchange/priority", "true with grouping whole-model",
            "per-tensor, per-block or bucketed: layers that wait for their own gradients");
    constexpr double kMost = 65536;
    if (const double parts = workload_ && x.partition ? workload_->gradient_bytes / *x.partition : 0; parts > kMost)
      fault("/strategy/exchange/partition",
            fmt::format("{}, {:.0f} parts of {}", exact_text(*x.partition), std::ceil(parts),
                        exact_text(workload_->gradient_bytes)),
            fmt::format("at most {:.0f} parts", kMost));
  }

  void too_many_passes(const char* with, int most) {
    const auto& samples = s_.workload->global_batch;
    if (!samples)
      return fault("/workload/accumulation", fmt::format("{} with {}", workload_->accumulation, with),
                   fmt::format("at most {}", most));
    fault("/workload/global_batch",
          fmt::format("{} {}s in {} passes of {} a worker, with {}", *samples, s_.workload->sample,
                      workload_->accumulation, workload_->batch, with),
          fmt::format("at most {} passes", most),
          fmt::format("global_batch counts {}s; give a smaller one, more workers or a larger /workload/batch",
                      s_.workload->sample));
  }
  void sharding_group(const ShardedStrategy& x) {
    const int p = s_.cluster.workers, g = x.group(p);
    const auto refuse = [&](std::string why, std::string remedy) {
      fault("/strategy/group_size", fmt::format("{} with {} worker{}{}", g, p, p == 1 ? "" : "s", why),
            allowed_groups(g, p), std::move(remedy));
    };
    if (p % g != 0) return refuse("", "");
    if (g == 1 && p > 1)
      return refuse(", which splits nothing", "use strategy all-reduce, in which all workers hold everything");
    collective(x.collective, Operation::reduce_scatter, inside_groups(g, p));
    if (g < p)
      check_collective(x.all_reduce, Operation::all_reduce, s_.cluster, "/strategy/all_reduce", faults_,
                       between_groups(g, p));
  }
  /// An island has averaged inside when it exchanges.
  void whole_blocks(const Islands& x, int steps, const char* field) {
    if (steps % x.steps != 0)
      fault(field, fmt::format("{}, and islands average inside every {} steps", steps, x.steps),
            fmt::format("a multiple of {}: workers of an island have the same parameters then", x.steps));
  }
  /// @param field  that sets the steps of a round
  void check_islands(const Islands& x, std::int64_t steps, const char* field) {
    const int p = s_.cluster.workers, g = x.size;
    if (p % g != 0 || g == p)
      return fault("/strategy/islands/size", fmt::format("{} of {} workers", g, p),
                   "a divisor of the number of workers that makes several islands",
                   g == p ? "use strategy all-reduce or sharded, in which all workers make every step together" : "");
    if (x.steps > 1 && x.sharding)
      fault("/strategy/islands/steps", fmt::format("{} with sharded state", x.steps),
            "1: workers that share out the state make every step together", "set /strategy/islands/sharding to null");
    check_collective(x.collective, x.sharding ? Operation::reduce_scatter : Operation::all_reduce, s_.cluster,
                     "/strategy/islands/collective", faults_, inside_groups(g, p));
    // The graph of a round has tasks for each of them.
    constexpr std::size_t kMost = 400000;
    const std::size_t buckets = workload_ ? make_buckets(*workload_, x.exchange()).size() : 0,
                      passes = workload_ && x.sharding == ShardingStage::parameters ? workload_->accumulation : 1;
    if (buckets * passes * static_cast<std::size_t>(steps) > kMost)
      fault(
          field, fmt::format("a round of {} steps, with {} exchanges in a step of an island", steps, buckets * passes),
          fmt::format("at most {} in a round", kMost), "average more often, or exchange more together inside islands");
  }
  /// The second copy of parameters, and codes.
  void check_gathers(const ShardedStrategy& x) {
    const int p = s_.cluster.workers, g = x.group(p), h = x.backward_group(p);
    const bool used = x.stage == ShardingStage::parameters && g > 1 && p % g == 0;
    if (used && g % h != 0)
      fault("/strategy/backward_group_size", fmt::format("{} with {} workers that share the parameters", h, g),
            allowed_groups(h, g));
    else if (used && h < g) collective(x.collective, Operation::all_gather, inside_groups(h, p));
    if (!x.quantized_gather || !workload_) return;
    const Bytes coded = Bytes(x.quantized_gather->bits / 8.0 + 4.0 / x.quantized_gather->block);
    if (coded >= size_of(workload_->dtype))
      fault("/strategy/quantized_gather/bits",
            fmt::format("{}, with a scale for {} elements: {:.3g} B an element, and {} has {}",
                        x.quantized_gather->bits, x.quantized_gather->block, coded.si(), name_of(workload_->dtype),
                        exact_text(size_of(workload_->dtype))),
            "codes that are shorter");
    if (!device_of_codec(s_))
      fault("/codec/device", "nothing, and the workload has no device profile",
            "a device profile, which prices the kernels that encode and decode gathered parameters",
            "name the GPUs: --gpu a100, or \"gpu\" in the cluster; or a \"device\" in \"codec\"");
    if (s_.codec.sharing == GpuSharing::fair)
      fault("/codec/sharing", "\"fair\" with quantized_gather",
            "\"serial\": computation waits for the parameters that are decoded");
  }
  /// The nearest allowed group sizes.
  static std::string allowed_groups(int g, int p) {
    if (p == 1) return "null or 1";
    int below = std::min(g, p), above = std::min(g, p);
    while (below > 1 && p % below != 0) --below;
    while (above == 1 || p % above != 0) ++above;
    const std::string nearest =
        below > 1 && below != above ? fmt::format("{} or {}", below, above) : std::to_string(above);
    return fmt::format("null or a divisor of the number of workers above 1, such as {}", nearest);
  }

  const Scenario& s_;
  const Workload* workload_;
  std::vector<Fault>& faults_;
};

}  // namespace

void check_strategy(const Scenario& scenario, const Workload* workload, std::vector<Fault>& faults) {
  std::visit(StrategyChecker(scenario, workload, faults), scenario.strategy);
}

}  // namespace stepcast
