// The cost of the hosts of a training.
#pragma once

#include <optional>

#include "models/scenario/scenario.hpp"

namespace stepcast {

/// The price of an hour of all hosts: p workers, and parameter servers on separate hosts. Empty without prices.
std::optional<double> price_of_hour(const Scenario& scenario);

/// price_of_hour · time / 1 h
std::optional<double> cost_of(const Scenario& scenario, Seconds time);

}  // namespace stepcast
