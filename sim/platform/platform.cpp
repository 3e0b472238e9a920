#include "sim/platform/platform.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

#include <fmt/format.h>

#include "models/describe/fault.hpp"
#include "models/describe/json.hpp"
#include "models/fabric/host_specs.hpp"
#include "models/fabric/machines.hpp"
#include "models/part/connections.hpp"
#include "models/scenario/cluster_rules.hpp"
#include "sim/platform/platform_file.hpp"

namespace stepcast {
namespace {

namespace s4u = simgrid::s4u;

double units(BytesPerSecond bandwidth) { return bandwidth.si() * kUnitsPerByte; }

class Builder {
 public:
  Builder(s4u::Engine& engine, const Cluster& cluster, int dedicated_shards)
      : engine_(engine),
        cluster_(cluster),
        specs_(cluster),
        connections_(connections_limit(cluster)),
        hosts_(cluster.workers + dedicated_shards) {}

  Platform build() {
    check_size();
    std::visit([this](const auto& topology) { make(topology); }, cluster_.topology);
    Platform platform;
    platform.workers.assign(by_rank_.begin(), by_rank_.begin() + cluster_.workers);
    platform.shards.assign(by_rank_.begin() + cluster_.workers, by_rank_.begin() + hosts_);
    if (std::holds_alternative<SimGridXml>(cluster_.topology)) platform.work_per_second = by_rank_.front()->get_speed();
    return platform;
  }

 private:
  /// SimGrid creates all links of a fabric, used or not: 800 bytes and 7 us each.
  void check_size() const {
    if (const auto links = link_count(cluster_.topology); links && *links > kMostSimulatedLinks)
      throw ModelError(fmt::format(
          "SimGrid would make all {} links of the topology, and replays in full have at most {}; use --fidelity folded or --evaluator equations, or give it fewer switches",
          *links, kMostSimulatedLinks));
  }

  static std::string name(int rank) { return fmt::format("host-{}", rank); }

  s4u::Host* add_host(s4u::NetZone* zone, int rank) {
    auto* host = sg::add_host(zone, name(rank), kWorkPerSecond * specs_.of(rank).speed);
    if (static_cast<int>(by_rank_.size()) <= rank) by_rank_.resize(static_cast<std::size_t>(rank) + 1);
    by_rank_[rank] = host;
    return host;
  }

  static s4u::SplitDuplexLink* add_cable(s4u::NetZone* zone, const std::string& name, BytesPerSecond bandwidth,
                                         Seconds latency) {
    auto* cable = sg::add_cable(zone, name, units(bandwidth));
    cable->set_latency(latency.si())->seal();
    return cable;
  }

  /// Adds a host with its own cable to the star zone's switch.
  /// @param inside  links between host and cable
  void add_star_host(s4u::NetZone* zone, int rank, const Link& link, sg::Route inside = {}) {
    auto* host = add_host(zone, rank);
    inside.push_back(sg::outward(add_cable(zone, "cable-" + name(rank), link.bandwidth, link.latency / 2.0)));
    sg::connect_host(zone, host, inside);
  }
  /// A host that is a machine of its own.
  void add_machine_on_star(s4u::NetZone* zone, int rank) {
    add_star_host(zone, rank, specs_.of(rank).link,
                  connections_ ? sg::Route{s4u::LinkInRoute(add_connections(zone))} : sg::Route{});
  }

  /// The connections of a machine: a FATPIPE, of which each flow may have all. Each machine has its own, since SimGrid's
  /// solver visits all flows of a FATPIPE.
  s4u::Link* add_connections(s4u::NetZone* zone) {
    auto* link = sg::add_link(zone, fmt::format("{}{}", kConnections, machines_++), units(*connections_));
    link->set_sharing_policy(s4u::Link::SharingPolicy::FATPIPE)->seal();
    return link;
  }

  /// SimGrid needs a link in every route. This one is free and never contended. A FATPIPE link would mean the same. But
  /// for each flow that gets its rate, SimGrid's solver visits all flows of a FATPIPE: 3 to 20 times as slow.
  static s4u::LinkInRoute free_link(s4u::NetZone* zone, const std::string& name) {
    auto* link = sg::add_link(zone, kFreeLink + name, kFreeRate);
    link->seal();
    return s4u::LinkInRoute(link);
  }

  /// A star zone for some hosts, with a router as its exit.
  struct Branch {
    s4u::NetZone* zone;
    sg::RouterPoint router;
  };
  Branch add_branch(s4u::NetZone* parent, const std::string& name) {
    Branch branch{sg::star_in(parent, name), nullptr};
    branch.router = sg::add_router(branch.zone, name + "-router");
    sg::set_gateway(branch.zone, branch.router);
    sg::connect_router(branch.zone, branch.router, {free_link(branch.zone, name + "-backplane")});
    return branch;
  }

