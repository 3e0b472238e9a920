// A fact to know before trusting an answer: a text for people, and a code that stays when the text changes.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "models/describe/describe.hpp"
#include "models/describe/json_fwd.hpp"

namespace stepcast {

enum class NoteCode {
  not_steady,
  staleness_not_reached,
  other_gpu,
  empty_shards,
  empty_fragments,
  straddling_groups,
  tcp_latency,
  tcp_window,
  free_latency,
  other_fitted_algorithm,
  other_fitted_sizes,
  other_algorithm,
  separate_kernels,
  unmeasured_compressor,
  timed_codec,
  gathered_messages,
  carrier,
  whole_tensors,
  other_compressors,
  sampling_error,
  passes,
  no_global_update,
  accumulation,
  estimate,
  one_unit,
  shared_update,
  local_steps,
  assumed_payload,
  no_period,
  in_step,
  islands_in_step,
  no_effect,
  lacks_memory,
  tight_memory,
  other_batch,
  other_optimizer,
  other_dtype,
  mixed_precision,
  no_casts,
  no_error_band,
  corrected_times,
  unmeasured_layers,
  unmeasured_constants,
  extrapolated_layers,
  roofline_share,
  host_launches,
  impossible_by_memory,
  search_ended,
  point_left_out,
  target_not_compared,
  other_phases,
  default_compressors,
  one_point_options,
  grouped_gpus,
  no_stack,
  unmeasured_stack,
  other_trainings,
};

template <>
struct Choices<NoteCode> {
  static constexpr std::array table = {
      Choice<NoteCode>{"not-steady", NoteCode::not_steady, "the steps that a mean is of become longer or shorter"},
      Choice<NoteCode>{"staleness-not-reached", NoteCode::staleness_not_reached,
                       "fast workers do not wait yet as the staleness bound will make them"},
      Choice<NoteCode>{"other-gpu", NoteCode::other_gpu, "layer times are those of another GPU than the cluster's"},
      Choice<NoteCode>{"empty-shards", NoteCode::empty_shards, "some server shards hold nothing"},
      Choice<NoteCode>{"empty-fragments", NoteCode::empty_fragments, "some fragments of local SGD hold nothing"},
      Choice<NoteCode>{"straddling-groups", NoteCode::straddling_groups,
                       "sharding groups end in the middle of machines"},
      Choice<NoteCode>{"tcp-latency", NoteCode::tcp_latency, "the TCP transport multiplies latencies"},
      Choice<NoteCode>{"tcp-window", NoteCode::tcp_window, "the TCP transport's window caps a flow"},
      Choice<NoteCode>{"free-latency", NoteCode::free_latency, "links have no latency"},
      Choice<NoteCode>{"other-fitted-algorithm", NoteCode::other_fitted_algorithm,
                       "links were fitted with other collectives"},
      Choice<NoteCode>{"other-fitted-sizes", NoteCode::other_fitted_sizes, "links were fitted on other sizes"},
      Choice<NoteCode>{"other-algorithm", NoteCode::other_algorithm,
                       "the cluster's library may not have the algorithm"},
      Choice<NoteCode>{"separate-kernels", NoteCode::separate_kernels,
                       "norms, rotary positions or GELUs are priced as one kernel each"},
      Choice<NoteCode>{"unmeasured-compressor", NoteCode::unmeasured_compressor,
                       "the compressor's kernels were not measured"},
      Choice<NoteCode>{"timed-codec", NoteCode::timed_codec,
                       "an implementation's times stand for the compressor's kernels"},
      Choice<NoteCode>{"gathered-messages", NoteCode::gathered_messages,
                       "each worker gets many messages although fewer may do"},
      Choice<NoteCode>{"carrier", NoteCode::carrier, "the carrier of compressed messages that auto chose"},
      Choice<NoteCode>{"whole-tensors", NoteCode::whole_tensors, "tensors that are not compressed"},
      Choice<NoteCode>{"other-compressors", NoteCode::other_compressors, "tensors with another compressor"},
      Choice<NoteCode>{"sampling-error", NoteCode::sampling_error, "a mean under jitter is a sample"},
      Choice<NoteCode>{"passes", NoteCode::passes, "how a worker's passes share a global batch"},
      Choice<NoteCode>{"no-global-update", NoteCode::no_global_update, "no update is of the global batch"},
      Choice<NoteCode>{"accumulation", NoteCode::accumulation, "a step is of several passes"},
      Choice<NoteCode>{"estimate", NoteCode::estimate, "the equations are an estimate"},
      Choice<NoteCode>{"one-unit", NoteCode::one_unit,
                       "all gradients are one tensor, so nothing of its exchange is hidden"},
      Choice<NoteCode>{"shared-update", NoteCode::shared_update, "efficiency is above 1 since the update is shared"},
      Choice<NoteCode>{"local-steps", NoteCode::local_steps, "times and bytes are means over several steps"},
      Choice<NoteCode>{"assumed-payload", NoteCode::assumed_payload, "the compressor's payload is assumed"},
      Choice<NoteCode>{"no-period", NoteCode::no_period, "the replay found no period"},
      Choice<NoteCode>{"in-step", NoteCode::in_step, "workers that are alike begin by chance, or stay in step"},
      Choice<NoteCode>{"islands-in-step", NoteCode::islands_in_step,
                       "islands wait for each other in each step, as real ones do not"},
      Choice<NoteCode>{"no-effect", NoteCode::no_effect, "a written value has no effect"},
      Choice<NoteCode>{"lacks-memory", NoteCode::lacks_memory, "a worker needs more memory than its device has"},
      Choice<NoteCode>{"tight-memory", NoteCode::tight_memory, "a worker needs nearly all memory of its device"},
      Choice<NoteCode>{"other-batch", NoteCode::other_batch, "given times are of another batch"},
      Choice<NoteCode>{"other-optimizer", NoteCode::other_optimizer, "the update's given time is of another optimizer"},
      Choice<NoteCode>{"other-dtype", NoteCode::other_dtype, "given times are of another type of numbers"},
      Choice<NoteCode>{"mixed-precision", NoteCode::mixed_precision,
                       "a narrow dtype alone is taken as mixed precision: gradients stay fp32"},
      Choice<NoteCode>{"no-casts", NoteCode::no_casts, "casts of mixed precision are left out, or may count twice"},
      Choice<NoteCode>{"no-error-band", NoteCode::no_error_band, "there is no error band"},
      Choice<NoteCode>{"corrected-times", NoteCode::corrected_times,
                       "the profile's times are corrected by those measured of the whole"},
      Choice<NoteCode>{"unmeasured-layers", NoteCode::unmeasured_layers,
                       "times of layers are from entries that were not measured"},
      Choice<NoteCode>{"unmeasured-constants", NoteCode::unmeasured_constants,
                       "the roofline's constants were not measured"},
      Choice<NoteCode>{"extrapolated-layers", NoteCode::extrapolated_layers,
                       "times of layers lie beyond the sizes that the profile was fitted on"},
      Choice<NoteCode>{"host-launches", NoteCode::host_launches, "how long the device waits for the host's launches"},
      Choice<NoteCode>{"roofline-share", NoteCode::roofline_share, "how much of the time follows from the roofline"},
      Choice<NoteCode>{"impossible-by-memory", NoteCode::impossible_by_memory,
                       "points that do not fit their device count as impossible"},
      Choice<NoteCode>{"search-ended", NoteCode::search_ended, "the search ended with some changes not found"},
      Choice<NoteCode>{"point-left-out", NoteCode::point_left_out, "a point or situation is left out of the search"},
      Choice<NoteCode>{"target-not-compared", NoteCode::target_not_compared,
                       "only some alternatives are known to reach the target"},
      Choice<NoteCode>{"other-phases", NoteCode::other_phases, "the run has phases beside the step that is explained"},
      Choice<NoteCode>{"default-compressors", NoteCode::default_compressors,
                       "compressors that are tried have their defaults"},
      Choice<NoteCode>{"one-point-options", NoteCode::one_point_options, "the options fit this point only"},
      Choice<NoteCode>{"grouped-gpus", NoteCode::grouped_gpus,
                       "a worker is a group of GPUs, whose inside is not modelled"},
      Choice<NoteCode>{"no-stack", NoteCode::no_stack,
                       "no stack is named: software adds nothing to what links and kernels take"},
      Choice<NoteCode>{"unmeasured-stack", NoteCode::unmeasured_stack, "constants of the stack were not measured"},
      Choice<NoteCode>{"other-trainings", NoteCode::other_trainings,
                       "the points differ in training, whose accuracy is not forecast"},
  };
};

struct Note {
  NoteCode code;
  std::string text;
  bool operator==(const Note&) const = default;
};

using Notes = std::vector<Note>;

/// Each code once.
inline std::vector<std::string> codes_of(const Notes& notes) {
  std::vector<std::string> codes;
  for (const Note& note : notes)
    if (const std::string code(name_of(note.code)); std::find(codes.begin(), codes.end(), code) == codes.end())
      codes.push_back(code);
  return codes;
}

inline std::vector<std::string> texts_of(const Notes& notes) {
  std::vector<std::string> texts;
  for (const Note& note : notes) texts.push_back(note.text);
  return texts;
}

/// [{"code": "not-steady", "text": ...}]
Json coded(const Notes& notes);

}  // namespace stepcast
