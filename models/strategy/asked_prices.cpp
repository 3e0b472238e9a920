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
  const auto is_asked = [&](const PriceQuestions::Decision& d) {
    return d.operation == operation && d.bytes == bytes && d.among == among && d.choice == choice;
  };
  auto& all = questions_.decisions_;
  if (const auto known = std::find_if(all.rbegin(), all.rend(), is_asked); known != all.rend()) return known->answer;
  all.push_back({operation, choice, bytes, among, prices_.decide(operation, choice, bytes, among)});
  return all.back().answer;
}

}  // namespace stepcast
