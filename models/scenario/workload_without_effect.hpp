// The reasons why a field of the workload has no effect in a scenario; "" if it has one (without_effect.hpp).
#pragma once

#include <string>
#include <utility>

#include "models/scenario/scenario.hpp"

namespace stepcast {

/// "" if the field has an effect, else the reason why it has none.
inline std::string unless(bool has_effect, std::string why) { return has_effect ? "" : std::move(why); }

std::string backward_spread(const Scenario& s);
std::string fused_update(const Scenario& s);
std::string autocast(const Scenario& s);
std::string recomputed_share(const Scenario& s);
std::string composed(const Scenario& s);
std::string recomputation(const Scenario& s);

}  // namespace stepcast
