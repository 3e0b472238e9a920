#include "models/scenario/rules.hpp"

#include <algorithm>
#include <set>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/scenario/collective_rules.hpp"
#include "models/scenario/compressor_rules.hpp"
#include "models/scenario/foldable.hpp"
#include "models/scenario/workload_rules.hpp"
#include "models/unit/format.hpp"
#include "models/workload/check_profile.hpp"

namespace stepcast {
namespace {

class Checker {
 public:
  Checker(const Scenario& scenario, const Workload* workload, std::vector<Fault>& faults, const PlatformFacts* platform)
      : s_(scenario), workload_(workload), faults_(faults), platform_(platform) {}

  void run() {
    const std::size_t before = faults_.size();
    workload();
    if (s_.codec.device) check_rates(*s_.codec.device, "/codec/device", faults_);
    topology();
    groups();
    protocols();
    algorithms();
    std::visit([this](const auto& strategy) { check_strategy(strategy); }, s_.strategy);
    if (faults_.size() == before) check_compressor(s_, workload_, faults_);
    training_run();
    evaluation();
    output();
  }

 private:
  void fault(std::string pointer, std::string found, std::string allowed, std::string remedy = "") {
    faults_.push_back({"", std::move(pointer), std::move(found), std::move(allowed), std::move(remedy)});
  }

  void workload() {
    if (!s_.workload && !std::holds_alternative<CollectiveBenchmark>(s_.strategy))
      fault("/workload", "nothing", "a workload, inline or by name", "add it, or use strategy kind \"collective\"");
  }

  void topology() {
    const Cluster& c = s_.cluster;
    const std::size_t before = faults_.size();
    std::visit([&](const auto& t) { check_topology(t, c); }, c.topology);
    const auto hosts = faults_.size() > before ? std::nullopt : platform_ ? platform_->hosts : host_count(c.topology);
    if (hosts && *hosts < needed_hosts())
      fault("/cluster/topology", fmt::format("{} host{} for {}", *hosts, *hosts == 1 ? "" : "s", hosts_wanted()),
            "a topology with at least that many hosts");
    else if (platform_ && platform_->connected < needed_hosts())
      fault("/cluster/topology/file", fmt::format("{}, for {}", platform_->missing, hosts_wanted()),
            "routes between all hosts that are used");
    if (hosts && *hosts > kMaxHosts)
      fault("/cluster/topology", fmt::format("{} hosts", *hosts), fmt::format("at most {} hosts", kMaxHosts));
    else if (const auto links = hosts ? link_count(c.topology) : std::nullopt; links && *links > kMostLinks)
      fault("/cluster/topology", fmt::format("{} links, two for a cable", *links),
            fmt::format("at most {} links", kMostLinks), "give it fewer switches, or fewer cables between them");
    if (std::holds_alternative<TcpTransport>(c.transport) && asks_equations(s_.evaluation.evaluator))
      fault("/evaluation/evaluator", fmt::format("\"{}\" with transport tcp", name_of(s_.evaluation.evaluator)),
            "\"auto\" or \"replay\", since the equations know no TCP effects");
    if (std::holds_alternative<SimGridXml>(c.topology) && asks_equations(s_.evaluation.evaluator))
      fault("/evaluation/evaluator", fmt::format("\"{}\" with topology simgrid-xml", name_of(s_.evaluation.evaluator)),
            "\"auto\" or \"replay\", since only SimGrid knows that platform");
  }

  [[nodiscard]] long dedicated_shards() const {
    const auto* server = std::get_if<ParameterServerStrategy>(&s_.strategy);
    return server && server->placement == ServerPlacement::dedicated ? server->shards : 0;
  }
  [[nodiscard]] long needed_hosts() const { return s_.cluster.workers + dedicated_shards(); }
  [[nodiscard]] std::string hosts_wanted() const {
    const long shards = dedicated_shards();
    return shards ? fmt::format("{} workers and {} dedicated shards", s_.cluster.workers, shards)
                  : fmt::format("{} workers", s_.cluster.workers);
  }

  template <class T>
  void check_topology(const T&, const Cluster&) {}
  void check_topology(const Nodes& t, const Cluster& c) {
    if (c.workers % t.gpus_per_node != 0 && c.workers > t.gpus_per_node)
      fault("/cluster/workers", fmt::format("{} with {} GPUs on a node", c.workers, t.gpus_per_node),
            "a multiple of gpus_per_node (or fewer than one node's)");
    if (t.nics > t.gpus_per_node)
      fault("/cluster/topology/nics", fmt::format("{} with {} GPUs on a node", t.nics, t.gpus_per_node),
            "at most one NIC per GPU");
  }
  void check_topology(const FatTree& t, const Cluster&) {
    if (t.down.empty() || t.down.size() != t.up.size() || t.down.size() != t.parallel.size())
      fault("/cluster/topology",
            fmt::format("{}, {} and {} levels in down, up and parallel", t.down.size(), t.up.size(), t.parallel.size()),
            "the same number of levels, at least one, in all three");
  }
  void check_topology(const Torus& t, const Cluster&) {
    if (t.dimensions.empty()) fault("/cluster/topology/dimensions", "an empty list", "at least one dimension");
  }

