// The workers that add up their gradients before they compress the sum.
#pragma once

#include <algorithm>

#include "models/compressor/compressor.hpp"
#include "models/part/host_costs.hpp"
#include "models/part/strategy_parts.hpp"
#include "models/scenario/scenario.hpp"

namespace stepcast {

/// g: the workers of a machine with codec scope machines; 1 if each worker compresses its own gradients, or none does.
inline int summed_workers(const CodecSettings& codec, const Compressor& compressor, const Cluster& cluster) {
  const bool sums = codec.scope == CodecScope::machines && !std::holds_alternative<NoCompressor>(compressor);
  return sums ? std::min(host_costs(cluster).workers_of_machine, cluster.workers) : 1;
}

/// g: the same, or the workers of an island, which have the same parameters. Each compresses 1/g of one vector.
inline int summed_workers(const Scenario& scenario) {
  if (const Islands* islands = islands_of(scenario.strategy)) return islands->size;
  return summed_workers(scenario.codec, scenario.compressor, scenario.cluster);
}

/// p: the workers that exchange compressed messages of one share, such as one of each machine with codec scope machines.
inline int compressed_senders(const Scenario& scenario) { return scenario.cluster.workers / summed_workers(scenario); }

/// Whether a machine's workers send each other messages of the inner compressor.
inline bool compresses_inside(const Scenario& scenario) {
  return !std::holds_alternative<NoCompressor>(scenario.inner_compressor) &&
         summed_workers(scenario.codec, scenario.compressor, scenario.cluster) > 1;
}

/// Whether workers send compressed messages to each other: one machine alone, which adds up its gradients first, does not.
inline bool workers_exchange_compressed(const CodecSettings& codec, const Compressor& compressor,
                                        const Cluster& cluster) {
  const int g = summed_workers(codec, compressor, cluster);
  return !std::holds_alternative<NoCompressor>(compressor) && (g == 1 || g < cluster.workers);
}

/// Whether workers send compressed messages to each other or to servers.
inline bool sends_compressed(const Scenario& scenario) {
  if (uses_servers(scenario.strategy)) return !std::holds_alternative<NoCompressor>(scenario.compressor);
  return workers_exchange_compressed(scenario.codec, scenario.compressor, scenario.cluster);
}

}  // namespace stepcast
