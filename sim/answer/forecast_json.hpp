// A forecast as JSON, for other processes and the cache.
#pragma once

#include "models/describe/json_fwd.hpp"
#include "models/forecast/forecast.hpp"

namespace stepcast {

/// Every field; reading it back gives the same numbers, bit by bit.
Json pack(const StepForecast& forecast);
/// @throws Json::exception when it is no packed forecast
StepForecast unpack_forecast(const Json& json);

}  // namespace stepcast
