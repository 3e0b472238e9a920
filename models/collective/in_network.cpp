// In-network: the switches add up, as SHARP (Graham et al. 2016) and SwitchML (Sapio et al., NSDI 2021) do. Each worker
// streams its n bytes towards the root of a tree of switches. A switch adds up what comes in, and sends the sum on. From
// the root the sum streams down to all workers.
//
// Each link of the tree then carries n bytes up and n bytes down, whatever the number of workers below it. One message
// of n bytes from each rank to the next loads the same links in the same way: only one such message leaves the ranks
// below a switch, and one enters. With links of one latency, the longest of their routes goes to the root and back. So
// one round of them stands for the streams.
#include "models/collective/collective.hpp"

namespace stepcast::in_network {

Schedule all_reduce(int p, const CollectiveParameters&) {
  return {.participants = p, .blocks = 1, .rounds = p > 1 ? 1 : 0, .round = [p](int) {
            Round round;
            round.reserve(p);
            for (int i = 0; i < p; ++i)
              round.push_back({.from = i, .to = (i + 1) % p, .slice = {0, 1}, .in_network = true});
            return round;
          }};
}

CostTerms all_reduce_cost(Bytes n, int p, const CollectiveParameters&) {
  CostTerms terms;
  if (p == 1) return terms;
  terms.add(Path::neighbour, 1, n);
  terms.in_network[static_cast<int>(Path::neighbour)] = terms.sent = n;
  return terms;
}

}  // namespace stepcast::in_network
