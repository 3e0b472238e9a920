// Collectives against oracles. Every schedule runs on symbolic data and must leave the result of its operation. Every
// closed form must equal the sum over its schedule's rounds.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "models/collective/collective.hpp"
#include "models/collective/ring_latencies.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/property.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

std::vector<int> participants() {
  std::vector<int> all;
  for (int p = 1; p <= 33; ++p) all.push_back(p);
  all.push_back(64);
  return all;
}

std::vector<ExchangeOrder> orders_of(Algorithm algorithm) {
  if (algorithm == Algorithm::halving_doubling) return {ExchangeOrder::near_first, ExchangeOrder::far_first};
  return {ExchangeOrder::near_first};
}

std::vector<CollectiveParameters> parameters_for(Operation operation, Algorithm algorithm, int p) {
  std::vector<CollectiveParameters> all;
  if (algorithm == Algorithm::hierarchical) {
    for (int g = 1; g <= p; ++g)
      for (const Algorithm between : algorithms_between(operation))
        if (p % g == 0)
          for (const int s : between == Algorithm::double_binary_tree ? std::vector<int>{1, 3} : std::vector<int>{1})
            for (const ExchangeOrder order : orders_of(between))
              all.push_back({.group_size = g, .segments = s, .between_groups = between, .exchange_order = order});
  } else if (algorithm == Algorithm::multi_ring) {
    // The last group may be smaller, and have fewer ranks than there are rings.
    for (const int g : {1, 2, 3, 4, 5, 8, p})
      for (const int rings : {1, 2, 3, 5, 8})
        if (g <= p && rings <= g) {
          all.push_back({.group_size = g, .rings = rings});
          all.push_back({.group_size = g, .rings = rings, .nics = (rings + 1) / 2, .nic_of_gpu = NicOfGpu::neighbours});
        }
  } else if (algorithm == Algorithm::nccl_tree) {
    // The same; pipelines of fewer segments than places and of more.
    for (const int g : {1, 2, 3, 8, p})
      for (const int pairs : {1, 2, 8})
        for (const int s : {1, 2, 5, 40})
          if (g <= p && pairs <= g && (s < 40 || p <= 10))
            for (const NicOfGpu rule : {NicOfGpu::in_turn, NicOfGpu::neighbours})
              all.push_back({.group_size = g, .segments = s, .rings = pairs, .nics = pairs, .nic_of_gpu = rule});
  } else if (algorithm == Algorithm::double_binary_tree) {
    for (const int s : {1, 2, 5}) all.push_back({1, s});
  } else {
    for (const ExchangeOrder order : orders_of(algorithm)) all.push_back({.exchange_order = order});
  }
  return all;
}

std::string label(const CollectiveAlgorithm& entry, int p, const CollectiveParameters& parameters) {
  return fmt::format("{} {} p={} group_size={} segments={} rings={} between={} {}", name_of(entry.operation),
                     name_of(entry.algorithm), p, parameters.group_size, parameters.segments, parameters.rings,
                     name_of(parameters.between_groups), name_of(parameters.exchange_order));
}

/// Calls f for every entry of the table, every p and every choice of parameters.
template <class F>
void for_all_collectives(F&& f) {
  for (const CollectiveAlgorithm& entry : collective_algorithms())
    for (const int p : participants())
      for (const CollectiveParameters& parameters : parameters_for(entry.operation, entry.algorithm, p))
        f(entry, p, parameters);
}

/// The content of one block on one rank: how often each rank's contribution is in it.
using Content = std::vector<std::uint16_t>;

/// Runs a schedule on symbolic data. state[rank][block] is a multiset of contributions. In an all-gather each rank has
/// its share of consecutive blocks.
class Machine {
 public:
  Machine(Operation operation, const Schedule& schedule)
      : p_(schedule.participants), blocks_(schedule.blocks), state_(p_, std::vector<Content>(blocks_, Content(p_, 0))) {
    for (std::size_t rank = 0; rank < p_; ++rank)
      for (std::size_t block = 0; block < blocks_; ++block) {
        const bool has = operation == Operation::all_gather  ? block / (blocks_ / p_) == rank
                         : operation == Operation::broadcast ? rank == 0
                                                             : true;
        if (has) state_[rank][block][rank] = 1;
      }
    for (int r = 0; r < schedule.rounds && fault.empty(); ++r) run(schedule.round(r), r);
  }

  [[nodiscard]] const Content& at(std::size_t rank, std::size_t block) const { return state_[rank][block]; }
  std::string fault;  ///< why the schedule makes no sense; empty if it does

 private:
  void run(const Round& round, int r) {
    struct Delivery {
      std::size_t to, block;
      bool reduce, in_network;
      Content content;
    };
    std::vector<Content> in_switches(blocks_, Content(p_, 0));  // by block: the sum of the messages that meet there
    std::vector<Delivery> deliveries;  // read before anything is written: all messages of a round start together
    std::vector<int> reduced(p_ * blocks_, 0), replaced(p_ * blocks_, 0);
    const int p = static_cast<int>(p_), blocks = static_cast<int>(blocks_);
    for (const Message& m : round) {
      const bool valid = m.from >= 0 && m.from < p && m.to >= 0 && m.to < p && m.from != m.to && m.slice.first >= 0 &&
                         m.slice.first < blocks && m.slice.count >= 1 && m.slice.count <= blocks;
      if (!valid) {
        fault =
            fmt::format("round {}: message {} -> {} of blocks {} + {}", r, m.from, m.to, m.slice.first, m.slice.count);
        return;
      }
      for (int i = 0; i < m.slice.count; ++i) {
        const auto block = static_cast<std::size_t>((m.slice.first + i * m.slice.stride) % blocks);
        const auto from = static_cast<std::size_t>(m.from), to = static_cast<std::size_t>(m.to);
        deliveries.push_back({to, block, m.reduce, m.in_network, state_[from][block]});
        if (m.in_network)
          for (std::size_t k = 0; k < p_; ++k)
            in_switches[block][k] = static_cast<std::uint16_t>(in_switches[block][k] + state_[from][block][k]);
        ++(m.reduce ? reduced : replaced)[to * blocks_ + block];
      }
    }
    for (std::size_t i = 0; i < reduced.size(); ++i)
      if (replaced[i] > 1 || (replaced[i] == 1 && reduced[i] > 0))
        fault = fmt::format("round {}: rank {} block {} depends on the order of arrival", r, i / blocks_, i % blocks_);
    for (const Delivery& d : deliveries) {
      Content& mine = state_[d.to][d.block];
      if (d.in_network) {
        mine = in_switches[d.block];
        continue;
      }
      for (std::size_t k = 0; k < p_; ++k)
        mine[k] = static_cast<std::uint16_t>(d.content[k] + (d.reduce ? mine[k] : 0));
    }
  }

  std::size_t p_, blocks_;
  std::vector<std::vector<Content>> state_;
};

/// "" when the machine holds the operation's result.
std::string broken_promise(Operation operation, const Machine& machine, std::size_t p, std::size_t blocks) {
  const Content all(p, 1);
  for (std::size_t rank = 0; rank < p; ++rank)
    for (std::size_t block = 0; block < blocks; ++block) {
      Content wanted = all;
      if (operation == Operation::all_gather || operation == Operation::broadcast) {
        std::fill(wanted.begin(), wanted.end(), std::uint16_t{0});
        wanted[operation == Operation::all_gather ? block / (blocks / p) : 0] = 1;
      }
      // The rings' reduce-scatters leave share i + 1 complete at rank i, and no other block anywhere.
      if (operation == Operation::reduce_scatter && block / (blocks / p) != (rank + 1) % p) {
        if (machine.at(rank, block) == all) return fmt::format("rank {} holds all of block {}", rank, block);
        continue;
      }
      if (machine.at(rank, block) != wanted)
        return fmt::format("rank {} block {}: {} instead of {}", rank, block, fmt::join(machine.at(rank, block), " "),
                           fmt::join(wanted, " "));
    }
  return "";
}