  void make(const Star&) {
    auto* zone = sg::root_star(engine_, "cluster");
    for (int rank = 0; rank < hosts_; ++rank) add_machine_on_star(zone, rank);
    zone->seal();
  }

  void make(const Racks& racks) {
    auto* root = sg::root_star(engine_, "cluster");
    const BytesPerSecond uplink = cluster_.link.bandwidth * (racks.hosts_per_rack / racks.oversubscription);
    for (int first = 0; first < hosts_; first += racks.hosts_per_rack) {
      const std::string rack = fmt::format("rack-{}", first / racks.hosts_per_rack);
      const Branch branch = add_branch(root, rack);
      for (int rank = first; rank < std::min(hosts_, first + racks.hosts_per_rack); ++rank)
        add_machine_on_star(branch.zone, rank);
      branch.zone->seal();
      sg::connect_zone(root, branch.zone, branch.router,
                       {sg::outward(add_cable(root, rack + "-uplink", uplink, racks.uplink_latency / 2.0))});
    }
    root->seal();
  }

  /// Each machine is a full zone. It has a star branch for each NIC (the GPUs that use it) and an exit. Routes between
  /// the branches of a machine are free; routes to the outside use the NIC.
  void make(const Nodes& nodes) {
    auto* root = sg::root_star(engine_, "cluster");
    std::optional<Branch> rack;
    int machine = 0;
    const auto add = [&](const std::vector<int>& ranks, const Link& inner) {
      if (nodes.racks && machine % nodes.racks->nodes_per_rack == 0) {
        close_rack(root, rack, nodes);
        rack = open_rack(root, fmt::format("rack-{}", machine / nodes.racks->nodes_per_rack));
      }
      add_machine(rack ? rack->zone : root, machine++, ranks, nodes, inner);
    };
    for (int first = 0; first < cluster_.workers; first += nodes.gpus_per_node) {
      std::vector<int> ranks;
      for (int rank = first; rank < std::min(cluster_.workers, first + nodes.gpus_per_node); ++rank)
        ranks.push_back(rank);
      add(ranks, nodes.inner);
    }
    // A dedicated shard has its own machine, whose memory is no bottleneck.
    for (int rank = cluster_.workers; rank < hosts_; ++rank) add({rank}, Link{BytesPerSecond(kFreeBandwidth), {}});
    close_rack(root, rack, nodes);
    root->seal();
  }

  /// Opens a star zone for machines. Its gateway must be in a sibling zone, since routes go from zone to zone.
  Branch open_rack(s4u::NetZone* root, const std::string& name) {
    auto* zone = sg::star_in(root, name);
    const Branch exit = add_branch(zone, name + "-exit");
    exit.zone->seal();
    sg::connect_zone(zone, exit.zone, exit.router, {free_link(zone, name + "-inside")});
    sg::set_gateway(zone, exit.router);
    return {zone, exit.router};
  }

  /// Connects a complete rack of machines.
  void close_rack(s4u::NetZone* root, const std::optional<Branch>& rack, const Nodes& nodes) {
    if (!rack) return;
    rack->zone->seal();
    auto* uplink = add_cable(root, rack->zone->get_name() + "-uplink", rack_uplink(cluster_, nodes),
                             nodes.racks->uplink_latency / 2.0);
    sg::connect_zone(root, rack->zone, rack->router, {sg::outward(uplink)});
  }

  void add_machine(s4u::NetZone* root, int machine, const std::vector<int>& ranks, const Nodes& nodes,
                   const Link& inner) {
    const std::string label = fmt::format("node-{}", machine);
    auto* zone = sg::full_in(root, label);
    const Branch exit = add_branch(zone, label + "-exit");
    exit.zone->seal();
    std::vector<Branch> branches;
    const Nics nics = nodes.nics_of_machine();
    for (int nic = 0; nic < nics.in_use(static_cast<int>(ranks.size())); ++nic) {
      const std::string branch_label = fmt::format("{}-nic-{}", label, nic);
      branches.push_back(add_branch(zone, branch_label));
      for (std::size_t i = 0; i < ranks.size(); ++i)
        if (nics.of(static_cast<int>(i)) == nic) add_star_host(branches.back().zone, ranks[i], inner);
      branches.back().zone->seal();
      auto* cable = add_cable(zone, branch_label + "-cable", cluster_.link.bandwidth, cluster_.link.latency / 2.0);
      sg::connect_zones(zone, branches.back().zone, branches.back().router, exit.zone, exit.router,
                        {sg::outward(cable)});
    }
    for (std::size_t a = 0; a < branches.size(); ++a)
      for (std::size_t b = a + 1; b < branches.size(); ++b)
        sg::connect_zones(zone, branches[a].zone, branches[a].router, branches[b].zone, branches[b].router,
                          {free_link(zone, fmt::format("{}-inside-{}-{}", label, a, b))});
    sg::set_gateway(zone, exit.router);
    zone->seal();
    sg::connect_zone(root, zone, exit.router,
                     {connections_ ? s4u::LinkInRoute(add_connections(root)) : free_link(root, label + "-way-out")});
  }

