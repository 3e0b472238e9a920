#include "models/fabric/fair_shares.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace stepcast {

void FairShares::share(std::span<const std::size_t> running, std::vector<double>& rate) {
  rate.resize(running.size());
  open(running);
  while (!open_.empty()) {
    const double least = fill();
    const auto stopped =
        std::partition(open_.begin(), open_.end(), [&](std::size_t i) { return !is_stopped(running[i]); });
    for (auto i = stopped; i != open_.end(); ++i) {
      rate[*i] = least;
      close(running[*i], least);
    }
    open_.erase(stopped, open_.end());
  }
}

/// Lists the running flows and their links, with nothing on these yet.
void FairShares::open(std::span<const std::size_t> running) {
  for (const std::size_t link : used_) links_[link] = {};
  used_.clear();
  open_.resize(running.size());
  std::iota(open_.begin(), open_.end(), 0);
  for (const std::size_t flow : running)
    for (const auto& [number, times] : quotient_.flows[flow].links) {
      Link& link = links_[number];
      if (link.flows == 0) {
        used_.push_back(static_cast<std::size_t>(number));
        link.left = quotient_.links[number].si();
      }
      link.flows += times;
    }
}

/// Marks the links that are full first. Returns the rate of their flows.
double FairShares::fill() {
  double least = std::numeric_limits<double>::infinity();
  for (const std::size_t number : used_)
    if (const Link& link = links_[number]; link.flows > 0) least = std::min(least, link.left / link.flows);
  for (const std::size_t number : used_) {
    Link& link = links_[number];
    link.full = link.flows > 0 && link.left <= least * link.flows * (1 + kRounding);
  }
  return least;
}

bool FairShares::is_stopped(std::size_t flow) const {
  const auto& links = quotient_.flows[flow].links;
  return std::any_of(links.begin(), links.end(), [&](const auto& link) { return links_[link.first].full; });
}

/// The flow has its rate.
void FairShares::close(std::size_t flow, double rate) {
  for (const auto& [number, times] : quotient_.flows[flow].links) {
    Link& link = links_[number];
    link.left = std::max(0.0, link.left - times * rate);
    link.flows -= times;
  }
}

}  // namespace stepcast
