// Units of metrics: the unit of a column, and how its values are printed, and read from a command line.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/report/rows.hpp"

namespace stepcast {

struct MetricUnit {
  CellKind kind;
  std::string_view symbol{};                   ///< SI unit of numbers in files: "s", "samples/s"; "1" for a ratio
  double (*read)(std::string_view) = nullptr;  ///< @throws std::invalid_argument or UnitError
  std::string (*text)(double) = nullptr;       ///< alone: "12.5 ms", "480/s"
  std::string (*cell)(double) = nullptr;       ///< in a table with the unit in its head: "12.5 ms", "480"
  std::string (*measured)(double) = nullptr;   ///< beside a measured value: "12.5 ms", "480 /s"
  bool is_share = false;                       ///< shown in percent
  /// All values of a table's column, with one unit and precision; null: each by itself, by `cell`.
  std::vector<std::string> (*column)(std::span<const double>) = nullptr;
};

extern const MetricUnit kTruth, kCount, kText, kTexts, kPhases;
extern const MetricUnit kAxisValue, kAxisSi;      ///< of a study's axes: as written, and in SI
extern const MetricUnit kTime, kRunTime;          ///< of a step; of a whole run, in hours and minutes
extern const MetricUnit kBytes, kBandwidth;       ///< bytes; algbw and busbw, in GB/s as nccl-tests has them
extern const MetricUnit kSampleRate, kTokenRate;  ///< per second
extern const MetricUnit kRatio, kShare;           ///< "1.5x", "90 %"
extern const MetricUnit kDifference;              ///< relative, with its sign: "+1.2e-03"
extern const MetricUnit kPrice;                   ///< in the currency of the cluster's prices

}  // namespace stepcast
