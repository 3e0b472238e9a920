#include <map>
#include <memory>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/fabric/host_specs.hpp"
#include "sim/platform/platform.hpp"
#include "sim/replay/fair_flows.hpp"
#include "sim/replay/participants.hpp"
#include "sim/replay/simulated_cluster.hpp"

namespace stepcast {
namespace {

namespace s4u = simgrid::s4u;

/// SimGrid hosts and links of quotients.
///
/// A route that names a link w times makes its flow count w times there. A star zone drops such repetitions. A full
/// zone keeps them, but has a table of all pairs of its hosts. SimGrid also walks over all zones to add a host, and
/// over all hosts to seal a zone.
///
/// Flows that count once everywhere therefore use hosts of one star, and end at a host without contention. Every other
/// flow connects two hosts of a full zone with some dozens of hosts. Each pair of them has one flow each way.
class QuotientPlatform {
 public:
  struct Ends {
    s4u::Host* from;
    s4u::Host* to;
  };

  explicit QuotientPlatform(s4u::Engine& engine) : root_(sg::root_star(engine, "folded")) {
    auto* free = sg::add_link(root_, kFreeLink, kFreeRate);
    free->seal();
    sink_ = add_host(1.0);
    sg::connect_host(root_, sink_, {s4u::LinkInRoute(free)});
  }

  s4u::Host* add_host(double speed) { return add_host(root_, speed); }

  /// The two hosts of every flow.
  std::vector<Ends> add(const Quotient& quotient) {
    std::vector<s4u::Link*> links;
    for (const BytesPerSecond bandwidth : quotient.links) {
      links.push_back(sg::add_link(root_, fmt::format("link-{}", links_++), bandwidth.si() * kUnitsPerByte));
      links.back()->seal();
    }
    std::vector<Ends> ends;
    for (const QuotientFlow& flow : quotient.flows) {
      if (flow.local) {
        ends.push_back({sink_, sink_});
        continue;
      }
      sg::Route route;
      for (const auto& [link, times] : flow.links)
        route.insert(route.end(), static_cast<std::size_t>(times), s4u::LinkInRoute(links[link]));
      if (route.size() == flow.links.size()) {
        ends.push_back({add_host(1.0), sink_});
        sg::connect_host(root_, ends.back().from, route);
      } else {
        ends.push_back(add_weighted(route));
      }
    }
    return ends;
  }

  void seal() {
    if (full_) full_->seal();
    root_->seal();
  }

 private:
  static constexpr std::size_t kHostsOfZone = 64;

  s4u::Host* add_host(s4u::NetZone* zone, double speed) {
    auto* host = sg::add_host(zone, fmt::format("host-{}", hosts_++), kWorkPerSecond * speed);
    host->seal();
    return host;
  }

  /// The newest host of a zone and the older ones, both ways; then the next.
  Ends add_weighted(const sg::Route& route) {
    if (!full_ || (full_hosts_.size() == kHostsOfZone && ends_of_newest_ == 2 * (kHostsOfZone - 1))) {
      if (full_) full_->seal();
      full_ = sg::full_in(root_, fmt::format("weighted-{}", zones_++));
      full_hosts_ = {add_host(full_, 1.0)};
      ends_of_newest_ = 0;
    }
    if (ends_of_newest_ == 2 * (full_hosts_.size() - 1)) {
      full_hosts_.push_back(add_host(full_, 1.0));
      ends_of_newest_ = 0;
    }
    Ends ends{full_hosts_.back(), full_hosts_[ends_of_newest_ / 2]};
    if (ends_of_newest_++ % 2 == 1) std::swap(ends.from, ends.to);
    sg::connect_hosts(full_, ends.from, ends.to, route);
    return ends;
  }

  s4u::NetZone* root_;
  s4u::Host* sink_ = nullptr;
  s4u::NetZone* full_ = nullptr;  ///< the zone that is being filled
  std::vector<s4u::Host*> full_hosts_;
  std::size_t ends_of_newest_ = 0;  ///< of its newest host, those that have flows
  int hosts_ = 0, links_ = 0, zones_ = 0;
};

class FoldedCluster : public SimulatedCluster {
 public:
  FoldedCluster(s4u::Engine& engine, const Cluster& cluster, const StepGraph& graph, Fold fold)
      : fold_(std::move(fold)) {
    QuotientPlatform platform(engine);
    const HostSpecs specs(cluster);
    for (const ParticipantClass& c : fold_.participants)
      participants_.push_back({c, platform.add_host(c.role == Role::worker ? specs.of(c.index).speed : 1.0)});
    flows_ = fold_.direct_flows.size();
    if (graph.asynchronous) carried_ = std::make_unique<FairFlows>(engine, fold_.direct, participants_.front().host);
    else ends_ = platform.add(fold_.direct);
    for (std::size_t f = 0; f < fold_.direct_flows.size(); ++f)
      if (const DirectFlow& flow = fold_.direct_flows[f]; flow.exchange) {
        const int worker = *flow.exchange == ShardExchange::push ? flow.sender : flow.receiver;
        transfers_[{*flow.exchange, flow.number, static_cast<std::size_t>(worker)}] = f;
      }
    std::map<const FoldedRound::Flows*, std::vector<SimulatedMessage>> messages;
    for (const auto& [key, collective] : fold_.collectives)
      for (const FoldedRound& round : collective) {
        const auto [known, is_new] = messages.try_emplace(round.flows.get());
        if (is_new) {
          const auto ends = platform.add(round.flows->system);
          for (std::size_t f = 0; f < ends.size(); ++f)
            known->second.push_back(
                {ends[f].from, ends[f].to, round.flows->system.flows[f].delay.si(), round.flows->blocks[f]});
          flows_ += ends.size();
        }
        rounds_[key].push_back({{known->second, round.load, round.has_last}, round.times});
      }
    platform.seal();
  }

