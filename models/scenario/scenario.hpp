// A scenario: the question as typed values, with every default filled in.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "models/compressor/compressor.hpp"
#include "models/describe/describe.hpp"
#include "models/describe/json_value.hpp"
#include "models/part/cluster.hpp"
#include "models/part/codec.hpp"
#include "models/part/strategy.hpp"
#include "models/part/training_run.hpp"
#include "models/part/workload_table.hpp"

namespace stepcast {

enum class Evaluator { automatic, equations, replay, both };

template <>
struct Choices<Evaluator> {
  static constexpr std::array table = {
      Choice<Evaluator>{"auto", Evaluator::automatic,
                        "equations if they are exact, or within 1 % of the replay, else replay"},
      Choice<Evaluator>{"equations", Evaluator::equations, "closed forms on the step graph"},
      Choice<Evaluator>{"replay", Evaluator::replay, "SimGrid simulation of the step graph"},
      Choice<Evaluator>{"both", Evaluator::both, "both, and their difference"},
  };
};

/// Whether the evaluator is requested by name, not only if it suits.
constexpr bool asks_equations(Evaluator evaluator) {
  return evaluator == Evaluator::equations || evaluator == Evaluator::both;
}
constexpr bool asks_replay(Evaluator evaluator) {
  return evaluator == Evaluator::replay || evaluator == Evaluator::both;
}

enum class Fidelity { full, folded, automatic };

template <>
struct Choices<Fidelity> {
  static constexpr std::array table = {
      Choice<Fidelity>{"full", Fidelity::full, "every worker and every message"},
      Choice<Fidelity>{"folded", Fidelity::folded, "one of each class of like parts; an error if that is not exact"},
      Choice<Fidelity>{"auto", Fidelity::automatic, "folded if that is exact, else full"},
  };
};

/// The method to compute the answer.
struct Evaluation {
  Evaluator evaluator = Evaluator::automatic;
  Fidelity fidelity = Fidelity::automatic;
  double tolerance = 1e-6;
  int max_steps = 200;
  int runs = 1;
  std::int64_t seed = 1;

  template <class V>
  static void describe(V& v, Evaluation& x) {
    v.optional("evaluator", x.evaluator, "the evaluator that answers");
    v.optional("fidelity", x.fidelity, "replay: the simulated part");
    v.optional("tolerance", x.tolerance, "both: largest relative difference of the step times before exit code 4",
               non_negative);
    v.optional("max_steps", x.max_steps,
               "replay: give up on a steady state after this many steps; with jitter, the steps of a run",
               between(4, 1000000));
    v.optional("runs", x.runs, "replay with chance: repeated runs with different random numbers", between(1, 100000));
    v.optional("seed", x.seed, "seed of the random numbers", non_negative);
  }
  bool operator==(const Evaluation&) const = default;
};

/// The reference point of speedups: this scenario with some fields changed.
struct Baseline {
  std::string name;
  JsonValue set{};

  template <class V>
  static void describe(V& v, Baseline& x) {
    v.required("name", x.name, "the baseline's name in tables");
    v.required(
        "set", x.set,
        "JSON pointers and the values they take in the baseline, on top of each point: what a variant or an axis has "
        "stays, unless it is set here");
  }
  bool operator==(const Baseline&) const = default;
};

/// A compressor for the tensors whose names match one of some patterns.
struct OtherCompressor {
  std::vector<std::string> tensors;
  Compressor compressor;

  template <class V>
  static void describe(V& v, OtherCompressor& x) {
    v.required(
        "tensors", x.tensors,
        "patterns of their names, such as fc.* or *.weight: * stands for any characters, ? for one, !(a|b) for all "
        "but a and b. With a layer's kind before: conv2d:*, !(embedding|linear):*.weight");
    v.required("compressor", x.compressor, "how their gradients are compressed");
  }
  bool operator==(const OtherCompressor&) const = default;
};

/// The destinations of results when the command line gives none.
struct Output {
  Shared<std::string> plot;

  template <class V>
  static void describe(V& v, Output& x) {
    v.optional("plot", x.plot, "file of the picture (png, svg or pdf), relative to the working folder; null: none");
  }
  bool operator==(const Output&) const = default;
};

/// Whether the file name is a plot's: the suffix is .png, .svg or .pdf.
bool is_plot_file(const std::string& path);

struct Scenario {
  std::string name;
  Shared<std::string> description;
  std::shared_ptr<const WorkloadTable> workload;  ///< shared: many points of a study train the same table
  /// The table before global_batch changed batch and accumulation; null if it did not.
  std::shared_ptr<const WorkloadTable> workload_written;
  Cluster cluster;
  /// gpu_of the profile that cluster.gpu names; null if there is none or it is unknown.
  Shared<std::string> cluster_gpu{};
  Strategy strategy = AllReduceStrategy{};
  Compressor compressor = NoCompressor{};
  Shared<std::vector<OtherCompressor>> other_compressors;  ///< null: none
  Compressor inner_compressor = NoCompressor{};
  CodecSettings codec;
  Shared<TrainingRun> run;
  Shared<Baseline> baseline;
  Evaluation evaluation;
  Output output;
};

/// Whether the scenario trains a network, instead of only moving bytes.
inline bool trains(const Scenario& scenario) {
  return scenario.workload && !std::holds_alternative<CollectiveBenchmark>(scenario.strategy);
}

/// Whether workers begin their first steps at times by chance. Equal workers of servers that do not wait would stay in
/// step otherwise, and ties would decide.
bool begins_by_chance(const Scenario& scenario);

/// The workers that begin a step together: those of a machine that adds up their gradients before it pushes, else one.
int workers_that_begin_together(const Scenario& scenario);

/// Whether chance decides anything in a replay: times, or who meets whom.
inline bool is_random(const Scenario& scenario) {
  return scenario.cluster.jitter.cv > 0 || meets_by_chance(scenario.strategy) || begins_by_chance(scenario);
}

/// The number of replays to run. Without chance, all replays would be equal, so one is enough.
inline int runs_of(const Scenario& scenario) { return is_random(scenario) ? scenario.evaluation.runs : 1; }

/// The scenario without fields that cannot change the forecast of its step (name, description, baseline, run, output).
/// It also lacks the workload, which is large and shared. Callers compare workloads separately.
Scenario without_labels(Scenario scenario);

/// The canonical document of a scenario: all defaults written out, all quantities as exact text, batch and accumulation
/// as in the input. Reading it again gives the same scenario.
Json to_json(const Scenario& scenario);

}  // namespace stepcast
