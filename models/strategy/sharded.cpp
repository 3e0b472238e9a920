// Synchronous SGD whose workers hold a g-th of the model's state each: ZeRO (Rajbhandari et al., SC 2020) and FSDP
// (Zhao et al., VLDB 2023), where g is p unless `group_size` says less. A unit is what Exchange groups: the parameters
// and gradients that are gathered and reduced together, in the order in which back-propagation has them.
//
//   optimizer-state   gradients are reduce-scattered as back-propagation has them; each worker updates its g-th of the
//                     parameters, which are then gathered, one unit after the other, before the next forward pass
//   gradients         the same, and each unit is gathered while the forward pass computes the units before it
//   parameters        the same again, and a unit is let go after its forward pass and gathered once more for its backward
//                     one; but not the last unit, whose backward pass follows at once
//
// Each group of g consecutive ranks gathers and reduce-scatters among themselves, all groups at once. Where there are
// several, the p/g workers that hold the same share then sum it up, all g shares at once: an all-reduce of a g-th of
// the unit after its reduce-scatter (hybrid sharding, Zhao et al., section 3.2.2).
//
// All collectives share one stream, as in one NCCL communicator. Where units are let go, at most `prefetch` are
// gathered ahead of the one that computes; a unit gathered ahead goes before the reduction of the one that computes
// meanwhile. Back-propagation of a unit waits for the reduction of the one two before it, so that the gradients of two
// units at most are there whole (FSDP's reduce-scatter input, DeepSpeed's two buckets), for which the all-reduce of a
// share does not matter. The next step's first gathering waits for the update, which waits for the last reduction. Of
// several passes (accumulation) the last alone is reduced, as under FSDP's no_sync(), or each (`reduce_after`), between
// groups each or the last; units that are let go are gathered in all of them.
#include <algorithm>
#include <utility>

#include "models/strategy/builder.hpp"

namespace stepcast {
namespace {

/// One task of the step's computation.
struct Piece {
  std::string name;
  Phase phase = Phase::forward;
  Seconds time{};
  int unit = 0;
  bool gathered = false;  ///< its unit is gathered for it
  bool reduced = false;   ///< its unit's gradients are reduced after it
  bool summed = false;    ///< and then summed up between groups
  int begun = 0;          ///< passes that begin with it
  int passes = 1;         ///< that it belongs to
  bool is_tail = false;   ///< backward of layers before all units
  bool ends = false;      ///< the backward pass of units that are reduced
};

/// A step's computation, in order.
class Computation {
 public:
  /// @param ahead  units that are gathered ahead
  Computation(const ShardedStrategy& strategy, const Workload& workload, const std::vector<Bucket>& units,
              double slowdown, std::size_t ahead)
      : whole_(strategy.exchange.grouping == Grouping::whole_model),
        sums_all_(strategy.reduce_after != ReduceAfter::inside_every_pass),
        slowdown_(slowdown),
        ahead_(ahead),
        workload_(workload),
        units_(units) {
    const int passes = workload.accumulation;
    const bool every = strategy.reduce_after != ReduceAfter::last_pass;
    switch (strategy.stage) {
      case ShardingStage::optimizer_state:
        if (!every) plain_passes(passes - 1);
        reduced_passes(every ? passes : 1);
        break;
      case ShardingStage::gradients:
        forward_by_units();
        if (!every && passes > 1) {
          plain_backward(1);
          plain_passes(passes - 2);
          plain_forward(1);
        }
        backward_by_units(false, true, !every || passes == 1);
        if (every) reduced_passes(passes - 1);
        break;
      case ShardingStage::parameters:
        for (int pass = 1; pass <= passes; ++pass) {
          forward_by_units();
          backward_by_units(true, every || pass == passes, pass == passes);
        }
        break;
    }
  }

  [[nodiscard]] const std::vector<Piece>& pieces() const { return pieces_; }

 private:
  [[nodiscard]] int count() const { return static_cast<int>(units_.size()); }
  [[nodiscard]] const Bucket& unit(int i) const { return units_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] std::string named(const char* name, int i) const {
    return numbered(name, static_cast<std::size_t>(i), units_.size());
  }

