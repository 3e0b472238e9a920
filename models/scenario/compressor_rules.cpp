#include "models/scenario/compressor_rules.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "models/describe/json.hpp"
#include "models/part/host_costs.hpp"
#include "models/part/strategy_parts.hpp"
#include "models/scenario/carrier.hpp"
#include "models/scenario/collective_rules.hpp"
#include "models/scenario/device_of_codec.hpp"
#include "models/scenario/summed_workers.hpp"
#include "models/scenario/tensor_compressors.hpp"

namespace stepcast {
namespace {

/// Checks one of the compressors: the scenario's, or another one.
class CompressorChecker {
 public:
  /// @param index  its place in compressors_of(scenario)
  CompressorChecker(const Scenario& scenario, std::size_t index, const Workload* workload, std::vector<Fault>& faults)
      : s_(scenario),
        compressor_(*compressors_of(scenario)[index]),
        index_(index),
        workload_(workload),
        faults_(faults),
        kind_(name_of(compressor_)),
        traits_(traits_of(compressor_, workload ? workload->dtype : Dtype::fp32)) {}

  /// Another one.
  void run_other() {
    if (std::holds_alternative<NoCompressor>(compressor_))
      return fault(place_of_kind(), "\"none\"", "a method that compresses tensors",
                   "codec whole leaves tensors as they are, by the same patterns");
    if (std::holds_alternative<RatioCompressor>(compressor_))
      return fault(place_of_kind(), "\"ratio\"", "a method that compresses tensors: ratio knows bytes alone",
                   "name the method");
    std::visit([this](const auto& strategy) { check_strategy(strategy); }, s_.strategy);
    if (workload_) tensors();
  }

  void run() {
    std::visit([this](const auto& strategy) { check_strategy(strategy); }, s_.strategy);
    check_scope();
    if (s_.codec.sharing == GpuSharing::fair && asks_equations(s_.evaluation.evaluator))
      fault("/evaluation/evaluator", fmt::format("\"{}\" with codec sharing fair", name_of(s_.evaluation.evaluator)),
            "\"replay\", since the equations know no shared GPU");
    check_inner();
    const bool inside = compresses_inside(s_) && compresses_tensors(s_.inner_compressor);
    if (!workload_ || !(compresses_tensors(compressor_) || inside)) return;
    if (!device_of_codec(s_))
      fault("/codec/device", "nothing, and the workload has no device profile",
            "a device profile, which prices the compressor's kernels",
            "name the GPUs: --gpu v100, or \"gpu\" in the cluster; or a \"device\" in \"codec\"");
    check_whole();
    if (compresses_tensors(compressor_)) tensors();
  }

 private:
  [[nodiscard]] std::string place() const { return index_ == 0 ? "/compressor" : other_compressor_pointer(index_ - 1); }
  [[nodiscard]] std::string place_of_kind() const { return place() + "/kind"; }
  void fault(std::string pointer, std::string found, std::string allowed, std::string remedy = "") {
    faults_.push_back({"", std::move(pointer), std::move(found), std::move(allowed), std::move(remedy)});
  }

  /// The codec's policy.
  void check_whole() {
    const std::vector<Gradient>& all = workload_->gradients;
    std::int64_t largest = 0;
    for (const Gradient& gradient : all) largest = std::max(largest, gradient.elements);
    if (s_.codec.min_elements > largest)
      fault("/codec/min_elements",
            fmt::format("{}, and the largest gradient tensor has {}", s_.codec.min_elements, largest),
            fmt::format("at most {}: something to compress", largest));
    else if (std::all_of(all.begin(), all.end(), [&](const Gradient& one) { return stays_whole(s_.codec, one); }))
      fault(s_.codec.whole ? "/codec/whole" : "/codec/whole_vectors",
            fmt::format("no compressed tensor: all {} stay whole", all.size()), "something to compress",
            "use compressor none");
  }

