// Colour refinement against definitions and against a slow refinement.
#include "models/fabric/partition.hpp"

#include <map>
#include <set>

#include "models/collective/collective.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/property.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

/// Refines by the definition: a node's new class is its class and the multiset of (class, label) around it, until
/// no class falls apart.
std::vector<int> slowly(const LabelledGraph& graph) {
  std::vector<int> cls = graph.colours();
  for (std::size_t count = 0;;) {
    std::vector<std::multiset<std::pair<int, std::uint32_t>>> around(graph.nodes());
    for (const auto& e : graph.edges()) {
      around[e.a].insert({cls[e.b], e.seen_from_a});
      around[e.b].insert({cls[e.a], e.seen_from_b});
    }
    std::map<std::pair<int, std::multiset<std::pair<int, std::uint32_t>>>, int> number;
    for (std::size_t v = 0; v < graph.nodes(); ++v)
      cls[v] = number.try_emplace({cls[v], around[v]}, static_cast<int>(number.size())).first->second;
    if (number.size() == count) return cls;
    count = number.size();
  }
}

}  // namespace

TEST_CASE("refinement finds the coarsest equitable partition") {
  property(
      "refine equals the definition",
      [] {
        LabelledGraph graph;
        const int n = integer_between(1, 24);
        for (int v = 0; v < n; ++v) graph.add_node(integer_between(0, 9) == 0 ? 1 : 0);
        for (int e = integer_between(0, 40); e > 0; --e) {
          const auto end = [&] { return static_cast<std::size_t>(integer_between(0, n - 1)); };
          const auto label = [] { return static_cast<std::uint32_t>(integer_between(0, 6) == 0 ? 1 : 0); };
          const std::size_t a = end(), b = end();
          if (a != b) graph.add_edge(a, b, label(), label());
        }
        // Both number their classes in order of the first node.
        const Partition partition = refine(graph);
        RC_ASSERT(partition.class_of == slowly(graph));
        for (std::size_t c = 0; c < partition.size.size(); ++c) {
          RC_ASSERT(partition.size[c] ==
                    std::count(partition.class_of.begin(), partition.class_of.end(), static_cast<int>(c)));
          RC_ASSERT(partition.class_of[partition.first[c]] == static_cast<int>(c));
        }
      },
      2000);
}

TEST_CASE("refinement of a path counts from its ends") {
  // On a path of 2k nodes, a node's class is its distance from the nearer end: k classes of 2.
  constexpr int k = 500;
  LabelledGraph graph;
  for (int v = 0; v < 2 * k; ++v) graph.add_node(0);
  for (std::size_t v = 0; v + 1 < 2 * k; ++v) graph.add_edge(v, v + 1, 0, 0);
  const Partition partition = refine(graph);
  CHECK(partition.size == std::vector<int>(k, 2));
}

TEST_CASE("rounds that a schedule calls alike have alike messages") {
  const auto check = [](const CollectiveAlgorithm& entry, int p, const CollectiveParameters& parameters) {
    const Schedule schedule = entry.schedule(p, parameters);
    INFO(name_of(entry.algorithm) << " p = " << p << ", parameter " << parameters.group_size << ", "
                                  << name_of(parameters.between_groups) << " between");
    for (int r = 0; r < schedule.rounds; ++r) {
      const int like = schedule.like_round(r);
      REQUIRE(like >= 0);
      REQUIRE(like <= r);
      CHECK(schedule.like_round(like) == like);
      const Round a = schedule.round(r), b = schedule.round(like);
      REQUIRE(a.size() == b.size());
      for (std::size_t m = 0; m < a.size(); ++m)
        REQUIRE((a[m].from == b[m].from && a[m].to == b[m].to && a[m].slice.count == b[m].slice.count &&
                 a[m].reduce == b[m].reduce));
    }
  };
  constexpr Algorithm ring[] = {Algorithm::ring};
  for (const CollectiveAlgorithm& entry : collective_algorithms())
    for (const int p : {1, 2, 3, 4, 8, 12, 13})
      for (const int parameter : {1, 2, 3, 4, 5, 9})
        for (const Algorithm between : entry.algorithm == Algorithm::hierarchical ? algorithms_between(entry.operation)
                                                                                  : std::span<const Algorithm>(ring))
          if (entry.algorithm != Algorithm::hierarchical || p % parameter == 0)
            check(entry, p,
                  {.group_size = parameter,
                   .segments = parameter,
                   .rings = parameter,
                   .between_groups = between,
                   .exchange_order = parameter % 2 == 0 ? ExchangeOrder::near_first : ExchangeOrder::far_first});
}
