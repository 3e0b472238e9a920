// A training step in a trace of PyTorch's profiler (Kineto, Chrome's JSON): its times, and when gradients are ready.
//
// The trace is to be of one worker that trains alone, with record_shapes=True: the sizes of gradients are those that
// torch::autograd::AccumulateGrad gets. Steps are ProfilerStep annotations, or end with Optimizer.step. An operation is
// of the update if it starts inside Optimizer.step or zero_grad, of backward from the first
// autograd::engine::evaluate_function on, and of forward before that.
//
// With a GPU, times are those of the stream that computes longest. A kernel is of the phase in which the CPU launched it
// (by "correlation"), and
//   forward  = end of its last kernel - start of its first
//   backward = end of its last kernel - end of forward
//   update   = end of its last kernel - end of backward, and kernels of a zero_grad before forward
// A gradient is ready when the last kernel launched before its AccumulateGrad ends. Idle times of the stream count.
// Without kernels the same holds for the CPU's operations.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/describe/json_fwd.hpp"
#include "models/part/dtype.hpp"
#include "models/unit/quantity.hpp"

namespace stepcast {

struct TracedGradient {
  std::string name;  ///< "3 AddmmBackward0": its place in backward, and the function that made it
  std::vector<std::int64_t> dims;
  Seconds gap{};  ///< since the gradient before, or the begin of backward

  [[nodiscard]] std::int64_t elements() const;
};

struct TracedStep {
  int step = 0, steps = 0;  ///< which of the trace's steps, from 1; the one of median length unless one is asked for
  Seconds forward{}, backward{}, update{};
  Seconds tail{};  ///< part of backward after the last gradient is ready
  std::vector<TracedGradient> gradients;
  Dtype dtype = Dtype::fp32;  ///< of most gradients' bytes
  std::string device;         ///< "NVIDIA A100-SXM4-80GB", or "CPU"
  std::string optimizer;      ///< "AdamW"; empty if the trace does not name it
  int collectives = 0;        ///< NCCL kernels in the step, which are left out
};

/// @param file  the trace's name in faults
/// @param step  from 1; 0: the one of median length
/// @throws ScenarioError if it is no such trace, or has no step with gradients, with the way to record one
TracedStep read_profiler_trace(const Json& trace, const std::string& file, int step = 0);

}  // namespace stepcast