  /// The tensors that it compresses, one of each shape. Those that stay whole are among them if there is no other
  /// compressor.
  void tensors() {
    std::vector<Tensor> tensors;
    if (!s_.other_compressors)
      for (const std::vector<std::int64_t>& shape : workload_->shapes) tensors.push_back({shape, workload_->dtype});
    else
      for (TensorsByShape seen; const Gradient& gradient : workload_->gradients)
        if (compressor_of(s_.codec, others_of(s_), gradient) == index_ && seen.insert(&gradient).second)
          tensors.push_back({gradient.shape(), workload_->dtype});
    if (tensors.empty()) return without_tensors();
    for (const CompressorFault& one : check(compressor_, tensors, compressed_senders(s_)))
      fault(one.field.empty() ? "/workload" : place() + "/" + one.field, one.found, one.allowed);
    if (!works_on_matrices(compressor_) ||
        std::any_of(tensors.begin(), tensors.end(), [](const Tensor& t) { return t.is_matrix(); }))
      return;
    if (s_.other_compressors)
      fault(place_of_kind(), fmt::format("\"{}\", and no tensor that it has is a matrix", kind_),
            "a method without factors", "give it matrices, or take another method");
    else
      fault(place_of_kind(), fmt::format("\"{}\", and no gradient tensor has two dimensions", kind_),
            "a method without factors", "give the gradients their \"dims\", or use a workload of layer shapes");
  }

  /// All tensors stay whole or have another compressor.
  void without_tensors() {
    if (index_ == 0)
      return fault("/other_compressors",
                   fmt::format("no tensor left: patterns and codec have all {}", workload_->gradients.size()),
                   "a tensor for /compressor",
                   "make the last entry's compressor the scenario's, and leave the entry out");
    const auto free =
        std::find_if(workload_->gradients.begin(), workload_->gradients.end(),
                     [&](const Gradient& gradient) { return compressor_of(s_.codec, others_of(s_), gradient) == 0; });
    const std::vector<std::string>& patterns = others_of(s_)[index_ - 1].tensors;
    const bool any_match = std::any_of(patterns.begin(), patterns.end(),
                                       [&](const std::string& one) { return matches_any(one, *workload_); });
    fault(fmt::format("/other_compressors/{}/tensors", index_ - 1),
          any_match ? fmt::format("{}, whose tensors stay whole or are in an entry before", Json(patterns).dump())
                    : fmt::format("{}, which no tensor's name matches", Json(patterns).dump()),
          "the name of a tensor that is not whole and that no entry before has",
          free == workload_->gradients.end() ? "leave the entry out" : fmt::format("such as \"{}\"", free->name));
  }

  /// Sums in machines before compression.
  void check_scope() {
    if (islands_of(s_.strategy) && s_.codec.scope == CodecScope::machines)
      fault("/codec/scope", "\"machines\" with islands", "\"workers\": islands compress between each other alone");
    if (summed_workers(s_.codec, s_.compressor, s_.cluster) == 1) return;
    if (std::holds_alternative<PipelinedStrategy>(s_.strategy))
      fault("/codec/scope", "\"machines\" with strategy pipelined",
            "\"workers\": sums of one step would wait for the messages of the step before");
    if (std::holds_alternative<GossipStrategy>(s_.strategy) && !islands_of(s_.strategy))
      fault("/codec/scope", "\"machines\" with strategy gossip",
            "\"workers\": the workers of a machine have parameters of their own, and no sum of them is sent",
            "set /strategy/islands to a machine's workers; their shares are compressed between islands");
    if (const auto* servers = std::get_if<ParameterServerStrategy>(&s_.strategy); servers && !servers->sum_in_machine)
      fault("/codec/scope", "\"machines\" without sum_in_machine", "\"workers\": servers get each worker's message",
            "set /strategy/sum_in_machine to true");
    const auto* x = std::get_if<AllReduceStrategy>(&s_.strategy);
    if (x && x->exchange.priority && sends_compressed(s_))
      fault("/codec/scope", "\"machines\" with priority",
            "\"workers\": sums in machines and messages between them share links, in the order of back-propagation",
            "use strategy parameter-server with sum_in_machine, whose pushes go by priority");
  }