/// An all-to-all separates received data from sent data, which the machine's one buffer cannot show. Every rank must
/// therefore send block j to rank j, once, and nothing else.
std::string broken_all_to_all(const Schedule& schedule) {
  const auto p = static_cast<std::size_t>(schedule.participants);
  std::vector<int> messages(p * p, 0);
  for (int r = 0; r < schedule.rounds; ++r)
    for (const Message& m : schedule.round(r)) {
      if (m.slice.first != m.to || m.slice.count != 1 || m.reduce)
        return fmt::format("round {}: {} sends {} of block {} to {}", r, m.from, m.slice.count, m.slice.first, m.to);
      ++messages[static_cast<std::size_t>(m.from) * p + static_cast<std::size_t>(m.to)];
    }
  for (std::size_t from = 0; from < p; ++from)
    for (std::size_t to = 0; to < p; ++to)
      if (messages[from * p + to] != (from == to ? 0 : 1))
        return fmt::format("{} messages from {} to {}", messages[from * p + to], from, to);
  return "";
}

/// The closed form by definition. Each round has one message, the bytes on the busiest link in its busier direction,
/// and the busiest participant's additions.
struct Counted {
  double rounds = 0, wire = 0, reduced = 0, sent = 0;
};

Counted count(const Schedule& schedule, double n) {
  Counted total;
  const auto p = static_cast<std::size_t>(schedule.participants);
  for (int r = 0; r < schedule.rounds; ++r) {
    std::vector<double> out(p, 0), in(p, 0), added(p, 0);
    for (const Message& m : schedule.round(r)) {
      const double bytes = n * m.slice.count / schedule.blocks;
      out[m.from] += bytes;
      in[m.to] += bytes;
      if (m.reduce) added[m.to] += bytes;
      total.sent += bytes / schedule.participants;
    }
    total.rounds += 1;
    total.wire += std::max(*std::max_element(out.begin(), out.end()), *std::max_element(in.begin(), in.end()));
    total.reduced += *std::max_element(added.begin(), added.end());
  }
  return total;
}

/// Prices with nothing in common, so that no term can hide in another.
Prices some_prices() {
  Prices prices;
  prices.path = {PathPrice{9_us, 1.1_ns_per_B}, PathPrice{3_us, 0.8_ns_per_B}, PathPrice{5_us, 1.7_ns_per_B},
                 PathPrice{1_us, 0.1_ns_per_B}, PathPrice{7_us, 2.3_ns_per_B}};
  prices.host.fill(0.05_ns_per_B);
  prices.host[static_cast<int>(Path::inner)] = 0.01_ns_per_B;
  prices.gamma = 0.3_ns_per_B;
  prices.setup = 20_us;
  prices.in_network_factor = 0.8;
  return prices;
}

/// One link speed on all paths, as on a star.
Prices star_prices(Seconds alpha, SecondsPerByte beta, SecondsPerByte gamma = {}, Seconds setup = {}) {
  Prices prices;
  prices.path.fill({alpha, beta});
  prices.gamma = gamma;
  prices.setup = setup;
  return prices;
}

Prices random_prices() {
  Prices prices;
  for (PathPrice& path : prices.path)
    path = {Seconds(positive_between(1e-8, 1e-3)), SecondsPerByte(positive_between(1e-11, 1e-8))};
  prices.host.fill(SecondsPerByte(coin() ? 0 : positive_between(1e-12, 1e-9)));
  prices.gamma = SecondsPerByte(coin() ? 0 : positive_between(1e-12, 1e-9));
  prices.setup = Seconds(coin() ? 0 : positive_between(1e-7, 1e-4));
  if (coin()) prices.in_network_factor = real_between(0.1, 1.0);
  return prices;
}

constexpr Operation kOperations[] = {Operation::all_reduce, Operation::all_gather, Operation::reduce_scatter,
                                     Operation::broadcast, Operation::all_to_all};

Operation any_operation() { return kOperations[integer_between(0, 4)]; }

Seconds time_of(Operation operation, Algorithm algorithm, Bytes n, int p, const Prices& prices,
                const CollectiveParameters& parameters = {}) {
  return price(find_algorithm(operation, algorithm).cost(n, p, parameters), prices).total();
}

}  // namespace

TEST_CASE("every schedule gives its operation's result") {
  for_all_collectives([](const CollectiveAlgorithm& entry, int p, const CollectiveParameters& parameters) {
    INFO(label(entry, p, parameters));
    const Schedule schedule = entry.schedule(p, parameters);
    REQUIRE(schedule.participants == p);
    if (entry.operation == Operation::all_to_all) {
      REQUIRE(schedule.blocks == p);
      REQUIRE(broken_all_to_all(schedule) == "");
      return;
    }
    const Machine machine(entry.operation, schedule);
    REQUIRE(machine.fault == "");
    REQUIRE(broken_promise(entry.operation, machine, static_cast<std::size_t>(p),
                           static_cast<std::size_t>(schedule.blocks)) == "");
    if (entry.operation == Operation::all_gather || entry.operation == Operation::reduce_scatter)
      REQUIRE(schedule.blocks == p * parameters.rings);
  });
}

TEST_CASE("the symbolic machine notices wrong schedules") {
  // Ring all-reduce with one message left out, one sent twice, and one to the wrong rank.
  const Schedule good = ring::all_reduce(4, {});
  const auto with = [&](auto change) {
    Schedule bad = good;
    bad.round = [=](int r) {
      Round round = good.round(r);
      if (r == 2) change(round);
      return round;
    };
    const Machine machine(Operation::all_reduce, bad);
    return machine.fault + broken_promise(Operation::all_reduce, machine, 4, 4);
  };
  CHECK(with([](Round&) {}).empty());
  CHECK_FALSE(with([](Round& round) { round.pop_back(); }).empty());
  CHECK_FALSE(with([](Round& round) { round.push_back(round.back()); }).empty());
  CHECK_FALSE(with([](Round& round) { round.back().to = 1; }).empty());
  CHECK_FALSE(with([](Round& round) { round.back().reduce = false; }).empty());
}

TEST_CASE("the check of all-to-alls notices wrong schedules") {
  const Schedule good = pairwise::all_to_all(4, {});
  const auto with = [&](auto change) {
    Schedule bad = good;
    bad.round = [=](int r) {
      Round round = good.round(r);
      if (r == 1) change(round);
      return round;
    };
    return broken_all_to_all(bad);
  };
  CHECK(with([](Round&) {}).empty());
  CHECK_FALSE(with([](Round& round) { round.pop_back(); }).empty());
  CHECK_FALSE(with([](Round& round) { round.back().to = (round.back().to + 1) % 4; }).empty());
}

TEST_CASE("halving-doubling's largest messages go to the rank beside, or far-first to the farthest") {
  // 8 ranks: halves of 8 blocks in the first round, then quarters and eighths; the all-gather in reverse.
  const auto check = [](ExchangeOrder order, const std::vector<int>& distances) {
    const Schedule schedule = halving_doubling::all_reduce(8, {.exchange_order = order});
    const int counts[] = {4, 2, 1, 1, 2, 4};
    REQUIRE(schedule.rounds == 6);
    for (int r = 0; r < 6; ++r)
      for (const Message& m : schedule.round(r)) {
        CHECK((m.from ^ m.to) == distances[r]);
        CHECK(m.slice.count == counts[r]);
      }
  };
  check(ExchangeOrder::near_first, {1, 2, 4, 4, 2, 1});
  check(ExchangeOrder::far_first, {4, 2, 1, 1, 2, 4});
}

