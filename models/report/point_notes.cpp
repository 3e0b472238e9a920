#include "models/report/point_notes.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "models/compressor/compressor.hpp"
#include "models/fabric/machines.hpp"
#include "models/report/cluster_notes.hpp"
#include "models/report/codec_notes.hpp"
#include "models/report/stack_notes.hpp"
#include "models/scenario/carrier.hpp"
#include "models/scenario/summed_workers.hpp"
#include "models/scenario/tensor_compressors.hpp"
#include "models/strategy/fragments.hpp"
#include "models/workload/transformer_layers.hpp"

namespace stepcast {
namespace {

/// Whether nothing but queues tells some workers of asynchronous servers apart.
bool are_equal_and_apart(const StepGraph& graph, const Cluster& cluster) {
  const std::vector<WorkerKind> kinds = worker_kinds(cluster);
  return graph.asynchronous && graph.shards > 0 && cluster.jitter.cv == 0 &&
         std::any_of(kinds.begin(), kinds.end(), [](const WorkerKind& kind) { return kind.count > 1; });
}

/// Whether the study has points that differ in this field.
bool goes_over(const StudyPoint& point, std::string_view field) {
  return std::any_of(point.coordinates.begin(), point.coordinates.end(), [&](const Coordinate& c) {
    const std::string_view axis = c.axis;
    return axis == field || (axis.ends_with(field) && axis[axis.size() - field.size() - 1] == '/');
  });
}

/// Notes where the steps that a mean is of become longer or shorter.
void add_drift(const Scenario& scenario, const StepForecast& replay, Notes& notes) {
  constexpr double kSteady = 0.02;
  if (std::abs(replay.drift) <= kSteady) return;
  const std::string halves = fmt::format("the second half's steps take {:.0f} % {} than the first half's",
                                         100 * std::abs(replay.drift), replay.drift > 0 ? "more" : "less");
  notes.push_back(
      {NoteCode::not_steady,
       is_random(scenario)
           ? fmt::format("by chance or not steady yet, {}; increase /evaluation/max_steps or /evaluation/runs", halves)
           : fmt::format("not steady yet: {}; increase /evaluation/max_steps", halves)});
}

/// Notes where fast workers of bounded staleness do not wait yet as they will.
void add_lead(const StepForecast& replay, Notes& notes) {
  constexpr double kSteady = 0.05;
  if (replay.lead > kSteady)
    notes.push_back(
        {NoteCode::staleness_not_reached,
         fmt::format(
             "not steady yet: workers did {:.0f} % more steps than the slowest, within the staleness bound that will "
             "hold them back; shares of the step and percentiles belong to this start; increase /evaluation/max_steps",
             100 * replay.lead)});
}

/// Notes where batch or dtype are not those that a table's times are for.
void add_given_times(const StudyPoint& point, Notes& notes) {
  const auto axis = [&](std::string_view name) { return goes_over(point, name); };
  const auto add = [&](NoteCode code, std::string text) {
    if (Note note{code, std::move(text)}; std::find(notes.begin(), notes.end(), note) == notes.end())
      notes.push_back(std::move(note));
  };
  for (const Scenario* scenario : questions_of(point)) {
    const auto& w = scenario->workload;
    if (!trains(*scenario) || gives_shapes(*w)) continue;
    constexpr std::string_view kFollows = "only layer shapes with a profile would follow it";
    if (w->timed_batch && *w->timed_batch != w->batch)
      add(NoteCode::other_batch,
          fmt::format("the times of {} stay those of batch {} at any batch; {}", w->name, *w->timed_batch, kFollows));
    else if (!w->timed_batch && axis("batch"))
      add(NoteCode::other_batch, fmt::format("the times of {} stay as given at any batch; {}", w->name, kFollows));
    if (axis("optimizer"))
      add(NoteCode::other_optimizer,
          fmt::format("the update time of {} stays as given with any optimizer, which changes only the memory; {}",
                      w->name, kFollows));
    if (w->timed_dtype && *w->timed_dtype != w->dtype)
      add(NoteCode::other_dtype,
          fmt::format(
              "the compute times of {} stay those of {} with any dtype, which changes only the gradients' bytes; {}",
              w->name, name_of(*w->timed_dtype), kFollows));
    else if (!w->timed_dtype && axis("dtype"))
      add(NoteCode::other_dtype,
          fmt::format(
              "the compute times of {} stay as given with any dtype, which changes only the gradients' bytes; {}",
              w->name, kFollows));
  }
}

/// Notes mixed precision that a narrow dtype alone asked for, casts that are left out, and a share of rates that may
/// stand in for them.
void add_mixed_precision(const Scenario& scenario, Notes& notes) {
  if (!trains(scenario)) return;
  const WorkloadTable& table = *scenario.workload;
  const std::string_view narrow = name_of(compute_dtype_of(table)), wide = name_of(table.dtype);
  if (table.mixed_by_default)
    notes.push_back(
        {NoteCode::mixed_precision,
         fmt::format("dtype {} alone is mixed precision: kernels compute in it, gradients and parameters stay {}; "
                     "compute_dtype {} as well makes these {}",
                     narrow, wide, narrow, narrow)});
  if (!table.profile || !is_mixed(table)) return;
  if (!table.autocast)
    notes.push_back(
        {NoteCode::no_casts,
         fmt::format("all kernels of forward and backward compute in {} without casts; if PyTorch's autocast "
                     "runs them, set /workload/autocast: it casts in each pass, and norms and sums are {}",
                     narrow, wide)});
  else if (table.profile->sustained)
    notes.push_back(
        {NoteCode::no_casts,
         fmt::format("the profile's sustained share of {:.3g} rests on steps without autocast, whose casts it "
                     "may stand in for; \"sustained\": null in /workload/profile leaves it out",
                     table.profile->sustained->value)});
}

/// Whether a text mentions the GPU, in any case of letters.
bool mentions(const std::string& text, const std::string& gpu) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  return !gpu.empty() && std::search(text.begin(), text.end(), gpu.begin(), gpu.end(), same) != text.end();
}

/// Notes layer times of another GPU than the cluster has.
void add_other_gpu(const Scenario& scenario, Notes& notes) {
  if (!trains(scenario) || !scenario.cluster.gpu) return;
  const std::string gpu = scenario.cluster_gpu.value_or("");
  if (!scenario.workload->profile) {
    if (mentions(scenario.workload->name + scenario.workload->description, gpu)) return;
    notes.push_back(
        {NoteCode::other_gpu,
         fmt::format("times of {} are those of its table, whatever the cluster's GPU ({}) is; a network with "
                     "shapes has times of that GPU",
                     scenario.workload->name, *scenario.cluster.gpu)});
    return;
  }
  const DeviceProfile& profile = *scenario.workload->profile;
  const std::string of_workload = gpu_of(profile);
  if (may_be_same_gpu(of_workload, gpu)) return;
  notes.push_back(
      {NoteCode::other_gpu,
       fmt::format(
           "layer times are those of {} (/workload/profile \"{}\"), and the cluster's GPUs are {} (/cluster/gpu "
           "\"{}\"): leave the profile out to take the cluster's, or set /cluster/gpu to the profile or null",
           of_workload, profile.name, gpu, *scenario.cluster.gpu)});
}

/// Notes shards that no tensor or part is left for.
void add_empty_shards(const Scenario& scenario, const StepGraph& graph, Notes& notes) {
  const auto* server = std::get_if<ParameterServerStrategy>(&scenario.strategy);
  if (!server || server->shards <= graph.shards) return;
  notes.push_back(
      {NoteCode::empty_shards,
       fmt::format("{} of {} shards hold nothing: balance greedy assigns whole {}, and there {} {}; "
                   "/strategy/balance split cuts them over all shards",
                   server->shards - graph.shards, server->shards, server->exchange.partition ? "parts" : "tensors",
                   graph.shards == 1 ? "is" : "are", graph.shards)});
}

/// Notes fragments without parameters: a large tensor or bucket has one fragment, and the place of others.
void add_empty_fragments(const Scenario& scenario, const Workload& workload, Notes& notes) {
  const auto* local = std::get_if<LocalSgdStrategy>(&scenario.strategy);
  if (!local || local->fragments == 1) return;
  const int filled = static_cast<int>(fragments_of(*local, workload).size());
  if (filled == local->fragments) return;
  notes.push_back(
      {NoteCode::empty_fragments,
       fmt::format(
           "{} of {} fragments are empty: a fragment has whole {}, some of which have 1/{} of all parameters or more",
           local->fragments - filled, local->fragments, local->grouping == Grouping::bucketed ? "buckets" : "tensors",
           local->fragments)});
}

/// Notes sharding groups and islands that end in the middle of machines: two of them share one machine's NICs.
void add_straddling_groups(const Scenario& scenario, Notes& notes) {
  const auto* sharded = std::get_if<ShardedStrategy>(&scenario.strategy);
  const Islands* islands = islands_of(scenario.strategy);
  if (!sharded && !islands) return;
  const Machines all = machines(scenario.cluster);
  const int p = scenario.cluster.workers, g = sharded ? sharded->group(p) : islands->size;
  if (placement(inside_groups(g, p), p, all) != Placement::spread) return;
  notes.push_back(
      {NoteCode::straddling_groups,
       fmt::format("{} of {} end in the middle of {}s of {} workers; a divisor or a multiple of {} would not",
                   sharded ? "sharding groups" : "islands", g, group_name(scenario.cluster), all.workers,
                   all.workers)});
}

/// Notes sharding whose only unit cannot overlap.
void add_one_unit(const Scenario& scenario, const Workload& workload, Notes& notes) {
  if (std::holds_alternative<ShardedStrategy>(scenario.strategy) && workload.gradients.size() == 1)
    notes.push_back(
        {NoteCode::one_unit,
         "the workload's gradients are one tensor and so one unit: none of its gathering and reducing hides behind computing; give it a tensor for each layer"});
}

/// The steps that a pass of the step graph holds.
const char* repeated_part(const Scenario& scenario) {
  const auto* servers = std::get_if<ParameterServerStrategy>(&scenario.strategy);
  if (std::holds_alternative<GossipStrategy>(scenario.strategy)) return "until its exchanges repeat";
  return servers && servers->steps_of_pull() != servers->steps ? "until a push and a pull fall together again"
                                                               : "from one exchange to the next";
}

/// Notes numbers that are means over steps, and islands that wait for each other although real ones would not.
void add_local_steps(const Scenario& scenario, const StepGraph& graph, Notes& notes) {
  if (graph.local_steps > 1)
    notes.push_back({NoteCode::local_steps,
                     fmt::format("times and bytes of a step are means over the steps {}", repeated_part(scenario))});
  if (islands_of(scenario.strategy) && scenario.cluster.jitter.cv > 0)
    notes.push_back(
        {NoteCode::islands_in_step,
         "each step of an island waits for the slowest worker of all islands; real islands wait for others when they "
         "average, so with jitter their steps are shorter"});
}

/// Notes kernels that a framework's code may not have: one for each norm, rotary embedding and GELU.
void add_fused_kernels(const Scenario& scenario, Notes& notes) {
  const std::optional<Transformer>& sizes = scenario.workload->transformer;
  if (!sizes || !may_be_composed(*sizes) || sizes->composed) return;
  notes.push_back({NoteCode::separate_kernels,
                   fmt::format("{} are priced as one kernel each; if they are not fused, as in Hugging Face's code "
                               "without a compiler, set /workload/transformer/composed",
                               composed_kinds(*sizes))});
}

/// Notes the carrier that auto chose. Encoding sums again moves fewer bytes from three senders on.
void add_carrier(const Scenario& scenario, const StepGraph& graph, Notes& notes) {
  if (graph.carrier.empty()) return;
  const int senders = compressed_senders(scenario);
  const bool again =
      senders > 2 && !std::holds_alternative<ShardedStrategy>(scenario.strategy) && any_has(scenario, is_recoded);
  notes.push_back(
      {NoteCode::carrier,
       fmt::format("auto chose the carrier {}{}", graph.carrier,
                   again ? "; all-to-all sends less, but encodes sums again, which is another training" : "")});
}

/// Notes where each worker gets p-1 messages although fewer may do.
void add_gathered_messages(const Scenario& scenario, const StepForecast& forecast, Notes& notes) {
  constexpr double kMuch = 0.1;  // of the step
  constexpr int kMany = 6;       // messages
  // In a pipeline, all-to-all needs more than the carrier.
  if (!std::holds_alternative<AllReduceStrategy>(scenario.strategy) &&
      !std::holds_alternative<LocalSgdStrategy>(scenario.strategy))
    return;
  const Carrier carrier = carrier_of(scenario.strategy);
  const int others = compressed_senders(scenario) - 1;
  if ((carrier != Carrier::sum_or_gather && carrier != Carrier::all_gather) || others < kMany ||
      forecast.breakdown.exposed_communication + forecast.breakdown.stack < forecast.step * kMuch ||
      !any_has(scenario, has_parts))
    return;
  notes.push_back(
      {NoteCode::gathered_messages,
       fmt::format("each worker gets {} other workers' messages; /strategy/carrier auto looks for a cheaper way of the "
                   "same training",
                   others)});
}

/// Notes how far the sampled mean may be from what bounds and baselines are of. Factors are independent with
/// coefficient of variation cv, one for each micro-batch, so the mean of N has cv/sqrt(N).
void add_sampling_error(const Scenario& scenario, const StepForecast& forecast, const StepGraph& graph,
                        const PointReport& report, Notes& notes) {
  const double cv = scenario.cluster.jitter.cv;
  if (!(cv > 0) || !forecast.distribution || report.bound.step == Seconds{}) return;
  // Samples are of every worker, but those with backup workers are of updates.
  const int of_each = graph.first_pushes ? 1 : scenario.cluster.workers;
  const double factors = static_cast<double>(forecast.distribution->samples) / of_each * graph.draws();
  notes.push_back(
      {NoteCode::sampling_error,
       fmt::format("with jitter, lower bound, speedup and efficiency are for mean compute times; a worker's sampled "
                   "mean differs from that by a standard error of {:.1g} %, so a step may be shorter",
                   100 * cv / std::sqrt(factors))});
}

/// Notes which samples a step is of, where that is more than one pass.
void add_passes(const StudyPoint& point, const Workload& workload, const StepGraph& graph, Notes& notes) {
  if (graph.first_pushes)
    notes.push_back(
        {NoteCode::no_global_update,
         fmt::format("an update uses the samples of the first {} of {} workers; throughput counts those alone",
                     *graph.first_pushes, point.scenario.cluster.workers)});
  if (point.scenario.workload->global_batch) {
    notes.push_back({NoteCode::passes,
                     "passes: number and samples of a worker's passes in a step, by its share of the global batch"});
    if (graph.asynchronous && graph.shards > 0 && !graph.first_pushes)
      notes.push_back({NoteCode::no_global_update,
                       "updates do not use the whole global batch: each worker's push updates by its "
                       "own share"});
    if (graph.local_steps > 1 || std::holds_alternative<GossipStrategy>(point.scenario.strategy))
      notes.push_back({NoteCode::no_global_update,
                       "updates do not use the whole global batch: each replica's update uses its own "
                       "share"});
  } else if (goes_over(point, "accumulation")) {
    notes.push_back({NoteCode::accumulation, "with accumulation, a step has that many passes of a batch each"});
  } else if (workload.accumulation > 1) {
    notes.push_back({NoteCode::accumulation,
                     fmt::format("with accumulation {} a step is {} passes of batch {}: {} samples a worker",
                                 workload.accumulation, workload.accumulation, workload.batch, workload.samples())});
  }
}

}  // namespace