  void check_topology(const Dragonfly& t, const Cluster&) {
    // In SimGrid, the route to group h leaves a group through router h of its first chassis.
    if (t.groups > t.routers)
      fault("/cluster/topology/groups", fmt::format("{} groups of {} routers in a chassis", t.groups, t.routers),
            "at most as many groups as routers in a chassis, each the way to one other group");
  }

  void groups() {
    const Cluster& c = s_.cluster;
    long total = 0;
    for (const WorkerGroup& group : c.groups) total += group.count;
    if (total > c.workers)
      fault("/cluster/groups", fmt::format("groups of {} workers in all", total),
            fmt::format("at most the cluster's {} workers", c.workers));
    const bool own_links =
        std::any_of(c.groups.begin(), c.groups.end(), [](const WorkerGroup& g) { return g.bandwidth || g.latency; });
    if (!c.groups.empty() && std::holds_alternative<SimGridXml>(c.topology))
      fault("/cluster/groups", "groups with topology simgrid-xml",
            "an empty list: the platform file gives each host its speed and links");
    else if (own_links && !std::holds_alternative<Star>(c.topology) && !std::holds_alternative<Racks>(c.topology))
      fault("/cluster/groups", "a group with links of its own", "that only with topology star or racks",
            "give the group a speed only");
    if (c.jitter.cv > 0 && c.jitter.distribution == JitterDistribution::none)
      fault("/cluster/jitter/distribution", "\"none\" with cv above 0", "a distribution: lognormal or gamma");
  }

  void protocols() {
    const Cluster& c = s_.cluster;
    if (c.protocols.empty()) return;
    constexpr const char* remedy = "leave one of both out; --set /cluster/protocols=[] has none";
    if (std::holds_alternative<TcpTransport>(c.transport))
      fault("/cluster/protocols", "protocols with transport tcp", "them with transport ideal alone", remedy);
    if (std::holds_alternative<SimGridXml>(c.topology))
      fault("/cluster/protocols", "protocols with topology simgrid-xml",
            "them where links are known here, to choose by", remedy);
    std::set<std::string> names;
    for (std::size_t i = 0; i < c.protocols.size(); ++i)
      if (const std::string& name = c.protocols[i].name; name.empty() || !names.insert(name).second)
        fault(fmt::format("/cluster/protocols/{}/name", i),
              name.empty() ? "nothing" : fmt::format("\"{}\" a second time", name), "a name of each protocol's own");
  }

  void algorithms() {
    std::set<Algorithm> known;
    const std::vector<Algorithm>& all = s_.cluster.algorithms;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i] == Algorithm::automatic || !known.insert(all[i]).second)
        fault(fmt::format("/cluster/algorithms/{}", i),
              fmt::format("\"{}\"{}", name_of(all[i]), all[i] == Algorithm::automatic ? "" : " a second time"),
              "the name of an algorithm, each once", "[] has all of them");
  }

  void collective(const CollectiveChoice& choice, Operation operation, const Communicators& among = {}) {
    check_collective(choice, operation, s_.cluster, "/strategy/collective", faults_, among);
  }

  void check_exchange(const Exchange& exchange, const std::string& pointer) {
    if (exchange.grouping == Grouping::bucketed && exchange.cap_of(0) > exchange.bucket_cap)
      fault(pointer + "/first_bucket", exact_text(exchange.cap_of(0)),
            fmt::format("at most bucket_cap ({})", exact_text(exchange.bucket_cap)));
  }

