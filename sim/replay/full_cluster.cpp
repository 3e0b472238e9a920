#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "models/collective/ring_latencies.hpp"
#include "models/part/host_costs.hpp"
#include "models/price/shard_placement.hpp"
#include "sim/platform/platform.hpp"
#include "sim/replay/messages.hpp"
#include "sim/replay/participants.hpp"
#include "sim/replay/simulated_cluster.hpp"

namespace stepcast {
namespace {

namespace s4u = simgrid::s4u;

class FullCluster : public SimulatedCluster {
 public:
  FullCluster(s4u::Engine& engine, const Cluster& cluster, const StepGraph& graph)
      : cluster_(cluster),
        graph_(graph),
        platform_(build_platform(engine, cluster, graph.shards_co_located ? 0 : graph.shards)),
        p_(cluster.workers) {
    for (int rank = 0; rank < p_; ++rank) participants_.push_back({{Role::worker, rank, 1}, platform_.workers[rank]});
    for (int shard = 0; shard < (graph.asynchronous ? 0 : graph.shards); ++shard)
      participants_.push_back({{Role::server, shard, 1}, host_of_shard(shard)});
  }

  [[nodiscard]] bool is_folded() const override { return false; }
  [[nodiscard]] double work_per_second() const override { return platform_.work_per_second; }
  [[nodiscard]] std::string summary() const override { return ""; }

  void for_each_round(const CollectiveCall& call, const RoundVisitor& f, std::optional<int> communicator) override {
    const Schedule schedule = schedule_of(call, p_);
    SimulatedRound seen;
    for (int r = 0, round_seen = -1; r < schedule.rounds; ++r) {
      if (const int like = schedule.like_round(r); like != round_seen) {
        Round round = schedule.round(like);
        if (communicator)
          std::erase_if(round, [&](const Message& message) { return call.among.of(message.from) != *communicator; });
        show(round, have_mean_latency(schedule, like, cluster_.ring_latency), seen);
        round_seen = like;
      }
      seen.is_last = r == schedule.rounds - 1;
      f(seen, 1);
    }
  }

  /// One for each participant, or for each message between neighbours, whose receivers tell senders apart.
  [[nodiscard]] int inboxes(const Work& work) const override {
    const auto* neighbours = std::get_if<NeighbourWork>(&work);
    return static_cast<int>(neighbours ? message_count(neighbours->neighbours, p_)
                                       : static_cast<std::int64_t>(participants_.size()));
  }

  SimulatedExchange exchange(const NeighbourWork& work, std::size_t participant) override {
    const auto [known, is_new] = messages_.try_emplace(&work);
    if (is_new) known->second = by_worker(messages_of(work.neighbours, p_));
    const Messages& own = known->second[participants_[participant].index];
    SimulatedExchange exchange{{}, own.received};
    for (const auto& [to, inbox] : own.sent)
      exchange.outgoing.push_back(
          {message(participants_[participant].host, platform_.workers[to], work.bytes.si()), inbox});
    return exchange;
  }

  /// Push: workers send, shards receive. Pull: the other way round.
  SimulatedExchange exchange(const ShardWork& work, std::size_t participant) override {
    SimulatedExchange exchange;
    const Participant& self = participants_[participant];
    const bool is_worker = self.role == Role::worker;
    const bool sends = is_worker == (work.exchange == ShardExchange::push);
    const auto with = [&](std::size_t peer, int shard) {
      const double bytes = work.shard_bytes[shard].si();
      if (bytes == 0.0) return;
      if (sends)
        exchange.outgoing.push_back({message(self.host, participants_[peer].host, bytes), static_cast<int>(peer)});
      else exchange.expected.push_back(static_cast<int>(participant));
    };
    if (is_worker)
      for (int shard = 0; shard < graph_.shards; ++shard) with(p_ + shard, shard);
    else
      for (int worker = 0; worker < p_; ++worker) with(worker, self.index);
    return exchange;
  }

  void carry(const ShardTransfer& transfer, Track& track) override {
    s4u::Host *from = track.participant->host, *to = host_of_shard(transfer.shard);
    if (transfer.exchange == ShardExchange::pull) std::swap(from, to);
    std::vector<Posted> outgoing{{message(from, to, transfer.bytes.si())}};
    await(start_messages(outgoing, 1.0, meter), meter);
  }

  SimulatedMessage between(int from, int to, Bytes bytes) override {
    return message(platform_.workers[from], platform_.workers[to], bytes.si());
  }

 private:
  /// A worker's messages to neighbours, by receiver and inbox, and the inboxes of those that it receives.
  struct Messages {
    std::vector<std::pair<int, int>> sent;
    std::vector<int> received;
  };
  [[nodiscard]] std::vector<Messages> by_worker(const Round& round) const {
    std::vector<Messages> all(static_cast<std::size_t>(p_));
    for (std::size_t i = 0; i < round.size(); ++i) {
      all[round[i].from].sent.emplace_back(round[i].to, static_cast<int>(i));
      all[round[i].to].received.push_back(static_cast<int>(i));
    }
    return all;
  }

  [[nodiscard]] s4u::Host* host_of_shard(int shard) const {
    if (!graph_.shards_co_located) return platform_.shards[shard];
    return platform_.workers[shard_host(cluster_, graph_.shards, true, shard)];
  }
  [[nodiscard]] SimulatedMessage message(s4u::Host* from, s4u::Host* to, double amount) const {
    return {from, to, platform_.delay(from, to), amount};
  }

  void show(const Round& round, bool goes_around, SimulatedRound& seen) const {
    seen.messages.clear();
    for (const Message& m : round)
      seen.messages.push_back(message(platform_.workers[m.from], platform_.workers[m.to], m.slice.count));
    if (goes_around) {
      std::vector<double> delays;
      for (const SimulatedMessage& m : seen.messages) delays.push_back(m.delay);
      delays = even_latencies(round, std::move(delays));
      for (std::size_t i = 0; i < delays.size(); ++i) seen.messages[i].delay = delays[i];
    }
    seen.load = load_of(round, host_costs(cluster_));
  }

  const Cluster& cluster_;
  const StepGraph& graph_;
  Platform platform_;
  int p_;
  std::map<const NeighbourWork*, std::vector<Messages>> messages_;  ///< of the graph's tasks
};

}  // namespace

std::unique_ptr<SimulatedCluster> make_full_cluster(s4u::Engine& engine, const Cluster& cluster,
                                                    const StepGraph& graph) {
  return std::make_unique<FullCluster>(engine, cluster, graph);
}

}  // namespace stepcast
