// A workload as strategies see it: the times of a step's computation, and the gradients with their ready times.
// The function make_workload builds it from a scenario's layer table (part/workload_table.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "models/part/strategy.hpp"
#include "models/part/workload_table.hpp"

namespace stepcast {

/// A gradient tensor. Tensors are in the order of back-propagation.
struct Gradient {
  std::string name;
  std::int64_t elements = 0;
  Bytes bytes{};
  Seconds gap{};  ///< backward time from the previous gradient (or from the start) until this one is ready
  std::vector<std::int64_t> dims{};  ///< empty: not known
  /// Forward time of its layer and the layers without parameters after it. From totals: in proportion to `gap`.
  Seconds forward{};
  std::string_view layer_kind{};  ///< of a table with shapes: "conv2d"; else empty

  /// Its dimensions. If they are unknown, one dimension with all its elements.
  [[nodiscard]] std::vector<std::int64_t> shape() const {
    return dims.empty() ? std::vector<std::int64_t>{elements} : dims;
  }
};

struct ShapeHash {
  std::size_t operator()(const Gradient* a) const { return std::hash<std::int64_t>{}(a->elements); }
};
struct SameShape {
  bool operator()(const Gradient* a, const Gradient* b) const {
    return a->elements == b->elements && a->dims == b->dims;
  }
};
/// Tensors that differ in shape: a compressor sees no more of a tensor.
using TensorsByShape = std::unordered_set<const Gradient*, ShapeHash, SameShape>;

struct Workload {
  std::string name;
  int batch = 1;              ///< samples per worker and pass
  int accumulation = 1;       ///< passes per step
  Dtype dtype = Dtype::fp32;  ///< type of a gradient element
  Seconds forward{};          ///< time of one pass
  Seconds backward{};         ///< time of one pass: sum of all gaps and the tail
  Seconds tail{};             ///< backward time after the last gradient is ready
  Seconds update{};
  std::vector<Gradient> gradients;
  Bytes gradient_bytes{};
  /// The gradients' shapes, each once in order. Empty in a workload that make_workload has not made.
  std::vector<std::vector<std::int64_t>> shapes{};
  /// Bytes that a pass keeps for backward (activation_memory.hpp); empty if layers have no shapes.
  std::optional<Bytes> activations{};
  std::optional<Flops> model_flops{};  ///< for one sample (layer_work.hpp); empty if layers have no shapes

  /// The samples of a worker in one step.
  [[nodiscard]] std::int64_t samples() const { return std::int64_t{batch} * accumulation; }
  /// All forward and backward passes of a step.
  [[nodiscard]] Seconds passes() const { return (forward + backward) * accumulation; }
  /// One step's computation without any communication.
  [[nodiscard]] Seconds compute() const { return passes() + update; }
};

/// With shapes, times come from the table's profile. Without a profile, they are zero and only gradients are known.
/// @pre the table passed check_workload (scenario/workload_rules.hpp)
Workload make_workload(const WorkloadTable& table);

/// Gradients that form one message: the range [first, last) of the workload's gradients.
struct Bucket {
  std::size_t first = 0, last = 0;
  Bytes bytes{};
  Seconds gap{};  ///< backward time from the previous bucket (or the start) until this one is complete
};

/// Divides the gradients by the exchange's grouping. Buckets fill in ready order. A bucket closes with the tensor that
/// reaches its cap. The first bucket has a smaller cap (PyTorch DDP's rule, Li et al., VLDB 2020, section 4.2). Per
/// block, a bucket holds consecutive tensors of one block (blocks.hpp), or consecutive ones without a block. A whole
/// model is one bucket, complete at the end of backward.
///
/// @param look  by the time since backward began, the number of the look that finds a tensor (strategy/looks.hpp). A
///              bucket then closes before one that a later look finds. Empty: none
std::vector<Bucket> make_buckets(const Workload& workload, const Exchange& exchange,
                                 const std::function<int(Seconds)>& look = {});

/// Cuts the gradients into `segments` buckets of equal bytes. Each is ready when
/// its last tensor is. A tensor across a cut is in the ranges of both sides. A
/// compressor sees a segment as one tensor, so no builder reads these ranges.
std::vector<Bucket> make_segments(const Workload& workload, int segments);

}  // namespace stepcast
