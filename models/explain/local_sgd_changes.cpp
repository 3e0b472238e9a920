// Changes of local SGD's islands and fragments.
#include <algorithm>

#include <fmt/format.h>

#include "models/explain/change_list.hpp"
#include "models/fabric/machines.hpp"
#include "models/strategy/builder.hpp"
#include "models/unit/format.hpp"

namespace stepcast {

void add_island_changes(const Scenario& s, ChangeList& changes) {
  const auto& x = std::get<LocalSgdStrategy>(s.strategy);
  const auto here = strategy_of(x);
  const auto offer = [&](ChangeOf of, std::string what, const std::optional<Islands>& islands) {
    changes.add(of, std::move(what), here, &LocalSgdStrategy::islands, islands);
  };
  if (!x.islands) {
    if (const auto machine = machine_group(s); machine && s.codec.scope == CodecScope::workers)
      for (const std::optional<ShardingStage> stage :
           {std::optional<ShardingStage>{}, std::optional(ShardingStage::parameters)})
        offer(kTraining,
              fmt::format("islands: each {}'s workers make every step together{}", group_name(s.cluster),
                          stage ? ", with sharded parameters" : ""),
              Islands{.size = *machine, .sharding = stage});
    return;
  }
  offer(kTraining, "no islands: each worker trains alone", {});
  const auto offer_with = [&](const std::string& what, const auto& change) {
    Islands other = *x.islands;
    change(other);
    if (other != *x.islands) offer(kExecution, what, other);
  };
  offer_with("the cheapest algorithm inside islands", [](Islands& other) { other.collective = {}; });
  if (x.islands->grouping != Grouping::whole_model)
    offer_with("overlap inside islands", [](Islands& other) { other.overlap = true; });
  for (const auto& choice : Choices<Grouping>::table)
    offer_with(fmt::format("{} inside islands", choice.name), [&](Islands& other) { other.grouping = choice.value; });
  const auto shard = [&](const std::string& what, std::optional<ShardingStage> stage) {
    offer_with(what, [&](Islands& other) {
      if (stage.has_value() != other.sharding.has_value()) other.collective = {};  // of other operations
      other.sharding = stage;
    });
  };
  if (x.islands->sharding) shard("gradients all-reduced inside islands", {});
  for (const auto& choice : Choices<ShardingStage>::table)
    if (x.islands->sharding != choice.value)
      shard(fmt::format("state sharded inside islands, stage {}", choice.name), choice.value);
}

void add_fragment_changes(const Scenario& s, ChangeList& changes) {
  const auto& x = std::get<LocalSgdStrategy>(s.strategy);
  const auto here = strategy_of(x);
  const auto tensors = static_cast<int>(make_workload(s).gradients.size());
  const int more = std::min({x.steps, tensors, 4 * x.fragments, LocalSgdStrategy::kMostFragments});
  if (more <= x.fragments) return;
  const int delay = std::max(x.averaging_steps, x.steps / more);
  changes.add(
      kTraining, fmt::format("averaged in {} fragments, each during the next {}", more, steps_text(delay)),
      {setting(here, &LocalSgdStrategy::fragments, more), setting(here, &LocalSgdStrategy::averaging_steps, delay)});
}

}  // namespace stepcast
