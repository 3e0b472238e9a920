#include "models/fabric/fabric.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "models/fabric/host_specs.hpp"
#include "models/fabric/machines.hpp"

namespace stepcast {
namespace {

using Route = Fabric::Route;

// All numbers below are ints: a topology has at most kMostLinks links (scenario/cluster_rules.hpp).

/// The two directions of cable c.
constexpr int forth(int c) { return 2 * c; }
constexpr int back(int c) { return 2 * c + 1; }

/// SimGrid's fat tree (FatTreeZone.cpp). A node at level l has a name with
/// one digit for each level. The digits below l number the parents on the way
/// up; the others are those of the hosts below it. Digit 0 varies fastest.
class FatTreeRoutes {
 public:
  explicit FatTreeRoutes(const FatTree& t) : t_(t), levels_(t.down.size()) {
    for (std::size_t l = 0; l < levels_; ++l) {
      first_cable_.push_back(cables_);
      int nodes = 1;
      for (std::size_t i = 0; i < levels_; ++i) nodes *= radix(l, i);
      cables_ += nodes * ports_up(l);
    }
  }

  /// The number of links of all cables, one for each direction.
  [[nodiscard]] int links() const { return 2 * cables_; }

  void operator()(int from, int to, Route& route) {
    std::vector<int>& here = here_;
    const std::vector<int>& target = target_;
    set_digits(from, here_);
    set_digits(to, target_);
    std::size_t level = 0;
    // D-mod-k: the destination selects the parents. SimGrid ignores parallel cables in this division.
    while (level == 0 || !std::equal(here.begin() + static_cast<std::ptrdiff_t>(level), here.end(),
                                     target.begin() + static_cast<std::ptrdiff_t>(level))) {
      int port = to;
      for (std::size_t i = 0; i < level; ++i) port /= t_.up[i];
      port %= ports_up(level);
      route.push_back(forth(cable(level, here, port)));
      here[level] = port % t_.up[level];
      ++level;
    }
    // The source selects among parallel cables. SimGrid continues to count ports from those of the level above.
    while (level > 0) {
      int port = from % t_.parallel[level - 1] * t_.down[level - 1];
      for (; level > 0 && port < t_.down[level - 1] * t_.parallel[level - 1]; ++port) {
        const std::size_t below = level - 1;
        if (port % t_.down[below] != target[below]) continue;
        const int port_up = here[below] + port / t_.down[below] * t_.up[below];
        here[below] = target[below];
        route.push_back(back(cable(below, here, port_up)));
        level = below;
      }
    }
  }

 private:
  [[nodiscard]] int radix(std::size_t level, std::size_t i) const { return i < level ? t_.up[i] : t_.down[i]; }
  [[nodiscard]] int ports_up(std::size_t level) const { return t_.up[level] * t_.parallel[level]; }

  void set_digits(int host, std::vector<int>& digits) const {
    digits.resize(levels_);
    for (std::size_t i = 0; i < levels_; ++i) {
      digits[i] = host % t_.down[i];
      host /= t_.down[i];
    }
  }

  [[nodiscard]] int cable(std::size_t level, const std::vector<int>& node, int port) const {
    int position = 0;
    for (std::size_t i = levels_; i-- > 0;) position = position * radix(level, i) + node[i];
    return first_cable_[level] + position * ports_up(level) + port;
  }

  FatTree t_;
  std::size_t levels_;
  std::vector<int> first_cable_;  ///< by level of its lower end
  int cables_ = 0;
  std::vector<int> here_, target_;  ///< kept between calls: a caller asks for millions of routes
};

/// SimGrid's torus (TorusZone.cpp): a cable connects each host to the next one along every dimension. A route takes the
/// shorter way around, one dimension after another.
class TorusRoutes {
 public:
  explicit TorusRoutes(const Torus& t) {
    std::copy_if(t.dimensions.begin(), t.dimensions.end(), std::back_inserter(dimensions_),
                 [](int size) { return size > 1; });
    for (const int size : dimensions_) hosts_ *= size;
  }

  [[nodiscard]] int links() const { return 2 * hosts_ * static_cast<int>(dimensions_.size()); }