TEST_CASE("the double binary tree is the paper's") {
  // Its trees of 10 ranks, from 0: in-order, and mirrored (p even). Rank 7 is at height 3, 3 at 2, 1, 5 and 9 at 1.
  const auto parents = [](int p, int block) {
    std::vector<int> all(p, -1);
    const Schedule schedule = double_binary_tree::all_reduce(p, {1, 1});
    for (int r = 0; r < schedule.rounds / 2; ++r)
      for (const Message& m : schedule.round(r))
        if (m.slice.first == block) all[m.from] = m.to;
    return all;
  };
  CHECK(parents(10, 0) == std::vector<int>{1, 3, 1, 7, 5, 3, 5, -1, 9, 7});
  // Mirrored: rank 9-v has parent 9-u where v has u.
  CHECK(parents(10, 1) == std::vector<int>{2, 0, -1, 4, 6, 4, 2, 8, 6, 8});
  // 5 ranks: root 3, over 1 and 4; shifted by one, 4 over 2 and 0.
  CHECK(parents(5, 0) == std::vector<int>{1, 3, 1, -1, 3});
  CHECK(parents(5, 1) == std::vector<int>{4, 2, 4, 2, -1});
  for (int p = 2; p <= 300; ++p) {
    INFO(p);
    std::vector<int> inner(p, 0);
    for (const int block : {0, 1}) {
      std::vector<int> children(p, 0);
      int roots = 0;
      for (const int parent : parents(p, block)) parent < 0 ? ++roots : ++children[parent];
      CHECK(roots == 1);
      for (std::size_t rank = 0; rank < children.size(); ++rank) inner[rank] += children[rank] > 0 ? 1 : 0;
    }
    CHECK(*std::max_element(inner.begin(), inner.end()) == 1);  // nobody has children in both trees
  }
}

TEST_CASE("the double binary tree's closed form is the sum over its rounds") {
  for (int p = 1; p <= 300; ++p)
    for (const int s : {1, 2, 3, 7, 20}) {
      const std::string name = fmt::format("p={} segments={}", p, s);
      const Counted expected = count(double_binary_tree::all_reduce(p, {1, s}), 1e8);
      const CostTerms terms = double_binary_tree::all_reduce_cost(Bytes(1e8), p, {1, s});
      require_close(expected.rounds, terms.total_messages(), 1e-12, name + ": messages");
      require_close(expected.wire, terms.total_wire().si(), 1e-12, name + ": wire bytes");
      require_close(expected.reduced, terms.reduced.si(), 1e-12, name + ": reduced bytes");
      require_close(expected.sent, terms.sent.si(), 1e-12, name + ": mean bytes sent");
    }
}

TEST_CASE("messages are counted without making more rounds than it takes") {
  for_all_collectives([](const CollectiveAlgorithm& entry, int p, const CollectiveParameters& parameters) {
    INFO(label(entry, p, parameters));
    const Schedule schedule = entry.schedule(p, parameters);
    std::int64_t sum = 0;
    for (int r = 0; r < schedule.rounds; ++r) sum += static_cast<std::int64_t>(schedule.round(r).size());
    CHECK(message_count(schedule) == sum);
  });
  // An all-to-all's rounds are all unlike: p - 1 of p messages each.
  Schedule schedule = pairwise::all_to_all(1000, {});
  int made = 0;
  schedule.round = [&made, round = schedule.round](int r) {
    ++made;
    return round(r);
  };
  CHECK(message_count(schedule) == 999 * 1000);
  CHECK(made == 1);
}

TEST_CASE("every closed form is the sum over its schedule's rounds") {
  for_all_collectives([](const CollectiveAlgorithm& entry, int p, const CollectiveParameters& parameters) {
    const std::string name = label(entry, p, parameters);
    const double n = 1e8;
    const Counted expected = count(entry.schedule(p, parameters), n);
    const CostTerms terms = entry.cost(Bytes(n), p, parameters);
    require_close(expected.rounds, terms.total_messages(), 1e-12, name + ": messages");
    require_close(expected.wire, terms.total_wire().si(), 1e-12, name + ": wire bytes");
    require_close(expected.wire, terms.total_copied().si(), 1e-12,
                  name + ": copied bytes");  // each byte over the link is copied once
    require_close(expected.reduced, terms.reduced.si(), 1e-12, name + ": reduced bytes");
    require_close(expected.sent, terms.sent.si(), 1e-12, name + ": mean bytes sent");
  });
}

TEST_CASE("terms are on the path that the messages take") {
  for_all_collectives([](const CollectiveAlgorithm& entry, int p, const CollectiveParameters& parameters) {
    INFO(label(entry, p, parameters));
    const CostTerms terms = entry.cost(1_MB, p, parameters);
    const Schedule schedule = entry.schedule(p, parameters);
    double inner_rounds = 0;
    bool all_neighbours = true, one_each_leaves = true;
    for (int r = 0; r < schedule.rounds; ++r) {
      bool inner = true;
      const int g = parameters.group_size;
      std::vector<int> leaving(p, 0), entering = leaving;  // by group
      for (const Message& m : schedule.round(r)) {
        all_neighbours = all_neighbours && m.to == (m.from + 1) % p;
        if (m.from / g == m.to / g) continue;
        inner = false;
        ++leaving[m.from / g];
        ++entering[m.to / g];
      }
      for (int group = 0; g < p && group <= (p - 1) / g; ++group)
        one_each_leaves = one_each_leaves && leaving[group] == parameters.rings && entering[group] == parameters.rings;
      inner_rounds += inner;
    }
    // Only hierarchical and nccl-tree know groups: as many inner rounds as stay inside them.
    if (entry.algorithm == Algorithm::hierarchical || entry.algorithm == Algorithm::nccl_tree)
      REQUIRE(terms.messages[static_cast<int>(Path::inner)] == inner_rounds);
    else REQUIRE(terms.messages[static_cast<int>(Path::inner)] == 0);
    if (entry.algorithm == Algorithm::multi_ring) REQUIRE(one_each_leaves);
    else if (terms.messages[static_cast<int>(Path::ring)] > 0) REQUIRE(all_neighbours);
    for (int path = 0; path < kPaths; ++path) REQUIRE((terms.messages[path] == 0) == (terms.wire[path] == 0_B));
  });
}

TEST_CASE("each message waits for the mean of its own ring") {
  // 0 → 1 → 2 → 0 with 1, 2 and 6 us, 3 us in the mean, and 3 → 4 → 3 with 10 and 20 us, in any order.
  const Round round = {{0, 1, {}}, {3, 4, {}}, {1, 2, {}}, {4, 3, {}}, {2, 0, {}}};
  const std::vector<double> mean = even_latencies(round, {1e-6, 10e-6, 2e-6, 20e-6, 6e-6});
  REQUIRE(mean.size() == 5);
  for (const std::size_t of_three : {0, 2, 4}) require_close(3e-6, mean[of_three], 1e-9, "the ring of three");
  for (const std::size_t of_two : {1, 3}) require_close(15e-6, mean[of_two], 1e-9, "the ring of two");
  CHECK((mean[0] == mean[2] && mean[1] == mean[3]));
  // Rings and their phases go around, and nothing else does.
  for (const CollectiveAlgorithm& entry : collective_algorithms()) {
    CollectiveParameters parameters;
    parameters.group_size = 4;
    parameters.rings = 2;
    parameters.between_groups = Algorithm::recursive_doubling;
    const Schedule schedule = entry.schedule(16, parameters);
    int around = 0;
    for (int r = 0; r < schedule.rounds; ++r) around += schedule.goes_around(r);
    INFO(name_of(entry.operation) << " by " << name_of(entry.algorithm));
    const bool is_ring = entry.algorithm == Algorithm::ring || entry.algorithm == Algorithm::multi_ring;
    // Inside groups of four there are 3 rounds of each phase: two of an all-reduce.
    const int inside = entry.operation == Operation::all_reduce ? 6 : 3;
    CHECK(around == (is_ring ? schedule.rounds : entry.algorithm == Algorithm::hierarchical ? inside : 0));
  }
}

