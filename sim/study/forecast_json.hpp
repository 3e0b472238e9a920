// A forecast on its way between processes and into the cache.
#pragma once

#include "models/forecast/forecast.hpp"
#include "models/part/json.hpp"

namespace stepcast {

/// Every field; reading it back gives the same numbers, bit by bit.
Json pack(const StepForecast& forecast);
/// @throws Json::exception when it is no packed forecast
StepForecast unpack_forecast(const Json& json);

Json pack(const Breakdown& breakdown);
Breakdown unpack_breakdown(const Json& json);

Json pack(const std::vector<KindBreakdown>& kinds);
std::vector<KindBreakdown> unpack_kinds(const Json& json);

}  // namespace stepcast