  /// The method inside machines.
  void check_inner() {
    const Compressor& inner = s_.inner_compressor;
    if (std::holds_alternative<NoCompressor>(inner)) return;
    const std::string kind = fmt::format("\"{}\" as inner_compressor", name_of(inner));
    if (islands_of(s_.strategy))
      return fault("/inner_compressor", fmt::format("{}, with islands", kind),
                   "\"none\": islands compress between each other alone");
    if (s_.codec.scope != CodecScope::machines)
      return fault("/inner_compressor", fmt::format("{}, with codec scope {}", kind, name_of(s_.codec.scope)),
                   "\"none\": only scope machines sends messages inside machines alone",
                   "set /codec/scope to machines, or inner_compressor to none");
    const CompressorTraits traits = traits_of(inner, workload_ ? workload_->dtype : Dtype::fp32);
    if (!is_cut_in_parts(inner, traits))
      return fault(
          "/inner_compressor", kind,
          "a method with one message of vectors, which can be cut in parts: each worker of a machine decodes its share "
          "of the sum",
          "such as fp16, 8-bit or top-k");
    if (const auto* local = std::get_if<QsparseLocalSgd>(&inner); local && local->local_steps > 1)
      return fault("/inner_compressor/local_steps", fmt::format("{}", local->local_steps),
                   "1: local steps belong to /compressor");
    if (!workload_) return;
    std::vector<Tensor> tensors;
    for (const Gradient& gradient : workload_->gradients)
      if (!stays_whole(s_.codec, gradient)) tensors.push_back({gradient.shape(), workload_->dtype});
    if (tensors.empty() || !compresses_inside(s_)) return;
    for (const CompressorFault& one : check(inner, tensors, summed_workers(s_.codec, s_.compressor, s_.cluster)))
      fault(one.field.empty() ? "/workload" : "/inner_compressor/" + one.field, one.found, one.allowed);
  }

  void check_carrier(Carrier carrier, const CollectiveChoice& choice) {
    const auto refuse = [&](const std::string& why) {
      fault("/strategy/carrier", fmt::format("\"{}\" with compressor \"{}\"", name_of(carrier), kind_), why);
    };
    const bool ratio = std::holds_alternative<RatioCompressor>(compressor_);
    // Carriers of gathered messages need one compressor that they fit. Messages of the others go by sum-or-gather.
    switch (carrier) {
      case Carrier::automatic:
      case Carrier::sum_or_gather: break;
      case Carrier::all_reduce:
        if (!traits_.summable) refuse("\"auto\" or \"all-gather\": the sum of two messages is not a message");
        break;
      case Carrier::all_gather:
        if (!any_has(s_, is_gathered)) refuse("\"auto\" or \"all-reduce\": its messages are summed on the way");
        break;
      case Carrier::all_to_all_once:
      case Carrier::all_to_all:
        if (!any_has(s_, has_parts))
          refuse(traits_.summable ? "\"auto\" or \"all-reduce\": its messages are summed on the way"
                                  : "\"auto\" or \"all-gather\": all-to-all cuts one message of vectors in parts");
        break;
      case Carrier::in_collective:
        if (!traits_.recodable || ratio)
          refuse("\"auto\": a sum of its messages cannot be encoded again at the same size in every hop");
        else if (choice.algorithm != Algorithm::automatic && choice.algorithm != Algorithm::ring)
          fault("/strategy/collective/algorithm",
                fmt::format("\"{}\" with carrier in-collective", name_of(choice.algorithm)),
                "\"auto\" or \"ring\", whose hops decode, add and encode");
        break;
    }
    const bool sums = carrier == Carrier::all_reduce || carrier == Carrier::in_collective;
    if (sums || traits_.summable) return;
    const CollectiveChoice gathering = fitted(choice, Operation::all_gather);
    const auto cannot = [&](Algorithm named) {
      return fmt::format("\"{}\", and messages of \"{}\" are all-gathered", name_of(named), kind_);
    };
    if (gathering.algorithm != choice.algorithm)
      fault("/strategy/collective/algorithm", cannot(choice.algorithm), gathering_algorithms());
    else if (choice.algorithm == Algorithm::hierarchical && gathering.between_groups != choice.between_groups)
      fault("/strategy/collective/between", cannot(choice.between_groups), names_between(Operation::all_gather));
  }

  /// The algorithms that /strategy/collective may name: those of all-reduce that also do all-gather.
  static std::string gathering_algorithms() {
    std::string named = "auto", others;
    for (const CollectiveAlgorithm& entry : collective_algorithms()) {
      if (entry.operation != Operation::all_gather) continue;
      std::string& list = carries_out(entry.algorithm, Operation::all_reduce) ? named : others;
      list += fmt::format("{}{}", list.empty() ? "" : ", ", name_of(entry.algorithm));
    }
    return others.empty()
               ? named
               : fmt::format("{} (auto also uses {}, which has no all-reduce and cannot be named here)", named, others);
  }

