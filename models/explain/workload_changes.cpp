// Changes of the computing: the same training by other passes and kernels, and other trainings.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "models/collective/collective.hpp"
#include "models/explain/change_list.hpp"
#include "models/part/host_costs.hpp"
#include "models/part/strategy_parts.hpp"
#include "models/scenario/collective_choice.hpp"
#include "models/scenario/tensor_compressors.hpp"
#include "models/workload/blocks.hpp"
#include "models/workload/layer_times.hpp"
#include "models/workload/transformer_layers.hpp"
#include "models/workload/workload.hpp"

namespace stepcast {
namespace {

/// The same samples in more passes, or in fewer. Times in a table do not follow its batch.
void add_passes(const Place<WorkloadTable>& here, ChangeList& changes) {
  const WorkloadTable& w = here.part;
  if (!gives_shapes(w)) return;
  const auto offer = [&](int batch, int accumulation) {
    changes.add(kExecution, fmt::format("{} pass{} of {}", accumulation, accumulation == 1 ? "" : "es", batch),
                passes_of(here, accumulation, batch));
  };
  if (w.batch % 2 == 0 && w.accumulation <= kMostAccumulation / 2) offer(w.batch / 2, w.accumulation * 2);
  if (w.accumulation % 2 == 0) offer(w.batch * 2, w.accumulation / 2);
}

void add_recomputation(const Place<WorkloadTable>& here, ChangeList& changes) {
  const WorkloadTable& w = here.part;
  if (!gives_shapes(w) || blocks_of(list_gradients(w).layers).empty()) return;
  const bool again = w.recomputation != Recomputation::none;
  if (again) changes.add(kExecution, "all activations kept", here, &WorkloadTable::recomputation, Recomputation::none);
  for (const double share : {1.0, 0.5})
    if (!again || w.recomputed_share != share)
      changes.add(kExecution,
                  fmt::format("{}'s activations computed again", share < 1 ? "every second block" : "each block"),
                  computed_again(here, share));
}

/// The same network by other kernels.
void add_code(const Place<Transformer>& here, ChangeList& changes) {
  const Transformer& x = here.part;
  if (!x.fused_loss)
    changes.add(kExecution, "a loss that never has all scores at once", here, &Transformer::fused_loss, true);
  if (!may_be_composed(x)) return;
  changes.add(kExecution, composed_kinds(x) + (x.composed ? " by a kernel each" : " by simple operations"), here,
              &Transformer::composed, !x.composed);
}

/// Whether the compressor's messages are gathered, but the chosen algorithm has no all-gather.
bool needs_another_algorithm(const Scenario& scenario, const Compressor& compressor) {
  const CollectiveChoice* choice = collective_of(scenario.strategy);
  if (!choice || choice->algorithm == Algorithm::automatic || fitted(*choice, Operation::all_gather) == *choice)
    return false;
  return !traits_of(compressor, scenario.workload->dtype).summable;
}

void add_compressors(const Scenario& scenario, ChangeList& changes) {
  // Then the sums alone may be compressed.
  const bool has_sums =
      sums_in_machines(scenario.strategy, scenario.cluster.workers, host_costs(scenario.cluster).workers_of_machine);
  const Settings::value_type one_for_all{"/other_compressors", Json::array()};
  for_each_part(static_cast<const Compressor*>(nullptr), [&]<class Part>(std::in_place_type_t<Part>) {
    // A plain ratio has no method behind it, and formulas are none of their own.
    if (Part::kind == RatioCompressor::kind || Part::kind == FormulaCompressor::kind ||
        std::holds_alternative<Part>(scenario.compressor))
      return;
    std::string what = Part::kind == NoCompressor::kind ? "no compressor" : std::string(Part::kind);
    Settings set{{"/compressor", {{"kind", Part::kind}}}};
    if (Part::kind != NoCompressor::kind && has_sums && scenario.codec.scope != CodecScope::machines) {
      what += ", between machines";
      set.push_back(setting(codec_of(scenario), &CodecSettings::scope, CodecScope::machines));
    }
    if (needs_another_algorithm(scenario, Part{})) {
      what += ", algorithm auto";
      const CollectiveChoice& choice = *collective_of(scenario.strategy);
      set.push_back(setting(Place<CollectiveChoice>{choice, "/strategy/collective"}, &CollectiveChoice::algorithm,
                            Algorithm::automatic));
    }
    if (scenario.other_compressors) {
      if (Part::kind != NoCompressor::kind) what += " for all tensors";
      set.push_back(one_for_all);
    }
    changes.add(kTraining, std::move(what), std::move(set));
  });
  if (scenario.other_compressors)
    changes.add(kTraining, fmt::format("{} for all tensors", name_of(scenario.compressor)), {one_for_all});
}

/// Small tensors stay as they are: those that together have at most a share of all elements.
void add_whole_tensors(const Scenario& scenario, ChangeList& changes) {
  const auto* pipelined = std::get_if<PipelinedStrategy>(&scenario.strategy);
  if (!compresses_tensors(scenario.compressor) || (pipelined && pipelined->segments > 1)) return;
  const Workload workload = make_workload(*scenario.workload);
  std::vector<std::int64_t> sizes;
  for (const Gradient& gradient : workload.gradients)
    if (!stays_whole(scenario.codec, gradient)) sizes.push_back(gradient.elements);
  std::sort(sizes.begin(), sizes.end());
  const double all = std::accumulate(sizes.begin(), sizes.end(), 0.0);
  std::int64_t offered = scenario.codec.min_elements;
  for (const double share : {0.01, 0.1}) {
    double below = 0;
    const auto first = std::find_if(sizes.begin(), sizes.end(), [&](std::int64_t size) {
      return (below += static_cast<double>(size)) > share * all;
    });
    if (first == sizes.begin() || first == sizes.end() || *first <= std::max(offered, sizes.front()) ||
        *first > std::numeric_limits<int>::max())
      continue;
    offered = *first;
    changes.add(kTraining, fmt::format("tensors of fewer than {} elements as they are", *first), codec_of(scenario),
                &CodecSettings::min_elements, static_cast<int>(*first));
  }
}

void add_other_strategies(const Scenario& scenario, ChangeList& changes) {
  const CollectiveChoice kept = kept_all_reduce(scenario);
  if (!std::holds_alternative<PipelinedStrategy>(scenario.strategy))
    changes.add_strategy(kTraining, "pipelined, width 2", PipelinedStrategy{.collective = kept});
  if (!std::holds_alternative<LocalSgdStrategy>(scenario.strategy))
    changes.add_strategy(kTraining, fmt::format("local SGD, averaged every {} steps", LocalSgdStrategy{}.steps),
                         LocalSgdStrategy{.collective = kept});
  if (!std::holds_alternative<GossipStrategy>(scenario.strategy))
    changes.add_strategy(kTraining, "gossip", GossipStrategy{});
}

/// Types of numbers for which the profile has a rate.
void add_types(const Place<WorkloadTable>& here, ChangeList& changes) {
  const WorkloadTable& w = here.part;
  if (!w.profile) return;
  const auto operands = [&](Dtype dtype, const std::string& rest) {
    changes.add(kTraining, fmt::format("operands in {}{}", name_of(dtype), rest), here, &WorkloadTable::compute_dtype,
                dtype);
  };
  if (is_mixed(w))
    changes.add(kExecution, w.autocast ? "no casts: all kernels in the narrow type" : "PyTorch's autocast", here,
                &WorkloadTable::autocast, !w.autocast);
  const bool has_two_types = compute_dtype_of(w) != w.dtype;
  for (const PeakRate& peak : w.profile->peaks) {
    if (has_two_types) {
      if (peak.dtype != *w.compute_dtype && size_of(peak.dtype) <= size_of(w.dtype)) operands(peak.dtype, "");
    } else if (peak.dtype != w.dtype) {
      if (size_of(peak.dtype) < size_of(w.dtype) || (peak.dtype == Dtype::tf32 && w.dtype == Dtype::fp32))
        operands(peak.dtype, fmt::format(", gradients in {}", name_of(w.dtype)));
      changes.add(
          kTraining, fmt::format("operands and gradients in {}", name_of(peak.dtype)),
          {setting(here, &WorkloadTable::dtype, peak.dtype), setting(here, &WorkloadTable::compute_dtype, peak.dtype)});
    }
  }
}

}  // namespace

void add_workload_changes(const Scenario& scenario, ChangeList& changes) {
  const Place<WorkloadTable> here = workload_of(scenario);
  add_passes(here, changes);
  add_recomputation(here, changes);
  if (gives_shapes(here.part) && !here.part.fused_update)
    changes.add(kExecution, "one kernel updates all tensors", here, &WorkloadTable::fused_update, true);
  if (const auto& transformer = here.part.transformer)
    add_code({*transformer, here.of(&WorkloadTable::transformer)}, changes);
}

void add_training_changes(const Scenario& scenario, ChangeList& changes) {
  add_compressors(scenario, changes);
  add_whole_tensors(scenario, changes);
  add_other_strategies(scenario, changes);
  const Place<WorkloadTable> here = workload_of(scenario);
  const WorkloadTable& w = here.part;
  if (w.global_batch)
    changes.add(kTraining, fmt::format("global batch of {}", 2 * *w.global_batch), here, &WorkloadTable::global_batch,
                2 * *w.global_batch);
  else
    changes.add(kTraining, fmt::format("accumulation of {}", 2 * w.accumulation), here, &WorkloadTable::accumulation,
                2 * w.accumulation);
  // A table with times keeps them, whatever its batch, dtype or variant.
  if (!gives_shapes(w)) return;
  const auto is_factorized = [](const std::optional<WorkloadVariant>& variant) {
    return variant && variant->factorize.has_value();
  };
  const bool factorized = is_factorized(w.variant);
  if (w.variant)
    changes.add(factorized ? kTraining : kExecution,
                factorized ? "the network unfactorized" : "the network's own kernels", here, &WorkloadTable::variant,
                {});
  for (const WorkloadVariant& variant : w.variants)
    if (!w.variant || variant.name != w.variant->name)
      changes.add(factorized || variant.factorize ? kTraining : kExecution, "variant " + variant.name,
                  {{here.of(&WorkloadTable::variant), variant.name}});
  add_types(here, changes);
  if (!w.global_batch)
    changes.add(kTraining, fmt::format("batch of {}", 2L * w.batch), {{here.of(&WorkloadTable::batch), 2L * w.batch}});
}

}  // namespace stepcast
