#include "sim/replay/link_meter.hpp"

#include <map>

#include "sim/platform/platform.hpp"
#include "sim/replay/participants.hpp"

namespace stepcast {

namespace s4u = simgrid::s4u;

void LinkMeter::add(const s4u::CommPtr& message, const s4u::Host& from, const s4u::Host& to) {
  Moving moving{message, {}, message->get_remaining()};
  double latency = 0;
  from.route_to(&to, moving.links, &latency);
  std::erase_if(moving.links, [](const s4u::Link* link) {
    return link->get_name().starts_with(kFreeLink) || link->get_name().starts_with(kConnections);
  });
  moving_.push_back(std::move(moving));
}

void LinkMeter::read() {
  const double time = now();
  if (!(time > last_)) return;
  const auto by_name = [](const s4u::Link* a, const s4u::Link* b) { return a->get_name() < b->get_name(); };
  std::map<s4u::Link*, double, decltype(by_name)> crossed(by_name);
  for (Moving& moving : moving_) {
    const double remaining = moving.message->get_remaining();
    for (s4u::Link* link : moving.links) crossed[link] += moving.remaining - remaining;
    moving.remaining = remaining;
  }
  for (const auto& [link, amount] : crossed)
    if (amount > 0)
      observer_({link->get_name(), link->get_bandwidth() / kUnitsPerByte, amount / kUnitsPerByte, last_, time});
  std::erase_if(moving_, [](const Moving& moving) { return moving.remaining <= 0; });
  last_ = time;
}

}  // namespace stepcast