  void operator()(int from, int to, Route& route) const {
    int stride = 1, here = from;
    for (std::size_t d = 0; d < dimensions_.size(); ++d) {
      const int size = dimensions_[d], source = from / stride % size, target = to / stride % size;
      const bool up = (target > source && target <= source + size / 2) ||
                      (source > size / 2 && (source + size / 2) % size >= target);
      for (int at = source; at != target;) {
        const int next = (at + (up ? 1 : size - 1)) % size;
        const int next_host = here + (next - at) * stride;
        route.push_back(up ? forth(cable(here, d)) : back(cable(next_host, d)));
        at = next;
        here = next_host;
      }
      stride *= size;
    }
  }

 private:
  [[nodiscard]] int cable(int host, std::size_t dimension) const {
    return host * static_cast<int>(dimensions_.size()) + static_cast<int>(dimension);
  }
  std::vector<int> dimensions_;
  int hosts_ = 1;
};

/// SimGrid's dragonfly (DragonflyZone.cpp): traffic from group g to group h leaves through router h of the first
/// chassis. Inside a group, a route first follows the chassis, then changes the chassis, starting from the first one.
class DragonflyRoutes {
 public:
  explicit DragonflyRoutes(const Dragonfly& t) : t_(t) {}

  /// Links by kind, in this order: host cables, routers inside a chassis, between chassis, between groups.
  /// Each ordered pair of routers is a separate link.
  [[nodiscard]] int host_links() const { return 2 * routers() * t_.hosts; }
  [[nodiscard]] int chassis_links() const { return routers() * t_.routers; }
  [[nodiscard]] int group_links() const { return routers() * t_.chassis; }
  [[nodiscard]] int links() const { return host_links() + chassis_links() + group_links() + t_.groups * t_.groups; }

  void operator()(int from, int to, Route& route) const {
    const int source = from / t_.hosts, target = to / t_.hosts;
    const int group = source / per_group(), target_group = target / per_group();
    const int target_chassis = target % per_group() / t_.routers, target_router = target % t_.routers;
    route.push_back(forth(from));
    int here = source;
    const auto along_chassis = [&](int router) { route.push_back(host_links() + here * t_.routers + router); };
    const auto between_chassis = [&](int chassis) {
      route.push_back(host_links() + chassis_links() + here * t_.chassis + chassis);
    };
    if (group != target_group) {
      if (here % t_.routers != target_group) {
        along_chassis(target_group);
        here = here / t_.routers * t_.routers + target_group;
      }
      if (here % per_group() / t_.routers != 0) {
        between_chassis(0);
        here = group * per_group() + target_group;
      }
      route.push_back(host_links() + chassis_links() + group_links() + group * t_.groups + target_group);
      here = target_group * per_group() + group;
    }
    if (here != target && here % t_.routers != target_router) {
      along_chassis(target_router);
      here = target_group * per_group() + target_router;
    }
    if (source != target && here % per_group() / t_.routers != target_chassis) between_chassis(target_chassis);
    route.push_back(back(to));
  }

 private:
  [[nodiscard]] int per_group() const { return t_.chassis * t_.routers; }
  [[nodiscard]] int routers() const { return t_.groups * per_group(); }
  Dragonfly t_;
};

}  // namespace

/// One function for each topology, as in platform.cpp.
struct Fabric::Maker {
  Fabric& fabric;
  const Cluster& cluster;
  int hosts;

  void add_cables(int count, BytesPerSecond bandwidth, Seconds latency) const {
    fabric.links_.insert(fabric.links_.end(), static_cast<std::size_t>(count) * 2, OneWay{bandwidth, latency});
  }
  /// A link of the fabric: the cluster's link, or several of them in parallel.
  [[nodiscard]] OneWay link(int cables = 1) const {
    return {cluster.link.bandwidth * cables, cluster.link.latency / 2.0};
  }

  void add_host_cables() const {
    const HostSpecs specs(cluster);
    for (int rank = 0; rank < hosts; ++rank) {
      const Link link = specs.of(rank).link;
      add_cables(1, link.bandwidth, link.latency / 2.0);
    }
  }

  void operator()(const Star&) const {
    add_host_cables();
    fabric.branch_ = [](int) { return 0; };
    fabric.append_ = [](int from, int to, Route& route) {
      route.push_back(forth(from));
      route.push_back(back(to));
    };
  }

