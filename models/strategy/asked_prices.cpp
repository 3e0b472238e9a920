#include "models/strategy/asked_prices.hpp"

#include <algorithm>
#include <tuple>

namespace stepcast {
namespace {

bool are_equal(const CollectiveCall& a, const CollectiveCall& b) {
  // Names all members, so that the compiler asks about a new one.
  const auto all = [](const CollectiveCall& call) {
    const auto& [algorithm, parameters, bytes, recode, among, placement, protocol] = call;
    return std::tie(algorithm, parameters, bytes, recode, among, placement, protocol);
  };
  return all(a) == all(b);
}

}  // namespace

bool PriceQuestions::have_same_answers(const ClusterPrices& prices) const {
  return !times_ && std::all_of(decisions_.begin(), decisions_.end(), [&](const Decision& d) {
    return are_equal(prices.decide(d.operation, d.choice, d.bytes, d.among), d.answer);
  });
}

CollectiveCall AskedPrices::decide(Operation operation, const CollectiveChoice& choice, Bytes bytes,
                                   const Communicators& among) {
  const CollectiveCall answer = prices_.decide(operation, choice, bytes, among);
  questions_.decisions_.push_back({operation, choice, bytes, among, answer});
  return answer;
}

}  // namespace stepcast
