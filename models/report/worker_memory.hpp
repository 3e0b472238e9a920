// Memory that a worker needs: for the model, and for activations.
#pragma once

#include <optional>

#include "models/scenario/scenario.hpp"
#include "models/workload/workload.hpp"

namespace stepcast {

/// What a worker holds at the fullest moment of a step, in bytes. With n bytes of gradients of the workload's type
/// (parameters are of the same), b of the largest unit (bucket) and s of the optimizer's state, which is in fp32,
/// momentum's one number an element, Adam's two, and one more for the weights where gradients are in halves:
///
///                                  parameters                    gradients      optimizer
///   all-reduce                     n                             n              s
///   local-sgd                      n, 2n with a compressor       n              s, s + n with an outer update
///                                  or an outer update
///   pipelined, width K             n                             K·n            s
///   parameter-server, the worker   n                             n              0; s where workers update (two_way)
///   gossip                         3n, both neighbours'          n              s
///   sharded: optimizer-state,
///            gradients             n                             n/g + 2b       s/g
///            parameters            n/g + (prefetch + 1)·b        n/g + 2b       s/g
///
/// g workers share out a copy: all p, unless group_size says less. Nothing sharded is more than all of it. All n of the
/// gradients are there where they are reduced after back-propagation (no overlap), and with accumulation unless they
/// are reduced after every pass; without overlap nothing is gathered ahead. Gradients of another reduce_dtype are
/// counted in that. All-reduce by qsparse-local-sgd keeps 2n of parameters where its local steps are more than one. A
/// narrower compute_dtype adds casts in it of all parameters that are there whole, which PyTorch's autocast caches from
/// forward until its region ends (aten/src/ATen/autocast_mode.cpp) and backward reads; where parameters are sharded
/// too, of the units that are gathered, since the cache is cleared with them (fairscale, pull request 650). Error
/// feedback keeps n, DGC 2n. Servers' own memory is not the workers'.
///
/// Activations are those of one pass (models/workload/activation_memory.hpp); where layers have no shapes they are not known.
/// All of them and all gradients are taken to be there at once, as gradients are where they keep their place from step
/// to step (DDP's buckets); where they are allocated anew, as activations are let go, less is needed. Not counted:
/// workspaces, a compressor's messages, a communication library's buffers, and what an allocator wastes.
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