TEST_CASE("groups that span machines pay the far path") {
  const Prices prices = some_prices();
  CollectiveChoice hierarchical;
  hierarchical.algorithm = Algorithm::hierarchical;
  const auto inner_messages = [&](int group, int machine) {
    hierarchical.group_size.value = group;
    const CollectiveCall call = decide(Operation::all_reduce, hierarchical, 1_MB, 16, prices, {machine});
    return call.algorithm->cost(call.bytes, 16, call.parameters).messages[static_cast<int>(Path::inner)];
  };
  CHECK(inner_messages(4, 4) == 6);  // 2(g-1)
  CHECK(inner_messages(2, 4) == 2);  // two groups on each machine
  CHECK(inner_messages(4, 2) == 0);  // two machines in each group
  CHECK(inner_messages(4, 1) == 6);  // no machines: one price for all
}

TEST_CASE("the busiest NIC takes its share of several rings' bytes out of a machine") {
  // α 3 us, 0.8 ns/B out of a machine, 0.1 inside. p = 16, n = 160 MB: 15 rounds of 10 MB from each rank.
  Prices prices;
  prices.path = {PathPrice{9_us, 1.1_ns_per_B}, PathPrice{3_us, 0.8_ns_per_B}, PathPrice{5_us, 1.7_ns_per_B},
                 PathPrice{1_us, 0.1_ns_per_B}, PathPrice{7_us, 2.3_ns_per_B}};
  const auto beta = [&](int rings, int nics) {
    const PricedCost cost =
        price(multi_ring::all_gather_cost(160_MB, 16, {.group_size = 8, .rings = rings, .nics = nics}), prices);
    require_close(45e-6, cost.latency.si(), 1e-12, "15 · 3 us");
    return cost.bandwidth.si() / 150e6;
  };
  require_close(0.8e-9, beta(1, 4), 1e-12, "one ring on one of 4 NICs");
  require_close(0.4e-9, beta(2, 4), 1e-12, "a half on each of two");
  require_close(0.2e-9, beta(4, 4), 1e-12, "a quarter on each");
  require_close(0.32e-9, beta(5, 4), 1e-12, "two of five parts on one");
  require_close(0.8e-9, beta(4, 1), 1e-12, "all over the only one");
  require_close(0.1e-9, beta(8, 8), 1e-12, "an eighth: as fast as inside");
  require_close(0.1e-9, beta(16, 16), 1e-12, "a sixteenth would be faster than what each rank sends inside");
}

TEST_CASE("each NIC carries one ring out of a machine and one into it") {
  // NIC of worker l is l mod k, also where k does not divide g: rings leave by k different NICs and enter by k.
  for (int g = 1; g <= 9; ++g)
    for (int k = 1; k <= g; ++k) {
      INFO(fmt::format("{} workers, {} NICs", g, k));
      const int machines = 3, p = machines * g;
      const Schedule schedule = multi_ring::all_reduce(p, {.group_size = g, .rings = k, .nics = k});
      for (const int r : {0, p - 1}) {
        std::vector<int> out(machines * k, 0), in(out);
        const auto nic = [&](int rank) { return static_cast<std::size_t>(rank / g * k + rank % g % k); };
        for (const Message& m : schedule.round(r)) {
          if (m.from / g == m.to / g) continue;
          ++out[nic(m.from)];
          ++in[nic(m.to)];
        }
        CHECK(out == std::vector<int>(out.size(), 1));
        CHECK(in == out);
      }
    }
}

TEST_CASE("NCCL's tree is chains inside machines and two trees between them") {
  // Two machines of 3, pair 0: in either, 1 -> 2 -> 0. Then 3 -> 0 in one tree and 0 -> 3 in the other, and all the way
  // back. Each half has one segment.
  const Schedule schedule = nccl_tree::all_reduce(6, {.group_size = 3});
  CHECK(schedule.blocks == 2);
  REQUIRE(schedule.rounds == 2 + 1 + 1 + 2);
  const std::vector<std::vector<std::array<int, 3>>> expected = {{{1, 2, 0}, {1, 2, 1}, {4, 5, 0}, {4, 5, 1}},
                                                                 {{2, 0, 0}, {2, 0, 1}, {5, 3, 0}, {5, 3, 1}},
                                                                 {{3, 0, 0}, {0, 3, 1}},
                                                                 {{0, 3, 0}, {3, 0, 1}},
                                                                 {{0, 2, 0}, {0, 2, 1}, {3, 5, 0}, {3, 5, 1}},
                                                                 {{2, 1, 0}, {2, 1, 1}, {5, 4, 0}, {5, 4, 1}}};
  for (int r = 0; r < schedule.rounds; ++r) {
    std::vector<std::array<int, 3>> found;
    for (const Message& m : schedule.round(r)) {
      found.push_back({m.from, m.to, m.slice.first});
      CHECK(m.reduce == (r < 3));
      CHECK(m.slice.count == 1);
    }
    CHECK(found == expected[r]);
  }
  // 2·2 rounds inside of n, 2 between of n/2; a round's chain adds n, the trees n/2.
  const double n = 8e6;
  const CostTerms terms = nccl_tree::all_reduce_cost(Bytes(n), 6, {.group_size = 3});
  const auto at = [](Path path) { return static_cast<std::size_t>(path); };
  CHECK(terms.messages[at(Path::inner)] == 4);
  CHECK(terms.messages[at(Path::far)] == 2);
  require_close(4 * n, terms.wire[at(Path::inner)].si(), 1e-12, "inside");
  require_close(n, terms.wire[at(Path::far)].si(), 1e-12, "between");
  require_close(2 * n + n / 2, terms.reduced.si(), 1e-12, "added");
  // Groups that lie in several machines pay for those throughout.
  CHECK(nccl_tree::all_reduce_cost(Bytes(n), 6, {.group_size = 3, .group_fits = false}).messages[at(Path::far)] == 6);
}

TEST_CASE("a long pipeline of NCCL's trees sends 2n out of each machine, spread over its NICs") {
  // 0.8 ns/B out of a machine, 0.01 inside, and free messages. 8 machines of 8: each of 8 NICs carries 2n/8, half of
  // the load of 4 trees on 4 NICs. Inside, nobody sends more than 2n. From the tail of a chain to its head, each sends
  // n up and n down. 2n·0.3 ns/B takes longer than 2n/8·0.8.
  const auto beta = [](int pairs, int nics, SecondsPerByte inside) {
    Prices prices;
    prices.path.fill({0_s, 0.8_ns_per_B});
    prices.path[static_cast<std::size_t>(Path::inner)].beta = inside;
    // The far traffic of all 8 workers shares the NICs.
    prices.path[static_cast<std::size_t>(Path::far)].beta = 0.8_ns_per_B * std::ceil(8.0 / nics);
    const CollectiveParameters parameters{.group_size = 8, .segments = 4096, .rings = pairs, .nics = nics};
    return price(nccl_tree::all_reduce_cost(1_GB, 64, parameters), prices).total().si() / 2e9;
  };
  // With 4096 segments, 2(7 + 3) are in transit: half a percent.
  require_close(0.8e-9 / 8, beta(8, 8, 0.01_ns_per_B), 0.006, "8 pairs on 8 NICs");
  require_close(0.8e-9 / 4, beta(4, 4, 0.01_ns_per_B), 0.006, "4 pairs on 4 NICs");
  require_close(0.8e-9 / 4, beta(4, 8, 0.01_ns_per_B), 0.006, "4 pairs on 8 NICs");
  require_close(0.8e-9 / 4, beta(8, 4, 0.01_ns_per_B), 0.006, "8 pairs on 4 NICs");
  require_close(0.8e-9, beta(1, 1, 0.01_ns_per_B), 0.006, "all by the one");
  // With 8 chains, each worker is one chain's head, with 2n/8 out to other machines. It is another's tail, which sends
  // none of the n/8 down and receives none from below. In all: 7/8·2n + 2n/8 at most.
  require_close(0.3e-9, beta(8, 8, 0.3_ns_per_B), 0.006, "2n inside");
}

