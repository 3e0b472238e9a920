#include "sim/replay/replay.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <exception>
#include <limits>
#include <memory>
#include <set>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "models/equation/evaluate.hpp"
#include "models/report/breakdown.hpp"
#include "models/scenario/fault.hpp"
#include "sim/platform/platform.hpp"
#include "sim/replay/jitter.hpp"
#include "sim/replay/steady_state.hpp"

namespace stepcast {
namespace {

namespace s4u = simgrid::s4u;

double now() { return s4u::Engine::get_clock(); }

void sleep(double seconds) {
  if (seconds > 0) s4u::this_actor::sleep_for(seconds);
}

/// A worker or a parameter-server shard.
struct Participant {
  s4u::Host* host = nullptr;
  Role role = Role::worker;
  int index = 0;               ///< rank of the worker, number of the shard
  std::vector<int> done;       ///< by task: steps it has been finished in
  int tasks = 0;               ///< tasks of a step that it takes part in
  int started = -1;            ///< latest step that one of its streams has begun
  int limit = std::numeric_limits<int>::max();  ///< first step it does not begin
  std::vector<struct Lane*> lanes;
  std::vector<int> finished;       ///< by step: tasks finished
  std::vector<double> step_ends;   ///< by step
  std::deque<std::pair<int, Interval>>* record = nullptr;  ///< {step, interval}, for those whose timeline is kept
};

/// One stream of one participant: an actor.
struct Lane {
  Participant* participant = nullptr;
  std::vector<TaskId> tasks;
  s4u::SemaphorePtr wake = s4u::Semaphore::create(0);
  bool waiting = false;
  std::size_t number = 0;

  void wait() {
    waiting = true;
    wake->acquire();
  }
  void notify() {
    if (!waiting) return;
    waiting = false;
    wake->release();
  }
};

/// Where a collective's participants meet.
struct Rendezvous {
  int arrived = 0;
  int held = 0;  ///< how often they have met
  double start = 0.0;
  std::vector<Lane*> waiting;
};

/// Direct messages on their way to one participant, from one sender or from any.
struct Inbox {
  struct Entry {
    s4u::CommPtr message;  ///< null for one that never leaves its host
    double sent = 0.0;     ///< when the sender turned to it, before its latency
  };
  std::deque<Entry> messages;
  Lane* reader = nullptr;
};

struct Outgoing {
  s4u::Host* to;
  double bytes;
  Inbox* inbox;
};

class Replay {
 public:
  Replay(s4u::Engine& engine, const Scenario& scenario, const StepGraph& graph, int run)
      : engine_(engine), scenario_(scenario), cluster_(scenario.cluster), graph_(graph), run_(run), incoming_(graph.tasks.size()),
        meetings_(graph.tasks.size()), steady_(longest_lag(graph)), p_(scenario.cluster.workers) {
    configure_network(cluster_.transport);
    platform_ = build_platform(engine, cluster_, graph.shards_co_located ? 0 : graph.shards);
    for (const Dependency& d : graph.dependencies) incoming_[static_cast<std::size_t>(d.after)].push_back(d);
    add_participants();
  }

  ReplayResult run() {
    for (auto& lane : lanes_)
      sg::add_actor(engine_, "lane", lane->participant->host, [this, l = lane.get()] {
        try {
          live(*l);
        } catch (const ModelError&) {  // may not leave an actor
          failure_ = std::current_exception();
          s4u::Actor::kill_all();
        }
      });
    lanes_alive_ = lanes_.size();
    engine_.run();
    if (failure_) std::rethrow_exception(failure_);
    if (ran_away_) throw ModelError("an asynchronous worker does more than 1000 steps while the slowest does one: such a scenario has no step time");
    if (lanes_alive_ > 0) throw std::logic_error(fmt::format("the replay came to a stop with {} of {} streams still waiting", lanes_alive_, lanes_.size()));
    return result();
  }

 private:
  // ---- set-up

  static int longest_lag(const StepGraph& graph) {
    int lag = 1;
    for (const Dependency& d : graph.dependencies) lag = std::max(lag, d.lag);
    return lag;
  }

  [[nodiscard]] bool random() const { return cluster_.jitter.cv > 0; }
  [[nodiscard]] s4u::Host* shard_host(int shard) const {
    const auto j = static_cast<std::size_t>(shard);
    return graph_.shards_co_located ? platform_.workers[j] : platform_.shards[j];
  }
  [[nodiscard]] StreamId stream_of(const Task& task, Role role) const { return role == Role::worker ? task.worker_stream : task.server_stream; }

