// The rounds of a worker between two pulls of parameter servers that follow a push.
#pragma once

#include <vector>

#include "models/part/strategy.hpp"

namespace stepcast {

/// Some steps of a worker, and what happens at the end of the last one.
struct ServerRound {
  int steps = 1;
  bool pushes = true, pulls = true;
};

/// A worker pushes after every n_push-th step and pulls after every n_fetch-th (Downpour SGD, Dean et al., NIPS 2012,
/// algorithm 1). The rounds repeat after the strategy's period. The last one pushes and pulls.
inline std::vector<ServerRound> rounds_of(const ParameterServerStrategy& strategy) {
  std::vector<ServerRound> rounds;
  for (int step = 1, before = 0; step <= strategy.period(); ++step) {
    const ServerRound round{step - before, step % strategy.steps == 0, step % strategy.steps_of_pull() == 0};
    if (!round.pushes && !round.pulls) continue;
    rounds.push_back(round);
    before = step;
  }
  return rounds;
}

}  // namespace stepcast
