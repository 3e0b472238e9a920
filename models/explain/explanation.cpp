#include "models/explain/explanation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <regex>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/describe/json.hpp"
#include "models/report/footnotes.hpp"
#include "models/study/alternatives.hpp"
#include "models/unit/format.hpp"
#include "models/unit/text_table.hpp"

namespace stepcast {
namespace {

/// Speedups nearer to 1 than this are not shown.
constexpr double kWorthALine = 0.005;

struct Section {
  ChangeOf of;
  const char* name;  ///< in JSON
  const char* title;
};
constexpr Section kSections[] = {
    {ChangeOf::cluster, "cluster", "the cluster, with one thing better"},
    {ChangeOf::execution, "execution", "the same training, carried out otherwise"},
    {ChangeOf::memory, "memory", ""},  // shown if they make it fit
    {ChangeOf::training, "training", "another training, whose accuracy is not forecast"},
};

/// The terms of communication by name.
std::array<Cause, 8> terms_of(const PricedCost& cost) {
  return {{{"latency", cost.latency},
           {"bandwidth", cost.bandwidth},
           {"copies", cost.copies},
           {"reduction", cost.reduction},
           {"set-up", cost.setup},
           {"operation", cost.operation},
           {"negotiation", cost.negotiation},
           {"gathering", cost.gathering}}};
}

bool communicates(const CriticalTask& task) { return task.communication.total() > Seconds{}; }

/// "bandwidth 99.8 %, latency 0.2 %" of a communication task.
std::string made_of(const CriticalTask& task) {
  auto terms = terms_of(task.communication);
  std::stable_sort(terms.begin(), terms.end(), [](const Cause& a, const Cause& b) { return a.time > b.time; });
  std::vector<std::string> parts;
  for (const Cause& term : terms)
    if (term.time > Seconds{}) parts.push_back(fmt::format("{} {}", term.name, share(term.time, task.time)));
  return parts.size() == 1 ? terms.front().name : fmt::format("{}", fmt::join(parts, ", "));
}

/// "3/161", "tail", or "3/161 to 5/161", after `before`.
std::regex number_after(const char* before) {
  return std::regex(std::string(before) + "([0-9]+/[0-9]+|tail)(?: to (?:[0-9]+/[0-9]+|tail))?");
}

/// Returns "push" for "push 3/161" and for "push 3/161 to 5/161", and "push, message 2" for "push 3/161, message 2".
std::string kind_of(const std::string& name) {
  static const std::regex number = number_after(" ");
  return std::regex_replace(name, number, "");
}

/// With more tasks than this, consecutive tasks of one kind are shown as one.
constexpr std::size_t kMostTasks = 12;

/// A task with the times and terms of two.
CriticalTask added(CriticalTask a, const CriticalTask& b) {
  a.time += b.time;
  a.communication += b.communication;
  a.slowdown += b.slowdown;
  return a;
}

/// "all-reduce 3/161 to 98/161" for tasks of one kind, one after the other.
CriticalTask joined(const CriticalTask& a, const CriticalTask& b) {
  CriticalTask both = added(a, b);
  static const std::regex number = number_after("");
  if (std::smatch last; std::regex_search(b.name, last, number))
    both.name = std::regex_replace(a.name, number, fmt::format("$1 to {}", last.str(1)));
  return both;
}

std::vector<CriticalTask> shown_tasks(const std::vector<CriticalTask>& tasks) {
  if (tasks.size() <= kMostTasks) return tasks;
  std::vector<CriticalTask> shown;
  std::string latest;  // kind
  for (const CriticalTask& task : tasks) {
    std::string kind = kind_of(task.name);
    if (!shown.empty() && kind == latest) shown.back() = joined(shown.back(), task);
    else shown.push_back(task);
    latest = std::move(kind);
  }
  return shown;
}

/// One row for each kind, in order of first appearance, with the number of its tasks and the sums of their times and
/// terms.
std::vector<CriticalTask> by_kind(const std::vector<CriticalTask>& tasks) {
  struct Kind {
    std::string name;
    CriticalTask sum;
    int tasks = 1;
  };
  std::vector<Kind> kinds;
  for (const CriticalTask& task : tasks) {
    const std::string name = kind_of(task.name);
    const auto same = std::find_if(kinds.begin(), kinds.end(), [&](const Kind& kind) { return kind.name == name; });
    if (same == kinds.end()) kinds.push_back({name, task});
    else *same = {name, added(same->sum, task), same->tasks + 1};
  }
  std::vector<CriticalTask> rows;
  for (Kind& kind : kinds) {
    if (kind.tasks > 1) kind.sum.name = fmt::format("{}, {} times", kind.name, kind.tasks);
    rows.push_back(std::move(kind.sum));
  }
  return rows;
}

/// If the replay's step differs by more than this, it is not the sum of the equations' tasks.
constexpr double kSameStep = 1e-6;

Seconds time_around(const CriticalTasks& critical) {
  Seconds whole{};
  for (const CriticalTask& task : critical.tasks) whole += task.time;
  return whole;
}

std::string critical_text(const CriticalTasks& critical, Seconds shown) {
  const Seconds whole = time_around(critical);
  if (whole == Seconds{}) return "the step is set by nothing: no task takes time\n";
  const Seconds step = whole / critical.steps;
  const bool others = std::abs((step - shown) / shown) > kSameStep;
  const std::vector<CriticalTask> shown_in_order = shown_tasks(critical.tasks);
  const bool in_turn = shown_in_order.size() > kMostTasks;
  std::string text = fmt::format("tasks that set the step{}: {}, each time around {}\n",
                                 others ? fmt::format(" of the equations, {}, not the replay's", human_text(step)) : "",
                                 in_turn ? "those of different kinds in turn" : "one after the other",
                                 critical.steps == 1 ? "a step" : fmt::format("{} steps", critical.steps));
  TextTable table(1, 2);
  for (const CriticalTask& task : in_turn ? by_kind(critical.tasks) : shown_in_order)
    table.add(
        {"  " + task.name, human_text(task.time), share(task.time, whole), communicates(task) ? made_of(task) : ""});
  text += table.text();
  std::vector<std::string> parts;
  for (const Cause& cause : causes_of(critical))
    parts.push_back(fmt::format("{} {}", cause.name, share(cause.time * critical.steps, whole)));
  text += fmt::format("  in all: {}\n", fmt::join(parts, ", "));
  parts.clear();
  for (const CriticalTasks::Load& load : critical.loads)
    parts.push_back(fmt::format("{} {} ({})", load.stream, human_text(load.busy), share(load.busy, step)));
  return text + fmt::format("  busy in each step: {}\n", fmt::join(parts, ", "));
}

/// The mean worker's breakdown of a step, for steps whose tasks have no fixed order.
std::string breakdown_text(const Breakdown& b) {
  const Cause parts[] = {{"forward", b.forward}, {"backward", b.backward},
                         {"update", b.update},   {"encode", b.encode},
                         {"decode", b.decode},   {"exposed communication", b.exposed_communication},
                         {"stack", b.stack},     {"waiting", b.waiting}};
  std::vector<std::string> shares;
  for (const Cause& part : parts)
    if (part.time > Seconds{}) shares.push_back(fmt::format("{} {}", part.name, share(part.time, b.total())));
  return fmt::format(
      "breakdown of the step, the mean of all workers (the equations cannot tell what sets it; `stepcast trace` shows "
      "it):\n  {}\n",
      fmt::join(shares, ", "));
}

/// Quotes a word of a shell's command line.
std::string shell_word(const std::string& text) {
  constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./=:,+%@-";
  if (text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string quoted = "'";
  for (const char c : text) c == '\'' ? quoted += "'\\''" : quoted += c;
  return quoted + "'";
}

/// A value for --set: a string has no quotes unless they are needed.
std::string set_text(const Json& value) {
  if (!value.is_string()) return value.dump();
  const std::string text = value.get<std::string>();
  return Json::accept(text) || text.find_first_of("{[\"") != std::string::npos ? value.dump() : text;
}

/// "~" before the equations' estimates.
const char* mark(const std::string& estimate) { return estimate.empty() ? "" : "~"; }

/// "!" after changes that do not fit.
std::string gain_text(const ChangedStep& one) {
  return fmt::format("{}{:.3g}x{}", mark(one.estimate), one.speedup, one.lacks_memory ? " !" : "");
}

std::string section_text(const Section& section, const Explanation& e) {
  std::vector<const ChangedStep*> better, worse, same, refused;
  for (const ChangedStep& one : e.changes) {
    if (one.change.of != section.of) continue;
    auto& list = !one.refusal.empty()                      ? refused
                 : std::abs(one.speedup - 1) < kWorthALine ? same
                 : one.speedup > 1                         ? better
                                                           : worse;
    list.push_back(&one);
  }
  if (better.empty() && worse.empty() && same.empty() && refused.empty()) return "";
  const auto faster = [](const ChangedStep* a, const ChangedStep* b) { return a->speedup > b->speedup; };
  std::stable_sort(better.begin(), better.end(), faster);
  std::stable_sort(worse.begin(), worse.end(), faster);
  TextTable table(1, 2);
  const bool trains = e.point.samples_per_second > 0;
  table.add({!trains && section.of == ChangeOf::execution ? "the same bytes, exchanged otherwise" : section.title,
             "step", trains ? "throughput" : "speedup"});
  for (const ChangedStep* one : better)
    table.add({"  " + one->change.what, human_text(one->step), gain_text(*one), as_options(one->change)});
  std::string text = fmt::format("\n{}", table.text());
  const auto line = [&](const char* title, const std::vector<const ChangedStep*>& list, auto&& show) {
    std::vector<std::string> names;
    for (const ChangedStep* one : list) names.push_back(show(*one));
    if (!names.empty()) text += fmt::format("  {}: {}\n", title, fmt::join(names, "; "));
  };
  line("no gain", same, [](const ChangedStep& one) {
    return fmt::format("{}{}{}", mark(one.estimate), one.change.what, one.lacks_memory ? " !" : "");
  });
  line("slower", worse, [](const ChangedStep& one) { return fmt::format("{} {}", one.change.what, gain_text(one)); });
  // Many changes are refused for the same reason, so each reason is shown once.
  while (!refused.empty()) {
    const std::string reason = refused.front()->refusal;
    const auto others = std::stable_partition(refused.begin(), refused.end(),
                                              [&](const ChangedStep* one) { return one->refusal == reason; });
    line("not possible here", {refused.begin(), others}, [](const ChangedStep& one) { return one.change.what; });
    text.insert(text.size() - 1, " (" + reason + ")");
    refused.erase(refused.begin(), others);
  }
  return text;
}

/// For a point whose device has too little memory: the changes that make it fit, the fastest first.
std::string fitting_text(const Explanation& e) {
  if (e.point.lacks_memory.empty()) return "";
  std::vector<const ChangedStep*> fitting;
  for (const ChangedStep& one : e.changes)
    if (one.refusal.empty() && !one.lacks_memory && one.memory) fitting.push_back(&one);
  if (fitting.empty()) return "\nnone of the changes that were tried makes it fit the device's memory\n";
  std::stable_sort(fitting.begin(), fitting.end(),
                   [](const ChangedStep* a, const ChangedStep* b) { return a->speedup > b->speedup; });
  TextTable table(1, 3);
  table.add({"changes that make it fit the device's memory", "memory", "step", "throughput"});
  constexpr std::size_t kMostLines = 10;
  const std::size_t more = fitting.size() - std::min(fitting.size(), kMostLines);
  fitting.resize(fitting.size() - more);
  for (const ChangedStep* one : fitting)
    table.add({"  " + one->change.what, human_text(*one->memory), human_text(one->step), gain_text(*one),
               as_options(one->change)});
  return "\n" + table.text() + (more > 0 ? fmt::format("  slower than these: {} more\n", more) : "");
}

std::string headline(const Explanation& e) {
  std::vector<std::string> at;
  for (const Coordinate& c : e.point.coordinates) at.push_back(fmt::format("{} {}", c.axis, c.value));
  const StepForecast& shown = e.point.answers.shown();
  std::string text = e.name;
  if (!at.empty()) text += fmt::format(", {}", fmt::join(at, ", "));
  text += fmt::format(": a step takes {}{} by the {}", e.point.answers.replay ? "" : mark(e.point.estimate),
                      human_text(shown.step), e.point.answers.replay ? "replay" : "equations");
  if (e.point.samples_per_second > 0) text += fmt::format(", {:.4g} samples/s", e.point.samples_per_second);
  const Bound& bound = e.point.bound;
  if (bound.step > Seconds{}) {
    const std::pair<const char*, Seconds> kinds[] = {{"compute", bound.compute},
                                                     {"bandwidth", bound.bandwidth},
                                                     {"reduction", bound.reduction},
                                                     {"latency", bound.latency}};
    // The largest of the terms that apply; some steps have no latency.
    const auto applies =
        std::find_if(std::begin(kinds), std::end(kinds), [&](const auto& kind) { return kind.second == bound.step; });
    text += fmt::format("; no schedule beats {} ({})", human_text(bound.step), applies->first);
  }
  const bool named = std::any_of(e.point.coordinates.begin(), e.point.coordinates.end(),
                                 [&](const Coordinate& c) { return c.value == e.point.algorithm; });
  if (!e.point.algorithm.empty() && !named) text += fmt::format("; algorithm {}", e.point.algorithm);
  return text + "\n";
}

/// Why equations are an estimate, without the range.
std::string_view cause_of(std::string_view estimate) { return estimate.substr(0, estimate.find(": a replay's step")); }

/// The meaning of "~", and its reason. The point's own reason is among its notes.
std::string marks_text(const Explanation& e) {
  std::vector<std::string> reasons;
  for (const ChangedStep& one : e.changes)
    if (!one.estimate.empty() && one.estimate != e.point.estimate &&
        std::none_of(reasons.begin(), reasons.end(),
                     [&](const std::string& known) { return cause_of(known) == cause_of(one.estimate); }))
      reasons.push_back(one.estimate);
  const bool own = !e.point.estimate.empty() && !e.point.answers.replay;
  std::string text;
  if (std::any_of(e.changes.begin(), e.changes.end(), [](const ChangedStep& one) { return one.lacks_memory; }))
    text = "note: ! marks changes with which a worker's memory still does not fit\n";
  if (reasons.empty() && !own) return text;
  return text + fmt::format("note: ~ marks estimates of the equations{}{}; with --evaluator replay there are none\n",
                            reasons.empty() ? "" : ": ", fmt::join(reasons, "; "));
}

}  // namespace

std::string as_options(const Change& change) {
  std::vector<std::string> options;
  for (const auto& [pointer, value] : change.set)
    options.push_back(fmt::format("--set {}", shell_word(fmt::format("{}={}", pointer, set_text(value)))));
  return fmt::format("{}", fmt::join(options, " "));
}

std::vector<Cause> causes_of(const CriticalTasks& critical) {
  std::vector<Cause> causes;
  const auto add = [&](std::string_view name, Seconds time) {
    if (time == Seconds{}) return;
    const auto known =
        std::find_if(causes.begin(), causes.end(), [&](const Cause& cause) { return cause.name == name; });
    if (known != causes.end()) known->time += time / critical.steps;
    else causes.push_back({std::string(name), time / critical.steps});
  };
  for (const CriticalTask& task : critical.tasks) {
    if (communicates(task)) {
      for (const Cause& term : terms_of(task.communication)) add(term.name, term.time);
    } else {
      add(name_of(task.phase), task.time - task.slowdown);
      add("slowdown", task.slowdown);
    }
  }
  std::stable_sort(causes.begin(), causes.end(), [](const Cause& a, const Cause& b) { return a.time > b.time; });
  return causes;
}

std::string to_text(const Explanation& e) {
  std::string text = headline(e) + "\n";
  text += e.critical ? critical_text(*e.critical, e.point.answers.shown().step)
                     : breakdown_text(e.point.answers.shown().breakdown);
  text += fitting_text(e);
  for (const Section& section : kSections)
    if (section.of != ChangeOf::memory) text += section_text(section, e);
  const std::string marks = marks_text(e);
  if (!e.point.notes.empty() || !marks.empty()) text += "\n" + marks;
  text += note_lines(e.point.notes);
  return text;
}

Json explanation_document(const Explanation& e, const Json& manifest) {
  Json json = Json::object();
  json["schema_version"] = kExplanationSchemaVersion;
  json["name"] = e.name;
  json["coordinates"] = coordinates_json(e.point.coordinates);
  json["step_time_s"] = e.point.answers.shown().step.si();
  json["bound_s"] = e.point.bound.step.si();
  json["collective_algorithm"] = e.point.algorithm.empty() ? Json() : Json(e.point.algorithm);
  json["estimate"] = e.point.estimate.empty() ? Json() : Json(e.point.estimate);
  json["critical_cycle"] = nullptr;
  if (e.critical && time_around(*e.critical) > Seconds{}) {
    Json tasks = Json::array(), causes = Json::object();
    for (const CriticalTask& task : e.critical->tasks) {
      Json one{{"task", task.name}, {"phase", name_of(task.phase)}, {"time_s", task.time.si()}};
      if (communicates(task))
        for (const Cause& term : terms_of(task.communication))
          one[(term.name == "set-up" ? "setup" : term.name) + "_s"] = term.time.si();
      tasks.push_back(std::move(one));
    }
    for (const Cause& cause : causes_of(*e.critical)) causes[cause.name] = cause.time.si();
    Json loads = Json::object();
    for (const CriticalTasks::Load& load : e.critical->loads) loads[load.stream] = load.busy.si();
    json["critical_cycle"] = {{"busy_s", loads},
                              {"steps", e.critical->steps},
                              {"step_time_s", (time_around(*e.critical) / e.critical->steps).si()},
                              {"tasks", tasks},
                              {"causes_s", causes}};
  }
  json["changes"] = Json::array();
  for (const ChangedStep& one : e.changes) {
    Json set = Json::object();
    for (const auto& [pointer, value] : one.change.set) set[pointer] = value;
    const auto section = std::find_if(std::begin(kSections), std::end(kSections),
                                      [&](const Section& s) { return s.of == one.change.of; });
    Json row{{"of", section->name},
             {"what", one.change.what},
             {"set", set},
             {"step_time_s", nullptr},
             {"speedup", nullptr},
             {"estimate", nullptr},
             {"memory_B", one.memory ? Json(one.memory->si()) : Json()},
             {"lacks_memory", one.lacks_memory},
             {"refusal", nullptr}};
    if (one.refusal.empty()) {
      row["step_time_s"] = one.step.si();
      row["speedup"] = one.speedup;
      if (!one.estimate.empty()) row["estimate"] = one.estimate;
    } else row["refusal"] = one.refusal;
    json["changes"].push_back(std::move(row));
  }
  json["notes"] = coded(e.point.notes);
  json["manifest"] = manifest;
  return json;
}

}  // namespace stepcast
