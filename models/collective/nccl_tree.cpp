// The tree of NCCL (Jeaugey, "Massively scale your deep learning training with NCCL 2.4", 2019): a double binary tree of
// machines, with a chain of the workers inside each, in one pipeline.
//
// Groups of g consecutive ranks, the last may be smaller, are machines. There are c pairs of trees, with 1/2c of the
// buffer on each tree, in s segments. Pair j's chain goes through each machine from worker h + 1 on, around to worker
// h, its head: the j-th in an order that takes the machine's NICs in turn (part/nics.hpp), worker j where they serve
// workers in turn. The heads are the nodes of two heaps, the second one mirrored: inner nodes of one are leaves of the
// other. So k NICs each carry a pair where c = k.
//
// An edge passes a segment up, adding, at its place on the way: of a chain of g - 1 edges from 0 on, of a machine at
// depth d of D at g - 1 + D - d. From the heads of the roots it comes down the same edges, in reverse: at X - 1 - x,
// where it went up at x, X = 2(g - 1 + D). Segment k is k rounds behind the first, so that what goes up and what comes
// down run side by side, unlike in double-binary-tree.
//
// Simpler than NCCL's: a machine's messages to its parent and its children all go by the chain's head (NCCL may spread
// them over two workers), machines are numbered as heaps (NCCL's trees are in order, which in racks is nearer), and a
// round waits for all of its messages, where NCCL has a few segments under way.
#include <algorithm>
#include <cstddef>
#include <vector>

#include "models/collective/collective.hpp"
#include "models/collective/heap_tree.hpp"

namespace stepcast::nccl_tree {
namespace {

/// Where everybody is.
struct Layout {
  int p, size, pairs, segments;
  int machines = (p - 1) / size + 1;
  int depth = heap_depth(machines);
  int chain = size - 1;              ///< edges
  int places = 2 * (chain + depth);  ///< X
  int rounds = places == 0 ? 0 : places + segments - 1;
  std::vector<int> heads, heads_last;  ///< by pair: of a machine, and of a smaller last one

  Layout(int ranks, const CollectiveParameters& parameters)
      : p(ranks), size(std::min(parameters.group_size, ranks)), pairs(parameters.rings), segments(parameters.segments) {
    const Nics nics{size, std::min(parameters.nics, size), parameters.nic_of_gpu};
    const int rest = p % size;
    for (int j = 0; j < pairs; ++j) {
      heads.push_back(nics.gpu_in_turn(j % size, size));
      heads_last.push_back(rest == 0 ? heads.back() : nics.gpu_in_turn(j % rest, rest));
    }
  }

  [[nodiscard]] int workers(int machine) const { return std::min(size, p - machine * size); }
  /// The i-th behind the head of pair j.
  [[nodiscard]] int rank(int j, int machine, int i) const { return machine * size + behind(j, i, workers(machine)); }
  /// Which worker of q that is; and where behind the head a worker is.
  [[nodiscard]] int behind(int j, int i, int q) const {
    const int head = (q < size ? heads_last : heads)[static_cast<std::size_t>(j)];
    return ((head - i) % q + q) % q;
  }
  /// Where the edge above the i-th of a chain, or above a machine at some depth, goes up; and where it comes down.
  [[nodiscard]] int up_chain(int i) const { return chain - i; }
  [[nodiscard]] int up_tree(int d) const { return chain + depth - d; }
  [[nodiscard]] int down(int up) const { return places - 1 - up; }
};

/// Messages of the edges at one place, of one segment.
void pass(const Layout& at, int place, int segment, Round& round) {
  const bool is_up = place < at.places / 2;
  const int up = is_up ? place : at.down(place);
  const auto message = [&](int lower, int upper, int pair, int tree) {
    const Slice slice{(2 * pair + tree) * at.segments + segment, 1};
    if (is_up) round.push_back({lower, upper, slice, true});
    else round.push_back({upper, lower, slice, false});
  };
  for (int j = 0; j < at.pairs; ++j) {
    if (up < at.chain) {
      const int i = at.chain - up;
      for (int machine = 0; machine < at.machines; ++machine)
        for (int tree = 0; tree < 2 && i < at.workers(machine); ++tree)
          message(at.rank(j, machine, i), at.rank(j, machine, i - 1), j, tree);
    } else {
      const int last = at.machines - 1;
      for_each_edge_at(at.machines, at.depth - (up - at.chain), [&](int child, int parent) {
        message(at.rank(j, child, 0), at.rank(j, parent, 0), j, 0);
        message(at.rank(j, last - child, 0), at.rank(j, last - parent, 0), j, 1);
      });
    }
  }
}

/// Blocks that somebody sends, receives and adds in a round.
struct Counts {
  int out = 0, in = 0, add = 0;