  /// SimGrid's own zones number their hosts. This maker names our hosts by that number.
  [[nodiscard]] sg::HostMaker host_maker() {
    return [this](s4u::NetZone* zone, unsigned long id) {
      auto* host = add_host(zone, static_cast<int>(id));
      host->seal();
      return host;
    };
  }
  [[nodiscard]] sg::LinkMaker connections_maker() {
    if (!connections_) return {};
    return [this](s4u::NetZone* zone) { return add_connections(zone); };
  }
  [[nodiscard]] double cable_latency() const { return cluster_.link.latency.si() / 2.0; }

  void make(const FatTree& t) {
    const auto counts = [](const std::vector<int>& v) { return std::vector<unsigned>(v.begin(), v.end()); };
    sg::fat_tree(engine_, counts(t.down), counts(t.up), counts(t.parallel), units(cluster_.link.bandwidth),
                 cable_latency(), host_maker(), connections_maker())
        ->seal();
  }

  void make(const Torus& t) {
    // SimGrid cannot name cables for several dimensions of size 1. No route uses them, so they are left out.
    std::vector<unsigned long> dimensions;
    std::copy_if(t.dimensions.begin(), t.dimensions.end(), std::back_inserter(dimensions),
                 [](int size) { return size > 1; });
    if (dimensions.empty()) dimensions.push_back(1);
    sg::torus(engine_, dimensions, units(cluster_.link.bandwidth), cable_latency(), host_maker(), connections_maker())
        ->seal();
  }

  void make(const Dragonfly& t) {
    const auto pair = [](int count, int cables) {
      return sg::Counted(static_cast<unsigned>(count), static_cast<unsigned>(cables));
    };
    sg::dragonfly(engine_, pair(t.groups, t.group_links), pair(t.chassis, t.chassis_links),
                  pair(t.routers, t.router_links), static_cast<unsigned>(t.hosts), units(cluster_.link.bandwidth),
                  cable_latency(), host_maker(), connections_maker())
        ->seal();
  }

  void make(const SimGridXml& xml) {
    try {
      by_rank_ = load_hosts(engine_, xml.file);
    } catch (const std::exception& error) {
      throw ModelError(fmt::format("SimGrid cannot load the platform {}: {}", xml.file, error.what()));
    }
    for (auto* link : engine_.get_all_links()) link->set_bandwidth(link->get_bandwidth() * kUnitsPerByte);
    if (static_cast<int>(by_rank_.size()) < hosts_)
      throw ModelError(
          fmt::format("the platform {} has {} hosts, but the scenario needs {}", xml.file, by_rank_.size(), hosts_));
  }

  s4u::Engine& engine_;
  const Cluster& cluster_;
  HostSpecs specs_;
  std::optional<BytesPerSecond> connections_;  ///< the limit of a message between machines
  int hosts_, machines_ = 0;
  std::vector<s4u::Host*> by_rank_;
};

}  // namespace

void configure_network(const Transport& transport) {
  const Json settings = transport_settings(transport);
  for (const auto& [name, value] : settings.items()) {
    // Both are byte amounts, and bytes are scaled.
    const bool scaled = name == "network/TCP-gamma" || name == "network/weight-S";
    s4u::Engine::set_config(fmt::format("{}:{}", name,
                                        value.is_string()
                                            ? value.get<std::string>()
                                            : fmt::format("{}", value.get<double>() * (scaled ? kUnitsPerByte : 1.0))));
  }
}

double Platform::delay(const s4u::Host* from, const s4u::Host* to) const {
  if (latency_.empty() || from == to) return 0.0;
  const auto [entry, is_new] = delay_.try_emplace(id_.at(from) << 32 | id_.at(to), 0.0);
  if (is_new) {
    std::vector<s4u::Link*> links;
    double unused = 0.0;
    from->route_to(to, links, &unused);
    for (const auto* link : links) entry->second += latency_.at(link);
  }
  return entry->second;
}

void Platform::take_latencies(s4u::Engine& engine) {
  for (auto* link : engine.get_all_links()) {
    latency_[link] = link->get_latency();
    link->set_latency(0.0);
  }
  for (const auto* hosts : {&workers, &shards})
    for (const auto* host : *hosts) id_.try_emplace(host, id_.size());
}

Platform build_platform(s4u::Engine& engine, const Cluster& cluster, int dedicated_shards) {
  Platform platform = Builder(engine, cluster, dedicated_shards).build();
  if (std::holds_alternative<IdealTransport>(cluster.transport)) platform.take_latencies(engine);
  return platform;
}

}  // namespace stepcast
