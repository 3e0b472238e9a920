#include "models/fabric/fullest_link.hpp"

#include <algorithm>
#include <limits>

#include "models/collective/ring_latencies.hpp"
#include "models/fabric/fair_shares.hpp"
#include "models/fabric/last_route.hpp"

namespace stepcast {
namespace {

constexpr double kNoFlow = std::numeric_limits<double>::infinity();

struct LinkLoad {
  double blocks = 0.0;     ///< 0: no flow
  double first = kNoFlow;  ///< the shortest latency of its flows
};

bool are_alike(const Message& a, const Message& b) {
  return a.from == b.from && a.to == b.to && a.slice.count == b.slice.count;
}

/// A round's links, with the latencies of the routes.
struct Loads {
  std::vector<LinkLoad> of_link;
  double longest = 0.0;       ///< the longest latency of a message
  bool have_one_size = true;  ///< whether all messages do
};

Loads loads_of(const Round& round, Fabric& fabric) {
  Loads loads;
  Fabric::Route hops;
  for (std::size_t i = 0, next = 0; i < round.size(); i = next) {
    const Message& message = round[i];
    for (next = i + 1; next < round.size() && are_alike(round[next], message);) ++next;
    const double blocks = static_cast<double>(message.slice.count) * static_cast<double>(next - i);
    hops.clear();
    fabric.append_route(message.from, message.to, hops);
    const double latency = fabric.latency(hops).si();
    loads.longest = std::max(loads.longest, latency);
    loads.have_one_size = loads.have_one_size && message.slice.count == round.front().slice.count;
    if (loads.of_link.size() < fabric.links().size()) loads.of_link.resize(fabric.links().size());
    for (const int hop : hops) {
      LinkLoad& load = loads.of_link[hop];
      load.blocks += blocks;
      load.first = std::min(load.first, latency);
    }
  }
  return loads;
}

void set_first(std::vector<LinkLoad>& loads, const Round& round, Fabric& fabric, const std::vector<double>& latencies) {
  for (LinkLoad& load : loads) load.first = kNoFlow;
  LastRoute last(fabric);
  for (std::size_t i = 0; i < round.size(); ++i)
    for (const int hop : last.of(round[i])) loads[hop].first = std::min(loads[hop].first, latencies[i]);
}

/// Finds the fullest among links and the messages' own connections.
void find_fullest(const std::vector<LinkLoad>& loads, const Round& round, Fabric& fabric, FullestLink& fullest) {
  const auto time_on = [&](std::size_t link) { return loads[link].blocks / fabric.links()[link].bandwidth.si(); };
  const auto time_alone = [&](const Message& m) { return m.slice.count / fabric.limit(m.from, m.to).si(); };
  for (std::size_t link = 0; link < loads.size(); ++link)
    if (loads[link].blocks > 0) fullest.load = std::max(fullest.load, time_on(link));
  if (fabric.limits_messages())
    for (const Message& message : round) fullest.load = std::max(fullest.load, time_alone(message));

  const double least = fullest.load * (1 - FairShares::kRounding);
  const auto is_undecided = [&] { return fullest.link < 0 && !fullest.message; };
  for (std::size_t link = 0; link < loads.size(); ++link)
    if (loads[link].blocks > 0 && time_on(link) >= least && (is_undecided() || loads[link].first > fullest.first)) {
      fullest.first = loads[link].first;
      fullest.blocks = loads[link].blocks;
      fullest.link = static_cast<int>(link);
    }
  if (!fabric.limits_messages() || fullest.load <= 0) return;
  LastRoute last(fabric);
  for (std::size_t i = 0; i < round.size(); ++i) {
    if (time_alone(round[i]) < least) continue;
    const double latency = fullest.latencies.empty() ? last.latency_of(round[i]) : fullest.latencies[i];
    if (!is_undecided() && latency <= fullest.first) continue;
    fullest.first = latency;
    fullest.blocks = round[i].slice.count;
    fullest.link = -1;
    fullest.message = i;
  }
}

}  // namespace

FullestLink fullest_link(const Round& round, Fabric& fabric, bool goes_around, Delays delays) {
  FullestLink fullest;
  Loads loads = loads_of(round, fabric);
  fullest.latency = loads.longest;
  if (goes_around) {
    fullest.latencies = even_latencies(round, route_latencies(round, fabric));
    fullest.latency = *std::max_element(fullest.latencies.begin(), fullest.latencies.end());
  }
  if (delays == Delays::beside) fullest.latencies.assign(round.size(), 0.0);
  if (!fullest.latencies.empty()) set_first(loads.of_link, round, fabric, fullest.latencies);
  fullest.start = delays == Delays::beside ? 0.0 : fullest.latency;
  find_fullest(loads.of_link, round, fabric, fullest);
  fullest.is_closed = loads.have_one_size && fullest.first >= fullest.start * (1 - FairShares::kRounding);
  return fullest;
}

Quotient one_for_all(const FullestLink& fullest, const Round& round, const Fabric& fabric) {
  const Message& message = fullest.message ? round[*fullest.message] : round.front();
  const BytesPerSecond bandwidth =
      fullest.message ? fabric.limit(message.from, message.to) : fabric.links()[fullest.link].bandwidth;
  const double flows = fullest.blocks / message.slice.count;  // all messages have one size
  return {{bandwidth / flows}, {{{{0, 1}}, Seconds(fullest.first), false}}};
}

}  // namespace stepcast
