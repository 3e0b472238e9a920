#include "models/strategy/sharded_computation.hpp"

#include <algorithm>
#include <utility>

#include "models/strategy/builder.hpp"

namespace stepcast {
namespace {

class Computation {
 public:
  Computation(const ShardedStrategy& strategy, const Workload& workload, const std::vector<Bucket>& units,
              double slowdown, bool gathers_ahead)
      : whole_(strategy.exchange.grouping == Grouping::whole_model),
        sums_all_(strategy.reduce_after != ReduceAfter::inside_every_pass),
        slowdown_(slowdown),
        gathers_ahead_(gathers_ahead),
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

  std::vector<Piece> pieces() && { return std::move(pieces_); }

 private:
  [[nodiscard]] int count() const { return static_cast<int>(units_.size()); }
  [[nodiscard]] const Bucket& unit(int i) const { return units_[i]; }
  [[nodiscard]] TaskName named(const char* name, int i) const {
    return TaskName(name, static_cast<std::size_t>(i), units_.size());
  }

  void plain_passes(int passes) {
    if (passes < 1) return;
    plain_forward(passes);
    plain_backward(passes);
  }
  /// A step's last passes, for units that are in memory.
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

  /// Each unit is gathered first.
  void forward_by_units() {
    for (int i = count() - 1; i >= 0; --i)
      pieces_.push_back({.name = named("forward", i),
                         .phase = Phase::forward,
                         .time = forward_time(workload_, units_, static_cast<std::size_t>(i)),
                         .unit = i,
                         .gathered = true,
                         .begun = i == count() - 1 ? 1 : 0});
  }

  /// The last unit of the forward pass is still in memory.
  void backward_by_units(bool gathered, bool reduced, bool is_last) {
    // A pass without reduction overlaps only with units gathered ahead, if any.
    const double slowdown = reduced || (gathered && gathers_ahead_) ? slowdown_ : 1.0;
    const bool summed = reduced && (sums_all_ || is_last);
    for (int i = 0; i < count(); ++i)
      pieces_.push_back({.name = named("backward", i),
                         .phase = Phase::backward,
                         .time = unit(i).gap * slowdown,
                         .stack_share = slowed_share(slowdown),
                         .unit = i,
                         .gathered = gathered && i > 0,
                         .reduced = reduced,
                         .summed = summed});
    // The only unit of a whole model is complete at the end of backward, including the tail.
    if (workload_.tail > Seconds{} && !whole_)
      pieces_.push_back({.name = "backward tail",
                         .phase = Phase::backward,
                         .time = workload_.tail * slowdown,
                         .stack_share = slowed_share(slowdown),
                         .is_tail = true});
    pieces_.back().ends = reduced;
    pieces_.back().summed = summed;
  }

  bool whole_, sums_all_;
  double slowdown_;
  bool gathers_ahead_;
  const Workload& workload_;
  const std::vector<Bucket>& units_;
  std::vector<Piece> pieces_;
};

}  // namespace

std::vector<Piece> sharded_computation(const ShardedStrategy& strategy, const Workload& workload,
                                       const std::vector<Bucket>& units, double slowdown, bool gathers_ahead) {
  return Computation(strategy, workload, units, slowdown, gathers_ahead).pieces();
}

}  // namespace stepcast
