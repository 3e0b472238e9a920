// The tree of NCCL (Jeaugey, "Massively scale your deep learning training with NCCL 2.4", 2019): a double binary tree
// of machines. Each machine has a chain of its workers. Both work in one pipeline.
//
// Groups of g consecutive ranks are machines; the last group may be smaller. There are c pairs of trees; each tree has
// 1/2c of the buffer, in s segments. Pair j's chain runs through each machine from worker h + 1 to worker h, its head.
// The head is the j-th worker in an order that takes the machine's NICs in turn (part/nics.hpp): worker j for in-turn
// NICs. The heads are the nodes of two heaps. The second heap is mirrored: inner nodes of one heap are leaves of the
// other. With c = k NICs, each NIC carries one pair.
//
// An edge passes a segment up, with addition, at its place. In a chain of g - 1 edges, places start at 0. For a machine
// at depth d of D, the place is g - 1 + D - d. From the roots' heads, the segment returns along the same edges in
// reverse order. An edge at place x returns it at X - 1 - x, with X = 2(g - 1 + D). Segment k is k rounds behind the
// first, so the flows up and down run side by side, unlike in double-binary-tree.
//
// The model is simpler than NCCL. All of a machine's messages to its parent and children pass through the chain's head
// (NCCL may use two workers). Machines are numbered as heaps (NCCL's trees are in order, which is nearer in racks). A
// round waits for all of its messages (NCCL has a few segments in flight).
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "models/collective/collective.hpp"
#include "models/collective/heap_tree.hpp"

namespace stepcast::nccl_tree {
namespace {

/// The places of all ranks.
struct Layout {
  int p, size, pairs, segments;
  int machines = (p - 1) / size + 1;
  int depth = heap_depth(machines);
  int chain = size - 1;              ///< edges
  int places = 2 * (chain + depth);  ///< X
  int rounds = places == 0 ? 0 : places + segments - 1;
  /// [j·q + i]: the worker that is i places behind the head of pair j, for machines of q workers (for a smaller last one)
  std::vector<int> chains, chains_last;

  Layout(int ranks, const CollectiveParameters& parameters)
      : p(ranks), size(std::min(parameters.group_size, ranks)), pairs(parameters.rings), segments(parameters.segments) {
    const Nics nics{size, std::min(parameters.nics, size), parameters.nic_of_gpu};
    const auto chains_of = [&](int q) {
      std::vector<int> all;
      for (int j = 0; j < pairs && q > 0; ++j) {
        const int head = nics.gpu_in_turn(j % q, q);
        for (int i = 0; i < q; ++i) all.push_back((head + q - i) % q);
      }
      return all;
    };
    chains = chains_of(size);
    chains_last = chains_of(p % size);
  }

  [[nodiscard]] int workers(int machine) const { return std::min(size, p - machine * size); }
  /// The rank that is the head of pair j.
  [[nodiscard]] int head(int j, int machine) const { return machine * size + behind(j, 0, workers(machine)); }
  /// The worker, among q, that is i places behind the head. Also the inverse: the places of worker i behind the head.
  [[nodiscard]] int behind(int j, int i, int q) const { return (q < size ? chains_last : chains)[j * q + i]; }
  /// The first and the last place that pass a segment in round r.
  [[nodiscard]] std::pair<int, int> busy(int r) const {
    return {std::max(0, r - segments + 1), std::min(r, places - 1)};
  }
  /// The place where an edge goes up: above the i-th rank of a chain, or a machine at depth d; and where it comes down.
  [[nodiscard]] int up_chain(int i) const { return chain - i; }
  [[nodiscard]] int up_tree(int d) const { return chain + depth - d; }
  [[nodiscard]] int down(int up) const { return places - 1 - up; }
  [[nodiscard]] bool is_up(int place) const { return place < places / 2; }
  /// The place where the edges at a place go up.
  [[nodiscard]] int up(int place) const { return is_up(place) ? place : down(place); }
};

/// Writes a round's messages one after the other.
class RoundWriter {
 public:
  RoundWriter(const Layout& at, int r) : at_(at), round_(r), busy_(at.busy(r)) {
    // A place has at most an edge of each machine in each tree.
    messages_.resize(2 * static_cast<std::size_t>(at.pairs) * at.machines * (busy_.second - busy_.first + 1));
    next_ = messages_.data();
  }

