#include "models/scenario/workload_without_effect.hpp"

#include <cstddef>

#include <fmt/format.h>

#include "models/workload/blocks.hpp"
#include "models/workload/layer_times.hpp"

namespace stepcast {

std::string backward_spread(const Scenario& s) {
  if (!s.workload) return "";
  const WorkloadTable& w = *s.workload;
  if (gives_shapes(w)) return "times follow from the layers' shapes";
  if (!w.layers.empty()) return "layers have their own times";
  return unless(w.gradients.empty() || !w.gradients.front().gap, "gradients have gaps");
}

std::string fused_update(const Scenario& s) {
  return unless(!s.workload || gives_shapes(*s.workload), "the time of the update is given");
}

std::string autocast(const Scenario& s) {
  if (!s.workload || casts(*s.workload)) return "";
  if (s.workload->measured && size_of(s.workload->measured->dtype) < size_of(s.workload->dtype)) return "";
  if (!gives_shapes(*s.workload)) return "times are given";
  return "dtype is no wider than compute_dtype";
}

std::string recomputed_share(const Scenario& s) {
  return unless(!s.workload || s.workload->recomputation != Recomputation::none, "recomputation is none");
}

std::string composed(const Scenario& s) {
  const bool may_be = !s.workload || !s.workload->transformer || may_be_composed(*s.workload->transformer);
  return unless(may_be, "norms with biases and SiLU are one kernel each, and positions are a table");
}

/// Blocks are found by the numbers in names.
std::string recomputation(const Scenario& s) {
  if (!s.workload || !gives_shapes(*s.workload) || s.workload->recomputation == Recomputation::none) return "";
  const WorkloadTable listed = list_gradients(*s.workload);
  const std::size_t blocks = blocks_of(listed.layers).size();
  if (blocks == 0) return "no layer names mark blocks by a number between dots";
  return unless(!recomputed_blocks(listed).empty(),
                fmt::format("recomputed_share {:.3g} of {} blocks is none", s.workload->recomputed_share, blocks));
}

}  // namespace stepcast
