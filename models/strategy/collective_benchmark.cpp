// One collective per step and nothing else.
#include "models/strategy/builder.hpp"
#include "models/strategy/prices.hpp"

namespace stepcast {

StepGraph build_collective(const CollectiveBenchmark& strategy, const GraphInput& input) {
  StepGraph graph;
  const StreamId communication = graph.add_stream("communication");
  const CollectiveCall call = decide(strategy.operation, strategy.collective, payload(input.compressor, strategy.size), input.cluster.workers, input.prices, natural_group(input.cluster));
  graph.add_task({std::string(name_of(strategy.operation)), Phase::exchange, CollectiveWork{call}, communication});
  return graph;
}

}  // namespace stepcast
