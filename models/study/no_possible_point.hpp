// A study of which nothing is left.
#pragma once

#include "models/describe/fault.hpp"

namespace stepcast {

/// Every point was to be left out if it is impossible, and is: the first fault of each rule.
class NoPossiblePoint : public ScenarioError {
 public:
  using ScenarioError::ScenarioError;
};

}  // namespace stepcast
