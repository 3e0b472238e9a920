// Closed forms of exchanges with parameter-server shards: push and pull.
#pragma once

#include <span>

#include "models/collective/cost_counts.hpp"

namespace stepcast {

/// Direction of an exchange with shards: push goes from every worker to every shard, pull goes back.
enum class ShardExchange { push, pull };

/// p workers each send shard_bytes[j] to every shard j at the same time (a pull is the same in reverse).
///
/// Dedicated shards: p flows share the link of shard j; a worker's link has as many flows as are still running. Under
/// max-min fair sharing, all running flows have the same rate, bandwidth / max(p, running). They end in order of size.
/// With sizes s_1 <= ... <= s_M,
///     T = α + β · sum over k of (s_k - s_{k-1}) · max(p, M - k + 1),
/// and α + max(p, M)·(n/M)·β for equal shards: p·n·β for one server.
/// Co-located shards: the worker on the shard's host sends nothing. p-1 flows share every shard's link, and no worker's
/// link has more flows: T = α + (p-1)·max(s)·β.
/// A worker copies only its own messages, n·h. The copies of a shard's host belong to its serving time.
CostTerms shard_exchange_cost(std::span<const Bytes> shard_bytes, int p, bool co_located);

}  // namespace stepcast
