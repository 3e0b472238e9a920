// The time that hosts take to copy what workers exchange with parameter-server shards. Whole messages are copied.
#pragma once

#include <span>

#include "models/part/cluster.hpp"

namespace stepcast {

/// Time of one worker to copy shard_bytes[j] to each shard j, or from it. It copies nothing for a shard on its own host.
Seconds worker_copies(const Cluster& cluster, std::span<const Bytes> shard_bytes, bool co_located, int worker);

/// The longest of these times.
Seconds longest_worker_copies(const Cluster& cluster, std::span<const Bytes> shard_bytes, bool co_located);

/// Time of the shard's host to copy one byte from every worker, or to every worker.
SecondsPerByte shard_copies(const Cluster& cluster, int shards, bool co_located, int shard);

}  // namespace stepcast