  void check_strategy(const AllReduceStrategy& x) {
    collective(x.collective, Operation::all_reduce);
    check_exchange(x.exchange, "/strategy/exchange");
  }
  void check_strategy(const PipelinedStrategy& x) {
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
  void check_strategy(const ShardedStrategy& x) {
    sharding_group(x);
    check_exchange(x.exchange, "/strategy/exchange");
    // Each pass has its own collectives.
    constexpr int kMostPasses = 1024;
    const bool reduces = x.reduce_after != ReduceAfter::last_pass;
    if ((x.stage == ShardingStage::parameters || reduces) && workload_ && workload_->accumulation > kMostPasses)
      too_many_passes(reduces ? "gradients reduced after every pass" : "sharded parameters", kMostPasses);
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
          fmt::format("it counts {}s; give fewer, more workers or a larger /workload/batch", s_.workload->sample));
  }
  void sharding_group(const ShardedStrategy& x) {
    const int p = s_.cluster.workers, g = x.group(p);
    const auto refuse = [&](std::string why, std::string remedy) {
      fault("/strategy/group_size", fmt::format("{} with {} worker{}{}", g, p, p == 1 ? "" : "s", why),
            allowed_groups(g, p), std::move(remedy));
    };
    if (p % g != 0) return refuse("", "");
    if (g == 1 && p > 1)
      return refuse(", which shares nothing out", "use strategy all-reduce, where all hold everything");
    collective(x.collective, Operation::reduce_scatter, inside_groups(g, p));
    if (g < p)
      check_collective(x.all_reduce, Operation::all_reduce, s_.cluster, "/strategy/all_reduce", faults_,
                       between_groups(g, p));
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
  void check_strategy(const LocalSgdStrategy& x) { collective(x.collective, Operation::all_reduce); }
  void check_strategy(const GossipStrategy&) {}
  void check_strategy(const CollectiveBenchmark& x) {
    collective(x.collective, x.operation);
    if (x.size < 1_B) return fault("/strategy/size", exact_text(x.size), "a size of at least 1 B");
    if (const auto segments = x.collective.pipeline_segments.value; segments && *segments > x.size.si())
      fault("/strategy/collective/pipeline_segments", fmt::format("{} segments for {}", *segments, exact_text(x.size)),
            "at most one segment per byte of the buffer");
  }
  void check_strategy(const ParameterServerStrategy& x) {
    check_exchange(x.exchange, "/strategy/exchange");
    if (x.placement == ServerPlacement::co_located && x.shards > s_.cluster.workers)
      fault("/strategy/shards", fmt::format("{} shards on {} workers' hosts", x.shards, s_.cluster.workers),
            "at most one co-located shard per worker", "use fewer shards or dedicated hosts");
    if (const double bytes = workload_ ? workload_->gradient_bytes.si() : 0; bytes > 0 && x.shards > bytes)
      fault("/strategy/shards", fmt::format("{} shards for {} bytes of gradient", x.shards, bytes),
            "at most one shard per gradient byte");
    if (x.consistency != Consistency::synchronous && asks_equations(s_.evaluation.evaluator))
      fault("/evaluation/evaluator",
            fmt::format("\"{}\" with {} consistency", name_of(s_.evaluation.evaluator), name_of(x.consistency)),
            "\"auto\" or \"replay\": the order of pushes depends on time, which only replay can tell");
  }

  void training_run() {
    if (!s_.run) return;
    if (std::holds_alternative<CollectiveBenchmark>(s_.strategy))
      fault("/run", "a run of strategy collective", "null: nothing is trained");
    if (s_.run->phases.empty()) fault("/run/phases", "an empty list", "at least one phase");
    std::set<std::string> names;
    for (std::size_t i = 0; i < s_.run->phases.size(); ++i) {
      const TrainingPhase& phase = s_.run->phases[i];
      if (!phase.set.is_object())
        fault(fmt::format("/run/phases/{}/set", i), describe_value(phase.set), "an object of JSON pointers and values");
      if (!names.insert(phase.name).second)
        fault(fmt::format("/run/phases/{}/name", i), describe_value(phase.name) + " a second time", "each name once");
    }
    if (!s_.run->target) return;
    target(*s_.run->target);
  }

  /// Names of the network variants that a phase may train. Empty if a phase may bring a network of its own.
  [[nodiscard]] std::vector<std::string> network_variants() const {
    if (!s_.workload) return {};
    std::vector<std::string> names{"vanilla"};
    for (const WorkloadVariant& variant : s_.workload->variants) names.push_back(variant.name);
    if (s_.workload->variant) names.push_back(s_.workload->variant->name);
    for (const TrainingPhase& phase : s_.run->phases)
      for (const auto& [pointer, value] : phase.set.items()) {
        const bool by_name = pointer == "/workload/variant" && (value.is_string() || value.is_null());
        if (pointer == "/workload" || pointer == "/workload/from" ||
            (pointer.starts_with("/workload/variant") && !by_name))
          return {};
      }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
  }

  void target(const AccuracyTarget& target) {
    const auto kinds = kinds_of<Compressor>();
    const std::vector<std::string> variants = network_variants();
    std::set<std::pair<std::string, std::optional<std::string>>> known;
    for (std::size_t i = 0; i < target.methods.size(); ++i) {
      const EpochsToTarget& method = target.methods[i];
      const std::string at = fmt::format("/run/target/methods/{}", i);
      if (std::find(kinds.begin(), kinds.end(), method.compressor) == kinds.end())
        fault(at + "/compressor", describe_value(method.compressor), fmt::format("{}", fmt::join(kinds, ", ")));
      if (method.variant && !variants.empty() &&
          std::find(variants.begin(), variants.end(), *method.variant) == variants.end())
        fault(at + "/variant", describe_value(*method.variant),
              fmt::format("null, or a variant of the workload: {}", fmt::join(variants, ", ")));
      if (!known.emplace(method.compressor, method.variant).second)
        fault(at,
              fmt::format("the epochs of {}{} a second time", describe_value(method.compressor),
                          method.variant ? " with variant " + describe_value(*method.variant) : ""),
              "each method once", "remove one of the two");
    }
  }

  void evaluation() {
    if (s_.cluster.jitter.cv > 0 && asks_equations(s_.evaluation.evaluator))
      fault("/evaluation/evaluator", fmt::format("\"{}\" with jitter", name_of(s_.evaluation.evaluator)),
            "\"auto\" or \"replay\": the equations know no randomness");
    if (s_.evaluation.fidelity == Fidelity::folded)
      if (const auto refusal = folding_refusal(s_))
        fault("/evaluation/fidelity", "\"folded\", but " + *refusal, "\"full\" or \"auto\"");
    if (s_.evaluation.runs > 1 && s_.cluster.jitter.distribution == JitterDistribution::none)
      fault("/evaluation/runs", fmt::format("{} runs without jitter", s_.evaluation.runs),
            "1: every run would be the same", "add /cluster/jitter");
  }

  void output() {
    if (!s_.output.plot || is_plot_file(*s_.output.plot)) return;
    fault("/output/plot", describe_value(*s_.output.plot), "a file name that ends in .png, .svg or .pdf");
  }

  static constexpr long kMaxHosts = 1L << 25;

  const Scenario& s_;
  const Workload* workload_;
  std::vector<Fault>& faults_;
  const PlatformFacts* platform_;
};

}  // namespace

