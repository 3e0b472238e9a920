#include "sim/replay/messages.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include "models/describe/fault.hpp"
#include "sim/platform/platform.hpp"
#include "sim/replay/link_meter.hpp"
#include "sim/replay/participants.hpp"

namespace stepcast {

namespace s4u = simgrid::s4u;

std::vector<s4u::CommPtr> start_messages(std::vector<Posted>& messages, double unit, LinkMeter* meter) {
  const auto later = [](const Posted& a, const Posted& b) { return a.message.delay < b.message.delay; };
  if (!std::is_sorted(messages.begin(), messages.end(), later))
    std::stable_sort(messages.begin(), messages.end(), later);
  std::vector<s4u::CommPtr> comms;
  comms.reserve(messages.size());
  const double sent = now();
  double waited = 0.0;
  for (const auto& [message, inbox] : messages) {
    // The sums may have the same terms in another order. SimGrid would sleep a nanosecond for the difference.
    if (message.delay > waited * (1 + 1e-12)) {
      sleep(message.delay - waited);
      waited = message.delay;
    }
    s4u::CommPtr comm;
    const double bytes = message.amount * unit;
    if (bytes > kMostMessageBytes)
      throw ModelError(
          fmt::format("a message of {:.3g} bytes is more than replay can count ({:.3g}); use --evaluator equations",
                      bytes, kMostMessageBytes));
    if (message.from != message.to) {
      if (meter) meter->read();
      comm = s4u::Comm::sendto_async(message.from, message.to,
                                     static_cast<std::uint64_t>(std::llround(bytes * kUnitsPerByte)));
      comms.push_back(comm);
      if (meter) meter->add(comm, *message.from, *message.to);
    }
    if (inbox) {
      inbox->messages.push_back({comm, sent});
      if (inbox->reader) inbox->reader->notify();
    }
  }
  return comms;
}

void await(const std::vector<s4u::CommPtr>& messages, LinkMeter* meter) {
  for (const s4u::CommPtr& message : messages) {
    message->wait();
    if (meter) meter->read();
  }
}

double receive(Inbox& box, Track& track) {
  box.reader = &track;
  while (box.messages.empty()) track.wait();
  box.reader = nullptr;
  const Inbox::Entry entry = box.messages.front();
  box.messages.pop_front();
  if (entry.message) entry.message->wait();
  return entry.sent;
}

}  // namespace stepcast
