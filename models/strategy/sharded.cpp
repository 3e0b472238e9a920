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
#include <utility>

#include "models/strategy/builder.hpp"
#include "models/strategy/sharded_computation.hpp"

namespace stepcast {
namespace {

class Builder {
 public:
  Builder(const ShardedStrategy& strategy, const GraphInput& input)
      : strategy_(strategy),
        input_(input),
        group_(strategy.group(input.cluster.workers)),
        overlap_(strategy.exchange.overlap && strategy.exchange.grouping != Grouping::whole_model),
        ahead_(overlap_ ? static_cast<std::size_t>(strategy.prefetch) : 0),
        units_(make_buckets(input.workload, strategy.exchange)),
        // γ_o as for all-reduce; one worker alone exchanges nothing that could slow it.
        pieces_(sharded_computation(strategy, input.workload, units_,
                                    overlap_ && input.cluster.workers > 1 ? strategy.exchange.backward_slowdown : 1.0,
                                    ahead_ > 0)),
        gathers_(pieces_.size(), kNoTask),
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
    for (std::size_t j = 0; j < pieces_.size(); ++j) {
      gather_for(j);
      compute(j);
      if (overlap_) reduce_behind(j);
      else reduce_at_end(j);
    }
    update();
    return std::move(graph_);
  }

 private:
  /// The gatherings for pieces up to `ahead_` turns after piece j, unless they are there already.
  void gather_for(std::size_t j) {
    const std::size_t turn = pieces_[j].is_tail ? turns_.size() - 1 : turns_.size();
    for (; next_ < pieces_.size() && next_turn_ <= turn + ahead_; ++next_) {
      if (pieces_[next_].is_tail) continue;
      const std::size_t own_turn = next_turn_++;
      if (!pieces_[next_].gathered) continue;
      gathers_[next_] = add_collective("gather", gather_, pieces_[next_].unit);
      if (first_gather_ == kNoTask) first_gather_ = gathers_[next_];
      // Units that stay may all be gathered at once.
      const bool waits = strategy_.stage == ShardingStage::parameters || !overlap_;
      if (own_turn > ahead_ && waits) graph_.depend(gathers_[next_], turns_[own_turn - 1 - ahead_]);
    }
  }

  void compute(std::size_t j) {
    const Piece& piece = pieces_[j];
    graph_.micro_batches += piece.begun;
    const TaskId task = graph_.add_task({piece.name, piece.phase, ComputeWork{piece.time}, compute_});
    graph_.tasks.back().micro_batches = piece.passes;
    computed_.push_back(task);
    if (!piece.is_tail) turns_.push_back(task);
    if (piece.reduced && reduced_.size() > 1) graph_.depend(task, reduced_[reduced_.size() - 2]);
    if (gathers_[j] != kNoTask) graph_.depend(task, gathers_[j]);
  }

  void reduce_behind(std::size_t j) {
    if (pieces_[j].reduced) reduce(pieces_[j].unit, computed_[j], pieces_[j].summed);
  }

  /// All units, once the backward pass is done; the next piece waits for it.
  void reduce_at_end(std::size_t j) {
    if (j > 0 && pieces_[j - 1].ends)
      graph_.depend(computed_[j], pieces_[j - 1].summed && !summed_.empty() ? summed_.back() : reduced_.back());
    if (!pieces_[j].ends) return;
    for (int i = 0; i < static_cast<int>(units_.size()); ++i) reduce(i, computed_[j], pieces_[j].summed);
  }

  void update() {
    const TaskId update =
        graph_.add_task({"update", Phase::update, ComputeWork{input_.workload.update / group_}, compute_});
    for (const TaskId task : summed_.empty() ? reduced_ : summed_) graph_.depend(update, task);
    graph_.depend(computed_.front(), update, 1);
    // Gatherings follow each other, so only the first of them has to wait for the update, and what needs all for the
    // last.
    if (first_gather_ != kNoTask) graph_.depend(first_gather_, update, 1);
    else gather_updated(update);
  }

  void gather_updated(TaskId update) {
    TaskId gather = kNoTask;
    for (int i = 0; i < static_cast<int>(units_.size()); ++i) {
      gather = add_collective("gather", gather_, i);
      if (i == 0) graph_.depend(gather, update);
    }
    graph_.depend(computed_.front(), gather, 1);
  }

  /// @param calls  by unit
  TaskId add_collective(const char* name, const std::vector<CollectiveCall>& calls, int unit) {
    const auto at = static_cast<std::size_t>(unit);
    return graph_.add_task(
        {numbered(name, at, units_.size()), Phase::exchange, CollectiveWork{calls[at]}, communication_});
  }

  void reduce(int unit, TaskId after, bool summed) {
    reduced_.push_back(add_collective("reduce-scatter", reduce_, unit));
    graph_.depend(reduced_.back(), after);
    if (sum_.empty() || !summed) return;
    summed_.push_back(add_collective("all-reduce", sum_, unit));
    graph_.depend(summed_.back(), reduced_.back());
  }

  const ShardedStrategy& strategy_;
  const GraphInput& input_;
  int group_;  ///< workers that share out the state
  bool overlap_;
  std::size_t ahead_;  ///< units that are gathered ahead
  std::vector<Bucket> units_;
  std::vector<Piece> pieces_;
  std::vector<CollectiveCall> gather_, reduce_, sum_;  ///< of each unit; sum_: between several groups
  std::vector<TaskId> computed_, gathers_;             ///< of each piece; kNoTask: not gathered for it
  std::vector<TaskId> reduced_, summed_;               ///< reductions so far, inside groups and between them
  std::vector<TaskId> turns_;                          ///< what has computed, tails left out, which are no unit's
  TaskId first_gather_ = kNoTask;
  std::size_t next_ = 0, next_turn_ = 0;  ///< piece to be gathered for, and its place among those of units
  StepGraph graph_;
  StreamId compute_, communication_;
};

}  // namespace

StepGraph build_sharded(const ShardedStrategy& strategy, const GraphInput& input) {
  return Builder(strategy, input).build();
}

}  // namespace stepcast
