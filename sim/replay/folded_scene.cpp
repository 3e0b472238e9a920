#include <fmt/format.h>

#include "sim/platform/host_specs.hpp"
#include "sim/platform/platform.hpp"
#include "sim/replay/scene.hpp"

namespace stepcast {
namespace {

namespace s4u = simgrid::s4u;

/// SimGrid hosts and links of quotients. A route that names a link w times makes its flow count w times there;
/// of SimGrid's zones the full one keeps such routes, so every flow has one to itself, with its two ends.
class QuotientPlatform {
 public:
  struct Ends {
    s4u::Host* from;
    s4u::Host* to;
  };

  explicit QuotientPlatform(s4u::Engine& engine) : root_(sg::root_star(engine, "folded")) {}

  s4u::Host* add_host(double speed) {
    auto* host = sg::add_host(root_, fmt::format("host-{}", hosts_++), kWorkPerSecond * speed);
    host->seal();
    return host;
  }

  /// Ends of every flow.
  std::vector<Ends> add(const Quotient& quotient) {
    std::vector<s4u::Link*> links;
    for (const BytesPerSecond bandwidth : quotient.links) {
      links.push_back(sg::add_link(root_, fmt::format("link-{}", links_++), bandwidth.si() * kUnitsPerByte));
      links.back()->seal();
    }
    std::vector<Ends> ends;
    for (const QuotientFlow& flow : quotient.flows) {
      if (flow.local) {
        auto* host = add_host(1.0);
        ends.push_back({host, host});
        continue;
      }
      auto* zone = sg::full_in(root_, fmt::format("flow-{}", flows_++));
      ends.push_back({sg::add_host(zone, zone->get_name() + "-from", 1.0), sg::add_host(zone, zone->get_name() + "-to", 1.0)});
      sg::Route route;
      for (const auto& [link, times] : flow.links) route.insert(route.end(), static_cast<std::size_t>(times), s4u::LinkInRoute(links[static_cast<std::size_t>(link)]));
      sg::connect_hosts(zone, ends.back().from, ends.back().to, route);
      zone->seal();
    }
    return ends;
  }

  void seal() { root_->seal(); }

 private:
  s4u::NetZone* root_;
  int hosts_ = 0, links_ = 0, flows_ = 0;
};

class FoldedScene : public Scene {
 public:
  FoldedScene(s4u::Engine& engine, const Cluster& cluster, const StepGraph& graph) : fold_(fold(cluster, graph)) {
    QuotientPlatform platform(engine);
    const HostSpecs specs(cluster);
    for (const ParticipantClass& c : fold_.participants) participants_.push_back({c, platform.add_host(c.role == Role::worker ? specs.of(c.index).speed : 1.0)});
    ends_ = platform.add(fold_.direct);
    flows_ = ends_.size();
    for (const auto& [key, collective] : fold_.collectives)
      for (const FoldedRound& round : collective) {
        SceneRound seen{{}, round.load};
        const auto ends = platform.add(round.system);
        for (std::size_t f = 0; f < ends.size(); ++f) seen.messages.push_back({ends[f].from, ends[f].to, round.system.flows[f].delay.si(), round.blocks[f]});
        flows_ += ends.size();
        rounds_[key].push_back({std::move(seen), round.times});
      }
    platform.seal();
  }

  [[nodiscard]] bool is_folded() const override { return true; }
  [[nodiscard]] double work_per_second() const override { return kWorkPerSecond; }
  [[nodiscard]] std::string summary() const override {
    const auto counted = [](std::size_t count, const char* one, const char* many) { return fmt::format("{} {}", count, count == 1 ? one : many); };
    return fmt::format("{}, {}", counted(participants_.size(), "participant", "participants"), counted(flows_, "flow", "flows"));
  }

  void for_each_round(const CollectiveCall& call, const RoundVisitor& f) override {
    const auto found = rounds_.find(Fold::key(call));
    if (found == rounds_.end()) return;  // one participant
    for (const auto& [round, times] : found->second) f(round, times);
  }

  /// One for each class of messages.
  [[nodiscard]] int inboxes() const override { return static_cast<int>(fold_.direct_flows.size()); }

  SceneExchange exchange(const DirectWork& work, std::size_t participant) override {
    SceneExchange exchange;
    for (std::size_t f = 0; f < fold_.direct_flows.size(); ++f) {
      const DirectFlow& flow = fold_.direct_flows[f];
      const double bytes = work.shard_bytes[static_cast<std::size_t>(flow.shard)].si();
      if (flow.pattern != work.pattern || bytes == 0.0) continue;
      const int inbox = static_cast<int>(f);
      if (static_cast<std::size_t>(flow.sender) == participant) exchange.outgoing.push_back({{ends_[f].from, ends_[f].to, fold_.direct.flows[f].delay.si(), bytes}, inbox});
      if (static_cast<std::size_t>(flow.receiver) == participant) exchange.expected.push_back(inbox);
    }
    return exchange;
  }

  SceneMessage transfer(const ShardTransfer&, std::size_t) override { throw std::logic_error("asynchronous servers cannot be folded"); }

 private:
  Fold fold_;
  std::vector<QuotientPlatform::Ends> ends_;  ///< beside fold_.direct_flows
  std::map<Fold::Key, std::vector<std::pair<SceneRound, int>>> rounds_;
  std::size_t flows_ = 0;
};

}  // namespace

std::unique_ptr<Scene> make_folded_scene(s4u::Engine& engine, const Cluster& cluster, const StepGraph& graph) { return std::make_unique<FoldedScene>(engine, cluster, graph); }

}  // namespace stepcast