std::optional<Note> memory_note(const PointReport& report) {
  constexpr double kTight = 0.92;  // uncounted parts need memory, too
  if (!report.lacks_memory.empty())
    return Note{NoteCode::lacks_memory, report.lacks_memory + "; `stepcast explain` shows changes that make it fit"};
  if (report.memory_share.value_or(0) <= kTight) return {};
  return Note{
      NoteCode::tight_memory,
      fmt::format("{:.3g} % of the device's memory is needed, not counting workspaces, communication buffers and an "
                  "allocator's waste: it may not fit, or be slow",
                  100 * *report.memory_share)};
}

void add_notes(const StudyPoint& point, const AnsweredPoint& answered, PointReport& report) {
  const Scenario& scenario = point.scenario;
  const Workload& workload = answered.own.workload;
  const StepForecast& forecast = answered.own.answers.shown();
  if (!report.estimate.empty())
    report.notes.push_back({NoteCode::estimate,
                            fmt::format("the equations are an estimate here, {}; the replay is not", report.estimate)});
  for (const std::string& text : point.notes) report.notes.push_back({NoteCode::no_effect, text});
  add_given_times(point, report.notes);
  add_cluster_notes(scenario, answered.graph, report.notes);
  add_sampling_error(scenario, forecast, answered.graph, report, report.notes);
  if (std::optional<Note> note = memory_note(report)) report.notes.push_back(*std::move(note));
  if (trains(scenario)) add_passes(point, workload, answered.graph, report.notes);
  add_one_unit(scenario, workload, report.notes);
  add_straddling_groups(scenario, report.notes);
  add_other_gpu(scenario, report.notes);
  add_mixed_precision(scenario, report.notes);
  if (trains(scenario)) add_empty_shards(scenario, answered.graph, report.notes);
  if (trains(scenario)) add_empty_fragments(scenario, workload, report.notes);
  const bool shares_update = report.shares_state || std::holds_alternative<ParameterServerStrategy>(scenario.strategy);
  if (report.scaling_efficiency.value_or(0) > 1.005 && shares_update)
    report.notes.push_back(
        {NoteCode::shared_update,
         "efficiency is above 100 % if workers or servers share the update, which one worker alone does completely"});
  add_local_steps(scenario, answered.graph, report.notes);
  if (!answered.graph.assumed.empty()) report.notes.push_back({NoteCode::assumed_payload, answered.graph.assumed});
  const std::optional<StepForecast>& replay = answered.own.answers.replay;
  if (replay && replay->no_period) report.notes.push_back({NoteCode::no_period, replay->steady_state});
  if (replay) add_drift(scenario, *replay, report.notes);
  if (replay) add_lead(*replay, report.notes);
  if (are_equal_and_apart(answered.graph, scenario.cluster))
    report.notes.push_back(
        {NoteCode::in_step,
         answered.graph.first_pushes
             ? "equal workers without jitter push all at once, so that backup workers gain nothing; give /cluster/jitter "
               "or /cluster/groups"
             : "equal workers without jitter would stay in step and push all at once; they begin by chance, up to a step's "
               "computing apart (/evaluation/seed); /cluster/jitter gives them times of their own"});
  add_stack_notes(scenario, report.notes);
  if (trains(scenario) && !std::holds_alternative<NoCompressor>(scenario.compressor) && !sends_compressed(scenario))
    report.notes.push_back(
        {NoteCode::no_effect,
         compresses_inside(scenario)
             ? fmt::format("codec scope machines: one machine alone has no messages of {}, only those of "
                           "inner_compressor {}",
                           name_of(scenario.compressor), name_of(scenario.inner_compressor))
             : "codec scope machines: one machine alone adds up its gradients and compresses nothing"});
  if (trains(scenario)) add_carrier(scenario, answered.graph, report.notes);
  if (trains(scenario)) add_compressed_tensors(scenario, workload, report.notes);
  if (trains(scenario)) add_gathered_messages(scenario, forecast, report.notes);
  if (trains(scenario)) add_fused_kernels(scenario, report.notes);
  if (trains(scenario)) add_codec_notes(scenario, forecast, report.notes);
  if (trains(scenario))
    report.notes.insert(report.notes.end(), answered.timing_notes.begin(), answered.timing_notes.end());
}

}  // namespace stepcast
