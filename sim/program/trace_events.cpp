#include "sim/program/trace_events.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>
#include <variant>

#include <fmt/format.h>

#include "models/describe/json.hpp"

namespace stepcast {
namespace {

/// Numbers of processes: workers by rank, then shards, then the links.
constexpr int kFirstShard = 1 << 25;
constexpr int kLinks = 1 << 26;

/// The owner of a slice. Serving is a task of the worker that asked an asynchronous shard, but it takes the shard's time.
struct Place {
  Role role;
  int number;
  [[nodiscard]] int process() const { return role == Role::worker ? number + 1 : kFirstShard + number; }
};

Place place_of(const StepGraph& graph, const TaskEvent& event) {
  if (const auto* serve = std::get_if<ShardServe>(&graph.tasks[event.id].work)) return {Role::server, serve->shard};
  return {event.role, event.participant};
}

double micro(double seconds) { return seconds * 1e6; }

/// The payload of a task that exchanges; 0 for others.
struct BytesOf {
  int workers;

  double operator()(const CollectiveWork& work) const { return work.call.bytes.si(); }
  double operator()(const ShardWork& work) const { return sum(work.shard_bytes); }
  double operator()(const NeighbourWork& work) const {
    return neighbour_exchange_cost(work.neighbours, work.bytes, work.added, workers).sent.si();
  }
  double operator()(const PairWork& work) const { return work.bytes.si(); }
  double operator()(const ShardTransfer& work) const { return work.bytes.si(); }
  double operator()(const auto&) const { return 0; }

  static double sum(const std::vector<Bytes>& all) {
    return std::accumulate(all.begin(), all.end(), 0.0, [](double total, Bytes one) { return total + one.si(); });
  }
};

class EventWriter {
 public:
  EventWriter(const StepGraph& graph, int workers, const std::vector<TaskEvent>& tasks, const LinkShares& links,
              const std::function<void(std::string_view)>& write)
      : graph_(graph), workers_(workers), tasks_(tasks), links_(links), write_(write) {}

  void write() {
    name_participants();
    slices();
    arrows();
    payloads();
    uses();
    std::stable_sort(lines_.begin(), lines_.end(), [](const Line& a, const Line& b) { return a.time < b.time; });
    for (const Line& line : lines_) write_(line.text);
  }

 private:
  struct Line {
    double time;
    std::string text;
  };

  [[nodiscard]] int process(const TaskEvent& task) const { return place_of(graph_, task).process(); }

  void add(double time, const Json& event) { lines_.push_back({time, event.dump() + ",\n"}); }

  void describe(const char* what, int process, int thread, const Json& args) {
    add(-1, {{"name", what}, {"ph", "M"}, {"pid", process}, {"tid", thread}, {"args", args}});
  }

  void name_participants() {
    std::map<int, std::map<StreamId, bool>> seen;
    std::map<int, std::string> names;
    for (const TaskEvent& task : tasks_) {
      const Place place = place_of(graph_, task);
      seen[place.process()][task.stream_id] = true;
      names.try_emplace(place.process(),
                        fmt::format("{} {}", place.role == Role::worker ? "worker" : "shard", place.number));
    }
    for (const auto& [process, streams] : seen) {
      describe("process_name", process, 0, {{"name", names[process]}});
      describe("process_sort_index", process, 0, {{"sort_index", process}});
      for (const auto& [stream, unused] : streams) {
        describe("thread_name", process, stream + 1, {{"name", graph_.streams[stream].name}});
        describe("thread_sort_index", process, stream + 1, {{"sort_index", stream + 1}});
      }
    }
  }

  void slices() {
    for (const TaskEvent& task : tasks_) {
      if (!(task.end > task.start)) continue;
      add(task.start, {{"name", task.task.text()},
                       {"cat", name_of(task.phase)},
                       {"ph", "X"},
                       {"ts", micro(task.start)},
                       {"dur", micro(task.end - task.start)},
                       {"pid", process(task)},
                       {"tid", task.stream_id + 1},
                       {"args", arguments_of(task)}});
    }
  }

  [[nodiscard]] Json arguments_of(const TaskEvent& task) const {
    Json args{{"step", task.step}};
    if (std::holds_alternative<ShardServe>(graph_.tasks[task.id].work)) args["worker"] = task.participant;
    return args;
  }

