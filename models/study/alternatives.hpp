// A study's points as alternatives that compete in situations.
//
// Of the axes some tell alternatives apart (the compressor, the strategy), the others the situation (the workload, the
// number of workers). A point without a coordinate on an axis of situations, since its variant sets that field itself,
// stands in all situations that agree with it on the others.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "models/describe/json.hpp"
#include "models/study/study.hpp"

namespace stepcast {

/// The point of an alternative in a situation.
struct Contest {
  std::size_t situation, alternative, point;  ///< point: of the list that was arranged
};

struct Arrangement {
  std::vector<std::string> situation_axes, alternative_axes;
  /// In the study's order; one situation without coordinates where there is no such axis.
  std::vector<std::vector<Coordinate>> situations, alternatives;
  std::vector<Contest> contests;
};

/// The axes that tell alternatives apart where nobody says: the variants, and those of strategy, compressor, codec and
/// the workload's variant.
std::vector<std::string> usual_alternatives(const Study& study);

/// @param points       of the study; each combination of coordinates once
/// @param alternative_axes  names of axes; the study's others are of situations, but for `left_out`
Arrangement arrange(const Study& study, const std::vector<StudyPoint>& points,
                    const std::vector<std::string>& alternative_axes, const std::string& left_out);

/// The first alternative with all these coordinates.
/// @param choices  "AXIS=VALUE", an axis by name
/// @throws std::invalid_argument for what is no such text, axis or value, and where no alternative has all of them
std::size_t find_alternative(const Arrangement& arrangement, const std::vector<std::string>& choices);

/// "AllReduce, compressor fp16": a variant's name and the other coordinates with their axes.
std::string label(const std::vector<Coordinate>& coordinates);

/// {"compressor": "fp16"}
Json coordinates_json(const std::vector<Coordinate>& coordinates);

}  // namespace stepcast