  void add_participants() {
    const int servers = graph_.asynchronous ? 0 : graph_.shards;
    participants_.resize(static_cast<std::size_t>(p_ + servers));
    for (int i = 0; i < p_ + servers; ++i) {
      Participant& participant = participants_[static_cast<std::size_t>(i)];
      participant.role = i < p_ ? Role::worker : Role::server;
      participant.index = i < p_ ? i : i - p_;
      participant.host = i < p_ ? platform_.workers[static_cast<std::size_t>(i)] : shard_host(i - p_);
      participant.done.assign(graph_.tasks.size(), 0);
      for (std::size_t s = 0; s < graph_.streams.size(); ++s) {
        if (graph_.streams[s].role != participant.role) continue;
        auto lane = std::make_unique<Lane>();
        for (std::size_t t = 0; t < graph_.tasks.size(); ++t)
          if (stream_of(graph_.tasks[t], participant.role) == static_cast<StreamId>(s)) lane->tasks.push_back(static_cast<TaskId>(t));
        if (lane->tasks.empty()) continue;
        lane->participant = &participant;
        lane->number = lanes_.size();
        participant.tasks += static_cast<int>(lane->tasks.size());
        participant.lanes.push_back(lane.get());
        lanes_.push_back(std::move(lane));
      }
      tasks_per_step_ += participant.tasks;
    }
    // Inboxes: [task][participant][sender slot]; only neighbours need to tell senders apart.
    inboxes_.resize(graph_.tasks.size());
    for (std::size_t t = 0; t < graph_.tasks.size(); ++t)
      if (std::holds_alternative<DirectWork>(graph_.tasks[t].work)) inboxes_[t].resize(participants_.size() * 2);
    if (graph_.asynchronous)
      for (int j = 0; j < graph_.shards; ++j) shard_locks_.push_back(s4u::Mutex::create());
    choose_records();
  }

  /// Keeps the timeline of one worker of each kind (speed, links, a shard on its host or not), or of all when
  /// they are random.
  void choose_records() {
    std::set<int> borders{0, p_};  // first ranks of the kinds, and the end
    if (graph_.shards_co_located) borders.insert(graph_.shards);
    int first_of_group = p_;
    for (auto group = cluster_.groups.rbegin(); group != cluster_.groups.rend(); ++group) borders.insert(first_of_group -= group->count);
    for (auto border = borders.begin(); *border < p_; ++border) {
      const int first = *border, count = *std::next(border) - first;
      const int kept = random() || graph_.asynchronous ? count : 1;
      for (int i = 0; i < kept; ++i) {
        records_.push_back({static_cast<double>(count) / kept / p_, {}});
        participants_[static_cast<std::size_t>(first + i)].record = &records_.back().timeline;
      }
    }
  }

  // ---- life of a lane

  void live(Lane& lane) {
    Participant& self = *lane.participant;
    for (int step = 0; step < self.limit; ++step) {
      if (runs_away(step)) break;
      self.started = std::max(self.started, step);
      started_ = std::max(started_, step);
      for (const TaskId id : lane.tasks) {
        await_dependencies(lane, id, step);
        execute(lane, id, step);
        finish(lane, id, step);
      }
    }
    --lanes_alive_;
  }

  /// An asynchronous worker that does thousands of steps for one of the slowest worker's (because its steps take
  /// no time, say) would keep the replay going for ever.
  bool runs_away(int step) {
    constexpr int kMostAhead = 1000;
    if (!graph_.asynchronous || stopping_ || step <= kMostAhead * (slowest_ + 1)) return false;
    ran_away_ = true;
    stop();
    return true;
  }

  void await_dependencies(Lane& lane, TaskId id, int step) {
    const Participant& self = *lane.participant;
    for (const Dependency& d : incoming_[static_cast<std::size_t>(id)]) {
      if (step < d.lag || (d.until && step >= *d.until)) continue;
      const auto before = static_cast<std::size_t>(d.before);
      if (stream_of(graph_.tasks[before], self.role) == kNoStream) continue;  // another role's task
      while (self.done[before] < step - d.lag + 1) lane.wait();
    }
    const bool begins_step = &lane == self.lanes.front() && id == lane.tasks.front();
    if (graph_.staleness && begins_step)
      while (!stopping_ && step - slowest_ > *graph_.staleness) {
        gated_.push_back(&lane);
        lane.wait();
      }
  }

