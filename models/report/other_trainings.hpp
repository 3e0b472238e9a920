// Finds scenarios that train differently, instead of running the same training in another way. A forecast gives their
// speed, but not the accuracy that each reaches.
#pragma once

#include <string>
#include <vector>

#include "models/scenario/scenario.hpp"
#include "models/study/study.hpp"

namespace stepcast {

/// The ways in which the scenarios' trainings differ: "when gradients are applied", "compressor", "variant of the
/// network", "types of numbers", "global batch". Empty if they are one training.
std::vector<std::string> differences_in_training(const std::vector<const Scenario*>& scenarios);

/// "the points differ in training (compressor), ...", if points differ so that are alike on the axes `each`. Otherwise
/// "".
std::string note_of_trainings(const Study& study, const std::vector<std::string>& each);

}  // namespace stepcast