  void check_strategy(const AllReduceStrategy& x) {
    check_carrier(x.carrier, x.collective);
    const auto* own = std::get_if<QsparseLocalSgd>(&compressor_);
    const auto* scenarios = std::get_if<QsparseLocalSgd>(&s_.compressor);
    if (const int steps = scenarios ? scenarios->local_steps : 1; own && own->local_steps != steps)
      fault(place() + "/local_steps", fmt::format("{}", own->local_steps),
            fmt::format("{}, as /compressor has: all tensors make the same local steps", steps));
  }

  void check_strategy(const PipelinedStrategy& x) {
    check_carrier(x.carrier, x.collective);
    every_step("pipelined");
    const bool several =
        traits_.stages > 1 || x.carrier == Carrier::all_to_all || x.carrier == Carrier::all_to_all_once;
    if (several && s_.codec.sharing == GpuSharing::serial)
      fault("/codec/sharing", fmt::format("\"serial\" with compressor \"{}\" in a pipeline", kind_),
            "\"fair\": between its messages the compressor needs the GPU, which is steps ahead then",
            "set it, and evaluator replay");
    if (x.segments > 1 && may_leave_whole(s_.codec)) {
      const char* why = "a segment may begin and end inside a tensor";
      if (s_.codec.min_elements > 0)
        fault("/codec/min_elements", fmt::format("{} with {} segments", s_.codec.min_elements, x.segments),
              fmt::format("0: {}", why));
      if (s_.codec.whole_vectors)
        fault("/codec/whole_vectors", fmt::format("true with {} segments", x.segments), fmt::format("false: {}", why));
      if (s_.codec.whole)
        fault("/codec/whole", fmt::format("patterns with {} segments", x.segments), fmt::format("null: {}", why));
    }
    if (works_on_matrices(compressor_) && x.segments > 1)
      fault("/strategy/segments", fmt::format("{} with compressor \"{}\"", x.segments, kind_),
            "1: a cut through a matrix leaves nothing to factorize");
  }

  void check_strategy(const ParameterServerStrategy& x) {
    every_step("parameter-server");
    if (traits_.stages == 1) return;
    if (x.consistency == Consistency::asynchronous || x.consistency == Consistency::stale_synchronous)
      fault(place_of_kind(), fmt::format("\"{}\" with {} consistency", kind_, name_of(x.consistency)),
            "a method with one message: the second message here needs a sum of first ones",
            "use servers that are synchronous or have backup workers, or strategy all-reduce");
    if (!traits_.summable)
      fault(place_of_kind(), fmt::format("\"{}\" with strategy parameter-server", kind_),
            "a method with one message, or with several that are all summed", "use strategy all-reduce");
    if (x.exchange.priority)
      fault("/strategy/exchange/priority", fmt::format("true with compressor \"{}\" and servers", kind_),
            "false: its later messages wait for all first ones", "use strategy all-reduce");
  }

  void check_strategy(const ShardedStrategy& x) {
    every_step("sharded");
    const int p = s_.cluster.workers, g = x.group(p);
    if (!sends_compressed(s_)) return;
    if (g < p) return check_groups(x, g);
    if (is_cut_in_parts(compressor_, traits_)) return;
    fault(place_of_kind(), fmt::format("\"{}\" with strategy sharded", kind_),
          "a method with one message of vectors, which can be cut in parts: each worker decodes its share of the sum",
          host_costs(s_.cluster).workers_of_machine > 1
              ? "with group_size a machine's workers and codec scope machines, any method is exchanged between groups"
              : "use strategy all-reduce");
  }
  /// Hybrid sharding: gradients are summed inside groups, and compressed between them.
  void check_groups(const ShardedStrategy& x, int g) {
    const int m = host_costs(s_.cluster).workers_of_machine;
    if (g != m)
      fault("/strategy/group_size", fmt::format("{} with a compressor, on machines of {}", g, m),
            m > 1
                ? fmt::format("null, or {} with codec scope machines: sums of a machine are compressed between them", m)
                : "null: each worker is a machine");
    else if (s_.codec.scope != CodecScope::machines)
      fault("/codec/scope", fmt::format("\"{}\" with groups of {} workers", name_of(s_.codec.scope), g),
            "\"machines\": sums of a machine are compressed between machines");
    if (x.reduce_after == ReduceAfter::inside_every_pass)
      fault("/strategy/reduce_after", "\"inside-every-pass\" with a compressor between groups",
            "\"last-pass\" or \"every-pass\": what groups have summed is compressed and sent on at once");
  }