TEST_CASE("auto chooses among a library's algorithms") {
  const Prices prices = star_prices(1_us, 1_ns_per_B);
  const std::vector<Algorithm> library = {Algorithm::ring, Algorithm::multi_ring, Algorithm::nccl_tree};
  const auto chosen = [&](Operation operation, Bytes bytes, std::span<const Algorithm> among) {
    return decide(operation, {}, bytes, 64, prices, {8, 8}, {}, {}, among).algorithm->algorithm;
  };
  // 64 workers, a few bytes: lg 64 = 6 messages, 2(7 + 3) of the tree, 126 of a ring.
  CHECK(chosen(Operation::all_reduce, 8_B, {}) == Algorithm::recursive_doubling);
  CHECK(chosen(Operation::all_reduce, 8_B, library) == Algorithm::nccl_tree);
  CHECK(chosen(Operation::all_gather, 8_B, library) == Algorithm::ring);
  // It has none for these.
  CHECK(chosen(Operation::all_to_all, 8_B, library) == Algorithm::pairwise);
  CHECK(chosen(Operation::broadcast, 8_B, library) == Algorithm::binomial_tree);
  // If no algorithm of the library fits, it takes a single ring again, or else any.
  const auto alone = [&](Algorithm one, int p, const Machines& machines, const CollectiveChoice& choice) {
    return decide(Operation::all_reduce, choice, 8_B, p, prices, machines, {}, {}, {&one, 1}).algorithm->algorithm;
  };
  CollectiveChoice many, sevens;
  many.rings.value = 9;
  sevens.group_size.value = 7;
  CHECK(alone(Algorithm::multi_ring, 8, {8, 8}, {}) == Algorithm::multi_ring);
  CHECK(alone(Algorithm::multi_ring, 64, {8, 1}, {}) == Algorithm::multi_ring);
  CHECK(alone(Algorithm::hierarchical, 8, {8, 8}, {}) == Algorithm::hierarchical);
  CHECK(alone(Algorithm::multi_ring, 64, {8, 8}, many) == Algorithm::recursive_doubling);
  CHECK(alone(Algorithm::nccl_tree, 64, {8, 8}, many) == Algorithm::recursive_doubling);
  CHECK(alone(Algorithm::hierarchical, 64, {8, 8}, sevens) == Algorithm::recursive_doubling);
  CHECK(alone(Algorithm::nccl_tree, 4096, {2048, 8}, {}) == Algorithm::recursive_doubling);
  // A name is a name.
  CollectiveChoice bruck;
  bruck.algorithm = Algorithm::bruck;
  CHECK(decide(Operation::all_gather, bruck, 1_MB, 64, prices, {}, {}, {}, library).algorithm->algorithm ==
        Algorithm::bruck);
}

TEST_CASE("one ring of many is a ring, and a ring between groups is the ring of each share") {
  // Two groups of three, and the ring between them in blocks of n/6. After two rounds inside, position 0 holds share 1
  // = blocks 2 and 3. Group 0 sends block 2, group 1 block 3, both to the same position of the other group.
  const Schedule schedule = hierarchical::all_reduce(6, {.group_size = 3});
  CHECK(schedule.blocks == 6);
  REQUIRE(schedule.rounds == 2 + 2 + 2);
  const Round between = schedule.round(2);
  REQUIRE(between.size() == 6);
  const auto is = [](const Message& m, int from, int to, int first) {
    return m.from == from && m.to == to && m.slice.first == first && m.slice.count == 1 && m.reduce;
  };
  CHECK(is(between[0], 0, 3, 2));
  CHECK(is(between[1], 1, 4, 4));
  CHECK(is(between[2], 2, 5, 0));
  CHECK(is(between[3], 3, 0, 3));
  CHECK(is(between[4], 4, 1, 5));
  CHECK(is(between[5], 5, 2, 1));
  // One ring in two groups of five: it leaves each at the first worker. 1 0 3 2 4, each sends to the next.
  const Round one = multi_ring::all_gather(5, {.group_size = 2}).round(0);
  const int order[] = {1, 0, 3, 2, 4};
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(one[i].from == order[i]);
    CHECK(one[i].to == order[(i + 1) % 5]);
    CHECK(one[i].slice.first == order[i]);
  }
}

TEST_CASE("one participant communicates nothing and pays nothing") {
  for (const CollectiveAlgorithm& entry : collective_algorithms()) {
    INFO(label(entry, 1, {}));
    const CostTerms terms = entry.cost(1_GB, 1, {});
    CHECK(terms.empty());
    CHECK(terms.sent == 0_B);
    CHECK(terms.reduced == 0_B);
    CHECK(price(terms, some_prices()).total() == 0_s);  // S included
    CHECK(entry.schedule(1, {}).rounds == 0);
  }
}

TEST_CASE("a price is the sum of its terms") {
  CostTerms terms;
  terms.add(Path::ring, 2, 1_MB)
      .add(Path::far, 3, 2_MB)
      .add(Path::inner, 5, 4_MB)
      .add(Path::far, 1, 1_MB)
      .add(Path::shard, 1, 1_MB);
  terms.reduced = 10_MB;
  terms.in_network[static_cast<int>(Path::far)] = 1_MB;
  CHECK(terms.total_messages() == 12);
  CHECK(terms.total_wire() == 9_MB);
  CHECK(terms.copied == terms.wire);  // as much as passes the link, unless said otherwise
  terms.copied[static_cast<int>(Path::far)] = 2_MB;
  const PricedCost cost = price(terms, some_prices());
  require_close(38e-6, cost.latency.si(), 1e-14, "2·3 us + 4·5 us + 5·1 us + 7 us");
  // On the links, 1e6·0.8 + 3e6·1.7 + 4e6·0.1 + 1e6·2.3 ns = 0.8 + 5.1 + 0.4 + 2.3 ms. Switches add up 1e6 of the bytes
  // that go far at 0.8 of line rate: a quarter of 1.7 ms more.
  require_close(9.025e-3, cost.bandwidth.si(), 1e-14, "wire");
  // h is 0.05 ns/B on all paths but 0.01 inside machines: (1 + 2 + 1)e6·0.05 + 4e6·0.01 ns.
  require_close(0.24e-3, cost.copies.si(), 1e-14, "copies");
  require_close(3e-3, cost.reduction.si(), 1e-14, "1e7 · 0.3 ns");
  require_close(20e-6, cost.setup.si(), 1e-14, "S");
  require_close(12.323e-3, cost.total().si(), 1e-14, "0.038 + 9.025 + 0.24 + 3 + 0.02 ms");
}

