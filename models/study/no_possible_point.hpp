// The error for a study without any possible point.
#pragma once

#include "models/describe/fault.hpp"

namespace stepcast {

/// Impossible points were to be left out, and all points are impossible. Holds the first fault of each rule.
class NoPossiblePoint : public ScenarioError {
 public:
  using ScenarioError::ScenarioError;
};

}  // namespace stepcast
