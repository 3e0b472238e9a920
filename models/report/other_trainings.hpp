// What makes scenarios other trainings, not the same one run in another way: a forecast says how fast each is, and
// nothing of the accuracy that it reaches.
#pragma once

#include <string>
#include <vector>

#include "models/scenario/scenario.hpp"

namespace stepcast {

/// In what of training some scenarios differ: "when gradients are applied", "compressor", "variant of the network",
/// "types of numbers", "global batch"; empty where they are one training.
std::vector<std::string> differences_in_training(const std::vector<const Scenario*>& scenarios);

}  // namespace stepcast
