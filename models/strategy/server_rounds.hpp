// The rounds of a worker between two pulls of parameter servers that follow a push.
#pragma once

#include <numeric>
#include <vector>

#include "models/part/strategy.hpp"

namespace stepcast {

/// Some steps of a worker, and what happens at the end of the last one.
struct ServerRound {
  int steps = 1;
  bool pushes = true, pulls = true;
};

/// A worker pushes after every n_push-th step and pulls after every n_fetch-th (Downpour SGD, Dean et al., NIPS 2012,
/// algorithm 1). The rounds repeat after their least common multiple of steps. The last one pushes and pulls.
inline std::vector<ServerRound> rounds_of(const ParameterServerStrategy& strategy) {
  const int push = strategy.steps, pull = strategy.pull_steps.value_or(push), all = std::lcm(push, pull);
  std::vector<ServerRound> rounds;
  for (int step = 1, before = 0; step <= all; ++step) {
    const ServerRound round{step - before, step % push == 0, step % pull == 0};
    if (!round.pushes && !round.pulls) continue;
    rounds.push_back(round);
    before = step;
  }
  return rounds;
}

}  // namespace stepcast
