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

namespace {

void check_size(double bytes) {
  if (bytes > kMostMessageBytes)
    throw ModelError(
        fmt::format("a message of {:.3g} bytes is more than replay can count ({:.3g}); use --evaluator equations",
                    bytes, kMostMessageBytes));
}

/// Starts a message now. Returns null for one that stays on its host.
s4u::CommPtr start(const SimulatedMessage& message, double bytes, LinkMeter* meter) {
  if (message.from == message.to) return nullptr;
  if (meter) meter->read();
  s4u::CommPtr comm = s4u::Comm::sendto_async(message.from, message.to,
                                              static_cast<std::uint64_t>(std::llround(bytes * kUnitsPerByte)));
  if (meter) meter->add(comm, *message.from, *message.to);
  return comm;
}

void post(Inbox& inbox, const s4u::CommPtr& comm, double sent) {
  inbox.messages.push_back({comm, sent});
  if (inbox.reader) inbox.reader->notify();
}

}  // namespace

std::vector<s4u::CommPtr> start_messages(std::vector<Posted>& messages, double unit, LinkMeter* meter) {
  const auto later = [](const Posted& a, const Posted& b) { return a.message.delay < b.message.delay; };
  if (!std::is_sorted(messages.begin(), messages.end(), later))
    std::stable_sort(messages.begin(), messages.end(), later);
  std::vector<s4u::CommPtr> comms;
  comms.reserve(messages.size());
  const double sent = now();
  double waited = 0.0;
  // The sums may have the same terms in another order. SimGrid would sleep a nanosecond for the difference.
  const auto is_due = [&](const Posted& posted) { return posted.message.delay <= waited * (1 + 1e-12); };
  for (auto next = messages.begin(); next != messages.end();) {
    if (!is_due(*next)) {
      sleep(next->message.delay - waited);
      waited = next->message.delay;
    }
    sg::in_kernel([&] {
      for (; next != messages.end() && is_due(*next); ++next) {
        const double bytes = next->message.amount * unit;
        check_size(bytes);
        const s4u::CommPtr comm = start(next->message, bytes, meter);
        if (comm) comms.push_back(comm);
        if (next->inbox) post(*next->inbox, comm, sent);
      }
    });
  }
  return comms;
}

void await(const std::vector<s4u::CommPtr>& messages, LinkMeter* meter) {
  for (auto next = messages.begin(); next != messages.end();) {
    (*next++)->wait();
    if (meter) meter->read();
    if (next != messages.end())
      sg::in_kernel([&] { next = std::find_if_not(next, messages.end(), [](const auto& m) { return m->test(); }); });
  }
}

namespace {

/// Waits for the next message to arrive, and returns the time when it was sent.
double receive(Inbox& box, Track& track) {
  box.reader = &track;
  while (box.messages.empty()) track.wait();
  box.reader = nullptr;
  const Inbox::Entry entry = box.messages.front();
  box.messages.pop_front();
  if (entry.message) entry.message->wait();
  return entry.sent;
}

/// Whether the next message has arrived.
bool has_arrived(const Inbox& box) {
  return !box.messages.empty() && (!box.messages.front().message || box.messages.front().message->test());
}

}  // namespace

double receive_all(const std::vector<int>& expected, std::vector<Inbox>& inboxes, Track& track) {
  double sent = 0.0;
  for (auto next = expected.begin(); next != expected.end();) {
    sent = std::max(sent, receive(inboxes[*next++], track));
    if (next == expected.end()) break;
    sg::in_kernel([&] {
      for (; next != expected.end() && has_arrived(inboxes[*next]); ++next) {
        sent = std::max(sent, inboxes[*next].messages.front().sent);
        inboxes[*next].messages.pop_front();
      }
    });
  }
  return sent;
}

}  // namespace stepcast
