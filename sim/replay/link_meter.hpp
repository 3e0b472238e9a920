// The bytes that cross each link of a full replay, over time.
#pragma once

#include <functional>
#include <vector>

#include "sim/platform/compat.hpp"
#include "sim/replay/replay.hpp"

namespace stepcast {

/// Watches messages from their start to their end. It is read when a message starts, and when the task that waits for one
/// goes on. Between two readings it tells the mean: a message that ends earlier than another awaited one counts until
/// the next reading.
class LinkMeter {
 public:
  explicit LinkMeter(const LinkObserver& observer) : observer_(observer) {}

  /// Has to be called as a message starts.
  void add(const simgrid::s4u::CommPtr& message, const simgrid::s4u::Host& from, const simgrid::s4u::Host& to);
  /// Tells the observer what has crossed the links since the last reading. Has to be called before a message starts, and
  /// after one has ended.
  void read();

 private:
  struct Moving {
    simgrid::s4u::CommPtr message;
    std::vector<simgrid::s4u::Link*> links;
    double remaining;  ///< at the last reading
  };

  const LinkObserver& observer_;
  std::vector<Moving> moving_;
  double last_ = 0;  ///< time of the last reading
};

}  // namespace stepcast