TEST_CASE("closed forms at powers of two are the textbook's") {
  const Bytes n = 100_MB;
  const Seconds a = 5_us, S = 20_us;
  const SecondsPerByte b = 0.8_ns_per_B, g = 0.3_ns_per_B;
  const Prices prices = star_prices(a, b, g, S);
  for (int k = 1; k <= 14; ++k) {
    const int p = 1 << k;
    const double lg = k, share = (p - 1.0) / p;
    const auto check = [&](Seconds expected, Operation operation, Algorithm algorithm,
                           const CollectiveParameters& parameters = {}) {
      require_close(expected + S, time_of(operation, algorithm, n, p, prices, parameters), 1e-12,
                    label(find_algorithm(operation, algorithm), p, parameters));
    };
    using enum Operation;
    // Patarasu and Yuan 2009: 2(p-1)α + 2(p-1)/p·nβ + (p-1)/p·nγ
    check(a * (2.0 * (p - 1)) + n * b * (2 * share) + n * g * share, all_reduce, Algorithm::ring);
    // Thakur 2005: lg p (α + nβ + nγ)
    check((a + n * b + n * g) * lg, all_reduce, Algorithm::recursive_doubling);
    // Rabenseifner (Thakur 2005): 2 lg p α + 2(p-1)/p nβ + (p-1)/p nγ
    check(a * (2 * lg) + n * b * (2 * share) + n * g * share, all_reduce, Algorithm::halving_doubling);
    // Binomial reduce, lg p (α + nβ + nγ), then binomial broadcast, lg p (α + nβ)
    check((a + n * b) * (2 * lg) + n * g * lg, all_reduce, Algorithm::reduce_broadcast);
    // Switches that add up: α + nβ
    check(a + n * b, all_reduce, Algorithm::in_network);
    // All-gather of m = n/p from each: ring (p-1)(α + mβ), recursive doubling and Bruck lg p α + (p-1)mβ
    check(a * (p - 1.0) + n / p * b * (p - 1.0), all_gather, Algorithm::ring);
    check(a * lg + n / p * b * (p - 1.0), all_gather, Algorithm::recursive_doubling);
    check(a * lg + n / p * b * (p - 1.0), all_gather, Algorithm::bruck);
    // Reduce-scatter by ring: (p-1)(α + n/p β + n/p γ)
    check((a + n / p * b + n / p * g) * (p - 1.0), reduce_scatter, Algorithm::ring);
    // And by recursive halving: lg p α + (p-1)/p n(β + γ)
    check(a * lg + (n * b + n * g) * share, reduce_scatter, Algorithm::recursive_doubling);
    // Binomial broadcast: lg p (α + nβ)
    check((a + n * b) * lg, broadcast, Algorithm::binomial_tree);
    // Groups of h and p/h: 2(h-1)(α + n/h β) + 2(p/h-1)(α + n/p β) + ((h-1)/h + (p/h-1)/p) nγ
    for (const int h : {1, 2, p / 2, p}) {
      const double inside = h - 1, between = p / h - 1;
      const Seconds in_groups = (a + n / h * b) * (2 * inside) + n * g * (inside / h);
      check(in_groups + (a + n / p * b) * (2 * between) + n * g * (between / p), all_reduce, Algorithm::hierarchical,
            {h, 1});
      // With G = p/h groups: lg G (α + n/h (β + γ)), or 2 lg G α + 2(G-1)/G·n/h β + (G-1)/G·n/h γ
      const double levels = std::log2(p / h);
      check(in_groups + (a + n / h * b + n / h * g) * levels, all_reduce, Algorithm::hierarchical,
            {.group_size = h, .between_groups = Algorithm::recursive_doubling});
      check(in_groups + a * (2 * levels) + n / p * b * (2 * between) + n / p * g * between, all_reduce,
            Algorithm::hierarchical, {.group_size = h, .between_groups = Algorithm::halving_doubling});
      // Gathers and scatters. The inside takes (h-1)(α + n/h β) once. Between, it is (G-1)(α + n/p β) or lg G α +
      // (G-1)·n/p β. The scatters add all that they move.
      const Seconds once = (a + n / h * b) * inside, by_ring = (a + n / p * b) * between,
                    by_doubling = a * levels + n / p * b * between;
      const Seconds added = n * g * (inside / h + between / p);
      check(once + by_ring, all_gather, Algorithm::hierarchical, {.group_size = h});
      check(once + by_doubling, all_gather, Algorithm::hierarchical,
            {.group_size = h, .between_groups = Algorithm::recursive_doubling});
      check(once + by_ring + added, reduce_scatter, Algorithm::hierarchical, {.group_size = h});
      check(once + by_doubling + added, reduce_scatter, Algorithm::hierarchical,
            {.group_size = h, .between_groups = Algorithm::recursive_doubling});
      // Several rings: each rank's messages of a round share its link, and leave after one latency.
      check(a * (2.0 * (p - 1)) + n * b * (2 * share) + n * g * share, all_reduce, Algorithm::multi_ring,
            {.group_size = h, .rings = h});
    }
  }
}

TEST_CASE("tree algorithms at small p, counted by hand") {
  const double n = 8e6;
  const auto check = [&](Algorithm algorithm, int p, int segments, double messages, double wire, double reduced) {
    const CostTerms terms = find_algorithm(Operation::all_reduce, algorithm).cost(Bytes(n), p, {1, segments});
    const std::string name = fmt::format("{} p={} segments={}", name_of(algorithm), p, segments);
    CHECK(terms.messages[static_cast<int>(Path::far)] == messages);
    require_close(wire, terms.total_wire().si(), 1e-12, name + ": wire");
    require_close(reduced, terms.reduced.si(), 1e-12, name + ": reduced");
  };
  // p = 2: one message up, one down.
  check(Algorithm::binary_tree, 2, 1, 2, 2 * n, n);
  // p = 3: both leaves share the root's link, up and down.
  check(Algorithm::binary_tree, 3, 1, 2, 4 * n, 2 * n);
  // p = 4: the lone node 3 to node 1, then 1 and 2 to 0: n + 2n; the same down.
  check(Algorithm::binary_tree, 4, 1, 4, 6 * n, 3 * n);
  // p = 7: two full levels, 2n each; the same down.
  check(Algorithm::binary_tree, 7, 1, 4, 8 * n, 4 * n);
  // Double tree, p = 2: halves travel in opposite directions, n/2 each way at once.
  check(Algorithm::double_binary_tree, 2, 1, 2, n, n / 2);
  // p = 3, s = 1: two halves of n/2 into either root; the same down.
  check(Algorithm::double_binary_tree, 3, 1, 2, 2 * n, n);
  // p = 7, s = 2: D + s - 1 = 3 rounds each way of two segments of n/4.
  check(Algorithm::double_binary_tree, 7, 2, 6, 6 * 2 * n / 4, 3 * 2 * n / 4);
  // Between 7 groups of two the same of half the buffer, and n/2 to the other of the group, before and after.
  const CostTerms two = hierarchical::all_reduce_cost(
      Bytes(n), 14, {.group_size = 2, .segments = 2, .between_groups = Algorithm::double_binary_tree});
  CHECK(two.messages[static_cast<int>(Path::inner)] == 2);
  CHECK(two.messages[static_cast<int>(Path::far)] == 6);
  require_close(6 * 2 * n / 8, two.wire[static_cast<int>(Path::far)].si(), 1e-12, "tree between groups: wire");
  require_close(n / 2 + 3 * 2 * n / 8, two.reduced.si(), 1e-12, "tree between groups: reduced");
}

