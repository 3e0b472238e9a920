// Changes of the hardware and its software: one number of the cluster or its stack, twice as good.
#include <algorithm>

#include <fmt/format.h>

#include "models/describe/json.hpp"
#include "models/explain/change_list.hpp"
#include "models/part/worker_kinds.hpp"
#include "models/scenario/part_json.hpp"
#include "models/unit/format.hpp"

namespace stepcast {
namespace {

/// "/cluster/topology/inner/bandwidth" -> "topology inner bandwidth"; "/stack/host_cost" -> "host cost"
std::string words_of(std::string pointer) {
  pointer.erase(0, pointer.find('/', 1) + 1);
  std::replace_if(
      pointer.begin(), pointer.end(), [](char c) { return c == '/' || c == '_'; }, ' ');
  return pointer;
}

/// Makes each number of a part twice as good. Visits the fields of describe(), and the parts in them.
class TwiceAsGood {
 public:
  TwiceAsGood(std::string pointer, ChangeList& changes) : pointer_(std::move(pointer)), changes_(changes) {}

  template <class T>
  void required(const char* name, T& value, const char*, Limits = {}) {
    look(pointer_to(pointer_, name), name, value);
  }
  template <class T>
  void optional(const char* name, T& value, const char*, Limits = {}) {
    look(pointer_to(pointer_, name), name, value);
  }

 private:
  template <class T>
  void look(const std::string& pointer, std::string_view name, T& value) {
    using Value = std::remove_const_t<T>;  // a shared one is constant
    if constexpr (std::is_same_v<Value, BytesPerSecond> || std::is_same_v<Value, Bytes>) quantity(pointer, value * 2.0);
    else if constexpr (std::is_same_v<Value, Seconds> || std::is_same_v<Value, SecondsPerByte>)
      quantity(pointer, value / 2.0);
    else if constexpr (IsOptional<T>::value) {
      if (value) look(pointer, name, *value);
    } else if constexpr (IsVariant<T>::value) {
      std::visit([&](auto& part) { descend(pointer, part); }, value);
    } else if constexpr (std::is_same_v<T, std::vector<WorkerGroup>>) {
      for (std::size_t i = 0; i < value.size(); ++i) descend(pointer_to(pointer, i), value[i]);
    } else if constexpr (std::is_same_v<T, Link> || std::is_same_v<T, NodeRacks>) {
      descend(pointer, value);
    } else if constexpr (std::is_same_v<T, int>) {
      if (name == "nics" || name.ends_with("_links")) add(pointer, std::to_string(2L * value), 2L * value);
    } else if constexpr (std::is_same_v<T, std::vector<int>>) {
      if (name != "parallel") return;
      std::vector<int> cables = value;
      for (int& count : cables) count *= 2;
      add(pointer, "twice as many cables", cables);
    } else if constexpr (std::is_same_v<T, double>) {
      if (name == "oversubscription" && value > 1)
        add(pointer, fmt::format("{:.3g}", std::max(1.0, value / 2)), std::max(1.0, value / 2));
      if (name == "in_network_factor" && value < 1)
        add(pointer, fmt::format("{:.3g}", std::min(1.0, value * 2)), std::min(1.0, value * 2));
    }
  }

  template <class Part>
  void descend(const std::string& pointer, Part& part) {
    TwiceAsGood inner(pointer, changes_);
    Part::describe(inner, part);
  }

  template <class Q>
  void quantity(const std::string& pointer, Q better) {
    if (better != Q{}) add(pointer, human_text(better), exact_text(better));
  }

  void add(const std::string& pointer, const std::string& better, Json value) {
    changes_.add(ChangeOf::cluster, words_of(pointer) + " " + better, {{pointer, std::move(value)}});
  }

  std::string pointer_;
  ChangeList& changes_;
};

}  // namespace

void add_cluster_changes(const Scenario& s, ChangeList& changes) {
  const Place<Cluster> cluster = cluster_of(s);
  Cluster numbers = s.cluster;
  numbers.fits.clear();  // for readers only; nothing is computed from them
  TwiceAsGood visitor(cluster.pointer, changes);
  Cluster::describe(visitor, numbers);
  TwiceAsGood of_stack("/stack", changes);
  Stack::describe(of_stack, numbers.stack);
  Stack no_costs;  // with what takes no time
  no_costs.name = numbers.stack.name;
  no_costs.description = numbers.stack.description;
  no_costs.spread = numbers.stack.spread;
  no_costs.strategies = numbers.stack.strategies;
  no_costs.origins = numbers.stack.origins;
  if (numbers.stack != no_costs) {
    Settings set{{"/stack", Json::object()}};
    if (numbers.stack.strategies)  // the strategy may have its defaults
      set.push_back(std::visit([](const auto& x) { return ChangeList::strategy_setting(x); }, s.strategy));
    changes.add(ChangeOf::cluster, "no stack: software that takes no time", std::move(set));
  }
  // A platform file has its own links.
  if (std::holds_alternative<SimGridXml>(s.cluster.topology))
    std::erase_if(changes.all(), [link = cluster.of(&Cluster::link) + "/"](const Change& change) {
      return change.set.front().first.starts_with(link);
    });

  if (!std::holds_alternative<CollectiveBenchmark>(s.strategy)) {
    std::vector<WorkerGroup> twice;
    if (const std::vector<WorkerKind> kinds = worker_kinds(s.cluster); kinds.size() > s.cluster.groups.size())
      twice.push_back({.count = kinds.front().count});
    twice.insert(twice.end(), s.cluster.groups.begin(), s.cluster.groups.end());
    Json groups = Json::array();
    for (WorkerGroup& group : twice) {
      group.speed *= 2;
      groups.push_back(without_defaults(write_value(group), write_value(WorkerGroup{.count = 0})));
    }
    changes.add(ChangeOf::cluster, "workers compute twice as fast", {{cluster.of(&Cluster::groups), groups}});
  }
  if (worker_kinds(s.cluster).size() > 1)
    changes.add(ChangeOf::cluster, "all workers alike", cluster, &Cluster::groups, {});
  // Without randomness there is no need to repeat.
  if (s.cluster.jitter.cv > 0)
    changes.add(ChangeOf::cluster, "no jitter",
                {setting(cluster, &Cluster::jitter, {}), setting(evaluation_of(s), &Evaluation::runs, 1)});
  changes.add(ChangeOf::cluster, fmt::format("{} workers", 2L * s.cluster.workers),
              {{cluster.of(&Cluster::workers), 2L * s.cluster.workers}});
}

}  // namespace stepcast
