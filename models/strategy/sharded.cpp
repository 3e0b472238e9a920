// Synchronous SGD whose workers hold a p-th of the model's state each: ZeRO (Rajbhandari et al., SC 2020) and FSDP (Zhao et
// al., VLDB 2023). A unit is what Exchange groups: the parameters and gradients that are gathered and reduced together, in the
// order in which back-propagation has them.
//
//   optimizer-state   gradients are reduce-scattered as back-propagation has them; each worker updates its p-th of the
//                     parameters, which are then gathered, one unit after the other, before the next forward pass
//   gradients         the same, and each unit is gathered while the forward pass computes the units before it
//   parameters        the same again, and a unit is let go after its forward pass and gathered once more for its backward
//                     one; but not the last unit, whose backward pass follows at once
//
// All collectives share one stream, as in one NCCL communicator. A unit gathered ahead goes before the reduction of the
// unit that is computed meanwhile. Where units are let go, at most `prefetch` are gathered ahead of the one that computes.
// The next step's first gathering waits for the update, which waits for the last reduction.
#include <algorithm>

#include "models/strategy/builder.hpp"

namespace stepcast {
namespace {

class Builder {
 public:
  Builder(const ShardedStrategy& strategy, const GraphInput& input)
      : strategy_(strategy), input_(input), units_(make_buckets(input.workload, strategy.exchange)), count_(static_cast<int>(units_.size())),
        overlap_(strategy.exchange.overlap && strategy.exchange.grouping != Grouping::whole_model),
        ahead_(overlap_ ? strategy.prefetch : 0), compute_(graph_.add_stream("compute")), communication_(graph_.add_stream("communication")) {
    for (const Bucket& unit : units_) graph_.payload += unit.bytes;
  }

  StepGraph build() && {
    if (strategy_.stage == ShardingStage::optimizer_state) forward_.push_back(add_forward(graph_, compute_, input_.workload));
    else forward_by_units();
    // γ_o as for all-reduce; one worker alone exchanges nothing that could slow it.
    const double slowdown = overlap_ && input_.cluster.workers > 1 ? strategy_.exchange.backward_slowdown : 1.0;
    const BackwardPass backward = add_backward(graph_, compute_, compute_, input_, units_, slowdown, std::vector<Seconds>(units_.size()));
    const std::vector<TaskId> reduced = reduce(backward);
    update(reduced);
    return std::move(graph_);
  }

 private:
  [[nodiscard]] const Bucket& unit(int i) const { return units_[static_cast<std::size_t>(i)]; }

  TaskId add_collective(Operation operation, const char* name, int i) {
    return graph_.add_task({numbered(name, static_cast<std::size_t>(i), units_.size()), Phase::exchange, CollectiveWork{input_.prices.decide(operation, strategy_.collective, unit(i).bytes)}, communication_});
  }

  /// The forward time of unit i; of the first one to compute with all that comes before its layers.
  [[nodiscard]] Seconds forward_time(int i) const {
    const auto& gradients = input_.workload.gradients;
    const auto of = [&](std::size_t first, std::size_t last) {
      Seconds sum{};
      for (std::size_t g = first; g < last; ++g) sum += gradients[g].forward;
      return sum;
    };
    return i + 1 < count_ ? of(unit(i).first, unit(i).last) : std::max(Seconds{}, input_.workload.forward - of(0, unit(i).first));
  }

  /// Unit i is number count - 1 - i of the forward pass.
  void forward_by_units() {
    for (int at = 0; at < count_; ++at) {
      const int i = count_ - 1 - at;
      const TaskId gather = add_collective(Operation::all_gather, "gather", i);
      gathers_.push_back(gather);
      // Units that stay may all be gathered at once.
      const int behind = at - 1 - ahead_;
      if (behind >= 0 && (!overlap_ || lets_go())) graph_.depend(gather, forward_[static_cast<std::size_t>(behind)]);
      forward_.push_back(graph_.add_task({numbered("forward", static_cast<std::size_t>(i), units_.size()), Phase::forward, ComputeWork{forward_time(i)}, compute_}));
      graph_.depend(forward_.back(), gather);
    }
  }

  [[nodiscard]] bool lets_go() const { return strategy_.stage == ShardingStage::parameters; }

  /// Reduce-scatters of all units, with the gatherings that back-propagation needs among them.
  std::vector<TaskId> reduce(const BackwardPass& backward) {
    std::vector<TaskId> reduced;
    int gathered = 1;  // unit 0 is still there
    const int before = overlap_ ? ahead_ : count_;  // gatherings that go before a unit's reduction, which else waits for the end
    for (int i = 0; i < count_; ++i) {
      for (; lets_go() && gathered < count_ && gathered <= i + before; ++gathered) {
        const TaskId again = add_collective(Operation::all_gather, "gather again", gathered);
        const int behind = gathered - 1 - ahead_;
        graph_.depend(again, behind >= 0 ? backward.ready[static_cast<std::size_t>(behind)] : forward_.back());
        graph_.depend(backward.ready[static_cast<std::size_t>(gathered)], again);
      }
      reduced.push_back(add_collective(Operation::reduce_scatter, "reduce-scatter", i));
      graph_.depend(reduced.back(), overlap_ ? backward.ready[static_cast<std::size_t>(i)] : backward.end);
    }
    return reduced;
  }

  void update(const std::vector<TaskId>& reduced) {
    const TaskId update = graph_.add_task({"update", Phase::update, ComputeWork{input_.workload.update / input_.cluster.workers}, compute_});
    for (const TaskId task : reduced) graph_.depend(update, task);
    // Gatherings follow each other, so the first of them waits for the update, and the forward pass for the last.
    if (strategy_.stage != ShardingStage::optimizer_state) return graph_.depend(gathers_.front(), update, 1);
    for (int i = 0; i < count_; ++i) gathers_.push_back(add_collective(Operation::all_gather, "gather", i));
    graph_.depend(gathers_.front(), update);
    graph_.depend(forward_.front(), gathers_.back(), 1);
  }

  const ShardedStrategy& strategy_;
  const GraphInput& input_;
  std::vector<Bucket> units_;
  int count_;
  bool overlap_;
  int ahead_;  ///< units
  StepGraph graph_;
  StreamId compute_, communication_;
  std::vector<TaskId> forward_, gathers_;
};

}  // namespace

StepGraph build_sharded(const ShardedStrategy& strategy, const GraphInput& input) { return Builder(strategy, input).build(); }

}  // namespace stepcast
