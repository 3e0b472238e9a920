// Changes in the making: fields are named by the members that they are, pointers and values follow from describe().
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

using Settings = std::vector<std::pair<std::string, Json>>;

/// Of `part`, what is not as in `usual`, and its kind.
Json without_defaults(const Json& part, const Json& usual);

/// A value as a change sets it: of a part what is not its default.
template <class T>
Json brief_value(const T& value) {
  if constexpr (Described<T>) return without_defaults(write_value(value), write_value(T{}));
  else return write_value(value);
}

/// Sets a field.
template <class Part, class T>
Settings::value_type setting(const Place<Part>& place, T Part::*member, const std::type_identity_t<T>& value) {
  return {place.of(member), brief_value(value)};
}

inline Place<Cluster> cluster_of(const Scenario& s) { return {s.cluster, "/cluster"}; }
inline Place<Evaluation> evaluation_of(const Scenario& s) { return {s.evaluation, "/evaluation"}; }
inline Place<WorkloadTable> workload_of(const Scenario& s) { return {*s.workload, "/workload"}; }
template <class Kind>
Place<Kind> strategy_of(const Kind& strategy) {
  return {strategy, "/strategy"};
}

class ChangeList {
 public:
  void add(ChangeOf of, std::string what, Settings set) { all_.push_back({of, std::move(what), std::move(set)}); }
  /// Of one field.
  template <class Part, class T>
  void add(ChangeOf of, std::string what, const Place<Part>& place, T Part::*member,
           const std::type_identity_t<T>& value) {
    add(of, std::move(what), {setting(place, member, value)});
  }
  /// The other choices of a field that has names for them, those that may be.
  /// @param what  says a choice
  template <class Part, Named E, class Say, class May>
  void add_others(ChangeOf of, const Place<Part>& place, E Part::*member, Say&& what, May&& may) {
    for (const auto& choice : Choices<E>::table)
      if (choice.value != place.part.*member && may(choice.value)) add(of, what(choice), place, member, choice.value);
  }
  template <class Part, Named E, class Say>
  void add_others(ChangeOf of, const Place<Part>& place, E Part::*member, Say&& what) {
    add_others(of, place, member, what, [](E) { return true; });
  }
  /// Another strategy.
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

/// The same choice under another strategy, so that a change is of one thing; auto where it does not do that one's
/// operations.
CollectiveChoice kept_choice(const Strategy& strategy, std::initializer_list<Operation> operations);
/// Of all-gathers and reduce-scatters among the workers of a group, of which there is nothing inside or between.
CollectiveChoice kept_choice_inside(const Strategy& strategy, bool is_group);
CollectiveChoice kept_all_reduce(const Scenario& scenario);

/// Sets that this share of the blocks is computed again.
Settings computed_again(const Place<WorkloadTable>& workload, double share);
/// So many passes of so many samples.
Settings passes_of(const Place<WorkloadTable>& workload, int accumulation, int batch);

void add_cluster_changes(const Scenario& scenario, ChangeList& changes);
void add_exchange_changes(const Scenario& scenario, ChangeList& changes);
/// The same training by other passes and kernels. @pre the scenario trains
void add_workload_changes(const Scenario& scenario, ChangeList& changes);
/// Other trainings. @pre the scenario trains
void add_training_changes(const Scenario& scenario, ChangeList& changes);

}  // namespace stepcast