  [[nodiscard]] bool is_folded() const override { return true; }
  [[nodiscard]] double work_per_second() const override { return kWorkPerSecond; }
  [[nodiscard]] std::string summary() const override {
    const auto counted = [](std::size_t count, const char* one, const char* many) {
      return fmt::format("{} {}", count, count == 1 ? one : many);
    };
    return fmt::format("{}, {}", counted(participants_.size(), "participant", "participants"),
                       counted(flows_, "flow", "flows"));
  }

  void for_each_round(const CollectiveCall& call, const RoundVisitor& f, std::optional<int>) override {
    const auto found = rounds_.find(key_of(call));
    if (found == rounds_.end()) return;  // one participant sends nothing
    for (const auto& [round, times] : found->second) f(round, times);
  }

  /// One for each class of messages.
  [[nodiscard]] int inboxes(const Work&) const override { return static_cast<int>(fold_.direct_flows.size()); }

  SimulatedExchange exchange(const ShardWork& work, std::size_t participant) override {
    return exchange(participant, [&](const DirectFlow& flow) {
      return flow.exchange == work.exchange ? work.shard_bytes[flow.number].si() : 0.0;
    });
  }
  SimulatedExchange exchange(const NeighbourWork& work, std::size_t participant) override {
    return exchange(participant, [&](const DirectFlow& flow) {
      return !flow.exchange && flow.number == work.neighbours.step ? work.bytes.si() : 0.0;
    });
  }

  SimulatedMessage between(int, int, Bytes) override { throw std::logic_error("pairs by chance are not folded"); }

  void carry(const ShardTransfer& transfer, Track& track) override {
    carried_->carry(transfers_.at({transfer.exchange, transfer.shard, track.participant->number}), transfer.bytes.si(),
                    track);
  }

  [[nodiscard]] bool includes(const Task& task) const override {
    if (const auto* transfer = std::get_if<ShardTransfer>(&task.work)) return is_simulated(transfer->shard);
    if (const auto* serve = std::get_if<ShardServe>(&task.work)) return is_simulated(serve->shard);
    return true;
  }

 private:
  /// Every worker exchanges with every shard that is simulated, and participant 0 is a worker.
  [[nodiscard]] bool is_simulated(int shard) const { return transfers_.contains({ShardExchange::push, shard, 0}); }

  /// @param bytes_of  the bytes of a flow's message; 0 for flows of other exchanges
  template <class BytesOf>
  SimulatedExchange exchange(std::size_t participant, BytesOf&& bytes_of) {
    SimulatedExchange exchange;
    for (std::size_t f = 0; f < fold_.direct_flows.size(); ++f) {
      const DirectFlow& flow = fold_.direct_flows[f];
      const double bytes = bytes_of(flow);
      if (bytes == 0.0) continue;
      const int inbox = static_cast<int>(f);
      if (static_cast<std::size_t>(flow.sender) == participant)
        exchange.outgoing.push_back({{ends_[f].from, ends_[f].to, fold_.direct.flows[f].delay.si(), bytes}, inbox});
      if (static_cast<std::size_t>(flow.receiver) == participant) exchange.expected.push_back(inbox);
    }
    return exchange;
  }

  Fold fold_;
  std::vector<QuotientPlatform::Ends> ends_;  ///< beside fold_.direct_flows, unless they are carried
  std::unique_ptr<FairFlows> carried_;        ///< messages of asynchronous servers
  std::map<CallKey, std::vector<std::pair<SimulatedRound, int>>> rounds_;
  std::map<std::tuple<ShardExchange, int, std::size_t>, std::size_t> transfers_;  ///< by shard and worker: the flow
  std::size_t flows_ = 0;
};

}  // namespace

std::unique_ptr<SimulatedCluster> make_folded_cluster(s4u::Engine& engine, const Cluster& cluster,
                                                      const StepGraph& graph, Fold fold) {
  return std::make_unique<FoldedCluster>(engine, cluster, graph, std::move(fold));
}

}  // namespace stepcast