  /// An end of an arrow, which binds to the slice around it.
  void arrow_end(const char* phase, int number, double time, const TaskEvent& at) {
    Json event{{"name", "waits for"}, {"cat", "wait"},          {"ph", phase}, {"id", number}, {"ts", micro(time)},
               {"pid", process(at)},  {"tid", at.stream_id + 1}};
    if (*phase == 'f') event["bp"] = "e";
    add(time, event);
  }

  void arrows() {
    std::map<std::tuple<Role, int, TaskId, int>, const TaskEvent*> exchanges;  // by participant, task and step
    for (const TaskEvent& task : tasks_)
      if (task.phase == Phase::exchange && task.end > task.start)
        exchanges[{task.role, task.participant, task.id, task.step}] = &task;
    std::multimap<TaskId, const Dependency*> before;
    for (const Dependency& one : graph_.dependencies) before.emplace(one.after, &one);
    int number = 0;
    for (const TaskEvent& task : tasks_) {
      if (!(task.end > task.start)) continue;
      const auto [first, last] = before.equal_range(task.id);
      for (auto one = first; one != last; ++one) {
        const auto message =
            exchanges.find({task.role, task.participant, one->second->before, task.step - one->second->lag});
        if (message == exchanges.end() || message->second->stream_id == task.stream_id) continue;
        if (std::abs(message->second->end - task.start) > 1e-9 * task.start) continue;
        ++number;
        // Inside the message's slice: at its very end viewers would bind the arrow to the next one.
        arrow_end("s", number, std::nextafter(message->second->end, message->second->start), *message->second);
        arrow_end("f", number, task.start, task);
      }
    }
  }

  void count(const std::string& name, int process, double time, const char* unit, double value) {
    add(time, {{"name", name}, {"ph", "C"}, {"ts", micro(time)}, {"pid", process}, {"args", {{unit, value}}}});
  }

  void payloads() {
    std::map<int, std::map<double, double>> changes;  // by process and time
    for (const TaskEvent& task : tasks_) {
      const double bytes = std::visit(BytesOf{workers_}, graph_.tasks[task.id].work);
      if (!(task.end > task.start) || bytes == 0) continue;
      const double rate = bytes / (task.end - task.start);
      changes[process(task)][task.start] += rate;
      changes[process(task)][task.end] -= rate;
    }
    for (const auto& [process, at] : changes) {
      double rate = 0, largest = 0;
      for (const auto& [time, change] : at) {
        rate += change;
        largest = std::max(largest, rate);
        const double shown = rate > 1e-9 * largest ? rate : 0;  // what rounding leaves is none
        count("payload (GB/s)", process, time, "GB/s", shown / 1e9);
      }
    }
  }

  void uses() {
    if (links_.empty()) return;
    describe("process_name", kLinks, 0, {{"name", "links"}});
    describe("process_sort_index", kLinks, 0, {{"sort_index", kLinks}});
    for (const auto& [link, shares] : links_)
      for (std::size_t i = 0; i < shares.size(); ++i) {
        count(link + " (%)", kLinks, shares[i].start, "%", 100 * shares[i].share);
        const bool goes_on = i + 1 < shares.size() && shares[i + 1].start == shares[i].end;
        if (!goes_on) count(link + " (%)", kLinks, shares[i].end, "%", 0);
      }
  }

  const StepGraph& graph_;
  const int workers_;
  const std::vector<TaskEvent>& tasks_;
  const LinkShares& links_;
  const std::function<void(std::string_view)>& write_;
  std::vector<Line> lines_;
};

}  // namespace

void write_trace_events(const StepGraph& graph, int workers, std::vector<TaskEvent> tasks, const LinkShares& links,
                        const std::function<void(std::string_view)>& write) {
  std::stable_sort(tasks.begin(), tasks.end(), [](const TaskEvent& a, const TaskEvent& b) {
    return std::tuple(a.start, a.role, a.participant, a.stream_id) <
           std::tuple(b.start, b.role, b.participant, b.stream_id);
  });
  EventWriter(graph, workers, tasks, links, write).write();
}

}  // namespace stepcast