  void plain_passes(int passes) {
    if (passes < 1) return;
    plain_forward(passes);
    plain_backward(passes);
  }
  /// A step's last passes, of units that are there.
  void reduced_passes(int passes) {
    for (int pass = 1; pass <= passes; ++pass) {
      plain_forward(1);
      backward_by_units(false, true, pass == passes);
    }
  }
  void plain_forward(int passes) {
    pieces_.push_back({.name = counted("forward", passes, "passes"),
                       .phase = Phase::forward,
                       .time = workload_.forward * passes,
                       .begun = passes,
                       .passes = passes});
  }
  void plain_backward(int passes) {
    pieces_.push_back({.name = counted("backward", passes, "passes"),
                       .phase = Phase::backward,
                       .time = workload_.backward * passes,
                       .passes = passes});
  }

  /// Each gathered first.
  void forward_by_units() {
    for (int i = count() - 1; i >= 0; --i)
      pieces_.push_back({.name = named("forward", i),
                         .phase = Phase::forward,
                         .time = forward_time(i),
                         .unit = i,
                         .gathered = true,
                         .begun = i == count() - 1 ? 1 : 0});
  }

  /// The forward time of unit i; of the first one to compute with all that comes before its layers.
  [[nodiscard]] Seconds forward_time(int i) const {
    const auto of = [&](std::size_t first, std::size_t last) {
      Seconds sum{};
      for (std::size_t g = first; g < last; ++g) sum += workload_.gradients[g].forward;
      return sum;
    };
    return i + 1 < count() ? of(unit(i).first, unit(i).last)
                           : std::max(Seconds{}, workload_.forward - of(0, unit(i).first));
  }

  /// The unit that was the forward pass's last is still there.
  void backward_by_units(bool gathered, bool reduced, bool is_last) {
    // A pass that reduces nothing overlaps with what is gathered ahead, if anything is.
    const double slowdown = reduced || (gathered && ahead_ > 0) ? slowdown_ : 1.0;
    const bool summed = reduced && (sums_all_ || is_last);
    for (int i = 0; i < count(); ++i)
      pieces_.push_back({.name = named("backward", i),
                         .phase = Phase::backward,
                         .time = unit(i).gap * slowdown,
                         .unit = i,
                         .gathered = gathered && i > 0,
                         .reduced = reduced,
                         .summed = summed});
    // A whole model's only unit is complete when backward is, tail included.
    if (workload_.tail > Seconds{} && !whole_)
      pieces_.push_back(
          {.name = "backward tail", .phase = Phase::backward, .time = workload_.tail * slowdown, .is_tail = true});
    pieces_.back().ends = reduced;
    pieces_.back().summed = summed;
  }

  bool whole_, sums_all_;
  double slowdown_;
  std::size_t ahead_;
  const Workload& workload_;
  const std::vector<Bucket>& units_;
  std::vector<Piece> pieces_;
};

class Builder {
 public:
  Builder(const ShardedStrategy& strategy, const GraphInput& input)
      : strategy_(strategy),
        input_(input),
        group_(strategy.group(input.cluster.workers)),
        units_(make_buckets(input.workload, strategy.exchange)),
        compute_(graph_.add_stream("compute")),
        communication_(graph_.add_stream("communication")) {
    const int p = input.cluster.workers;
    const Communicators inside = inside_groups(group_, p), between = between_groups(group_, p);
    const double wider = strategy.reduced_over(input.workload.dtype);
    for (const Bucket& unit : units_) {
      const Bytes reduced = unit.bytes * wider;
      graph_.payload += reduced * (strategy.reduce_after == ReduceAfter::last_pass ? 1.0 : input.workload.accumulation);
      gather_.push_back(input.prices.decide(Operation::all_gather, strategy.collective, unit.bytes, inside));
      reduce_.push_back(input.prices.decide(Operation::reduce_scatter, strategy.collective, reduced, inside));
      if (group_ < p)
        sum_.push_back(input.prices.decide(Operation::all_reduce, strategy.all_reduce, reduced / group_, between));
    }
  }

