// The cluster, and the symbols of the timing equations (Thakur 2005; shared words in CONTRIBUTING.md):
//   α  latency of one message, sender's memory to receiver's            link.latency
//   β  time per byte on a host's link, 1/bandwidth                       link.bandwidth
//   γ  time to add one received byte into the receiver's buffer          reduction_cost
//   S  fixed cost of starting one collective, on every worker            collective_cost
//   κ  time per byte of a collective's buffer, beside its messages       collective_byte_cost
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "models/describe/describe.hpp"
#include "models/part/collective_algorithm.hpp"
#include "models/part/hourly_prices.hpp"
#include "models/part/nics.hpp"
#include "models/part/stack.hpp"

namespace stepcast {

/// Bandwidth in B/s of a link that takes no time, such as the one between a dedicated shard and its machine's NIC.
/// Every link of a scenario is at least a thousand times slower.
inline constexpr double kFreeBandwidth = 1e18;
inline constexpr Limits bandwidth_limits{0.0, true, 1e15};

/// No network takes longer than one hour.
inline constexpr Limits latency_limits{0.0, false, 3600.0};

/// A full-duplex link: each direction has the whole bandwidth.
struct Link {
  BytesPerSecond bandwidth{};
  Seconds latency{};

  template <class V>
  static void describe(V& v, Link& x) {
    v.required("bandwidth", x.bandwidth, "rate of each direction", bandwidth_limits);
    v.optional("latency", x.latency, "one-way time of an empty message between two ends of such links", latency_limits);
  }
  bool operator==(const Link&) const = default;
};

/// Stands for a link that nobody gave: a platform file has its own. All other topologies need one, faster than this.
inline constexpr Link kNoLink{BytesPerSecond(1.0), Seconds{}};

/// One full-duplex link per host into a non-blocking switch.
struct Star {
  static constexpr std::string_view kind = "star";
  static constexpr std::string_view meaning = "one link per worker into a non-blocking switch";
  template <class V>
  static void describe(V&, Star&) {}
  bool operator==(const Star&) const = default;
};

/// Racks of machines under a leaf switch. Its uplink carries its machines' NIC bandwidth divided by `oversubscription`.
struct NodeRacks {
  int nodes_per_rack = 16;
  double oversubscription = 1.0;
  Seconds uplink_latency{};

  template <class V>
  static void describe(V& v, NodeRacks& x) {
    v.required("nodes_per_rack", x.nodes_per_rack, "machines under one leaf switch", at_least(1));
    v.optional("oversubscription", x.oversubscription, "bandwidth into the rack's switch over bandwidth out of it",
               at_least(1));
    v.optional("uplink_latency", x.uplink_latency, "added to the latency of a message between racks", latency_limits);
  }
  bool operator==(const NodeRacks&) const = default;
};

/// Machines with several GPUs, ranked machine by machine. Each GPU has an inner link to its machine's switch. The
/// machine's NICs (each a `cluster.link`) lead to a non-blocking switch or to the rack's switch. A dedicated parameter
/// server is a separate machine, numbered after the workers' machines.
struct Nodes {
  static constexpr std::string_view kind = "nodes";
  static constexpr std::string_view meaning = "machines of several GPUs with inner links and one or more NICs";
  int gpus_per_node = 8;
  Link inner{};
  int nics = 1;
  std::optional<NodeRacks> racks{};
  NicOfGpu nic_of_gpu = NicOfGpu::in_turn;

  [[nodiscard]] Nics nics_of_machine() const { return {gpus_per_node, nics, nic_of_gpu}; }

  template <class V>
  static void describe(V& v, Nodes& x) {
    v.required("gpus_per_node", x.gpus_per_node, "workers on one machine", at_least(1));
    v.required("inner", x.inner, "link between the GPUs of one machine (NVLink, PCIe)");
    v.optional("nics", x.nics, "network interfaces of one machine", at_least(1));
    v.optional("nic_of_gpu", x.nic_of_gpu, "the NIC that a GPU uses");
    v.optional(
        "racks", x.racks,
        "racks of the machines, with oversubscribed uplinks; null: all NICs lead to one switch that never blocks");
  }
  bool operator==(const Nodes&) const = default;
};

/// Racks of hosts. The uplink of a top-of-rack switch carries the bandwidth of hosts_per_rack / oversubscription links.
struct Racks {
  static constexpr std::string_view kind = "racks";
  static constexpr std::string_view meaning = "racks whose uplinks are oversubscribed";
  int hosts_per_rack = 16;
  double oversubscription = 1.0;
  Seconds uplink_latency{};

