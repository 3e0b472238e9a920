// One collective per step and nothing else.
#include "models/price/cluster_prices.hpp"
#include "models/strategy/builder.hpp"

namespace stepcast {

StepGraph build_collective(const CollectiveBenchmark& strategy, const GraphInput& input) {
  StepGraph graph;
  const StreamId communication = graph.add_stream("communication");
  const auto* ratio = std::get_if<RatioCompressor>(&input.compressor());
  const Bytes bytes = ratio ? strategy.size / ratio->ratio : strategy.size;
  const CollectiveCall call = input.prices.decide(strategy.operation, strategy.collective, bytes);
  graph.add_task({std::string(name_of(strategy.operation)), Phase::exchange, CollectiveWork{call}, communication});
  return graph;
}

}  // namespace stepcast
