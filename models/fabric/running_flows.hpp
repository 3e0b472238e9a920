// Flows that start at any time and share links, on a clock of their own.
//
// A change of rates for each flow would cost as much as there are flows, whenever one starts or ends. Often one link
// stops all flows that cross it, such as a server's. Its flows then have one rate, and one count of bytes serves all: a
// flow ends when the count has grown by its bytes (virtual time; Parekh and Gallager 1993). A start or an end then costs
// the logarithm of the number of flows.
//
// Links that stop all of their flows are decisive. The flows are grouped as long as
//
//   - each flow crosses one decisive link: that with the least bandwidth for each flow, B/n;
//   - no decisive link gives its flows more than B/n of any other link of a flow: those are then never full.
//
// Otherwise, rates follow by progressive filling (fair_shares.hpp), and the flows are grouped again if they can be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

#include "models/fabric/fair_shares.hpp"

namespace stepcast {

class RunningFlows {
 public:
  using Id = std::size_t;  ///< free for another one when its flow has ended

  /// @param quotient  has to live as long
  explicit RunningFlows(const Quotient& quotient);

  /// A flow starts. A flow of the quotient may run several times at once. @pre it has links, and bytes
  Id start(std::size_t flow, double bytes, double now);
  /// The time of the next end, if no other flow starts; infinity if none runs.
  [[nodiscard]] double next_end();
  /// Those that have ended by now, in order of their start. Times in seconds; they never decrease.
  std::vector<Id> end(double now);

 private:
  struct Flow {
    std::size_t number = 0;  ///< in the quotient
    std::uint64_t started = 0;
    double rest = 0.0;  ///< bytes when last counted, if it is not in a group
  };
  struct Link {
    int flows = 0;    ///< n: a flow that counts w times on the link counts as w
    int running = 0;  ///< a flow counts once
    bool decisive = false;
  };
  /// The flows of a decisive link.
  struct Group {
    using End = std::pair<double, Id>;  ///< the count at which a flow ends
    std::priority_queue<End, std::vector<End>, std::greater<>> ends;
    double count = 0.0;  ///< bytes that each flow has carried since the group began
    double rate = 0.0;
    /// Not more than B/n of any other link of its flows. It may be less, since ends only raise B/n.
    double room = std::numeric_limits<double>::infinity();
  };

  [[nodiscard]] double share(int link) const { return quotient_.links[link].si() / links_[link].flows; }
  [[nodiscard]] int narrowest(std::size_t flow) const;
  void pass(double now);
  bool join(Id id, double bytes);
  void leave(Id id);
  bool end_some(int link, std::vector<Id>& ended);
  void end_loose(std::vector<Id>& ended);
  void fill();
  bool find_decisive();
  void group();
  void ungroup();

  const Quotient& quotient_;
  FairShares shares_;
  std::vector<Link> links_;
  std::vector<Flow> flows_;  ///< by id
  std::vector<Id> free_;
  std::uint64_t started_ = 0;
  double now_ = 0.0;

  bool grouped_ = true;
  std::vector<Group> groups_;  ///< by link
  std::vector<int> decisive_;  ///< links with a group

  std::vector<Id> loose_;      ///< flows without a group
  std::vector<double> rates_;  ///< beside loose_
  bool filled_ = true;         ///< whether the rates are those of the present flows
};

}  // namespace stepcast