  StepGraph build() && {
    const bool overlap = strategy_.exchange.overlap && strategy_.exchange.grouping != Grouping::whole_model;
    const std::size_t ahead = overlap ? static_cast<std::size_t>(strategy_.prefetch) : 0;
    const bool lets_go = strategy_.stage == ShardingStage::parameters;
    // γ_o as for all-reduce; one worker alone exchanges nothing that could slow it.
    const Computation computation(strategy_, input_.workload, units_,
                                  overlap && input_.cluster.workers > 1 ? strategy_.exchange.backward_slowdown : 1.0,
                                  ahead);
    const std::vector<Piece>& pieces = computation.pieces();

    std::vector<TaskId> computed, reduced, gathers(pieces.size(), kNoTask);
    std::vector<TaskId> turns;  // what has computed, tails left out, which are no unit's
    TaskId first_gather = kNoTask;
    std::size_t next = 0, next_turn = 0;  // piece to be gathered for
    for (std::size_t j = 0; j < pieces.size(); ++j) {
      const std::size_t turn = pieces[j].is_tail ? turns.size() - 1 : turns.size();
      for (; next < pieces.size() && next_turn <= turn + ahead; ++next) {
        if (pieces[next].is_tail) continue;
        const std::size_t own_turn = next_turn++;
        if (!pieces[next].gathered) continue;
        gathers[next] = add_collective("gather", gather_, pieces[next].unit);
        if (first_gather == kNoTask) first_gather = gathers[next];
        // Units that stay may all be gathered at once.
        if (own_turn > ahead && (lets_go || !overlap)) graph_.depend(gathers[next], turns[own_turn - 1 - ahead]);
      }
      computed.push_back(add(pieces[j]));
      if (!pieces[j].is_tail) turns.push_back(computed.back());
      if (pieces[j].reduced && reduced.size() > 1) graph_.depend(computed[j], reduced[reduced.size() - 2]);
      if (gathers[j] != kNoTask) graph_.depend(computed[j], gathers[j]);
      if (overlap) {
        if (pieces[j].reduced) reduced.push_back(reduce(pieces[j].unit, computed[j], pieces[j].summed));
        continue;
      }
      if (j > 0 && pieces[j - 1].ends)
        graph_.depend(computed[j], pieces[j - 1].summed && !summed_.empty() ? summed_.back() : reduced.back());
      if (!pieces[j].ends) continue;
      for (int i = 0; i < static_cast<int>(units_.size()); ++i)
        reduced.push_back(reduce(i, computed[j], pieces[j].summed));
    }

    const TaskId update =
        graph_.add_task({"update", Phase::update, ComputeWork{input_.workload.update / group_}, compute_});
    for (const TaskId task : summed_.empty() ? reduced : summed_) graph_.depend(update, task);
    graph_.depend(computed.front(), update, 1);
    // Gatherings follow each other, so only the first of them has to wait for the update, and what needs all for the
    // last.
    if (first_gather != kNoTask) graph_.depend(first_gather, update, 1);
    else gather_updated(update, computed.front());
    return std::move(graph_);
  }

 private:
  /// @param calls  by unit
  TaskId add_collective(const char* name, const std::vector<CollectiveCall>& calls, int unit) {
    const auto at = static_cast<std::size_t>(unit);
    return graph_.add_task(
        {numbered(name, at, units_.size()), Phase::exchange, CollectiveWork{calls[at]}, communication_});
  }

  TaskId add(const Piece& piece) {
    graph_.micro_batches += piece.begun;
    const TaskId task = graph_.add_task({piece.name, piece.phase, ComputeWork{piece.time}, compute_});
    graph_.tasks.back().micro_batches = piece.passes;
    return task;
  }

  /// Returns the reduce-scatter.
  TaskId reduce(int unit, TaskId after, bool summed) {
    const TaskId task = add_collective("reduce-scatter", reduce_, unit);
    graph_.depend(task, after);
    if (sum_.empty() || !summed) return task;
    summed_.push_back(add_collective("all-reduce", sum_, unit));
    graph_.depend(summed_.back(), task);
    return task;
  }

  void gather_updated(TaskId update, TaskId forward) {
    TaskId gather = kNoTask;
    for (int i = 0; i < static_cast<int>(units_.size()); ++i) {
      gather = add_collective("gather", gather_, i);
      if (i == 0) graph_.depend(gather, update);
    }
    graph_.depend(forward, gather, 1);
  }

  const ShardedStrategy& strategy_;
  const GraphInput& input_;
  int group_;  ///< workers that share out the state
  std::vector<Bucket> units_;
  std::vector<CollectiveCall> gather_, reduce_, sum_;  ///< of each unit; sum_: between several groups
  std::vector<TaskId> summed_;
  StepGraph graph_;
  StreamId compute_, communication_;
};

}  // namespace

StepGraph build_sharded(const ShardedStrategy& strategy, const GraphInput& input) {
  return Builder(strategy, input).build();
}

}  // namespace stepcast
