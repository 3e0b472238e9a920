// Makes changes. Fields are named by their members, and describe() gives their pointers and values.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "models/describe/place.hpp"
#include "models/describe/writer.hpp"
#include "models/explain/changes.hpp"

namespace stepcast {

inline constexpr ChangeOf kExecution = ChangeOf::execution, kTraining = ChangeOf::training;

using Settings = std::vector<std::pair<std::string, Json>>;

/// The fields of `part` that differ from `usual`, and its kind.
Json without_defaults(const Json& part, const Json& usual);

/// A value in a change: for a part, the fields that differ from its defaults.
template <class T>
Json brief_value(const T& value) {
  if constexpr (Described<T>) return without_defaults(write_value(value), write_value(T{}));
  else if constexpr (IsOptional<T>::value) return value ? brief_value(*value) : Json();
  else return write_value(value);
}

/// Sets a field.
template <class Part, class T>
Settings::value_type setting(const Place<Part>& place, T Part::*member, const std::type_identity_t<T>& value) {
  return {place.of(member), brief_value(value)};
}

inline Place<Cluster> cluster_of(const Scenario& s) { return {s.cluster, "/cluster"}; }
inline Place<CodecSettings> codec_of(const Scenario& s) { return {s.codec, "/codec"}; }
inline Place<Evaluation> evaluation_of(const Scenario& s) { return {s.evaluation, "/evaluation"}; }
inline Place<WorkloadTable> workload_of(const Scenario& s) { return {*s.workload, "/workload"}; }
template <class Kind>
Place<Kind> strategy_of(const Kind& strategy) {
  return {strategy, "/strategy"};
}

class ChangeList {
 public:
  void add(ChangeOf of, std::string what, Settings set) { all_.push_back({of, std::move(what), std::move(set)}); }
  /// Changes one field.
  template <class Part, class T>
  void add(ChangeOf of, std::string what, const Place<Part>& place, T Part::*member,
           const std::type_identity_t<T>& value) {
    add(of, std::move(what), {setting(place, member, value)});
  }
  /// Changes a field to each of its other named choices that `may` allows.
  /// @param what  gives the text of a choice
  template <class Part, Named E, class Say, class May>
  void add_others(ChangeOf of, const Place<Part>& place, E Part::*member, Say&& what, May&& may) {
    for (const auto& choice : Choices<E>::table)
      if (choice.value != place.part.*member && may(choice.value)) add(of, what(choice), place, member, choice.value);
  }
  template <class Part, Named E, class Say>
  void add_others(ChangeOf of, const Place<Part>& place, E Part::*member, Say&& what) {
    add_others(of, place, member, what, [](E) { return true; });
  }
  /// Changes the strategy.
  template <class Kind>
  void add_strategy(ChangeOf of, std::string what, const Kind& other) {
    add(of, std::move(what), {strategy_setting(other)});
  }

  template <class Kind>
  static Settings::value_type strategy_setting(const Kind& other) {
    return {"/strategy", without_defaults(write_value(Strategy(other)), write_value(Kind{}))};
  }

  [[nodiscard]] std::vector<Change>& all() { return all_; }

 private:
  std::vector<Change> all_;
};

/// The same choice for another strategy, so that the change is a single one. Becomes auto if the algorithm lacks an
/// operation.
CollectiveChoice kept_choice(const Strategy& strategy, std::initializer_list<Operation> operations);
/// For all-gathers and reduce-scatters in a group, whose workers have no groups of machines or racks.
CollectiveChoice kept_choice_inside(const Strategy& strategy, bool is_group);
CollectiveChoice kept_all_reduce(const Scenario& scenario);

/// The workers of a machine or rack, if there are several of equal size.
std::optional<int> machine_group(const Scenario& scenario);
/// "step", "3 steps".
std::string steps_text(int steps);

/// Settings that recompute this share of the blocks.
Settings computed_again(const Place<WorkloadTable>& workload, double share);
/// Settings of a number of passes of a number of samples.
Settings passes_of(const Place<WorkloadTable>& workload, int accumulation, int batch);

void add_cluster_changes(const Scenario& scenario, ChangeList& changes);
void add_exchange_changes(const Scenario& scenario, ChangeList& changes);
/// @pre both: strategy local-sgd
void add_island_changes(const Scenario& scenario, ChangeList& changes);
/// Fragments whose averages travel until the next one is sent, at least.
void add_fragment_changes(const Scenario& scenario, ChangeList& changes);
/// @pre strategy gossip
void add_gossip_changes(const Scenario& scenario, ChangeList& changes);
/// Adds other passes and kernels for the same training.
/// @pre the scenario trains
void add_workload_changes(const Scenario& scenario, ChangeList& changes);
/// Adds other trainings.
/// @pre the scenario trains
void add_training_changes(const Scenario& scenario, ChangeList& changes);

}  // namespace stepcast