  template <class V>
  static void describe(V& v, Racks& x) {
    v.required("hosts_per_rack", x.hosts_per_rack, "workers under one top-of-rack switch", at_least(1));
    v.optional("oversubscription", x.oversubscription, "bandwidth into the rack's switch over bandwidth out of it",
               at_least(1));
    v.optional("uplink_latency", x.uplink_latency, "added to the latency of a message between racks", latency_limits);
  }
  bool operator==(const Racks&) const = default;
};

/// Fat tree in SimGrid's notation, leaves first: a level-l switch has `down[l]` children, `up[l]` parents and
/// `parallel[l]` cables to each. Routing is destination-modulo (D-mod-k).
struct FatTree {
  static constexpr std::string_view kind = "fat-tree";
  static constexpr std::string_view meaning = "fat tree with destination-modulo routing";
  std::vector<int> down;
  std::vector<int> up;
  std::vector<int> parallel;

  template <class V>
  static void describe(V& v, FatTree& x) {
    v.required("down", x.down, "children of a switch, by level, leaves first", at_least(1));
    v.required("up", x.up, "parents of a node, by level, leaves first", between(1, 65536));
    v.required("parallel", x.parallel, "cables between a node and each parent, by level", between(1, 65536));
  }
  bool operator==(const FatTree&) const = default;
};

/// Torus with dimension-order routing. Ranks increase fastest along the first dimension.
struct Torus {
  static constexpr std::string_view kind = "torus";
  static constexpr std::string_view meaning = "torus with dimension-order routing";
  std::vector<int> dimensions;

  template <class V>
  static void describe(V& v, Torus& x) {
    v.required("dimensions", x.dimensions, "hosts along each dimension", at_least(1));
  }
  bool operator==(const Torus&) const = default;
};

/// Dragonfly (the shape of Cray Cascade): groups, chassis per group, routers per chassis, hosts per router, and the
/// cables at each level. Routing is minimal.
struct Dragonfly {
  static constexpr std::string_view kind = "dragonfly";
  static constexpr std::string_view meaning = "dragonfly with minimal routing";
  int groups = 1, group_links = 1;
  int chassis = 1, chassis_links = 1;
  int routers = 1, router_links = 1;
  int hosts = 1;

  template <class V>
  static void describe(V& v, Dragonfly& x) {
    v.required("groups", x.groups, "groups", at_least(1));
    v.optional("group_links", x.group_links, "cables between two groups", between(1, 65536));
    v.required("chassis", x.chassis, "chassis in a group", at_least(1));
    v.optional("chassis_links", x.chassis_links, "cables between two chassis of a group", between(1, 65536));
    v.required("routers", x.routers, "routers in a chassis", at_least(1));
    v.optional("router_links", x.router_links, "cables between two routers of a chassis", between(1, 65536));
    v.required("hosts", x.hosts, "hosts at a router", at_least(1));
  }
  bool operator==(const Dragonfly&) const = default;
};

/// Any SimGrid platform description. The first `workers` hosts, in order of name, run the workers. The workload's times
/// hold for the first host; the others compute in proportion to their speeds.
struct SimGridXml {
  static constexpr std::string_view kind = "simgrid-xml";
  static constexpr std::string_view meaning = "a SimGrid platform file; replay only";
  std::string file;

  template <class V>
  static void describe(V& v, SimGridXml& x) {
    v.required("file", x.file, "path of the platform's XML, relative to the file that names it");
  }
  bool operator==(const SimGridXml&) const = default;
};

using Topology = std::variant<Star, Nodes, Racks, FatTree, Torus, Dragonfly, SimGridXml>;

/// Workers that differ from the rest. Groups take the highest ranks; the last group has the very last ranks.
struct WorkerGroup {
  int count = 1;
  double speed = 1.0;
  std::optional<BytesPerSecond> bandwidth{};
  std::optional<Seconds> latency{};

  template <class V>
  static void describe(V& v, WorkerGroup& x) {
    v.required("count", x.count, "workers in this group", at_least(1));
    v.optional("speed", x.speed, "compute speed against the workload's times (0.5: twice as long)", positive);
    v.optional("bandwidth", x.bandwidth, "bandwidth of their links; null: link.bandwidth", bandwidth_limits);
    v.optional("latency", x.latency, "latency of their links; null: link.latency", latency_limits);
  }
  bool operator==(const WorkerGroup&) const = default;
};

enum class JitterDistribution { none, lognormal, gamma };

template <>
struct Choices<JitterDistribution> {
  static constexpr std::array table = {
      Choice<JitterDistribution>{"none", JitterDistribution::none, "every step takes the same time"},
      Choice<JitterDistribution>{"lognormal", JitterDistribution::lognormal, "factor of mean 1, log-normal"},
      Choice<JitterDistribution>{"gamma", JitterDistribution::gamma, "factor of mean 1, gamma"},
  };
};

/// Random factor on compute times, with mean 1, drawn for every worker and micro-batch. A step draws once, or once for
/// each pass that it accumulates; the sum of several draws varies less.
struct Jitter {
  JitterDistribution distribution = JitterDistribution::none;
  double cv = 0.0;

