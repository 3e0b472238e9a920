// Messages of decentralized SGD: their bytes to each neighbour, and the GPU time before and after them.
#pragma once

#include <string>
#include <vector>

#include "models/strategy/builder.hpp"

namespace stepcast {

/// GPU time, then a message to each neighbour.
struct GossipStage {
  Seconds encode{};
  Bytes bytes{};
  Bytes added{};  ///< of each message, by γ's rate at its receiver
};

struct GossipMessage {
  std::vector<GossipStage> stages{{}};
  Seconds decode{};
  std::string assumed;
};

/// The message to each of d neighbours, of 1/pieces of all parameters. A worker with fewer neighbours than the busiest one is
/// priced as busy.
///
/// With a compressor, a worker sends the difference between its parameters and x̂_i, the value that its neighbours hold
/// (CHOCO-SGD, Koloskova et al., ICML 2019, algorithm 2):
///     q_i = C(x_i - x̂_i),   x̂_i += q_i,   s_i += sum of w_ij·q_j,   x_i += γ·(s_i - x̂_i)
/// s_i is the weighted sum of all x̂_j, which needs no copy of each neighbour's x̂_j.
///
/// Both ends of an edge make a power step on the difference of their parameters (PowerGossip, Vogels et al., NeurIPS 2020,
/// recalled): P_i = X_i·Q to the neighbour, P = P_i - P_j made orthogonal, Q_i = X_i^T·P to it, X_i += w·P·(Q_j - Q_i)^T.
/// Nothing of this is shared between the edges of a worker, and no residual is kept.
GossipMessage message_of(const GraphInput& input, const Bucket& whole, int neighbours, int pieces);

/// The message of an asynchronous pair (Moniqua), of 1/pieces. At last x and the values of both messages give x.
/// @param pairs  a step, in which a worker decodes another one's message: 2 if it chooses and answers, else 1
GossipMessage message_of_pair(const GraphInput& input, const Bucket& whole, int pieces, int pairs);

}  // namespace stepcast