  void finish(Lane& lane, TaskId id, int step) {
    Participant& self = *lane.participant;
    if (id == lane.tasks.back()) end_of_lane(lane, step);
    ++self.done[static_cast<std::size_t>(id)];
    for (Lane* other : self.lanes) other->notify();
    const auto s = static_cast<std::size_t>(step);
    if (finished_.size() <= s) finished_.resize(s + 1, 0);
    total_finished_ += 1;
    if (self.finished.size() <= s) self.finished.resize(s + 1, 0);
    if (++self.finished[s] == self.tasks) self.step_ends.push_back(now());
    if (++finished_[s] == tasks_per_step_) end_of_step(step);
  }

  void end_of_lane(const Lane& lane, int step) {
    const auto offset = static_cast<std::size_t>(step - first_kept_);
    while (ends_.size() <= offset) ends_.emplace_back(lanes_.size(), 0.0);
    ends_[offset][lane.number] = now();
  }

  /// Every participant has finished `step`.
  void end_of_step(int step) {
    step_ends_.push_back(now());
    work_done_.push_back(total_finished_);
    slowest_ = step + 1;
    for (Lane* lane : std::exchange(gated_, {})) lane->notify();
    if (stopping_) return;

    std::vector<double> ends = std::move(ends_.front());
    ends_.pop_front();
    ++first_kept_;
    if (!random() && !graph_.asynchronous && step >= warmup_steps()) period_ = steady_.add(std::move(ends));
    if (period_ || step + 1 >= scenario_.evaluation.max_steps) stop();
  }

  /// Lets every step end that has begun anywhere, since collectives need all workers.
  void stop() {
    stopping_ = true;
    for (Participant& participant : participants_) participant.limit = (graph_.asynchronous ? participant.started : started_) + 1;
    for (Lane* lane : std::exchange(gated_, {})) lane->notify();
  }

  [[nodiscard]] int warmup_steps() const {
    const auto* pipelined = std::get_if<PipelinedStrategy>(&scenario_.strategy);
    return pipelined ? pipelined->warmup_steps : 0;
  }

  void record(Participant& self, TaskId id, int step, double start) {
    if (!self.record || now() <= start) return;
    self.record->push_back({step, {graph_.tasks[static_cast<std::size_t>(id)].phase, start, now()}});
  }

  // ---- tasks

  void execute(Lane& lane, TaskId id, int step) {
    Participant& self = *lane.participant;
    const double reached = now();
    const double start = std::visit([&](const auto& work) { return perform(work, lane, id, step); }, graph_.tasks[static_cast<std::size_t>(id)].work);
    record(self, id, step, std::max(start, reached));
  }

  // Each perform() returns when the work itself began, after any waiting for others.

  double perform(const ComputeWork& work, Lane& lane, TaskId, int step) {
    const double start = now();
    if (work.duration > Seconds{}) {
      const double factor = jitter_factor(cluster_.jitter, scenario_.evaluation.seed, run_, lane.participant->index, step);
      s4u::this_actor::execute(work.duration.si() * factor * platform_.work_per_second);
    }
    return start;
  }

  double perform(const ServeWork& work, Lane& lane, TaskId, int) {
    const double start = now();
    sleep(work.time[static_cast<std::size_t>(lane.participant->index)].si());
    return start;
  }

  double perform(const CollectiveWork& work, Lane& lane, TaskId id, int) {
    Rendezvous& meeting = meetings_[static_cast<std::size_t>(id)];
    if (++meeting.arrived < p_) {
      meeting.waiting.push_back(&lane);
      // Other events of the participant wake the lane too.
      for (const int before = meeting.held; meeting.held == before;) lane.wait();
      return meeting.start;
    }
    meeting.start = now();
    run_collective(work.call);
    meeting.arrived = 0;
    ++meeting.held;
    for (Lane* other : std::exchange(meeting.waiting, {})) other->notify();
    return meeting.start;
  }