  /// Writes all messages of a machine's chains together, so that readers meet the links of its chains once.
  Round write() {
    for (int machine = 0; machine < at_.machines; ++machine)
      for (int place = busy_.first; place <= busy_.second; ++place)
        if (const int up = at_.up(place); up < at_.chain) write_chains(machine, place, at_.chain - up);
    for (int place = busy_.first; place <= busy_.second; ++place)
      if (const int up = at_.up(place); up >= at_.chain) write_trees(place, at_.depth - (up - at_.chain));
    messages_.resize(static_cast<std::size_t>(next_ - messages_.data()));
    return std::move(messages_);
  }

 private:
  /// The edges above the i-th worker of each chain.
  void write_chains(int machine, int place, int i) {
    const int first = machine * at_.size, workers = at_.workers(machine);
    if (i >= workers) return;
    for (int j = 0; j < at_.pairs; ++j) {
      const int lower = first + at_.behind(j, i, workers), upper = first + at_.behind(j, i - 1, workers);
      for (int tree = 0; tree < 2; ++tree) write(place, lower, upper, 2 * j + tree);
    }
  }

  /// The edges above the machines at depth d.
  void write_trees(int place, int d) {
    const int last = at_.machines - 1;
    for (int tree = 0; tree < 2; ++tree)
      for_each_edge_at(at_.machines, d, [&](int child, int parent) {
        if (tree == 1) child = last - child, parent = last - parent;  // mirrored
        for (int j = 0; j < at_.pairs; ++j) write(place, at_.head(j, child), at_.head(j, parent), 2 * j + tree);
      });
  }

  void write(int place, int lower, int upper, int tree) {
    const Slice slice{tree * at_.segments + (round_ - place), 1};
    *next_++ = at_.is_up(place) ? Message{lower, upper, slice, true} : Message{upper, lower, slice, false};
  }

  const Layout& at_;
  int round_;
  std::pair<int, int> busy_;
  Round messages_;
  Message* next_ = nullptr;
};

/// The blocks that one rank or machine sends, receives and adds in a round.
struct Counts {
  int out = 0, in = 0, add = 0;

  [[nodiscard]] int busier() const { return std::max(out, in); }
};
/// The counts of each round.
using Load = std::vector<Counts>;

void add_to(Load& load, const Load& other) {
  for (std::size_t r = 0; r < load.size(); ++r) {
    load[r].out += other[r].out;
    load[r].in += other[r].in;
    load[r].add += other[r].add;
  }
}

void raise_to(Load& most, const Load& other) {
  for (std::size_t r = 0; r < most.size(); ++r)
    most[r] = {std::max(most[r].out, other[r].out), std::max(most[r].in, other[r].in),
               std::max(most[r].add, other[r].add)};
}

/// Counts the edges at a rank or machine. An edge is busy up, and later down, for one round per segment.
class Edges {
 public:
  explicit Edges(const Layout& at) : at_(at), change_(static_cast<std::size_t>(at.rounds) + 1) {}

  /// Adds edges to a parent that go up at place `up`.
  void above(int up, int edges) {
    from(up, &Counts::out, edges);
    from(at_.down(up), &Counts::in, edges);
  }
  void below(int up, int edges) {
    from(up, &Counts::in, edges);
    from(up, &Counts::add, edges);
    from(at_.down(up), &Counts::out, edges);
  }

  [[nodiscard]] Load load() const {
    Load load(at_.rounds);
    Counts now;
    for (std::size_t r = 0; r < load.size(); ++r) {
      now = {now.out + change_[r].out, now.in + change_[r].in, now.add + change_[r].add};
      load[r] = now;
    }
    return load;
  }

 private:
  void from(int round, int Counts::*what, int edges) {
    change_[round].*what += edges;
    change_[round + at_.segments].*what -= edges;
  }

