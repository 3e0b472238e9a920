#include "models/equation/error_band.hpp"

#include <cmath>
#include <memory>

#include "models/describe/fault.hpp"
#include "models/equation/evaluate.hpp"
#include "models/strategy/builder.hpp"
#include "models/workload/spread.hpp"

namespace stepcast {
namespace {

Seconds step_at(Scenario scenario, Side side, const ClusterPrices& prices, SidedWorkloads& sides) {
  if (scenario.codec.device)
    scenario.codec.device = at_side(*scenario.codec.device, side, Dtype::fp32);  // codecs compute in fp32
  const auto step = [&](const Workload& workload) {
    return evaluate(build_step_graph(scenario, workload, prices), prices).step;
  };
  if (!scenario.workload || !scenario.workload->profile) return step(make_workload(scenario));
  const SidedWorkloads::Sided& sided = sides.of(scenario, side);
  scenario.workload = sided.table;
  return step(sided.workload);
}

/// The type whose spread holds for all layers: under autocast the one of both that is further from measured times.
Dtype widest_spread(const WorkloadTable& table) {
  const Dtype narrow = compute_dtype_of(table);
  if (!casts(table)) return narrow;
  const RooflineSpread *of_narrow = find_roofline_spread(*table.profile, narrow),
                       *of_wide = find_roofline_spread(*table.profile, table.dtype);
  return of_narrow && of_wide && of_wide->spread > of_narrow->spread ? table.dtype : narrow;
}

bool profile_spreads(const Scenario& scenario) {
  return (scenario.codec.device && has_spread(*scenario.codec.device)) ||
         (scenario.workload && scenario.workload->profile && has_spread(*scenario.workload->profile));
}

/// The factor of a stack's 90 % interval; 1 without one.
double stack_factor(const Scenario& scenario) {
  constexpr double kNormal90 = 1.6448536269514722;  // the standard normal's 95 % quantile
  return scenario.cluster.workers > 1 ? std::exp(kNormal90 * scenario.cluster.stack.spread) : 1.0;
}

}  // namespace

const SidedWorkloads::Sided& SidedWorkloads::of(const Scenario& scenario, Side side) {
  constexpr std::size_t kMost = 64;  // points of one table mostly come one after the other
  if (known_.size() == kMost) known_.clear();
  const auto [entry, is_new] = known_.try_emplace({scenario.workload.get(), side});
  if (!is_new) return entry->second;
  WorkloadTable table = *scenario.workload;
  table.profile = at_side(*table.profile, side, widest_spread(table));
  // Measured times stay. A profile only divides them.
  if (table.measured) table.measured->profile = at_side(table.measured->profile, side, table.measured->dtype);
  Scenario of_side = scenario;
  of_side.workload = entry->second.table = std::make_shared<const WorkloadTable>(std::move(table));
  entry->second.workload = make_workload(of_side);
  return entry->second;
}

bool has_spread(const Scenario& scenario) { return profile_spreads(scenario) || stack_factor(scenario) > 1; }

Band band_of(const Scenario& scenario, const ClusterPrices& prices, Seconds stated, Seconds shown,
             SidedWorkloads& sides) {
  const double stack = stack_factor(scenario);
  if (!profile_spreads(scenario)) return {shown / stack, shown * stack};
  return {shown * (step_at(scenario, Side::fast, prices, sides) / stated / stack),
          shown * (step_at(scenario, Side::slow, prices, sides) / stated * stack)};
}

ErrorBand error_band(const Scenario& scenario, const StepGraph& graph, const ClusterPrices& prices,
                     std::optional<Seconds> stated, Seconds shown, SidedWorkloads& sides) {
  if (!has_spread(scenario)) return {};
  if (!profile_spreads(scenario)) return {band_of(scenario, prices, shown, shown, sides), ""};
  if (graph.asynchronous)
    return {{}, "it needs the equations, which cannot evaluate workers that do not wait for all others"};
  try {
    const Band band = band_of(scenario, prices, stated ? *stated : evaluate(graph, prices).step, shown, sides);
    if (band.low < band.high) return {band, ""};
  } catch (const ModelError& error) {
    return {{}, error.what()};
  }
  return {};
}

}  // namespace stepcast
