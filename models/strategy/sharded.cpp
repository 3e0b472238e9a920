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
//
// ZeRO++ (Wang et al. 2023) sends less in three ways. With `backward_group_size` h, each h workers keep a second copy of
// the parameters after the forward pass, and the backward pass gathers among them (hpZ). With `quantized_gather`, each
// worker encodes its share before a gathering, and decodes the unit before it computes (qwZ); the second copy keeps the
// codes. With a compressor, reduce-scatters are hops of coded_reduction.hpp (qgZ). Unit i's message is decoded, and encoded
// for the next hop, before the computation of the unit two later: it has the time of one unit on its way, as a reduction
// has. Without overlap, and before the update, the GPU waits for the message.
#include <cstddef>
#include <deque>
#include <utility>
#include <vector>

#include "models/strategy/builder.hpp"
#include "models/strategy/carrier_choice.hpp"
#include "models/strategy/coded_reduction.hpp"
#include "models/strategy/quantized_gather.hpp"
#include "models/strategy/sharded_computation.hpp"

namespace stepcast {
namespace {

/// A compressed reduction whose messages are on their way.
struct OpenReduction {
  std::size_t unit = 0, stage = 1;  ///< the next stage
  TaskId ready = kNoTask;           ///< after which that may begin
  std::size_t since = 0;            ///< number of computed pieces when its last messages were sent
};

class Builder {
 public:
  Builder(const ShardedStrategy& strategy, const GraphInput& input, Carrier carrier)
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
        communication_(graph_.add_stream("communication")),
        codec_(add_codec_stream(graph_, compute_, input)) {
    const int p = input.cluster.workers, backward_group = strategy.backward_group(p);
    const bool second_copy = backward_group < group_;
    for (const Bucket& unit : units_) {
      gather_.push_back(unit_gather(input, strategy, unit.bytes, group_, false));
      gather_again_.push_back(second_copy ? unit_gather(input, strategy, unit.bytes, backward_group, true)
                                          : gather_.back());
    }
    if (input.inner || workers_exchange_compressed(input.codec, input.compressor(), input.cluster))
      coded_reductions(carrier);
    else plain_reductions();
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
  [[nodiscard]] double reductions_in_a_step() const {
    return strategy_.reduce_after == ReduceAfter::last_pass ? 1.0 : input_.workload.accumulation;
  }

  void plain_reductions() {
    const int p = input_.cluster.workers;
    const double wider = strategy_.reduced_over(input_.workload.dtype);
    for (const Bucket& unit : units_) {
      const Bytes reduced = unit.bytes * wider;
      graph_.payload += reduced * reductions_in_a_step();
      reduce_.push_back(
          input_.prices.decide(Operation::reduce_scatter, strategy_.collective, reduced, inside_groups(group_, p)));
      if (group_ < input_.synchronous_workers().size(p))
        sum_.push_back(input_.prices.decide(Operation::all_reduce, strategy_.all_reduce, reduced / group_,
                                            between_groups(group_, p)));
    }
  }

  /// The compressor sees gradients in the type in which they are reduced.
  void coded_reductions(Carrier carrier) {
    const double wider = strategy_.reduced_over(input_.workload.dtype);
    Workload reduced = input_.workload;
    reduced.dtype = strategy_.reduce_dtype.value_or(reduced.dtype);
    const GraphInput input{reduced,      input_.cluster, input_.methods, input_.others,
                           input_.codec, input_.prices,  input_.islands, input_.inner};
    for (Bucket unit : units_) {
      unit.bytes = unit.bytes * wider;
      coded_.add(coded_reduction(input, strategy_, unit, carrier));
      const CodedExchange& added = coded_.unlike().back();
      graph_.payload += added.payload * reductions_in_a_step();
      join_assumptions(graph_.assumed, added.assumed);
    }
  }

  /// Adds the missing gatherings for pieces up to `ahead_` turns after piece j.
  void gather_for(std::size_t j) {
    const std::size_t turn = pieces_[j].is_tail ? turns_.size() - 1 : turns_.size();
    for (; next_ < pieces_.size() && next_turn_ <= turn + ahead_; ++next_) {
      if (pieces_[next_].is_tail) continue;
      const std::size_t own_turn = next_turn_++;
      if (!pieces_[next_].gathered) continue;
      const auto [first, last] = gather(pieces_[next_].unit, pieces_[next_].phase);
      gathers_[next_] = last;
      if (first_gather_ == kNoTask) first_gather_ = first;
      // Units that are not freed may all be gathered at once.
      const bool waits = strategy_.stage == ShardingStage::parameters || !overlap_;
      if (own_turn > ahead_ && waits) graph_.depend(first, turns_[own_turn - 1 - ahead_]);
    }
  }

  struct Gathered {
    TaskId first = kNoTask, last = kNoTask;
  };
  /// Adds the encoding of a unit's shares, if they are encoded, and its gathering.
  Gathered gather(int unit, Phase phase) {
    const UnitGather& one = gather_of(unit, phase);
    const TaskId encode = add_codec("quantize", unit, Phase::encode, one.encode);
    const TaskId gathered = add_collective("gather", one.call, unit);
    if (encode == kNoTask) return {gathered, gathered};
    graph_.depend(gathered, encode);
    return {encode, gathered};
  }
  /// Adds the decoding of a unit, if it is encoded. Returns the task after which it may be used.
  TaskId decode(int unit, Phase phase, TaskId gathered) {
    const TaskId decoded = add_codec("dequantize", unit, Phase::decode, gather_of(unit, phase).decode);
    if (decoded == kNoTask) return gathered;
    graph_.depend(decoded, gathered);
    return decoded;
  }
  [[nodiscard]] const UnitGather& gather_of(int unit, Phase phase) const {
    return (phase == Phase::backward ? gather_again_ : gather_)[unit];
  }

  void compute(std::size_t j) {
    const Piece& piece = pieces_[j];
    graph_.micro_batches += piece.begun;
    continue_reductions(1);
    if (gathers_[j] != kNoTask) gathers_[j] = decode(piece.unit, piece.phase, gathers_[j]);
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
      for (const TaskId task : ended_) graph_.depend(computed_[j], task);
    if (!pieces_[j].ends) return;
    for (int i = 0; i < static_cast<int>(units_.size()); ++i) reduce(i, computed_[j], pieces_[j].summed);
    end_reductions();
    ended_ = coded_.empty() ? std::vector{pieces_[j].summed && !summed_.empty() ? summed_.back() : reduced_.back()}
                            : std::vector(decoded_.end() - static_cast<std::ptrdiff_t>(units_.size()), decoded_.end());
  }

  void update() {
    end_reductions();
    const TaskId update =
        graph_.add_task({"update", Phase::update, ComputeWork{input_.workload.update / group_}, compute_});
    for (const TaskId task : !coded_.empty() ? decoded_ : summed_.empty() ? reduced_ : summed_)
      graph_.depend(update, task);
    graph_.depend(computed_.front(), update, 1);
    // Gatherings run one by one, so only the first waits for the update, and tasks that need all of them wait for the
    // last.
    if (first_gather_ != kNoTask) graph_.depend(first_gather_, update, 1);
    else gather_updated(update);
  }

  void gather_updated(TaskId update) {
    std::vector<TaskId> gathered;
    for (int i = 0; i < static_cast<int>(units_.size()); ++i) {
      const auto [first, last] = gather(i, Phase::forward);
      if (i == 0) graph_.depend(first, update);
      gathered.push_back(last);
    }
    // Shares are encoded first: computation needs all units.
    TaskId usable = kNoTask;
    for (int i = 0; i < static_cast<int>(units_.size()); ++i) usable = decode(i, Phase::forward, gathered[i]);
    graph_.depend(computed_.front(), usable, 1);
  }

  TaskId add_collective(const char* name, const CollectiveCall& call, int unit) {
    return graph_.add_task({TaskName(name, static_cast<std::size_t>(unit), units_.size()), Phase::exchange,
                            CollectiveWork{call}, communication_});
  }
  /// No task if the time is zero.
  TaskId add_codec(const char* name, int unit, Phase phase, Seconds time) {
    if (time == Seconds{}) return kNoTask;
    return graph_.add_task(
        {TaskName(name, static_cast<std::size_t>(unit), units_.size()), phase, ComputeWork{time}, codec_});
  }

  void reduce(int unit, TaskId after, bool summed) {
    if (!coded_.empty()) return reduce_coded(unit, after);
    reduced_.push_back(add_collective("reduce-scatter", reduce_[unit], unit));
    graph_.depend(reduced_.back(), after);
    if (sum_.empty() || !summed) return;
    summed_.push_back(add_collective("all-reduce", sum_[unit], unit));
    graph_.depend(summed_.back(), reduced_.back());
  }

  /// Sends the first messages. Later stages follow in continue_reductions().
  void reduce_coded(int unit, TaskId after) {
    const auto at = static_cast<std::size_t>(unit);
    const CodedExchange& coded = coded_[at];
    const CodedStage& first = coded.stages.front();
    if (const TaskId encode = add_codec(first.inside ? "encode inner" : "encode", unit, Phase::encode, first.encode);
        encode != kNoTask) {
      graph_.depend(encode, after);
      after = encode;
    }
    reduced_.push_back(add_stage(graph_, communication_, codec_, coded_, at, 0, {}, after));
    open_.push_back({at, 1, reduced_.back(), computed_.size()});
  }

  /// Takes each open reduction one stage further if its last messages have had the time of `pieces` other pieces.
  void continue_reductions(std::size_t pieces) {
    for (std::size_t left = open_.size(); left > 0 && open_.front().since + pieces <= computed_.size(); --left) {
      OpenReduction one = open_.front();
      open_.pop_front();
      const CodedExchange& coded = coded_[one.unit];
      if (one.stage < coded.stages.size()) {
        one.ready = add_stage(graph_, communication_, codec_, coded_, one.unit, one.stage, {}, one.ready);
        ++one.stage;
        one.since = computed_.size();
        open_.push_back(one);
        continue;
      }
      const TaskId decode = add_codec("decode", static_cast<int>(one.unit), Phase::decode, coded.decode);
      if (decode != kNoTask) graph_.depend(decode, one.ready);
      decoded_.push_back(decode == kNoTask ? one.ready : decode);
    }
  }
  void end_reductions() {
    while (!open_.empty()) continue_reductions(0);
  }

  const ShardedStrategy& strategy_;
  const GraphInput& input_;
  int group_;  ///< workers that divide the state among them
  bool overlap_;
  std::size_t ahead_;  ///< number of units that are gathered ahead
  std::vector<Bucket> units_;
  std::vector<Piece> pieces_;
  std::vector<UnitGather> gather_, gather_again_;  ///< by unit, for the forward and the backward pass
  std::vector<CollectiveCall> reduce_, sum_;       ///< by unit; sum_: between several groups
  PartExchanges coded_;                            ///< by unit, instead of both; empty without a compressor
  std::vector<TaskId> computed_, gathers_;         ///< by piece; kNoTask: not gathered for it
  std::vector<TaskId> reduced_, summed_;           ///< reductions so far, inside and between groups
  std::vector<TaskId> decoded_;                    ///< of compressed reductions so far
  std::deque<OpenReduction> open_;
  std::vector<TaskId> ended_;  ///< without overlap: the end of the last pass's reductions
  std::vector<TaskId> turns_;  ///< compute tasks of units so far, without tails
  TaskId first_gather_ = kNoTask;
  std::size_t next_ = 0, next_turn_ = 0;  ///< the next piece to gather for, and its turn
  StepGraph graph_;
  StreamId compute_, communication_, codec_;
};

}  // namespace

StepGraph build_sharded(const ShardedStrategy& strategy, const GraphInput& input) {
  const auto by_carrier = [&](Carrier carrier) { return Builder(strategy, input, carrier).build(); };
  return compresses_between_groups(input, strategy) ? with_cheapest_carrier(input, Carrier::automatic, by_carrier)
                                                    : by_carrier(Carrier::sum_or_gather);
}

}  // namespace stepcast
