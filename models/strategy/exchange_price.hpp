// The price of a task's exchange, and the stack's share of it.
#pragma once

#include "models/price/cluster_prices.hpp"
#include "models/strategy/step_graph.hpp"

namespace stepcast {

/// The price of a communication task; empty for other tasks and for those of asynchronous servers. S belongs to
/// collectives only. With encoding in each reducing round, its time replaces γ.
PricedCost exchange_price(const Work& work, const StepGraph& graph, const ClusterPrices& prices);

/// The stack's share of the time of a communication task: PricedCost::of_stack() over the price. Copies for
/// asynchronous servers, and negotiation, are all its own. 0 for other tasks, and on a platform file, whose links are not known here.
double stack_share(const Work& work, const StepGraph& graph, const ClusterPrices& prices);
/// The same of a task whose price is known.
double stack_share(const Work& work, const PricedCost& price, const Cluster& cluster);

}  // namespace stepcast
