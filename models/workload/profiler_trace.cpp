#include "models/workload/profiler_trace.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "models/describe/fault.hpp"
#include "models/describe/json.hpp"

namespace stepcast {
namespace {

constexpr std::string_view kFunction = "autograd::engine::evaluate_function: ";
constexpr std::string_view kAccumulate = "torch::autograd::AccumulateGrad";
constexpr const char* kHowTo =
    "record one worker's forward, backward and optimizer step by torch.profiler.profile(record_shapes=True, ...) and "
    "export_chrome_trace";

[[noreturn]] void fail(const std::string& file, const std::string& pointer, const std::string& found,
                       const std::string& allowed, const std::string& remedy = kHowTo) {
  throw ScenarioError({{file, pointer, found, allowed, remedy}});
}

/// A complete event ("ph": "X"), in microseconds.
struct Event {
  const Json* json;
  std::string name, category;
  double begin, end;
};

double number_at(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : 0.0;
}
const Json& arguments_of(const Event& event) {
  static const Json kNone = Json::object();
  const auto found = event.json->find("args");
  return found != event.json->end() && found->is_object() ? *found : kNone;
}

std::vector<Event> events_of(const Json& trace, const std::string& file) {
  if (!trace.is_object() || !trace.contains("traceEvents") || !trace["traceEvents"].is_array())
    fail(file, "", trace.is_array() ? "a list of events, as PyTorch without Kineto writes" : "no \"traceEvents\"",
         "a trace of PyTorch's profiler (Kineto)");
  std::vector<Event> events;
  for (const Json& one : trace["traceEvents"]) {
    if (!one.is_object() || text_at(one, "ph") != "X") continue;
    const double begin = number_at(one, "ts");
    events.push_back({&one, text_at(one, "name"), text_at(one, "cat"), begin, begin + number_at(one, "dur")});
  }
  std::stable_sort(events.begin(), events.end(), [](const Event& a, const Event& b) { return a.begin < b.begin; });
  return events;
}

bool is_gpu_event(const Event& event) {
  return event.category == "kernel" || event.category == "gpu_memcpy" || event.category == "gpu_memset";
}
bool is_collective(const Event& event) { return event.name.find("nccl") != std::string::npos; }
bool is_update(const Event& event) {
  return event.name.starts_with("Optimizer.step#") || event.name.starts_with("Optimizer.zero_grad#");
}

struct Interval {
  double begin, end;
  [[nodiscard]] bool holds(double time) const { return begin <= time && time < end; }
  [[nodiscard]] double length() const { return end - begin; }
};

/// Steps by ProfilerStep annotations; else each ends with an Optimizer.step; else all events are one.
std::vector<Interval> steps_of(const std::vector<Event>& events) {
  std::vector<Interval> marked, ended;
  double begin = std::numeric_limits<double>::infinity(), end = 0;
  for (const Event& event : events) {
    if (event.category != "cpu_op" && event.category != "user_annotation") continue;
    if (event.name.starts_with("ProfilerStep#") && event.category == "user_annotation")
      marked.push_back({event.begin, event.end});
    begin = std::min(begin, event.begin);
    end = std::max(end, event.end);
  }
  if (!marked.empty()) return marked;
  double from = begin;
  for (const Event& event : events)
    if (event.name.starts_with("Optimizer.step#") && event.category == "user_annotation") {
      ended.push_back({from, event.end});
      from = event.end;
    }
  if (ended.empty() && begin < end) ended.push_back({begin, end});
  return ended;
}

enum class Phase { forward, backward, update };

/// One step's operations on the CPU, by phase.
class CpuStep {
 public:
  CpuStep(const std::vector<Event>& events, const Interval& step) {
    for (const Event& event : events) {
      if (!step.holds(event.begin)) continue;
      if (event.category == "user_annotation" && is_update(event)) updates_.push_back({event.begin, event.end});
      if (event.category != "cpu_op") continue;
      operations_.push_back(&event);
      if (event.name.starts_with(kFunction)) {
        backward_ = std::min(backward_, event.begin);
        backward_end_ = std::max(backward_end_, event.end);
      }
      if (event.name == kAccumulate) accumulations_.push_back(&event);
    }
  }