  void run_collective(const CollectiveCall& call) {
    const Schedule schedule = call.algorithm->schedule(p_, call.parameters);
    if (schedule.rounds > 0) sleep(cluster_.collective_cost.si());
    const double block = call.bytes.si() / schedule.blocks;
    std::vector<Outgoing> outgoing;
    std::vector<s4u::Host*> senders;
    std::vector<double> sent(static_cast<std::size_t>(p_)), received(sent), reduced(sent);
    for (int r = 0; r < schedule.rounds; ++r) {
      const Round round = schedule.round(r);
      outgoing.clear();
      senders.clear();
      for (auto* load : {&sent, &received, &reduced}) std::fill(load->begin(), load->end(), 0.0);
      for (const Message& message : round) {
        const auto from = static_cast<std::size_t>(message.from), to = static_cast<std::size_t>(message.to);
        const double bytes = block * message.slice.count;
        senders.push_back(platform_.workers[from]);
        outgoing.push_back({platform_.workers[to], bytes, nullptr});
        sent[from] += bytes;
        received[to] += bytes;
        if (message.reduce) reduced[to] += bytes;
      }
      for (const auto& comm : start_messages(senders, outgoing)) comm->wait();
      const double busiest = std::max(*std::max_element(sent.begin(), sent.end()), *std::max_element(received.begin(), received.end()));
      const double most_reduced = *std::max_element(reduced.begin(), reduced.end());
      const bool recodes = call.recode > Seconds{} && most_reduced > 0.0;
      sleep(busiest * cluster_.host_cost.si() + (recodes ? call.recode.si() : most_reduced * cluster_.reduction_cost.si()));
    }
  }

  /// Starts message i from senders[i], each after the latency of its route, and posts it in its inbox.
  /// @throws ModelError for a message too large to be counted
  std::vector<s4u::CommPtr> start_messages(const std::vector<s4u::Host*>& senders, const std::vector<Outgoing>& outgoing) {
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t i = 0; i < outgoing.size(); ++i) order.emplace_back(platform_.delay(senders[i], outgoing[i].to), i);
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<s4u::CommPtr> messages;
    const double sent = now();
    double waited = 0.0;
    for (const auto& [delay, i] : order) {
      sleep(delay - waited);
      waited = delay;
      s4u::CommPtr message;
      if (outgoing[i].bytes > kMostMessageBytes)
        throw ModelError(fmt::format("a message of {:.3g} bytes is more than replay can count ({:.3g}); use --evaluator equations", outgoing[i].bytes, kMostMessageBytes));
      if (senders[i] != outgoing[i].to) {
        message = s4u::Comm::sendto_async(senders[i], outgoing[i].to, static_cast<std::uint64_t>(std::llround(outgoing[i].bytes * kUnitsPerByte)));
        messages.push_back(message);
      }
      if (Inbox* inbox = outgoing[i].inbox) {
        inbox->messages.push_back({message, sent});
        if (inbox->reader) inbox->reader->notify();
      }
    }
    return messages;
  }

  Inbox& inbox(TaskId id, std::size_t participant, std::size_t slot) { return inboxes_[static_cast<std::size_t>(id)][participant * 2 + slot]; }

  /// Waits for the next message to arrive; returns when it was sent.
  double receive(Inbox& box, Lane& lane) {
    box.reader = &lane;
    while (box.messages.empty()) lane.wait();
    box.reader = nullptr;
    const Inbox::Entry entry = box.messages.front();
    box.messages.pop_front();
    if (entry.message) entry.message->wait();
    return entry.sent;
  }

  /// Whom a participant sends to and how many messages it expects in a direct exchange.
  struct DirectPlan {
    std::vector<Outgoing> outgoing;
    std::vector<Inbox*> expected;  ///< one entry a message
  };

  DirectPlan plan_neighbours(const DirectWork& work, const Participant& self, TaskId id) {
    DirectPlan plan;
    for (int side = 0; side < (p_ > 2 ? 2 : p_ - 1); ++side) {
      const auto peer = static_cast<std::size_t>((self.index + (side == 0 ? 1 : p_ - 1)) % p_);
      // What goes to the right-hand neighbour arrives from its left.
      plan.outgoing.push_back({platform_.workers[peer], work.shard_bytes.front().si(), &inbox(id, peer, static_cast<std::size_t>(side))});
      plan.expected.push_back(&inbox(id, static_cast<std::size_t>(self.index), static_cast<std::size_t>(side)));
    }
    return plan;
  }

