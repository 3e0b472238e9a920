// What hosts cost that train.
#pragma once

#include <optional>

#include "models/scenario/scenario.hpp"

namespace stepcast {

/// Of an hour of all hosts: p workers, and parameter servers on hosts of their own. Nothing where prices are not given.
std::optional<double> price_of_hour(const Scenario& scenario);

/// price_of_hour · time / 1 h
std::optional<double> cost_of(const Scenario& scenario, Seconds time);

}  // namespace stepcast
