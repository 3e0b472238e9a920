// Synchronous SGD where each worker holds 1/g of the model's state: ZeRO (Rajbhandari et al., SC 2020) and FSDP (Zhao
// et al., VLDB 2023). g is p unless `group_size` is smaller. A unit is a group of Exchange: parameters and gradients
// that are gathered and reduced together. Units are in the order of back-propagation.
//
//   optimizer-state   gradients are reduce-scattered when back-propagation completes them; each worker updates 1/g of
//                     the parameters; these are gathered, unit by unit, before the next forward pass
//   gradients         the same, but each unit is gathered while the forward pass computes the units before it
//   parameters        the same, but a unit is freed after its forward pass and gathered again for its backward pass;
//                     the last unit is not freed, since its backward pass follows immediately
//
// Each group of g consecutive ranks gathers and reduce-scatters internally, all groups at the same time. With several
// groups, the p/g workers with the same share then sum it, all g shares at the same time. This is an all-reduce of 1/g
// of the unit after its reduce-scatter (hybrid sharding, Zhao et al., section 3.2.2).
//
// All collectives share one stream, as in one NCCL communicator. If units are freed, at most `prefetch` units are
// gathered ahead of the computing one. A unit gathered ahead precedes the reduction of the unit that computes
// meanwhile. Back-propagation of a unit waits for the reduction of the unit two before it. So at most two units have
// complete gradients in memory (FSDP's reduce-scatter input, DeepSpeed's two buckets); the all-reduce of a share does
// not count. The next step's first gathering waits for the update, which waits for the last reduction. With
// accumulation, only the last pass is reduced, as under FSDP's no_sync(), or every pass (`reduce_after`). Between
// groups, every pass or the last one is reduced. Freed units are gathered in all passes.
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
        // γ_o as for all-reduce. A single worker has no exchange that could slow it.
        pieces_(sharded_computation(strategy, input.workload, units_,
                                    overlap_ && input.cluster.workers > 1 ? input.cluster.stack.backward_slowdown : 1.0,
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
  /// Adds the missing gatherings for pieces up to `ahead_` turns after piece j.
  void gather_for(std::size_t j) {
    const std::size_t turn = pieces_[j].is_tail ? turns_.size() - 1 : turns_.size();
    for (; next_ < pieces_.size() && next_turn_ <= turn + ahead_; ++next_) {
      if (pieces_[next_].is_tail) continue;
      const std::size_t own_turn = next_turn_++;
      if (!pieces_[next_].gathered) continue;
      gathers_[next_] = add_collective("gather", gather_, pieces_[next_].unit);
      if (first_gather_ == kNoTask) first_gather_ = gathers_[next_];
      // Units that are not freed may all be gathered at once.
      const bool waits = strategy_.stage == ShardingStage::parameters || !overlap_;
      if (own_turn > ahead_ && waits) graph_.depend(gathers_[next_], turns_[own_turn - 1 - ahead_]);
    }
  }

  void compute(std::size_t j) {
    const Piece& piece = pieces_[j];
    graph_.micro_batches += piece.begun;
    const TaskId task = graph_.add_task({piece.name, piece.phase, ComputeWork{piece.time}, compute_});
    graph_.tasks.back().micro_batches = piece.passes;
    graph_.tasks.back().stack_share = piece.stack_share;
    computed_.push_back(task);
    if (!piece.is_tail) turns_.push_back(task);
    if (piece.reduced && reduced_.size() > 1) graph_.depend(task, reduced_[reduced_.size() - 2]);
    if (gathers_[j] != kNoTask) graph_.depend(task, gathers_[j]);
  }

  void reduce_behind(std::size_t j) {
    if (pieces_[j].reduced) reduce(pieces_[j].unit, computed_[j], pieces_[j].summed);
  }

  /// Reduces all units after the backward pass. The next piece waits for it.
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
    // Gatherings run one by one, so only the first waits for the update, and tasks that need all of them wait for the
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
  int group_;  ///< workers that divide the state among them
  bool overlap_;
  std::size_t ahead_;  ///< number of units that are gathered ahead
  std::vector<Bucket> units_;
  std::vector<Piece> pieces_;
  std::vector<CollectiveCall> gather_, reduce_, sum_;  ///< by unit; sum_: between several groups
  std::vector<TaskId> computed_, gathers_;             ///< by piece; kNoTask: not gathered for it
  std::vector<TaskId> reduced_, summed_;               ///< reductions so far, inside and between groups
  std::vector<TaskId> turns_;                          ///< compute tasks of units so far, without tails
  TaskId first_gather_ = kNoTask;
  std::size_t next_ = 0, next_turn_ = 0;  ///< the next piece to gather for, and its turn
  StepGraph graph_;
  StreamId compute_, communication_;
};

}  // namespace

StepGraph build_sharded(const ShardedStrategy& strategy, const GraphInput& input) {
  return Builder(strategy, input).build();
}

}  // namespace stepcast