  void operator()(const Racks& t) const {
    add_host_cables();
    add_cables((hosts - 1) / t.hosts_per_rack + 1, cluster.link.bandwidth * (t.hosts_per_rack / t.oversubscription),
               t.uplink_latency / 2.0);
    fabric.branch_ = [m = t.hosts_per_rack](int host) { return host / m; };
    fabric.append_ = [first = hosts, m = t.hosts_per_rack](int from, int to, Route& route) {
      route.push_back(forth(from));
      if (from / m != to / m) {
        route.push_back(forth(first + from / m));
        route.push_back(back(first + to / m));
      }
      route.push_back(back(to));
    };
  }

  void operator()(const Nodes& t) const {
    const int workers = cluster.workers, g = t.gpus_per_node, machines = (workers - 1) / g + 1,
              nics = std::min(t.nics, workers);
    add_cables(workers, t.inner.bandwidth, t.inner.latency / 2.0);
    add_cables(hosts - workers, BytesPerSecond(kFreeBandwidth), {});
    add_cables(machines * nics + (hosts - workers), cluster.link.bandwidth,
               cluster.link.latency / 2.0);  // the machine of a dedicated shard has one NIC
    const auto machine = [=](int rank) { return rank < workers ? rank / g : machines + (rank - workers); };
    const auto nic = [=, first = hosts, of_machine = t.nics_of_machine()](int rank) {
      return first + (rank < workers ? rank / g * nics + of_machine.of(rank % g) : machines * nics + (rank - workers));
    };
    const int all = machines + (hosts - workers), per_rack = t.racks ? t.racks->nodes_per_rack : all,
              first_uplink = hosts + machines * nics + (hosts - workers);
    if (t.racks) add_cables((all - 1) / per_rack + 1, rack_uplink(cluster, t), t.racks->uplink_latency / 2.0);
    fabric.branch_ = nic;
    struct Seat {
      int machine, nic, uplink;
    };
    std::vector<Seat> seats;  // a list is quicker than the divisions
    for (int host = 0; host < hosts; ++host)
      seats.push_back({machine(host), nic(host), first_uplink + machine(host) / per_rack});
    fabric.append_ = [seats = std::move(seats)](int from, int to, Route& route) {
      const Seat &source = seats[from], &target = seats[to];
      route.push_back(forth(from));
      if (source.machine != target.machine) route.push_back(forth(source.nic));
      if (source.uplink != target.uplink) {
        route.push_back(forth(source.uplink));
        route.push_back(back(target.uplink));
      }
      if (source.machine != target.machine) route.push_back(back(target.nic));
      route.push_back(back(to));
    };
  }

  /// Links get numbers when routes first use them.
  template <class Routes>
  void number_as_taken(const Routes& routes, std::function<OneWay(int)> link_at) const {
    constexpr int kMostListed = 1 << 23;  // number of links; a list of them takes 32 MB
    if (routes.links() <= kMostListed) fabric.number_at_.assign(routes.links(), kUnnumbered);
    fabric.link_at_ = std::move(link_at);
    fabric.append_ = routes;
  }

  void operator()(const FatTree& t) const {
    number_as_taken(FatTreeRoutes(t), [one = link()](int) { return one; });
  }

  void operator()(const Torus& t) const {
    number_as_taken(TorusRoutes(t), [one = link()](int) { return one; });
  }

  void operator()(const Dragonfly& t) const {
    const DragonflyRoutes routes(t);
    const int chassis = routes.host_links(), group = chassis + routes.chassis_links(),
              outer = group + routes.group_links();
    const auto link_at = [=, host_link = link(), chassis_link = link(t.router_links),
                          group_link = link(t.chassis_links), outer_link = link(t.group_links)](int place) {
      return place < chassis ? host_link : place < group ? chassis_link : place < outer ? group_link : outer_link;
    };
    number_as_taken(routes, link_at);
  }

  void operator()(const SimGridXml&) const {
    throw std::logic_error("only SimGrid knows the routes of a platform file");
  }
};

void Fabric::number(Route& route, std::size_t from) {
  for (std::size_t h = from; h < route.size(); ++h) {
    int& number = number_at_.empty() ? number_.try_emplace(route[h], kUnnumbered).first->second : number_at_[route[h]];
    if (number == kUnnumbered) {
      number = static_cast<int>(links_.size());
      links_.push_back(link_at_(route[h]));
    }
    route[h] = number;
  }
}

Fabric::Fabric(const Cluster& cluster, int dedicated_shards) : limits_(cluster) {
  std::visit(Maker{*this, cluster, cluster.workers + dedicated_shards}, cluster.topology);
}

}  // namespace stepcast
