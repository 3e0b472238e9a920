// Units of metrics: what a column holds, how its values are shown, and read from a command line.
#pragma once

#include <string>
#include <string_view>

#include "models/report/rows.hpp"

namespace stepcast {

struct MetricUnit {
  CellKind kind;
  std::string_view symbol{};                   ///< of numbers in files, in SI: "s", "samples/s"; "1" of a ratio
  double (*read)(std::string_view) = nullptr;  ///< @throws std::invalid_argument or UnitError
  std::string (*text)(double) = nullptr;       ///< on its own: "12.5 ms", "480/s"
  std::string (*cell)(double) = nullptr;       ///< in a table whose heads say the unit: "12.5 ms", "480"
  std::string (*measured)(double) = nullptr;   ///< beside a measured value: "12.5 ms", "480 /s"
  bool is_share = false;                       ///< shown in percent
};

extern const MetricUnit kTruth, kCount, kText, kTexts;
extern const MetricUnit kTime, kRunTime;          ///< of a step; of a whole run, in hours and minutes
extern const MetricUnit kBytes, kBandwidth;       ///< bytes, and bytes per second
extern const MetricUnit kSampleRate, kTokenRate;  ///< per second
extern const MetricUnit kRatio, kShare;           ///< "1.5x", "90 %"
extern const MetricUnit kDifference;              ///< relative, with its sign: "+1.2e-03"
extern const MetricUnit kPrice;                   ///< in the currency of the cluster's prices

}  // namespace stepcast
