// Closed forms of direct exchanges: push to and pull from parameter-server shards, and ring neighbours.
#pragma once

#include <span>

#include "models/collective/cost_counts.hpp"

namespace stepcast {

/// Which way what workers exchange with shards goes: from every worker to every shard, or back.
enum class ShardExchange { push, pull };

/// p workers each send shard_bytes[j] to every shard j at once (a pull is the same backwards).
///
/// Dedicated shards: shard j's link is shared by p flows, a worker's by as many as still run. Under max-min
/// fair sharing all running flows have the same rate, bandwidth / max(p, running), and end in order of size:
/// with sizes s_1 <= ... <= s_M,
///     T = α + β · sum over k of (s_k - s_{k-1}) · max(p, M - k + 1),
/// which for equal shards is α + max(p, M)·(n/M)·β: p·n·β for one server.
/// Co-located shards: the worker on the shard's host sends nothing, p-1 flows share every shard's link and no
/// worker has more of them: T = α + (p-1)·max(s)·β.
/// A worker copies only its own messages, n·h; what a shard's host copies is part of its serving.
CostTerms shard_exchange_cost(std::span<const Bytes> shard_bytes, int p, bool co_located);

/// Every worker sends n bytes to both ring neighbours and adds what it receives: α + 2nβ + 2nγ; with p = 2
/// there is one neighbour.
CostTerms neighbour_exchange_cost(Bytes n, int p);

}  // namespace stepcast