  [[nodiscard]] Phase phase_at(double time) const {
    for (const Interval& update : updates_)
      if (update.holds(time)) return Phase::update;
    if (time < backward_) return Phase::forward;
    return time < backward_end_ ? Phase::backward : Phase::update;
  }
  [[nodiscard]] const std::vector<const Event*>& accumulations() const { return accumulations_; }
  [[nodiscard]] const std::vector<const Event*>& operations() const { return operations_; }

  /// The function whose gradient an accumulation takes: the last one before it that is no accumulation itself.
  [[nodiscard]] std::string function_before(const Event& accumulation) const {
    std::string name;
    for (const Event* event : operations_) {
      if (event->begin >= accumulation.begin) break;
      if (event->name.starts_with(kFunction) && event->name.find(kAccumulate) == std::string::npos)
        name = event->name.substr(kFunction.size());
    }
    return name;
  }

 private:
  double backward_ = std::numeric_limits<double>::infinity(), backward_end_ = 0;
  std::vector<Interval> updates_;
  std::vector<const Event*> operations_, accumulations_;
};

/// An operation of a phase, on the GPU or the CPU; `launched` is when the CPU started it.
struct Work {
  Phase phase;
  double launched, begin, end;
};

/// The stream with the longest kernels in sum, without collectives.
std::optional<std::int64_t> compute_stream(const std::vector<Event>& events) {
  std::map<std::int64_t, double> busy;
  for (const Event& event : events)
    if (event.category == "kernel" && !is_collective(event))
      busy[static_cast<std::int64_t>(number_at(arguments_of(event), "stream"))] += event.end - event.begin;
  const auto longest =
      std::max_element(busy.begin(), busy.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return longest == busy.end() ? std::nullopt : std::optional(longest->first);
}

std::map<std::int64_t, double> launches_of(const std::vector<Event>& events) {
  std::map<std::int64_t, double> launched;
  for (const Event& event : events)
    if (event.category == "cuda_runtime" || event.category == "cuda_driver")
      launched.emplace(static_cast<std::int64_t>(number_at(arguments_of(event), "correlation")), event.begin);
  return launched;
}

/// Kernels of the step on the stream, in order; a kernel whose launch is not in the trace is of no step.
std::vector<Work> gpu_work(const std::vector<Event>& events, const CpuStep& cpu, const Interval& step,
                           std::int64_t stream, int& collectives) {
  const std::map<std::int64_t, double> launched = launches_of(events);
  std::vector<Work> work;
  for (const Event& event : events) {
    if (!is_gpu_event(event)) continue;
    const Json& arguments = arguments_of(event);
    const auto launch = launched.find(static_cast<std::int64_t>(number_at(arguments, "correlation")));
    if (launch == launched.end() || !step.holds(launch->second)) continue;
    if (is_collective(event)) ++collectives;
    else if (static_cast<std::int64_t>(number_at(arguments, "stream")) == stream)
      work.push_back({cpu.phase_at(launch->second), launch->second, event.begin, event.end});
  }
  return work;
}

std::vector<Work> cpu_work(const CpuStep& cpu) {
  std::vector<Work> work;
  for (const Event* event : cpu.operations())
    work.push_back({cpu.phase_at(event->begin), event->begin, event->begin, event->end});
  return work;
}

Dtype dtype_of(const std::string& type, const std::string& file) {
  if (type == "float") return Dtype::fp32;
  if (type == "c10::Half") return Dtype::fp16;
  if (type == "c10::BFloat16") return Dtype::bf16;
  fail(file, "", fmt::format("gradients of the type {}", type), "float, c10::Half or c10::BFloat16", "");
}

/// The first entry of a list in the arguments, such as "Input Dims"; null without it.
Json first_of(const Event& event, const char* key) {
  const auto found = arguments_of(event).find(key);
  return found != arguments_of(event).end() && found->is_array() && !found->empty() ? found->front() : Json();
}

std::vector<std::int64_t> dims_of(const Event& accumulation, const std::string& file) {
  const Json dims = first_of(accumulation, "Input Dims");
  if (!dims.is_array()) fail(file, "", "gradients without their shapes", "a trace with record_shapes=True");
  std::vector<std::int64_t> all;
  for (const Json& dim : dims) all.push_back(dim.is_number_integer() ? dim.get<std::int64_t>() : 0);
  return all;
}

Seconds micro(double microseconds) { return Seconds(std::max(0.0, microseconds) * 1e-6); }

double end_of(const std::vector<Work>& work, Phase phase, double otherwise) {
  double end = otherwise;
  for (const Work& one : work)
    if (one.phase == phase) end = std::max(end, one.end);
  return end;
}

/// The times of one step from its work in order.
void add_times(const std::vector<Work>& work, bool is_on_gpu, const CpuStep& cpu, const std::string& file,
               TracedStep& step) {
  const auto is_forward = [](const Work& one) { return one.phase == Phase::forward; };
  const auto first = std::find_if(work.begin(), work.end(), is_forward);
  if (first == work.end()) fail(file, "", "a step without forward", "forward, backward and an optimizer step");
  const double begin = first->begin;
  const double forward_end = end_of(work, Phase::forward, begin);
  const double backward_end = end_of(work, Phase::backward, forward_end);
  double early = 0;  // zero_grad before forward
  std::vector<Work> late;
  for (const Work& one : work)
    if (one.phase == Phase::update && one.begin < begin) early = std::max(early, one.end - work.front().begin);
    else if (one.phase == Phase::update) late.push_back(one);
  step.forward = micro(forward_end - begin);
  step.backward = micro(backward_end - forward_end);
  step.update = micro(end_of(late, Phase::update, backward_end) - backward_end + early);

  double ready = forward_end;
  for (const Event* accumulation : cpu.accumulations()) {
    double now = is_on_gpu ? ready : std::max(ready, accumulation->end);
    if (is_on_gpu)
      for (const Work& one : work)
        if (one.phase == Phase::backward && one.launched < accumulation->end) now = std::max(now, one.end);
    step.gradients.push_back({fmt::format("{} {}", step.gradients.size() + 1, cpu.function_before(*accumulation)),
                              dims_of(*accumulation, file), micro(now - ready)});
    ready = now;
  }
  step.tail = micro(backward_end - ready);
}

}  // namespace

std::int64_t TracedGradient::elements() const {
  std::int64_t product = 1;
  for (const std::int64_t dim : dims) product *= dim;
  return product;
}

TracedStep read_profiler_trace(const Json& trace, const std::string& file, int asked) {
  const std::vector<Event> events = events_of(trace, file);
  std::vector<Interval> steps;
  for (const Interval& step : steps_of(events))
    if (!CpuStep(events, step).accumulations().empty()) steps.push_back(step);
  if (steps.empty())
    fail(file, "/traceEvents", "no step with gradients (torch::autograd::AccumulateGrad)", "a training step");
  if (asked > static_cast<int>(steps.size()))
    fail(file, "", fmt::format("{} steps with gradients", steps.size()), fmt::format("step 1 to {}", steps.size()), "");

  std::vector<std::size_t> order(steps.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return steps[a].length() < steps[b].length(); });
  const std::size_t chosen = asked > 0 ? static_cast<std::size_t>(asked) - 1 : order[(order.size() - 1) / 2];

