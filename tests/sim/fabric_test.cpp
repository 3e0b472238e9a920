// A Fabric has the same routes as SimGrid on the platform built from the same cluster.
#include <map>
#include <random>

#include <fmt/format.h>

#include "models/describe/json.hpp"
#include "models/fabric/fabric.hpp"
#include "sim/platform/platform.hpp"
#include "sim/replay/processes.hpp"
#include "tests/sim/support.hpp"
#include "tests/support/catch.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

namespace s4u = simgrid::s4u;

/// Every pair's route on both sides; the first difference, or "".
std::string compare(const Cluster& cluster, int shards) {
  int argc = 2;
  std::string program = "test", quiet = "--log=root.thresh:critical";
  char* arguments[] = {program.data(), quiet.data(), nullptr};
  s4u::Engine engine(&argc, arguments);
  configure_network(TcpTransport{});  // leaves the latencies on the links
  const Platform platform = build_platform(engine, cluster, shards);
  std::vector<s4u::Host*> hosts = platform.workers;
  hosts.insert(hosts.end(), platform.shards.begin(), platform.shards.end());

  Fabric fabric(cluster, shards);
  std::map<const s4u::Link*, int> number;
  std::map<int, const s4u::Link*> link_of;
  for (std::size_t a = 0; a < hosts.size(); ++a)
    for (std::size_t b = 0; b < hosts.size(); ++b) {
      if (a == b) continue;
      std::vector<s4u::Link*> theirs;
      double latency = 0.0;
      hosts[a]->route_to(hosts[b], theirs, &latency);
      std::erase_if(theirs, [](const s4u::Link* link) { return link->get_name().rfind(kFreeLink, 0) == 0; });
      Fabric::Route ours;
      fabric.append_route(static_cast<int>(a), static_cast<int>(b), ours);
      if (ours.size() != theirs.size())
        return fmt::format("{} to {}: {} links, SimGrid has {}", a, b, ours.size(), theirs.size());
      for (std::size_t i = 0; i < ours.size(); ++i) {
        const auto& link = fabric.links().at(ours[i]);
        if (number.try_emplace(theirs[i], ours[i]).first->second != ours[i] ||
            link_of.try_emplace(ours[i], theirs[i]).first->second != theirs[i])
          return fmt::format("{} to {}: hop {} is another link ({})", a, b, i, theirs[i]->get_name());
        if (link.latency.si() != theirs[i]->get_latency() ||
            link.bandwidth.si() * kUnitsPerByte != theirs[i]->get_bandwidth())
          return fmt::format("{} to {}: hop {} has {} s and {} B/s, SimGrid's {} and {}", a, b, i, link.latency.si(),
                             link.bandwidth.si(), theirs[i]->get_latency(), theirs[i]->get_bandwidth() / kUnitsPerByte);
      }
    }
  return "";
}

Cluster of(int p, const Topology& topology) {
  Cluster cluster = star(p);
  cluster.topology = topology;
  cluster.transport = TcpTransport{};
  return cluster;
}

}  // namespace

TEST_CASE("a fabric takes SimGrid's routes") {
  const Link inner{100_GBps, 3_us};
  struct Shape {
    Cluster cluster;
    int shards;
  };
  std::vector<Shape> shapes = {
      {of(7, Star{}), 3},
      {of(10, Racks{4, 3.0, 2_us}), 3},
      {of(3, Racks{4, 3.0, 2_us}), 0},
      {of(16, Nodes{8, inner, 3}), 3},
      {of(3, Nodes{8, inner, 2}), 0},
      {of(16, Nodes{8, inner, 3, {}, NicOfGpu::neighbours}), 3},
      {of(10, Nodes{7, inner, 5, NodeRacks{1, 2.0, 1_us}, NicOfGpu::neighbours}), 1},
      {of(3, Nodes{8, inner, 4, {}, NicOfGpu::neighbours}), 0},
      {of(6, Nodes{2, inner, 1}), 1},
      {of(24, Nodes{4, inner, 2, NodeRacks{2, 4.0, 5_us}}), 3},
      {of(10, Nodes{2, inner, 1, NodeRacks{2, 1.0, 0_us}}), 0},
      {of(3, Nodes{8, inner, 2, NodeRacks{2, 3.0, 1_us}}), 4},
      {of(8, Nodes{4, inner, 4, NodeRacks{1, 2.0, 1_us}}), 1},
      {of(8, FatTree{{2, 4}, {1, 2}, {1, 2}}), 0},
      {of(24, FatTree{{4, 3, 2}, {1, 2, 3}, {1, 2, 1}}), 0},
      {of(36, FatTree{{3, 3, 4}, {2, 3, 2}, {3, 1, 2}}), 0},
      {of(32, FatTree{{4, 4, 2}, {1, 4, 2}, {1, 1, 4}}), 0},
      {of(5, FatTree{{6}, {1}, {1}}), 0},
      {of(16, FatTree{{2, 2, 2, 2}, {2, 2, 2, 2}, {2, 2, 2, 2}}), 0},
      {of(2, Torus{{2}}), 0},
      {of(7, Torus{{7}}), 0},
      {of(24, Torus{{2, 3, 4}}), 0},
      {of(30, Torus{{5, 1, 6, 1}}), 0},
      {of(64, Torus{{8, 8}}), 0},
      {of(8, Dragonfly{1, 1, 1, 1, 1, 1, 8}), 0},
      {of(24, Dragonfly{2, 3, 2, 2, 3, 1, 2}), 0},
      {of(48, Dragonfly{3, 1, 2, 3, 4, 2, 2}), 0},
      {of(36, Dragonfly{3, 2, 4, 1, 3, 1, 1}), 0},
  };
  shapes[0].cluster.groups = {{2, 0.5, 1_Gbps, 40_us}, {1, 2.0, {}, 10_us}};
  shapes[1].cluster.groups = {{5, 0.5, 1_Gbps, {}}};
  const auto results = run_in_processes(shapes.size(), available_cores(), [&](std::size_t i) {
    return Json(compare(shapes[i].cluster, shapes[i].shards));
  });
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    INFO("shape " << i << ": " << results[i].error << results[i].value.dump());
    CHECK(results[i].error.empty());
    CHECK(results[i].value == "");
  }
}
