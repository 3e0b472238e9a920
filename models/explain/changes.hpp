// Changes that may make a step faster: a scenario's alternatives, one change each.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "models/describe/json.hpp"
#include "models/scenario/scenario.hpp"

namespace stepcast {

/// The kind of a change.
enum class ChangeOf {
  cluster,    ///< hardware: one number of the cluster, twice as good
  execution,  ///< the same gradients, computed or exchanged in another way; learning is unchanged
  memory,     ///< the same training with less memory
  training,   ///< other gradients, or applied to other weights; a forecast knows nothing of accuracy
};

struct Change {
  ChangeOf of = ChangeOf::cluster;
  std::string what;  ///< "link bandwidth 20 Gb/s"
  /// JSON pointers into the canonical document (to_json), and the new values.
  std::vector<std::pair<std::string, Json>> set;
};

/// Every change that the scenario itself suggests. Reading the changed document tells whether it fits the rest:
///
/// - cluster. Each rate doubled, each nonzero time or cost halved. NICs and cables doubled, oversubscription halved.
///   All workers twice as fast, unequal workers made alike, no jitter, twice as many workers.
/// - execution. Twice as many passes of half the batch, and the reverse. Activations kept or recomputed, of each block
///   or of every second. The other groupings, buckets of four times and a quarter of the cap, overlap. The cheapest
///   algorithm, and each one for a strategy `collective`. All-reduce for synchronous servers; servers on all workers'
///   hosts, more shards. Sharded gradients reduced after every pass, inside groups after every pass, or after the last.
///   A transformer's loss fused, its norms, rotary positions and GELUs by a kernel each or by simple operations.
///   Variants that have other kernels. PyTorch's autocast, or none.
/// - training. Every compressor with its defaults, small tensors uncompressed, one compressor for all, pipelining,
///   local SGD, gossip, twice the accumulation or the global batch. Gradients reduced in a type that is no wider than
///   theirs. With shapes in the layer table: its factorized variants, smaller operands that the profile knows, and
///   twice the batch.
std::vector<Change> changes_of(const Scenario& scenario);

/// Further changes that need less memory for the same training. Passes have a half, a quarter and so on of the batch.
/// Activations of each block or of every second are recomputed. State is sharded if it was not. Includes every
/// combination that changes_of does not have.
std::vector<Change> leaner_changes(const Scenario& scenario);

}  // namespace stepcast