  /// Push: workers send, shards receive. Pull: the other way round.
  DirectPlan plan_shards(const DirectWork& work, const Participant& self, TaskId id) {
    DirectPlan plan;
    const bool is_worker = self.role == Role::worker;
    const bool sends = is_worker == (work.pattern == DirectWork::Pattern::push);
    Inbox& own = inbox(id, static_cast<std::size_t>(is_worker ? self.index : p_ + self.index), 0);
    const auto exchange = [&](int worker, int shard) {
      const double bytes = work.shard_bytes[static_cast<std::size_t>(shard)].si();
      if (bytes == 0.0) return;
      if (!sends) return plan.expected.push_back(&own);
      const int peer = is_worker ? p_ + shard : worker;
      plan.outgoing.push_back({is_worker ? shard_host(shard) : platform_.workers[static_cast<std::size_t>(worker)], bytes, &inbox(id, static_cast<std::size_t>(peer), 0)});
    };
    if (is_worker)
      for (int shard = 0; shard < graph_.shards; ++shard) exchange(self.index, shard);
    else
      for (int worker = 0; worker < p_; ++worker) exchange(worker, self.index);
    return plan;
  }

  double perform(const DirectWork& work, Lane& lane, TaskId id, int) {
    const Participant& self = *lane.participant;
    const auto pattern = work.pattern;
    const bool neighbours = pattern == DirectWork::Pattern::neighbours;
    const DirectPlan plan = neighbours ? plan_neighbours(work, self, id) : plan_shards(work, self, id);
    const CostTerms terms = communication_terms(work, graph_, cluster_);
    const double copying = (terms.copied * cluster_.host_cost).si();

    double start = now();
    // What is pushed is copied out first; what is pulled or exchanged is copied in last, and the sender's
    // buffer is in use until then.
    if (pattern == DirectWork::Pattern::push && self.role == Role::worker) sleep(copying);
    const auto messages = start_messages(std::vector<s4u::Host*>(plan.outgoing.size(), self.host), plan.outgoing);
    // Until the last sender has sent, this is waiting for it rather than communication.
    for (Inbox* box : plan.expected) start = std::max(start, receive(*box, lane));
    for (const auto& message : messages) message->wait();
    if (pattern != DirectWork::Pattern::push) sleep(copying + (terms.reduced * cluster_.reduction_cost).si());
    return start;
  }

  double perform(const ShardTransfer& transfer, Lane& lane, TaskId, int) {
    const double start = now();
    s4u::Host* worker = lane.participant->host;
    s4u::Host* shard = shard_host(transfer.shard);
    const auto messages = start_messages({transfer.push ? worker : shard}, {{transfer.push ? shard : worker, transfer.bytes.si(), nullptr}});
    for (const auto& message : messages) message->wait();
    if (worker != shard) sleep(transfer.bytes.si() * cluster_.host_cost.si());
    return start;
  }

  double perform(const ShardServe& serve, Lane&, TaskId, int) {
    const auto& lock = shard_locks_[static_cast<std::size_t>(serve.shard)];
    lock->lock();
    const double start = now();
    sleep(serve.time.si());
    lock->unlock();
    return start;
  }

  // ---- results

  ReplayResult result() {
    ReplayResult result;
    StepForecast& forecast = result.forecast;
    forecast.steps = static_cast<int>(step_ends_.size());
    forecast.first_step = Seconds(step_ends_.empty() ? 0.0 : step_ends_.front());
    if (period_) periodic(forecast);
    else averaged(result);
    per_training_step(result);
    return result;
  }

  /// From passes of the template to the training steps in it.
  void per_training_step(ReplayResult& result) const {
    const double share = 1.0 / graph_.local_steps;
    StepForecast& forecast = result.forecast;
    forecast.first_step *= share;
    forecast.step *= share;
    forecast.breakdown = add({}, forecast.breakdown, share);
    for (double& sample : result.samples) sample *= share;
  }

  void periodic(StepForecast& forecast) const {
    forecast.step = Seconds(period_->seconds / period_->steps);
    forecast.steady_state = fmt::format("all streams repeat every {} step{} to 1e-10", period_->steps, period_->steps == 1 ? "" : "s");
    // Timelines of the steps that the period was seen on, folded into one period.
    const int newest = first_kept_ - 1;  // its end proved the period; later steps only let others end
    for (const auto& [weight, timeline] : records_) {
      std::vector<Interval> intervals;
      for (const auto& [step, interval] : timeline)
        if (step > newest - period_->steps && step <= newest) intervals.push_back(interval);
      const Breakdown all = attribute(wrap(intervals, period_->seconds), 0.0, period_->seconds);
      forecast.breakdown = add(forecast.breakdown, all, weight / period_->steps);
    }
  }

