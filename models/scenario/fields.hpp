// The top level of a scenario document, described once for reader, writer, schema and axes.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "models/describe/json_value.hpp"
#include "models/scenario/scenario.hpp"

namespace stepcast {

/// A part that a scenario gives inline or by file reference. References are resolved before reading.
template <class T>
struct Part {
  T value{};
};
template <class T>
inline constexpr bool kIsPart = false;
template <class T>
inline constexpr bool kIsPart<Part<T>> = true;

/// One named variant of a study: the scenario with some fields changed.
struct Variant {
  std::string name;
  JsonValue set{};

  template <class V>
  static void describe(V& v, Variant& x) {
    v.required("name", x.name, "the variant's name in tables");
    v.required("set", x.set, "JSON pointers and the values they take in this variant");
  }
};

enum class ImpossiblePoints { refuse, leave_out };

template <>
struct Choices<ImpossiblePoints> {
  static constexpr std::array table = {
      Choice<ImpossiblePoints>{"refuse", ImpossiblePoints::refuse, "an error that names them"},
      Choice<ImpossiblePoints>{"leave-out", ImpossiblePoints::leave_out,
                               "the other points are answered, and a note gives the missing ones with the reason"},
  };
};

struct ScenarioFields {
  std::optional<std::string> schema;
  std::string name;
  std::string description;
  std::vector<Variant> variants;
  ImpossiblePoints impossible = ImpossiblePoints::refuse;
  std::optional<Part<WorkloadTable>> workload;
  Part<Cluster> cluster;
  Part<Stack> stack;
  Part<Strategy> strategy{AllReduceStrategy{}};
  Part<Compressor> compressor{NoCompressor{}};
  std::vector<OtherCompressor> other_compressors;
  Part<Compressor> inner_compressor{NoCompressor{}};
  CodecSettings codec;
  Shared<TrainingRun> run;
  Shared<Baseline> baseline;
  Evaluation evaluation;
  Output output;

  template <class V>
  static void describe(V& v, ScenarioFields& x) {
    v.optional("$schema", x.schema, "for editors");
    v.required("name", x.name, "its name in tables");
    v.optional("description", x.description, "the question it asks");
    v.optional("variants", x.variants, "a study's named variants");
    v.optional(
        "impossible", x.impossible,
        "the treatment of points whose parts do not fit together, such as groups that do not divide the workers");
    v.optional("workload", x.workload, "the trained network (not needed by strategy collective)");
    v.required("cluster", x.cluster, "on which machines");
    v.optional("stack", x.stack, "by which software; without one, messages take what links and cluster take");
    v.optional("strategy", x.strategy, "how gradients are exchanged");
    v.optional("compressor", x.compressor, "how gradients are compressed");
    v.optional("other_compressors", x.other_compressors,
               "other compressors, or ranks and ratios, of tensors by name. The first match counts, after the codec's "
               "choice of tensors that stay whole");
    v.optional(
        "inner_compressor", x.inner_compressor,
        "codec scope machines: how the gradients of all compressed tensors are sent inside machines, before they "
        "are added up there and after; none: as they are. It needs one message that can be summed or cut in parts");
    v.optional("codec", x.codec, "device and order of the compressor's kernels");
    v.optional("run", x.run, "a whole training run; null: only the step is forecast");
    v.optional("baseline", x.baseline, "the point that speedups are against; null: one worker computing alone");
    v.optional("evaluation", x.evaluation, "how the answer is computed");
    v.optional("output", x.output, "the outputs");
  }
};

/// Fields of the whole study, not of its points. A list in such a field is not an axis.
template <class T>
inline constexpr bool kOfStudy = std::is_same_v<T, std::string> || std::is_same_v<T, std::optional<std::string>> ||
                                 std::is_same_v<T, std::vector<Variant>> || std::is_same_v<T, Shared<Baseline>> ||
                                 std::is_same_v<T, Output> || std::is_same_v<T, ImpossiblePoints>;

}  // namespace stepcast
