// The fields of strategy sharded, and of islands, that only sometimes have an effect.
#pragma once

#include <string>

#include "models/scenario/scenario.hpp"

namespace stepcast {

/// Each returns why the field has no effect; "" if it may have one, or if the strategy is another.
std::string backward_group_size(const Scenario& scenario);
std::string quantized_gather(const Scenario& scenario);
std::string reduce_after(const Scenario& scenario);
std::string reduce_dtype(const Scenario& scenario);
std::string bucket_cap_of_islands(const Scenario& scenario);
std::string overlap_of_islands(const Scenario& scenario);

/// Why units are gathered once a pass.
std::string kept_parameters(const Scenario& scenario);
/// Why a size of buckets has no effect.
std::string unless_bucketed(Grouping grouping);

}  // namespace stepcast
