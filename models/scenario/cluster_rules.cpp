#include "models/scenario/cluster_rules.hpp"

#include <algorithm>
#include <set>
#include <string>

#include <fmt/format.h>

#include "models/fabric/machines.hpp"
#include "models/unit/format.hpp"

namespace stepcast {
namespace {

constexpr long kMaxHosts = 1L << 25;

class ClusterChecker {
 public:
  ClusterChecker(const Scenario& scenario, const PlatformFacts* platform, std::vector<Fault>& faults)
      : s_(scenario), platform_(platform), faults_(faults) {}

  void run() {
    topology();
    groups();
    stack();
    protocols();
    algorithms();
    switches();
  }

 private:
  void fault(std::string pointer, std::string found, std::string allowed, std::string remedy = "") {
    faults_.push_back({"", std::move(pointer), std::move(found), std::move(allowed), std::move(remedy)});
  }

  void topology() {
    const Cluster& c = s_.cluster;
    if (c.link == kNoLink && !std::holds_alternative<SimGridXml>(c.topology))
      fault("/cluster/link", "nothing", "a required value (a host's link into the interconnect)",
            R"(add it: "link": {"bandwidth": "10Gbps", "latency": "25us"})");
    const std::size_t before = faults_.size();
    std::visit([&](const auto& t) { check_topology(t, c); }, c.topology);
    std::optional<std::int64_t> hosts;
    if (faults_.size() == before) hosts = platform_ ? platform_->hosts : host_count(c.topology);
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

  void check_topology(const Star&, const Cluster&) {}
  void check_topology(const Racks&, const Cluster&) {}
  void check_topology(const SimGridXml&, const Cluster&) {}
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
      fault("/cluster/groups", "a group with its own links", "a group's own links with topology star or racks only",
            "give the group a speed only");
    if (c.jitter.cv > 0 && c.jitter.distribution == JitterDistribution::none)
      fault("/cluster/jitter/distribution", "\"none\" with cv above 0", "a distribution: lognormal or gamma");
  }

  void stack() {
    const Cluster& c = s_.cluster;
    if (c.stack.connection_bandwidth && std::holds_alternative<SimGridXml>(c.topology))
      fault("/stack/connection_bandwidth", "a limit with topology simgrid-xml",
            "null: the platform file has its links");
    if (c.stack.connection_bandwidth && std::holds_alternative<TcpTransport>(c.transport))
      fault("/stack/connection_bandwidth", "a limit with transport tcp",
            "null: the transport's window limits a message there");
    constexpr Seconds kShortest = 1_us;
    if (c.stack.cycle && *c.stack.cycle < kShortest)
      fault("/stack/cycle", human_text(*c.stack.cycle), "at least 1us, or null for none");
  }

  void protocols() {
    const Cluster& c = s_.cluster;
    if (c.protocols.empty()) return;
    constexpr const char* remedy = "leave one of the two out; --set /cluster/protocols=[] removes the protocols";
    if (std::holds_alternative<TcpTransport>(c.transport))
      fault("/cluster/protocols", "protocols with transport tcp", "protocols with transport ideal only", remedy);
    if (std::holds_alternative<SimGridXml>(c.topology))
      fault("/cluster/protocols", "protocols with topology simgrid-xml",
            "protocols with a topology whose links are known", remedy);
    std::set<std::string> names;
    for (std::size_t i = 0; i < c.protocols.size(); ++i)
      if (const std::string& name = c.protocols[i].name; name.empty() || !names.insert(name).second)
        fault(fmt::format("/cluster/protocols/{}/name", i),
              name.empty() ? "nothing" : fmt::format("\"{}\" a second time", name),
              "a different name for each protocol");
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

  /// In-network sums go up a tree of switches and down again.
  void switches() {
    const Cluster& c = s_.cluster;
    if (!c.in_network_factor) return;
    if (std::any_of(c.groups.begin(), c.groups.end(), [](const WorkerGroup& g) { return g.latency.has_value(); }))
      fault("/cluster/in_network_factor", "switches that add up, with a group's own latency",
            "links of one latency: a sum waits for the slowest way to the root", "null: its switches only forward");
    if (traits(c.topology).is_tree) return;
    fault("/cluster/in_network_factor",
          fmt::format("switches that add up, with topology {}",
                      std::visit([](const auto& t) { return t.kind; }, c.topology)),
          "a topology with a tree of switches: star, nodes, racks or fat-tree", "null: its switches only forward");
  }

  const Scenario& s_;
  const PlatformFacts* platform_;
  std::vector<Fault>& faults_;
};

/// Limits the value instead of overflowing. No simulation has 2^60 hosts.
long saturated(double count) { return count > 1e15 ? 1000000000000000L : static_cast<long>(count); }

double product(const std::vector<int>& factors) {
  double p = 1;
  for (const int f : factors) p *= f;
  return p;
}

}  // namespace

void check_cluster(const Scenario& scenario, const PlatformFacts* platform, std::vector<Fault>& faults) {
  ClusterChecker(scenario, platform, faults).run();
}

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

}  // namespace stepcast