  [[nodiscard]] int busier() const { return std::max(out, in); }
};
/// By round.
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

/// Counts the edges at somebody, each of which is busy for as many rounds up, and down, as there are segments.
class Edges {
 public:
  explicit Edges(const Layout& at) : at_(at), change_(static_cast<std::size_t>(at.rounds) + 1) {}

  /// Above, where they go up at `up`.
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
    Load load(static_cast<std::size_t>(at_.rounds));
    Counts now;
    for (std::size_t r = 0; r < load.size(); ++r) {
      now = {now.out + change_[r].out, now.in + change_[r].in, now.add + change_[r].add};
      load[r] = now;
    }
    return load;
  }

 private:
  void from(int round, int Counts::*what, int edges) {
    change_[static_cast<std::size_t>(round)].*what += edges;
    change_[static_cast<std::size_t>(round + at_.segments)].*what -= edges;
  }

  const Layout& at_;
  Load change_;  ///< from the round before
};

/// Of one pair of trees: what a machine's head has to do with other machines.
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

/// The most of any of the first so many. Those between two that differ in a depth or in children are alike.
Load of_busiest_machine(const Layout& at, int machines) {
  std::vector<int> first{0, (at.machines - 1) / 2, at.machines / 2};  // with two children, one, none
  for (int d = 1; d <= at.depth; ++d) first.push_back((1 << d) - 1);
  for (std::size_t i = 0, nodes = first.size(); i < nodes; ++i) first.push_back(at.machines - first[i]);  // mirrored
  std::sort(first.begin(), first.end());
  first.erase(std::unique(first.begin(), first.end()), first.end());
  Load most(static_cast<std::size_t>(at.rounds));
  for (const int machine : first)
    if (machine < machines) raise_to(most, of_machine(at, machine));
  return most;
}

/// The most of any of a machine's q workers, the heads among which have `head` to do with other machines.
Load of_busiest_worker(const Layout& at, int q, const Load& head) {
  Load most(static_cast<std::size_t>(at.rounds));
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
          .round =
              [at](int r) {
                Round round;
                for (int place = std::max(0, r - at.segments + 1); place <= std::min(r, at.places - 1); ++place)
                  pass(at, place, r - place, round);
                return round;
              },
          // While the pipeline is full, all edges pass a segment each way.
          .like = [at](int r) { return r >= at.places - 1 && r < at.segments ? at.places - 1 : r; }};
}

/// X + s - 1 rounds, of which the first and the last g - 1 are inside machines. What the busiest worker sends, receives
/// and adds in each has no short formula: edges are counted. A full pipeline of many machines is 4c blocks of n/2cs.
CostTerms all_reduce_cost(Bytes n, int p, const CollectiveParameters& parameters) {
  CostTerms terms;
  const Layout whole(p, parameters);
  if (whole.rounds == 0) return terms;
  Layout at = whole;  // a pipeline that has just been full; the rounds in which it stays so are alike
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
  if (far > 0) terms.busiest_nic = by_nic / ((at.size - 1) / parameters.nics + 1) / far;
  terms.sent = 2.0 * n * (p - 1) / p;
  return terms;
}

}  // namespace stepcast::nccl_tree
