// A study's points as alternatives that compete in situations.
//
// Some axes distinguish alternatives (the compressor, the strategy); the others define the situation (the workload, the
// number of workers). A variant may set a situation's field itself, so its points lack that axis. Such a point is in
// all situations that agree with its other coordinates.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "models/describe/json_fwd.hpp"
#include "models/study/study.hpp"

namespace stepcast {

/// The point of one alternative in one situation.
struct Contest {
  std::size_t situation, alternative, point;  ///< point: index in the arranged list
};

struct Arrangement {
  std::vector<std::string> situation_axes, alternative_axes;
  /// In the study's order. Without an axis of situations, there is one situation without coordinates.
  std::vector<std::vector<Coordinate>> situations, alternatives;
  std::vector<Contest> contests;
};

/// The default axes of alternatives: the variants, and the axes of strategy, compressors, codec and the workload's
/// variant.
std::vector<std::string> usual_alternatives(const Study& study);

/// @param points       points of the study; each combination of coordinates once
/// @param alternative_axes  names of axes; the other axes are of situations, except `left_out`
Arrangement arrange(const Study& study, const std::vector<StudyPoint>& points,
                    const std::vector<std::string>& alternative_axes, const std::string& left_out);

/// The first alternative with all these coordinates.
/// @param choices  "AXIS=VALUE", an axis by name
/// @throws std::invalid_argument for another form, an unknown axis or value, or if no alternative has all of them
std::size_t find_alternative(const Arrangement& arrangement, const std::vector<std::string>& choices);

/// "AllReduce, compressor fp16": a variant's name, then the other coordinates with their axes.
std::string label(const std::vector<Coordinate>& coordinates);

/// {"compressor": "fp16", "workers": 16}
Json coordinates_json(const std::vector<Coordinate>& coordinates);

}  // namespace stepcast
