// Memory that a worker needs: for the model, and for activations.
#pragma once

#include <optional>

#include "models/scenario/scenario.hpp"
#include "models/workload/workload.hpp"

namespace stepcast {

/// A worker's memory at the fullest moment of a step, in bytes. Gradients of the workload's type have n bytes, and so
/// have parameters. The largest unit (bucket) has b. The optimizer's state has s, in fp32. An element has one number
/// for momentum, two for Adam, and one more for the weights if gradients are in halves:
///
///                                  parameters                    gradients      optimizer
///   all-reduce                     n                             n              s
///   local-sgd                      n, 2n with a compressor       n              s, s + n with an outer update
///                                  or an outer update
///   pipelined, width K             n                             K·n            s
///   parameter-server, the worker   n                             n              0; s if workers update (two_way)
///   gossip, d neighbours           (1 + d)·n; 3n if compressed   n              s
///   sharded: optimizer-state,
///            gradients             n                             n/g + 2b       s/g
///            parameters            n/g + (prefetch + 1)·b        n/g + 2b       s/g
///
/// g workers share a copy: all p, unless group_size gives fewer. No sharded part exceeds its whole.
/// - All n of the gradients are stored if they are reduced after back-propagation (no overlap). So they are with
///   accumulation, unless they are reduced after every pass. Without overlap, no unit is gathered ahead.
/// - Gradients of another reduce_dtype count in that type.
/// - All-reduce by qsparse-local-sgd keeps 2n of parameters if it has more than one local step.
/// - A narrower compute_dtype adds casts of all parameters that are stored whole. PyTorch's autocast casts those of
///   products alone. It caches them from the forward pass until its region ends (aten/src/ATen/autocast_mode.cpp), and
///   the backward pass reads them. With sharded parameters, only gathered units have casts, since the cache is cleared
///   with them (fairscale, pull request 650).
/// - Error feedback keeps n, DGC 2n. Servers' own memory is not the workers'.
///
/// Activations are those of one pass (models/workload/activation_memory.hpp). They are unknown if layers have no
/// shapes. All activations and all gradients are assumed to exist at once, as with gradients in fixed places (DDP's
/// buckets). Less is needed if gradients are allocated while activations are released. Not counted: workspaces, a
/// compressor's messages, a communication library's buffers, and an allocator's waste.
struct WorkerMemory {
  Bytes parameters{}, gradients{}, optimizer{}, feedback{};
  std::optional<Bytes> activations{};

  /// Parameters, gradients, the optimizer's state and error feedback.
  [[nodiscard]] Bytes model() const { return parameters + gradients + optimizer + feedback; }
  /// All that is known: without activations that are not.
  [[nodiscard]] Bytes total() const { return model() + activations.value_or(Bytes{}); }
  bool operator==(const WorkerMemory&) const = default;
};

/// @pre the scenario trains `workload`, and is not strategy collective
WorkerMemory worker_memory(const Scenario& scenario, const Workload& workload);

}  // namespace stepcast
