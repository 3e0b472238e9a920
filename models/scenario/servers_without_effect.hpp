// The fields of strategy parameter-server that only sometimes have an effect.
#pragma once

#include <string>

#include "models/scenario/scenario.hpp"

namespace stepcast {

/// Each returns why the field has no effect; "" if it may have one, or if the strategy is another.
std::string backup_workers(const Scenario& scenario);
std::string staleness_bound(const Scenario& scenario);
std::string balance(const Scenario& scenario);
std::string server_reduction_cost(const Scenario& scenario);
std::string sum_in_machine(const Scenario& scenario);
std::string duplex(const Scenario& scenario);
std::string server_update_factor(const Scenario& scenario);
/// For other strategies, too.
std::string server_price(const Scenario& scenario);

}  // namespace stepcast