namespace {

/// Limits the value instead of overflowing. No simulation has 2^60 hosts.
long saturated(double count) { return count > 1e15 ? 1000000000000000L : static_cast<long>(count); }

double product(const std::vector<int>& factors) {
  double p = 1;
  for (const int f : factors) p *= f;
  return p;
}

}  // namespace

std::optional<long> host_count(const Topology& topology) {
  struct {
    std::optional<long> operator()(const Star&) const { return {}; }
    std::optional<long> operator()(const Nodes&) const { return {}; }
    std::optional<long> operator()(const Racks&) const { return {}; }
    std::optional<long> operator()(const SimGridXml&) const { return {}; }
    std::optional<long> operator()(const FatTree& t) const { return saturated(product(t.down)); }
    std::optional<long> operator()(const Torus& t) const { return saturated(product(t.dimensions)); }
    std::optional<long> operator()(const Dragonfly& t) const {
      return saturated(product({t.groups, t.chassis, t.routers, t.hosts}));
    }
  } count;
  return std::visit(count, topology);
}

std::optional<long> link_count(const Topology& topology) {
  struct {
    std::optional<long> operator()(const Star&) const { return {}; }
    std::optional<long> operator()(const Nodes&) const { return {}; }
    std::optional<long> operator()(const Racks&) const { return {}; }
    std::optional<long> operator()(const SimGridXml&) const { return {}; }
    std::optional<long> operator()(const FatTree& t) const {
      double nodes = product(t.down), cables = 0;  // nodes of level l; hosts are nodes of level 0
      for (std::size_t l = 0; l < t.down.size(); ++l) {
        cables += nodes * t.up[l] * t.parallel[l];
        nodes = nodes / t.down[l] * t.up[l];
      }
      return saturated(2 * cables);
    }
    std::optional<long> operator()(const Torus& t) const {
      return saturated(2 * product(t.dimensions) *
                       static_cast<double>(
                           std::count_if(t.dimensions.begin(), t.dimensions.end(), [](int size) { return size > 1; })));
    }
    /// Counts as Fabric does: one link for each ordered pair, including a router paired with itself.
    std::optional<long> operator()(const Dragonfly& t) const {
      const double routers = product({t.groups, t.chassis, t.routers});
      return saturated(routers * (2.0 * t.hosts + t.routers + t.chassis) + product({t.groups, t.groups}));
    }
  } count;
  return std::visit(count, topology);
}

void check(const Scenario& scenario, const Workload* workload, std::vector<Fault>& faults,
           const PlatformFacts* platform) {
  Checker(scenario, workload, faults, platform).run();
}

void check(const Scenario& scenario, std::vector<Fault>& faults) {
  const std::size_t before = faults.size();
  if (scenario.workload) check_workload(*scenario.workload, faults);
  if (!scenario.workload || faults.size() > before) return check(scenario, nullptr, faults);
  const Workload workload = make_workload(*scenario.workload);
  check(scenario, &workload, faults);
}

}  // namespace stepcast