  template <class V>
  static void describe(V& v, Jitter& x) {
    v.optional("distribution", x.distribution, "shape of the factor");
    v.optional("cv", x.cv, "coefficient of variation: standard deviation over mean; 0 is no jitter", between(0, 10));
  }
  bool operator==(const Jitter&) const = default;
};

/// Latency and bandwidth only (the α-β model), as the equations assume.
struct IdealTransport {
  static constexpr std::string_view kind = "ideal";
  static constexpr std::string_view meaning = "pure latency and bandwidth, equal shares on a contended link";
  template <class V>
  static void describe(V&, IdealTransport&) {}
  bool operator==(const IdealTransport&) const = default;
};

/// SimGrid's model of TCP (Velho and Legrand, LV08; its defaults). It has factors on latency and bandwidth, bandwidth
/// shares inversely proportional to the round-trip time, acknowledgement traffic, and flows capped at window /
/// round-trip time.
struct TcpTransport {
  static constexpr std::string_view kind = "tcp";
  static constexpr std::string_view meaning = "SimGrid's TCP effects; replay only";
  double latency_factor = 13.01;
  double bandwidth_factor = 0.97;
  bool cross_traffic = true;
  Bytes window = 4_MiB;

  template <class V>
  static void describe(V& v, TcpTransport& x) {
    v.optional("latency_factor", x.latency_factor,
               "multiplies every latency; 13.01 is SimGrid's calibration of a LAN, 1 keeps latencies that come from "
               "distance",
               positive);
    v.optional("bandwidth_factor", x.bandwidth_factor, "multiplies every bandwidth", between(1e-6, 1));
    v.optional("cross_traffic", x.cross_traffic, "acknowledgements take 5 % of the reverse direction");
    v.optional(
        "window", x.window,
        "largest TCP window, which caps a flow at bandwidth_factor·window/(2·latency), the latency without its factor; 0B: no limit",
        non_negative);
  }
  bool operator==(const TcpTransport&) const = default;
};

using Transport = std::variant<IdealTransport, TcpTransport>;

/// One of a library's protocols for a collective's messages, such as LL, LL128 and Simple of NCCL. A low-latency
/// protocol spends bandwidth on flags; a protocol that moves whole blocks waits for them. A collective uses the fastest
/// one, with S + setup, latency_factor·α and β/bandwidth_factor on all links. NCCL compares such estimates too (nccl,
/// src/graph/tuning.cc: baseLat, hwLat and a bandwidth for each protocol).
struct Protocol {
  std::string name{};
  double latency_factor = 1.0;
  double bandwidth_factor = 1.0;
  Seconds setup{};

  template <class V>
  static void describe(V& v, Protocol& x) {
    v.required("name", x.name, "its name in reports");
    v.optional("latency_factor", x.latency_factor, "multiplies the links' latencies", at_least(1));
    v.optional("bandwidth_factor", x.bandwidth_factor, "multiplies the links' bandwidths for its payload",
               Limits{0.0, true, 1.0});
    v.optional("setup", x.setup, "added to collective_cost for collectives that use it", non_negative);
  }
  bool operator==(const Protocol&) const = default;
};

/// A benchmark's fit of the links over a range of sizes, with 95 % confidence intervals (stepcast-calibrate link). It
/// serves readers of the file and notes only. Simulations use `link` and `protocols`, which hold over all sizes.
struct LinkFit {
  std::string source;                                ///< file and program
  std::string benchmark;                             ///< "all-reduce by ring, 8 ranks", "point to point"
  std::optional<Algorithm> algorithm{};              ///< empty for point to point
  Bytes from{}, to{};                                ///< range of the buffer size n
  Seconds latency{}, latency_low{}, latency_high{};  ///< α
  std::optional<BytesPerSecond> bandwidth{}, bandwidth_low{}, bandwidth_high{};  ///< 1/β; empty: without bound

