// Ring: every rank sends to the next rank. There are p-1 rounds of reduce-scatter and p-1 of all-gather, with one block
// of n/p in each message. The bandwidth is optimal (Patarasu and Yuan 2009).
//
// Reduce-scatter, round r: rank i sends block (i - r) mod p. After p-1 rounds, rank i holds the sum of block (i + 1)
// mod p. The all-gather continues: in round r, rank i sends block (i + 1 - r) mod p.
#include "models/collective/collective.hpp"

namespace stepcast::ring {
namespace {

Round shift(int p, int first_block_of_rank_0, bool reduce) {
  Round round;
  round.reserve(p);
  for (int i = 0; i < p; ++i) {
    const int block = ((i + first_block_of_rank_0) % p + p) % p;
    round.push_back({i, (i + 1) % p, {block, 1}, reduce});
  }
  return round;
}

Schedule once_around(int p, bool reduce) {
  return {.participants = p,
          .blocks = p,
          .rounds = p - 1,
          .round = [p, reduce](int r) { return shift(p, -r, reduce); },
          .like = [](int) { return 0; },
          .around = every_round};
}

}  // namespace

Schedule reduce_scatter(int p, const CollectiveParameters&) { return once_around(p, true); }

CostTerms reduce_scatter_cost(Bytes n, int p, const CollectiveParameters&) {
  CostTerms terms;
  terms.add(Path::ring, p - 1, n * (p - 1) / p);
  terms.reduced = terms.sent = n * (p - 1) / p;
  return terms;
}

Schedule all_gather(int p, const CollectiveParameters&) { return once_around(p, false); }

CostTerms all_gather_cost(Bytes n, int p, const CollectiveParameters&) {
  CostTerms terms;
  terms.add(Path::ring, p - 1, n * (p - 1) / p);
  terms.sent = n * (p - 1) / p;
  return terms;
}

Schedule all_reduce(int p, const CollectiveParameters&) {
  return {.participants = p,
          .blocks = p,
          .rounds = 2 * (p - 1),
          .round = [p](int r) { return r < p - 1 ? shift(p, -r, true) : shift(p, 1 - (r - (p - 1)), false); },
          .like = [p](int r) { return r < p - 1 ? 0 : p - 1; },
          .around = every_round};
}

CostTerms all_reduce_cost(Bytes n, int p, const CollectiveParameters&) {
  CostTerms terms;
  terms.add(Path::ring, 2.0 * (p - 1), 2.0 * n * (p - 1) / p);
  terms.reduced = n * (p - 1) / p;
  terms.sent = 2.0 * terms.reduced;
  return terms;
}

}  // namespace stepcast::ring
