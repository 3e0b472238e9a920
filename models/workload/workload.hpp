// A workload as strategies see it: how long the parts of a step's computation take, and which gradients
// become ready when. Made from a scenario's layer table (part/workload.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/part/strategy.hpp"
#include "models/part/workload_table.hpp"

namespace stepcast {

/// A gradient tensor, in the order back-propagation finishes them.
struct Gradient {
  std::string name;
  std::int64_t elements = 0;
  Bytes bytes{};
  Seconds gap{};  ///< backward time from the previous gradient (or from the start) until this one is ready
  std::vector<std::int64_t> dims{};  ///< empty: not known
  /// Of its layer and those without parameters after it; where only a total is known, as its gap to backward.
  Seconds forward{};

  /// Its dimensions; one of all its elements where they are not known.
  [[nodiscard]] std::vector<std::int64_t> shape() const {
    return dims.empty() ? std::vector<std::int64_t>{elements} : dims;
  }
};

struct Workload {
  std::string name;
  int batch = 1;              ///< samples per worker and pass
  int accumulation = 1;       ///< passes per step
  Dtype dtype = Dtype::fp32;  ///< of a gradient element
  Seconds forward{};          ///< of one pass
  Seconds backward{};         ///< of one pass: sum of all gaps and the tail
  Seconds tail{};             ///< backward time after the last gradient is ready
  Seconds update{};
  std::vector<Gradient> gradients;
  Bytes gradient_bytes{};
  /// That a pass keeps for backward (activations.hpp); empty where layers have no shapes.
  std::optional<Bytes> activations{};
  std::optional<Flops> model_flops{};  ///< of a sample (layer_work.hpp); empty where layers have no shapes

  /// What a worker trains on in a step.
  [[nodiscard]] std::int64_t samples() const { return std::int64_t{batch} * accumulation; }
  /// All forward and backward passes of a step.
  [[nodiscard]] Seconds passes() const { return (forward + backward) * accumulation; }
  /// One step's computation without any communication.
  [[nodiscard]] Seconds compute() const { return passes() + update; }
};

/// With shapes, times come from the table's profile; without one they are zero and only the gradients are known.
/// @pre the table passed check() (scenario/check.hpp)
Workload make_workload(const WorkloadTable& table);

/// Gradients that travel together: the range [first, last) of the workload's gradients.
struct Bucket {
  std::size_t first = 0, last = 0;
  Bytes bytes{};
  Seconds gap{};  ///< backward time from the previous bucket (or the start) until this one is complete
};

/// Divides the gradients as the exchange asks. Buckets fill in ready order and close with the tensor that brings them
/// to their cap, the first one at its own smaller cap (PyTorch DDP's rule, Li et al., VLDB 2020, section 4.2). A
/// block's tensors follow each other and are of one block (blocks.hpp); those of none are alike. A whole model is one
/// bucket, complete when backward is.
std::vector<Bucket> make_buckets(const Workload& workload, const Exchange& exchange);

/// Cuts the gradients at equal byte counts into `segments` buckets, each ready with the tensor in which it ends.
/// A tensor that spans a cut is in the ranges of both sides. A compressor sees a segment as one tensor, so no builder
/// reads these ranges.
std::vector<Bucket> make_segments(const Workload& workload, int segments);

}  // namespace stepcast