  template <class V>
  static void describe(V& v, LinkFit& x) {
    v.required("source", x.source, "file and program that measured it");
    v.required("benchmark", x.benchmark, "the timed operation, and the algorithm with the fitted closed form");
    v.optional(
        "algorithm", x.algorithm,
        "that algorithm; collectives by another one get a note; auto: the fastest of the cluster's algorithms; null: "
        "point to point");
    v.required("from", x.from, "least size of the range", non_negative);
    v.required("to", x.to, "largest size of the range", non_negative);
    v.required("latency", x.latency, "the fitted α; below 0 if the range only continues another", any);
    v.required("latency_low", x.latency_low, "lower end of its 95 % interval", any);
    v.required("latency_high", x.latency_high, "upper end of its 95 % interval", any);
    v.required("bandwidth", x.bandwidth, "the fitted 1/β; null: time does not grow with size there", positive);
    v.required("bandwidth_low", x.bandwidth_low, "lower end of its 95 % interval; null: no bound", positive);
    v.required("bandwidth_high", x.bandwidth_high, "upper end of its 95 % interval; null: no bound", positive);
  }
  bool operator==(const LinkFit&) const = default;
};

/// The latency that a message around a ring waits for: the mean or the slowest over the ring's links.
enum class RingLatency { mean, slowest };

template <>
struct Choices<RingLatency> {
  static constexpr std::array table = {
      Choice<RingLatency>{"mean", RingLatency::mean,
                          "the mean latency of the ring's hops: ranks pass messages on without a barrier"},
      Choice<RingLatency>{"slowest", RingLatency::slowest,
                          "its own hop's latency; every round also waits for the slowest hop: a ring of rendezvous"},
  };
};

struct Cluster {
  std::string name;
  Shared<std::string> description{};
  Shared<std::string> gpu{};
  int workers = 1;
  int gpus_per_worker = 1;
  Link link = kNoLink;
  Topology topology = Star{};
  Transport transport = IdealTransport{};
  SecondsPerByte reduction_cost{};
  Seconds collective_cost{};
  SecondsPerByte collective_byte_cost{};
  std::vector<WorkerGroup> groups;
  Jitter jitter;
  std::vector<Protocol> protocols{};
  std::vector<Algorithm> algorithms{};
  RingLatency ring_latency = RingLatency::mean;
  std::optional<double> in_network_factor{};
  Shared<HourlyPrices> prices{};
  std::vector<LinkFit> fits{};
  Stack stack{};  ///< of the scenario: not a field of a cluster's document

  template <class V>
  static void describe(V& v, Cluster& x) {
    v.optional("name", x.name, "its name in tables");
    v.optional("description", x.description, "source of its numbers; null: not said");
    v.optional("gpu", x.gpu,
               "device profile of its GPUs, by name or path, such as h100. A workload with shapes uses it "
               "by default, and a note tells if it names another GPU's profile; null: any GPU");
    v.required("workers", x.workers, "number of workers, each of gpus_per_worker GPUs", between(1, 16777216));
    v.optional(
        "gpus_per_worker", x.gpus_per_worker,
        "GPUs of a worker, as in a tensor-parallel group; its times are measured, its links and prices the group's",
        between(1, 1024));
    v.optional("link", x.link, "a host's link into the interconnect; required unless a platform file has its own");
    v.optional("topology", x.topology, "how the hosts are connected");
    v.optional("transport", x.transport, "how flows behave on the links");
    v.optional("reduction_cost", x.reduction_cost, "γ: time to add one received byte", non_negative);
    v.optional("collective_cost", x.collective_cost, "S: fixed cost of one collective", non_negative);
    v.optional("collective_byte_cost", x.collective_byte_cost,
               "κ: time for each byte of a collective's buffer beside its messages, whatever the number of workers",
               non_negative);
    v.optional("groups", x.groups,
               "workers that differ from the rest: the highest ranks, the last group the very last");
    v.optional("jitter", x.jitter,
               "random factor on compute times, drawn anew for every worker and pass of forward and backward");
    v.optional(
        "protocols", x.protocols,
        "protocols for a collective's messages (NCCL's LL, LL128, Simple); each collective uses the fastest. The "
        "links' latency and bandwidth are the best of all protocols; none: all messages have the links'");
    v.optional(
        "algorithms", x.algorithms,
        "collective algorithms of its library: auto chooses among those that have the operation, if any; none: among "
        "all");
    v.optional(
        "in_network_factor", x.in_network_factor,
        "rate at which the switches between its hosts add up messages, over that of its links: 1 is line rate. All-reduces may then "
        "be in-network (SHARP, SwitchML); null: its switches only forward",
        Limits{0.0, true, 1.0});
    v.optional("ring_latency", x.ring_latency, "the latency that a ring's message waits for, if its hops differ");
    v.optional("prices", x.prices,
               "prices of its hosts, which add the cost of a million samples and of a run to reports; null: unknown");
    v.optional("fits", x.fits, "measurements behind the link's numbers; for readers and notes, not for simulation");
  }
  bool operator==(const Cluster&) const = default;
};

}  // namespace stepcast
