// What somebody who wants a faster step could change: a scenario's own alternatives, one change each.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "models/describe/json.hpp"
#include "models/scenario/scenario.hpp"

namespace stepcast {

/// Whom a change concerns.
enum class ChangeOf {
  cluster,    ///< who buys: one number of the cluster, twice as good
  execution,  ///< who tunes: the same gradients computed or exchanged otherwise; what is learnt stays the same
  memory,     ///< who has too little of it: the same training carried out leaner
  training,   ///< who trains: other gradients, or other weights they are taken at; a forecast knows nothing of accuracy
};

struct Change {
  ChangeOf of = ChangeOf::cluster;
  std::string what;  ///< "link bandwidth 20 Gb/s"
  /// JSON pointers into the canonical document (to_json), and the values they take.
  std::vector<std::pair<std::string, Json>> set;
};

/// Every change that the scenario itself suggests, whether or not it can be combined with the rest, which reading the
/// changed document tells:
///
/// - cluster: each rate doubled and each time or cost halved that is not 0, NICs and cables doubled, oversubscription
///   halved; all workers twice as fast; workers that differ made alike; jitter gone; twice as many workers
/// - execution: twice as many passes of half the batch, and the reverse; activations kept or computed again, of each
///   block or of every second; the other groupings, buckets of four times and a quarter of the cap, overlap; the
///   cheapest algorithm, of a strategy `collective` each; all-reduce for synchronous servers; servers on all workers'
///   hosts, more shards; sharded gradients reduced after every pass, inside groups after every pass, or after the last;
///   a transformer's loss fused, its norms and rotary positions by a kernel each or by simple operations
/// - training: every compressor with its defaults, pipelining, local SGD, gossip, twice the accumulation or the global
///   batch; gradients reduced in no wider a type than they have; where the layer table gives shapes its variants,
///   smaller operands that the profile knows and twice the batch
std::vector<Change> changes_of(const Scenario& scenario);

/// More that need less memory for the same training, for who has too little: passes of a half, a quarter and so on of
/// the batch, activations of each block or of every second computed again, state sharded where it was not, in every
/// combination that changes_of does not have.
std::vector<Change> leaner_changes(const Scenario& scenario);

}  // namespace stepcast