TEST_CASE("β terms at p = 4 on 10 Gb/s") {
  // timing-models.md, fact 3. β = 0.8 ns/B; ring 2·3/4·nβ. The reference's sizes are rounded to 0.05 MB and its
  // times to 0.05 ms; our times follow from the sizes as they are printed.
  const Prices prices = star_prices(0_s, inverse(10_Gbps));
  const auto ring_time = [&](Bytes n) { return time_of(Operation::all_reduce, Algorithm::ring, n, 4, prices); };
  // 1.5 · 243.3e6 · 0.8e-9 = 0.29196;  1.5 · 46.8e6 · 0.8e-9 = 0.05616
  require_close(0.29196, ring_time(Bytes(243.3e6)).si(), 1e-12, "AlexNet");
  require_close(0.05616, ring_time(Bytes(46.8e6)).si(), 1e-12, "ResNet-18");
  const auto allowed = [](double size, double time) { return 0.05 / size + 0.05 / time; };
  require_close(0.2919, ring_time(Bytes(243.3e6)).si(), allowed(243.3, 291.9), "AlexNet as printed");
  require_close(0.0561, ring_time(Bytes(46.8e6)).si(), allowed(46.8, 56.1), "ResNet-18 as printed");
  // ResNet-18 has 11,689,512 parameters: 46,758,048 bytes, and then 56.1 ms is right to the digit.
  require_close(0.0561, ring_time(Bytes(4.0 * 11689512)).si(), 0.05 / 56.1, "ResNet-18 by its parameters");
}

TEST_CASE("no algorithm beats the lower bound in any term") {
  for_all_collectives([](const CollectiveAlgorithm& entry, int p, const CollectiveParameters& parameters) {
    INFO(label(entry, p, parameters));
    const bool in_network =
        entry.algorithm == Algorithm::in_network ||
        (entry.algorithm == Algorithm::hierarchical && parameters.between_groups == Algorithm::in_network);
    const CostTerms bound = lower_bound(entry.operation, 1_GB, p, in_network), terms = entry.cost(1_GB, p, parameters);
    constexpr double rounding = 1 + 1e-12;
    CHECK(bound.total_messages() <= terms.total_messages());
    CHECK(bound.total_wire() <= terms.total_wire() * rounding);
    CHECK(bound.reduced <= terms.reduced * rounding);
  });
}

TEST_CASE("each term of the lower bound is met by some algorithm") {
  // At powers of two: recursive doubling meets the messages, the ring the bytes and the reductions.
  for (const int p : {2, 4, 8, 16, 64}) {
    INFO(p);
    const double lg = std::log2(p);
    const CostTerms bound = lower_bound(Operation::all_reduce, 1_GB, p);
    CHECK(bound.messages[static_cast<int>(Path::far)] == lg);
    require_close(2e9 * (p - 1) / p, bound.total_wire().si(), 1e-12, "2(p-1)/p·n");
    require_close(1e9 * (p - 1) / p, bound.reduced.si(), 1e-12, "(p-1)/p·n");
    CHECK(recursive_doubling::all_reduce_cost(1_GB, p, {}).messages[static_cast<int>(Path::far)] == lg);
  }
  for (const Operation operation : kOperations) CHECK(lower_bound(operation, 1_GB, 1).empty());
}

TEST_CASE("auto decides for the cheapest algorithm") {
  property(
      "none in the table is cheaper",
      [] {
        const Operation operation = any_operation();
        const Prices prices = random_prices();
        const Bytes n(positive_between(1, 1e10));
        const int p = integer_between(1, 300), topology_group = integer_between(1, 16),
                  nics = integer_between(1, topology_group);
        CollectiveChoice choice;
        if (coin()) choice.group_size.value = integer_between(1, 16);
        if (coin()) choice.pipeline_segments.value = integer_between(1, 64);
        if (coin()) choice.rings.value = integer_between(1, 16);
        if (coin()) choice.between_groups = algorithms_between(Operation::all_reduce)[integer_between(0, 4)];
        const auto switches_can = [&](Algorithm algorithm) {
          return algorithm != Algorithm::in_network || prices.in_network_factor;
        };
        const CollectiveCall call = decide(operation, choice, n, p, prices, {topology_group, nics});
        RC_ASSERT(call.algorithm->operation == operation);
        RC_ASSERT(call.bytes == n);
        const Seconds time = price(call.algorithm->cost(n, p, call.parameters), prices).total();
        for (const CollectiveAlgorithm& entry : collective_algorithms()) {
          if (entry.operation != operation || !switches_can(entry.algorithm)) continue;
          const auto require_no_better = [&](const CollectiveParameters& parameters) {
            const Seconds other = price(entry.cost(n, p, parameters), prices).total();
            if (other < time * (1 - 1e-12))
              RC_FAIL(fmt::format("{} takes {} s, {} takes {} s", label(entry, p, parameters), other.si(),
                                  label(*call.algorithm, p, call.parameters), time.si()));
          };
          const std::vector<int> segments = choice.pipeline_segments.value
                                                ? std::vector<int>{*choice.pipeline_segments.value}
                                                : std::vector<int>{1, 2, 4, 8, 16, 32, 64, 128};
          if (entry.algorithm == Algorithm::hierarchical) {
            const int group = choice.group_size.value.value_or(topology_group);
            if (p % group != 0 || group == 1 || group == p) continue;  // the plain ring over again
            // Groups lie within machines when their size divides the machine's (or there are no machines).
            const bool fits = topology_group == 1 || topology_group % group == 0;
            for (const Algorithm between : algorithms_between(operation))
              if (choice.between_groups == Algorithm::automatic ? switches_can(between)
                                                                : choice.between_groups == between)
                for (const int s : segments)
                  require_no_better(
                      {.group_size = group, .segments = s, .group_fits = fits, .between_groups = between});
          } else if (entry.algorithm == Algorithm::multi_ring) {
            const int group = std::min(p, choice.group_size.value.value_or(topology_group > 1 ? topology_group : p));
            const int rings = choice.rings.value.value_or(topology_group < p ? std::min(nics, group) : 1);
            if (rings <= group) require_no_better({.group_size = group, .rings = rings, .nics = nics});
          } else if (entry.algorithm == Algorithm::nccl_tree) {
            const int group = std::min(p, choice.group_size.value.value_or(topology_group));
            const int pairs = choice.rings.value.value_or(group < p ? std::min(nics, group) : 1);
            const bool fits = topology_group == 1 || topology_group % group == 0;
            for (const int s : segments)
              if (pairs <= group)
                require_no_better(
                    {.group_size = group, .segments = s, .group_fits = fits, .rings = pairs, .nics = nics});
          } else if (entry.algorithm == Algorithm::double_binary_tree) {
            for (const int s : segments) require_no_better({.segments = s});
          } else {
            require_no_better({});
          }
        }
      },
      3000);
}

TEST_CASE("auto segments are the best number of segments") {
  CollectiveChoice choice;
  choice.algorithm = Algorithm::double_binary_tree;
  const auto check = [&](Bytes n, int p, const Prices& prices) {
    const CollectiveCall call = decide(Operation::all_reduce, choice, n, p, prices, {1});
    const Seconds time = price(call.algorithm->cost(n, p, call.parameters), prices).total();
    for (int s = 1; s <= 200; ++s) {
      const Seconds other = price(call.algorithm->cost(n, p, {1, s}), prices).total();
      if (other < time * (1 - 1e-12))
        return fmt::format("p={} n={}: {} segments take {} s, {} segments {} s", p, n.si(), s, other.si(),
                           call.parameters.segments, time.si());
    }
    return std::string();
  };
  // Powers of two have a lone deepest node, which shifts the optimum.
  for (int p = 1; p <= 64; ++p)
    for (const double n : {1e3, 1e5, 1e6, 1e8})
      CHECK(check(Bytes(n), p, star_prices(5_us, 0.8_ns_per_B, 0.1_ns_per_B)) == "");
  property(
      "of 1 to 200 segments none is better",
      [&] { RC_ASSERT(check(Bytes(positive_between(1, 1e9)), integer_between(1, 1000), random_prices()) == ""); },
      1000);
}