  const Layout& at_;
  Load change_;  ///< change since the round before
};

/// For one pair of trees: the messages of a machine's head with other machines.
Load of_machine(const Layout& at, int machine) {
  Edges edges(at);
  for (const int node : {machine, at.machines - 1 - machine}) {
    const int d = floor_log2(node + 1);
    if (d > 0) edges.above(at.up_tree(d), 1);
    if (const int children = std::clamp(at.machines - 1 - 2 * node, 0, 2); children > 0)
      edges.below(at.up_tree(d + 1), children);
  }
  return edges.load();
}

/// The maximum over the first `machines`. Machines between two that differ in depth or in children are equal.
Load of_busiest_machine(const Layout& at, int machines) {
  std::vector<int> first{0, (at.machines - 1) / 2, at.machines / 2};  // with two children, one, none
  for (int d = 1; d <= at.depth; ++d) first.push_back((1 << d) - 1);
  for (std::size_t i = 0, nodes = first.size(); i < nodes; ++i) first.push_back(at.machines - first[i]);  // mirrored
  std::sort(first.begin(), first.end());
  first.erase(std::unique(first.begin(), first.end()), first.end());
  Load most(at.rounds);
  for (const int machine : first)
    if (machine < machines) raise_to(most, of_machine(at, machine));
  return most;
}

/// The maximum over a machine's q workers. `head` is the load of a head with other machines.
Load of_busiest_worker(const Layout& at, int q, const Load& head) {
  Load most(at.rounds);
  for (int worker = 0; worker < q; ++worker) {
    Edges chains(at);
    int heads = 0;
    for (int j = 0; j < at.pairs; ++j) {
      const int i = at.behind(j, worker, q);
      if (i > 0) chains.above(at.up_chain(i), 2);
      if (i < q - 1) chains.below(at.up_chain(i + 1), 2);
      heads += i == 0;
    }
    Load own = chains.load();
    for (int k = 0; k < heads; ++k) add_to(own, head);
    raise_to(most, own);
  }
  return most;
}

}  // namespace

Schedule all_reduce(int p, const CollectiveParameters& parameters) {
  const Layout at(p, parameters);
  return {.participants = p,
          .blocks = 2 * at.pairs * at.segments,
          .rounds = at.rounds,
          .round = [at](int r) { return RoundWriter(at, r).write(); },
          // While the pipeline is full, every edge passes one segment in each direction.
          .like = [at](int r) { return r >= at.places - 1 && r < at.segments ? at.places - 1 : r; },
          .stages =
              [at](int r) {
                const auto [first, last] = at.busy(r);
                return static_cast<std::int64_t>(first) * at.places + last;
              }};
}

/// X + s - 1 rounds; the first and the last g - 1 are inside machines. The busiest worker's bytes per round have no
/// short formula, so the code counts edges. A full pipeline of many machines has 4c blocks of n/2cs.
CostTerms all_reduce_cost(Bytes n, int p, const CollectiveParameters& parameters) {
  CostTerms terms;
  const Layout whole(p, parameters);
  if (whole.rounds == 0) return terms;
  Layout at = whole;  // a pipeline that is only just full; the further full rounds are equal
  at.segments = std::min(whole.segments, whole.places);
  at.rounds = at.places + at.segments - 1;
  const int last_workers = at.workers(at.machines - 1), like_machines = at.machines - (last_workers < at.size ? 1 : 0);
  const Load head = of_busiest_machine(at, at.machines);
  Load worker = of_busiest_worker(at, at.size, of_busiest_machine(at, like_machines));
  if (like_machines < at.machines)
    raise_to(worker, of_busiest_worker(at, last_workers, of_machine(at, at.machines - 1)));

  const Bytes block = n / (2.0 * whole.pairs * whole.segments);
  const int on_one_nic = (whole.pairs - 1) / parameters.nics + 1;
  double far = 0.0, by_nic = 0.0;  // blocks
  for (int r = 0; r < at.rounds; ++r) {
    const auto round = static_cast<std::size_t>(r);
    const int times = r == at.places - 1 ? whole.segments - at.segments + 1 : 1;
    const bool is_inside = at.depth == 0 || r < at.chain || r - at.segments >= at.places - 1 - at.chain;
    const double blocks = static_cast<double>(worker[round].busier()) * times;
    terms.add(is_inside && parameters.group_fits ? Path::inner : Path::far, times, block * blocks);
    terms.reduced += block * (static_cast<double>(worker[round].add) * times);
    if (is_inside) continue;
    far += blocks;
    by_nic += static_cast<double>(head[round].busier()) * on_one_nic * times;
  }
  const int most_of_a_nic = (at.size - 1) / parameters.nics + 1;
  if (far > 0) terms.busiest_nic = by_nic / most_of_a_nic / far;
  terms.sent = 2.0 * n * (p - 1) / p;
  return terms;
}

}  // namespace stepcast::nccl_tree
