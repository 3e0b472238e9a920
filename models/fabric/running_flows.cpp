#include "models/fabric/running_flows.hpp"

#include <algorithm>
#include <utility>

namespace stepcast {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// A clock is a sum of many short times. Ends that are as near as this are reached.
double reached(double time) { return time * (1 + 1e-14) + 1e-12; }

}  // namespace

RunningFlows::RunningFlows(const Quotient& quotient)
    : quotient_(quotient), shares_(quotient), links_(quotient.links.size()), groups_(quotient.links.size()) {}

RunningFlows::Id RunningFlows::start(std::size_t flow, double bytes, double now) {
  pass(now);
  Id id = flows_.size();
  if (free_.empty()) {
    flows_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  flows_[id] = {flow, started_++, bytes};
  for (const auto& [link, times] : quotient_.flows[flow].links) {
    links_[link].flows += times;
    ++links_[link].running;
  }
  if (grouped_ && join(id, bytes)) return id;
  if (grouped_) ungroup();
  loose_.push_back(id);
  filled_ = false;
  return id;
}

double RunningFlows::next_end() {
  if (!filled_) fill();
  double next = kNever;
  for (const int link : decisive_) {
    const Group& group = groups_[link];
    next = std::min(next, now_ + std::max(0.0, group.ends.top().first - group.count) / group.rate);
  }
  for (std::size_t i = 0; i < loose_.size(); ++i)
    next = std::min(next, now_ + std::max(0.0, flows_[loose_[i]].rest) / rates_[i]);
  return next;
}

std::vector<RunningFlows::Id> RunningFlows::end(double now) {
  pass(now);
  std::vector<Id> ended;
  bool stays = true;
  for (const int link : decisive_) stays = end_some(link, ended) && stays;
  std::erase_if(decisive_, [&](int link) { return !links_[link].decisive; });
  if (!stays) ungroup();
  end_loose(ended);
  std::sort(ended.begin(), ended.end(), [&](Id a, Id b) { return flows_[a].started < flows_[b].started; });
  return ended;
}

/// The link of a flow with the least bandwidth for each flow.
int RunningFlows::narrowest(std::size_t flow) const {
  const auto& links = quotient_.flows[flow].links;
  return std::min_element(links.begin(), links.end(),
                          [&](const auto& a, const auto& b) { return share(a.first) < share(b.first); })
      ->first;
}

/// Counts what flows have carried until now.
void RunningFlows::pass(double now) {
  if (now > now_ && !filled_) fill();
  for (const int link : decisive_) groups_[link].count += groups_[link].rate * (now - now_);
  for (std::size_t i = 0; i < loose_.size() && filled_; ++i) flows_[loose_[i]].rest -= rates_[i] * (now - now_);
  now_ = now;
}

/// Adds a flow to its group. Returns false, and leaves the groups as they are, if flows cannot be grouped any more.
bool RunningFlows::join(Id id, double bytes) {
  const auto& links = quotient_.flows[flows_[id].number].links;
  const int own = narrowest(flows_[id].number);
  Group& group = groups_[own];
  const bool is_new = group.ends.empty();
  if (is_new && links_[own].running > 1) return false;  // the link's other flows are stopped elsewhere
  double room = kNever;                                 // of the links that the flow makes fuller
  for (const auto& [link, times] : links) {
    if (link == own) continue;
    if (links_[link].decisive) return false;  // two of them
    room = std::min(room, share(link));
  }
  const double most = room * (1 + FairShares::kRounding);
  if (std::any_of(decisive_.begin(), decisive_.end(),
                  [&](int link) { return link != own && groups_[link].rate > most; }))
    return false;
  for (const int link : decisive_) groups_[link].room = std::min(groups_[link].room, room);
  if (is_new) {
    links_[own].decisive = true;
    decisive_.push_back(own);
    group.count = 0.0;
    group.room = room;
  }
  group.rate = share(own);
  group.ends.emplace(group.count + bytes, id);
  return true;
}

/// Takes a flow that has ended from its links.
void RunningFlows::leave(Id id) {
  for (const auto& [link, times] : quotient_.flows[flows_[id].number].links) {
    links_[link].flows -= times;
    --links_[link].running;
  }
  free_.push_back(id);
}

/// Ends flows of a group. Returns false if flows cannot be grouped any more.
bool RunningFlows::end_some(int link, std::vector<Id>& ended) {
  Group& group = groups_[link];
  const std::size_t before = ended.size();
  while (!group.ends.empty() && now_ + (group.ends.top().first - group.count) / group.rate <= reached(now_)) {
    ended.push_back(group.ends.top().second);
    group.ends.pop();
    leave(ended.back());
  }
  if (ended.size() == before) return true;
  links_[link].decisive = !group.ends.empty();
  if (group.ends.empty()) return true;
  group.rate = share(link);
  return group.rate <= group.room * (1 + FairShares::kRounding);
}

void RunningFlows::end_loose(std::vector<Id>& ended) {
  if (!filled_) return;
  const std::size_t before = ended.size();
  std::size_t left = 0;
  for (std::size_t i = 0; i < loose_.size(); ++i) {
    const Id id = loose_[i];
    if (now_ + flows_[id].rest / rates_[i] > reached(now_)) {
      loose_[left++] = id;
      continue;
    }
    ended.push_back(id);
    leave(id);
  }
  loose_.resize(left);
  filled_ = ended.size() == before;
}

/// Finds the rates of loose flows, and groups them if it can.
void RunningFlows::fill() {
  std::vector<std::size_t> running;
  for (const Id id : loose_) running.push_back(flows_[id].number);
  shares_.share(running, rates_);
  filled_ = true;
  if (find_decisive()) group();
}

/// Lists the links that stop all of their flows. Returns false, and lists none, if some flows cross none or two of them.
bool RunningFlows::find_decisive() {
  bool found = true;
  for (std::size_t i = 0; i < loose_.size() && found; ++i) {
    const int own = narrowest(flows_[loose_[i]].number);
    found = rates_[i] <= share(own) * (1 + FairShares::kRounding);
    if (!std::exchange(links_[own].decisive, true)) decisive_.push_back(own);
  }
  for (std::size_t i = 0; i < loose_.size() && found; ++i) {
    const auto& links = quotient_.flows[flows_[loose_[i]].number].links;
    found = std::count_if(links.begin(), links.end(), [&](const auto& l) { return links_[l.first].decisive; }) == 1;
  }
  if (found) return true;
  for (const int link : decisive_) links_[link].decisive = false;
  decisive_.clear();
  return false;
}

/// @pre find_decisive()
void RunningFlows::group() {
  grouped_ = true;
  for (const int link : decisive_) {
    Group& group = groups_[link];
    group.count = 0.0;
    group.rate = share(link);
    group.room = kNever;
  }
  for (const Id id : loose_) {
    const std::size_t flow = flows_[id].number;
    Group& group = groups_[narrowest(flow)];
    group.ends.emplace(flows_[id].rest, id);
    for (const auto& [link, times] : quotient_.flows[flow].links)
      if (!links_[link].decisive) group.room = std::min(group.room, share(link));
  }
  loose_.clear();
}

void RunningFlows::ungroup() {
  grouped_ = filled_ = false;
  for (const int link : decisive_) {
    Group& group = groups_[link];
    for (; !group.ends.empty(); group.ends.pop()) {
      const auto& [end, id] = group.ends.top();
      flows_[id].rest = end - group.count;
      loose_.push_back(id);
    }
    links_[link].decisive = false;
  }
  decisive_.clear();
}

}  // namespace stepcast