  TracedStep step;
  step.step = static_cast<int>(chosen) + 1;
  step.steps = static_cast<int>(steps.size());
  const CpuStep cpu(events, steps[chosen]);
  const std::optional<std::int64_t> stream = compute_stream(events);
  const std::vector<Work> work =
      stream ? gpu_work(events, cpu, steps[chosen], *stream, step.collectives) : cpu_work(cpu);
  add_times(work, stream.has_value(), cpu, file, step);

  std::map<std::string, std::int64_t> elements_of;
  for (std::size_t i = 0; i < step.gradients.size(); ++i) {
    const Json type = first_of(*cpu.accumulations()[i], "Input type");
    elements_of[type.is_string() ? type.get<std::string>() : ""] += step.gradients[i].elements();
  }
  const auto most = std::max_element(elements_of.begin(), elements_of.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  step.dtype = dtype_of(most->first, file);
  for (const Event& event : events)
    if (event.name.starts_with("Optimizer.step#")) step.optimizer = event.name.substr(15, event.name.rfind('.') - 15);
  const Json devices = trace.value("deviceProperties", Json::array());
  step.device = !stream                                           ? "CPU"
                : !devices.empty() && devices.front().is_object() ? text_at(devices.front(), "name")
                                                                  : "GPU";
  return step;
}

}  // namespace stepcast