  void check_strategy(const LocalSgdStrategy& x) {
    check_carrier(x.carrier, x.collective);
    every_step("local-sgd");
  }

  void check_strategy(const GossipStrategy& x) {
    every_step("gossip");
    if (x.asynchronous && class_of(compressor_) != CompressorClass::quantization &&
        !std::holds_alternative<RatioCompressor>(compressor_))
      fault(
          place_of_kind(), fmt::format("\"{}\" with asynchronous gossip", kind_),
          "a quantizer, or none: a worker that meets others by chance keeps no copy of what each knows, so a message has "
          "every element");
    if (traits_.stages > 1 && class_of(compressor_) != CompressorClass::low_rank)
      fault(place_of_kind(), fmt::format("\"{}\" with strategy gossip", kind_),
            "a method with one message, or power steps: the second message here needs the sum of all first ones");
  }

  void check_strategy(const CollectiveBenchmark&) {
    if (!std::holds_alternative<RatioCompressor>(compressor_))
      fault(place_of_kind(), fmt::format("\"{}\" with strategy collective", kind_),
            "none or ratio: there are no tensors to encode", "set the strategy's \"size\" to the payload");
  }

  void every_step(const char* strategy) {
    if (const auto* local = std::get_if<QsparseLocalSgd>(&compressor_); local && local->local_steps > 1)
      fault(place() + "/local_steps", fmt::format("{} with strategy {}", local->local_steps, strategy),
            "1: local steps of the compressor belong to strategy all-reduce",
            counts_steps(s_.strategy) ? "set /strategy/steps: this strategy has steps of its own" : "");
  }

  const Scenario& s_;
  const Compressor& compressor_;
  std::size_t index_;
  const Workload* workload_;
  std::vector<Fault>& faults_;
  std::string_view kind_;
  CompressorTraits traits_;
};

/// Checks what other compressors need of the rest.
bool may_have_others(const Scenario& s, std::vector<Fault>& faults) {
  const auto refuse = [&](std::string found, std::string allowed, std::string remedy) {
    faults.push_back({"", "/other_compressors", std::move(found), std::move(allowed), std::move(remedy)});
    return false;
  };
  if (std::holds_alternative<NoCompressor>(s.compressor))
    return refuse("a list, with compressor none", "a compressor of all other tensors",
                  "set it to [], also in a variant or baseline without a compressor; for some tensors alone take one "
                  "compressor and codec whole, such as [\"!(fc.*)\"]");
  if (std::holds_alternative<RatioCompressor>(s.compressor))
    return refuse("a list, with compressor ratio", "a method that compresses tensors: ratio knows bytes alone",
                  "name the method in /compressor");
  if (const auto* pipelined = std::get_if<PipelinedStrategy>(&s.strategy); pipelined && pipelined->segments > 1)
    return refuse(fmt::format("a list, with {} segments", pipelined->segments),
                  "[]: a segment may begin and end inside a tensor", "set it to [], or segments to 1");
  return true;
}

}  // namespace

void check_compressor(const Scenario& scenario, const Workload* workload, std::vector<Fault>& faults) {
  const std::size_t before = faults.size();
  if (scenario.other_compressors && !may_have_others(scenario, faults)) return;
  // Every point of a study passes here, and most have no compressor.
  if (!std::holds_alternative<NoCompressor>(scenario.compressor)) {
    CompressorChecker(scenario, 0, workload, faults).run();
    for (std::size_t i = 1; faults.size() == before && i < compressors_of(scenario).size(); ++i)
      CompressorChecker(scenario, i, workload, faults).run_other();
  } else if (const Carrier carrier = carrier_of(scenario.strategy);
             carrier != Carrier::automatic && carrier != Carrier::all_reduce && carrier != Carrier::sum_or_gather) {
    faults.push_back({"", "/strategy/carrier", fmt::format("\"{}\" without a compressor", name_of(carrier)),
                      "\"auto\" or \"all-reduce\": unchanged gradients are summed on the way", "choose a compressor"});
  }
}

}  // namespace stepcast