  /// Random or asynchronous: mean over the steps after the first tenth.
  void averaged(ReplayResult& result) const {
    StepForecast& forecast = result.forecast;
    const auto measured_last = static_cast<std::size_t>(std::min<int>(scenario_.evaluation.max_steps, static_cast<int>(step_ends_.size()))) - 1;
    const std::size_t skipped = std::min<std::size_t>(measured_last > 0 ? measured_last - 1 : 0, std::max<std::size_t>(static_cast<std::size_t>(warmup_steps()) + 1, measured_last / 10));
    const double begin = step_ends_[skipped], end = step_ends_[measured_last];
    const double window = end - begin;
    if (graph_.asynchronous) {
      // Fast workers do more steps than slow ones: what counts is the work of all of them.
      const double steps = static_cast<double>(work_done_[measured_last] - work_done_[skipped]) / static_cast<double>(tasks_per_step_);
      forecast.step = Seconds(window / steps);
      forecast.steady_state = fmt::format("mean of {:.1f} steps of every worker, counted while the slowest did steps {} to {}", steps, skipped + 2, measured_last + 1);
    } else {
      forecast.step = Seconds(window / static_cast<double>(measured_last - skipped));
      forecast.steady_state = random() ? fmt::format("mean of steps {} to {}", skipped + 2, measured_last + 1)
                                       : fmt::format("no period found in {} steps: mean of steps {} to {}", step_ends_.size(), skipped + 2, measured_last + 1);
    }
    for (const Participant& worker : participants_)
      for (std::size_t i = 1; worker.role == Role::worker && i < worker.step_ends.size(); ++i)
        if (worker.step_ends[i - 1] >= begin && worker.step_ends[i] <= end) result.samples.push_back(worker.step_ends[i] - worker.step_ends[i - 1]);
    for (const auto& [weight, timeline] : records_) {
      std::vector<Interval> intervals;
      for (const auto& entry : timeline) intervals.push_back(entry.second);
      forecast.breakdown = add(forecast.breakdown, attribute(intervals, begin, window), weight * (forecast.step.si() / window));
    }
  }

  struct Record {
    double weight;
    std::deque<std::pair<int, Interval>> timeline;
  };

  s4u::Engine& engine_;
  const Scenario& scenario_;
  const Cluster& cluster_;
  const StepGraph& graph_;
  int run_;
  Platform platform_;
  std::vector<std::vector<Dependency>> incoming_;  ///< by task
  std::vector<Participant> participants_;          ///< workers, then shards
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::size_t lanes_alive_ = 0;
  std::vector<Rendezvous> meetings_;               ///< by task
  std::vector<std::vector<Inbox>> inboxes_;        ///< by task, then participant and slot
  std::vector<s4u::MutexPtr> shard_locks_;
  std::deque<Record> records_;

  SteadyState steady_;
  std::optional<Period> period_;
  int p_;
  long tasks_per_step_ = 0;
  int started_ = -1;
  int slowest_ = 0;                                ///< steps that every participant has finished
  bool stopping_ = false;
  bool ran_away_ = false;
  std::exception_ptr failure_;  ///< a ModelError of some stream
  std::vector<Lane*> gated_;
  std::vector<long> finished_;                     ///< by step: tasks finished, over all participants
  long total_finished_ = 0;
  std::vector<long> work_done_;                    ///< by step: total_finished_ at its end
  std::vector<double> step_ends_;
  std::deque<std::vector<double>> ends_;           ///< by step from first_kept_ on: end of every lane
  int first_kept_ = 0;
};

}  // namespace

ReplayResult replay(const Scenario& scenario, const StepGraph& graph, int run) {
  int argc = 4;
  std::string program = "stepcast", quiet = "--log=root.thresh:critical", small_stacks = "--cfg=contexts/stack-size:256";
  // SimGrid takes events within a nanosecond for one; a few bytes at 10 Gb/s take as long.
  std::string precision = fmt::format("--cfg={}:1e-12", sg::kTimingPrecision);
  char* arguments[] = {program.data(), quiet.data(), small_stacks.data(), precision.data(), nullptr};
  s4u::Engine engine(&argc, arguments);
  return Replay(engine, scenario, graph, run).run();
}

}  // namespace stepcast