TEST_CASE("auto between groups is the best between groups") {
  // 4 groups of 8: 2·3 messages and 2·3/4·n/8, lg 4 = 2 and 2·n/8, or 4 and 2·3/4·n/8. Free messages and bytes that
  // cost: ring and halving-doubling are equal, and the ring is first.
  CollectiveChoice choice;
  choice.algorithm = Algorithm::hierarchical;
  const auto between = [&](Bytes n, const Prices& prices) {
    return decide(Operation::all_reduce, choice, n, 32, prices, {8, 8}).parameters.between_groups;
  };
  CHECK(between(1_MB, star_prices(1_us, 0_ns_per_B)) == Algorithm::recursive_doubling);
  CHECK(between(1_MB, star_prices(0_s, 1_ns_per_B)) == Algorithm::ring);
  // 2 messages more than recursive doubling's, n/16 less: worth it from 16·2 us / 1 ns/B = 32 kB on.
  CHECK(between(31_kB, star_prices(1_us, 1_ns_per_B)) == Algorithm::recursive_doubling);
  CHECK(between(33_kB, star_prices(1_us, 1_ns_per_B)) == Algorithm::halving_doubling);
  choice.between_groups = Algorithm::double_binary_tree;
  choice.pipeline_segments.value = 3;
  const CollectiveParameters named =
      decide(Operation::all_reduce, choice, 1_MB, 32, star_prices(1_us, 1_ns_per_B), {8, 8}).parameters;
  CHECK(named.between_groups == Algorithm::double_binary_tree);
  CHECK(named.segments == 3);
  // 64 groups of 2^18: 2^30 / 2 / 2^18 segments at most, not the 4096 that free messages would be worth.
  choice.pipeline_segments.value.reset();
  choice.group_size.value = 1 << 18;
  CHECK(decide(Operation::all_reduce, choice, 1_GB, 1 << 24, star_prices(0_s, 1_ns_per_B), {}).parameters.segments ==
        2048);
  choice.pipeline_segments.value = 4096;
  CHECK_THROWS_AS(decide(Operation::all_reduce, choice, 1_GB, 1 << 24, star_prices(0_s, 1_ns_per_B), {}),
                  std::invalid_argument);
}

TEST_CASE("a free message makes segments as many as allowed, a free byte makes them one") {
  CollectiveChoice choice;
  choice.algorithm = Algorithm::double_binary_tree;
  CHECK(decide(Operation::all_reduce, choice, 1_MB, 16, star_prices(0_s, 1_ns_per_B), {1}).parameters.segments == 4096);
  CHECK(decide(Operation::all_reduce, choice, 1_MB, 16, star_prices(1_us, 0_ns_per_B), {1}).parameters.segments == 1);
}

TEST_CASE("impossible choices") {
  const Prices prices = star_prices(1_us, 1_ns_per_B);
  CollectiveChoice hierarchical;
  hierarchical.algorithm = Algorithm::hierarchical;
  hierarchical.group_size.value = 3;
  CHECK_THROWS_AS(decide(Operation::all_reduce, hierarchical, 1_MB, 8, prices, {1}), std::invalid_argument);
  CHECK(decide(Operation::all_reduce, hierarchical, 1_MB, 9, prices, {1}).parameters.group_size == 3);
  // "auto" takes the topology's group where it divides p, else groups of one.
  hierarchical.group_size.value.reset();
  CHECK(decide(Operation::all_reduce, hierarchical, 1_MB, 16, prices, {8}).parameters.group_size == 8);
  CHECK(decide(Operation::all_reduce, hierarchical, 1_MB, 12, prices, {8}).parameters.group_size == 1);
  CHECK(decide(Operation::all_reduce, hierarchical, 1_MB, 6, prices, {8}).parameters.group_size ==
        6);  // all on one machine
  // An algorithm for all-reduces between groups may be unable to gather between them.
  hierarchical.between_groups = Algorithm::halving_doubling;
  CHECK_THROWS_AS(decide(Operation::all_gather, hierarchical, 1_MB, 16, prices, {8}), std::invalid_argument);
  CHECK(fitted(hierarchical, Operation::all_reduce) == hierarchical);
  CHECK(fitted(hierarchical, Operation::all_gather).algorithm == Algorithm::hierarchical);
  CHECK(fitted(hierarchical, Operation::all_gather).between_groups == Algorithm::automatic);
  CHECK(fitted(hierarchical, Operation::broadcast).algorithm == Algorithm::automatic);
  CHECK_THROWS_AS(find_algorithm(Operation::broadcast, Algorithm::ring), std::invalid_argument);
  CHECK_THROWS_AS(find_algorithm(Operation::all_reduce, Algorithm::automatic), std::invalid_argument);
  // As many rings as NICs, where workers are on several machines; a machine of its own for all where the topology knows
  // none.
  CollectiveChoice rings;
  rings.algorithm = Algorithm::multi_ring;
  const auto decided = [&](int p, const Machines& machines) {
    return decide(Operation::all_reduce, rings, 1_MB, p, prices, machines).parameters;
  };
  CHECK(decided(16, {8, 4}).rings == 4);
  CHECK(decided(16, {8, 4}).group_size == 8);
  CHECK(decided(8, {8, 4}).rings == 1);
  CHECK(decided(6, {8, 4}).group_size == 6);
  CHECK(decided(16, {}).rings == 1);
  rings.rings.value = 5;
  CHECK(decided(16, {8, 4}).rings == 5);
  CHECK(decided(5, {}).group_size == 5);
  CHECK_THROWS_AS(decided(16, {4, 4}), std::invalid_argument);
  CHECK_THROWS_AS(decided(1 << 28, {}), std::invalid_argument);  // 5·2^28 blocks
  rings.group_size.value = 3;
  CHECK_THROWS_AS(decided(16, {8, 4}), std::invalid_argument);
  // Each worker is a machine of a tree where the topology knows none.
  CollectiveChoice trees;
  trees.algorithm = Algorithm::nccl_tree;
  const auto planted = [&](int p, const Machines& machines) {
    return decide(Operation::all_reduce, trees, 1_MB, p, prices, machines).parameters;
  };
  CHECK(planted(16, {8, 4}).rings == 4);
  CHECK(planted(16, {8, 4}).group_size == 8);
  CHECK(planted(16, {}).group_size == 1);
  CHECK(planted(6, {8, 4}).group_size == 6);
  CHECK(planted(6, {8, 4}).rings == 1);
  trees.rings.value = 2;
  CHECK_THROWS_AS(planted(16, {}), std::invalid_argument);
  trees.group_size.value = 1025;
  CHECK_THROWS_AS(planted(4096, {}), std::invalid_argument);  // a chain of so many
  CollectiveChoice bruck;
  bruck.algorithm = Algorithm::bruck;
  CHECK_THROWS_AS(decide(Operation::all_reduce, bruck, 1_MB, 8, prices, {1}), std::invalid_argument);
}

TEST_CASE("binary logarithms") {
  // floor: 0 1 1 2 2 2 2 3;  ceil: 0 1 2 2 3 3 3 3 for p = 1..8
  const int floors[] = {0, 1, 1, 2, 2, 2, 2, 3}, ceils[] = {0, 1, 2, 2, 3, 3, 3, 3};
  for (int p = 1; p <= 8; ++p) {
    CHECK(floor_log2(p) == floors[p - 1]);
    CHECK(ceil_log2(p) == ceils[p - 1]);
  }
  CHECK(floor_log2(1 << 20) == 20);
  CHECK(ceil_log2((1 << 20) + 1) == 21);
}
