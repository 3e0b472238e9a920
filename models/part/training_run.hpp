// A whole training run: phases of epochs, and the one-off costs. Each phase is the scenario with some fields changed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/describe/describe.hpp"
#include "models/describe/json_value.hpp"
#include "models/part/evidence.hpp"

namespace stepcast {

/// Time spent once, for example to decompose weights where a factorized phase begins.
struct OneOffCost {
  std::string what;
  Seconds time{};
  Evidence evidence = Evidence::assumed;
  std::string source;

  template <class V>
  static void describe(V& v, OneOffCost& x) {
    v.required("what", x.what, "the purpose of the time");
    v.required("time", x.time, "how long it takes", non_negative);
    v.required("evidence", x.evidence, "kind of source");
    v.required("source", x.source, "source of the number, or the reason to assume it");
  }
  bool operator==(const OneOffCost&) const = default;
};

struct TrainingPhase {
  std::string name;
  int epochs = 1;
  JsonValue set{};
  std::optional<OneOffCost> before{};

  template <class V>
  static void describe(V& v, TrainingPhase& x) {
    v.required("name", x.name, "the phase's name in tables");
    v.required("epochs", x.epochs, "times that the data set is seen", between(1, 1000000));
    v.optional("set", x.set,
               "JSON pointers and the values they take in this phase: a workload's variant, its batch, a compressor");
    v.optional("before", x.before, "a cost paid once when the phase begins");
  }
  bool operator==(const TrainingPhase&) const = default;
};

/// The number of epochs that one method needs, as reported by a source.
struct EpochsToTarget {
  std::string compressor = "none";
  std::optional<std::string> variant;
  int epochs = 1;
  Evidence evidence = Evidence::measured;
  std::string source;

  template <class V>
  static void describe(V& v, EpochsToTarget& x) {
    v.required("compressor", x.compressor,
               "kind of the compressor in the last phase; with other compressors all kinds, such as powersgd+top-k");
    v.optional("variant", x.variant, "name of the workload's variant in the last phase; null: any");
    v.required("epochs", x.epochs, "epochs until the target was reached", between(1, 1000000));
    v.required("evidence", x.evidence, "kind of source");
    v.required("source", x.source, "source of the measurement, and its device");
  }
  bool operator==(const EpochsToTarget&) const = default;
};

/// Turns time per step into time to an accuracy. Methods that are not in the list have no known number of epochs.
struct AccuracyTarget {
  std::string metric;
  std::vector<EpochsToTarget> methods;

  template <class V>
  static void describe(V& v, AccuracyTarget& x) {
    v.required("metric", x.metric, "the target, such as \"75.9 % top-1\"");
    v.required("methods", x.methods, "epochs that each method needed");
  }
  bool operator==(const AccuracyTarget&) const = default;
};

/// The data set is counted in samples or in tokens: exactly one of the two is present.
struct TrainingRun {
  std::optional<std::int64_t> samples{};
  std::optional<double> tokens{};
  std::vector<TrainingPhase> phases{TrainingPhase{.name = "training"}};
  std::optional<AccuracyTarget> target;

  template <class V>
  static void describe(V& v, TrainingRun& x) {
    v.optional("samples", x.samples, "samples in the data set, each seen once an epoch", between(1, 1e15));
    v.optional("tokens", x.tokens,
               "instead of samples, for a transformer: tokens in the data set, cut into sequences of its length",
               between(1, 1e15));
    v.optional("phases", x.phases,
               "consecutive phases of the training; by default one epoch of the unchanged scenario");
    v.optional("target", x.target, "measured epochs to an accuracy");
  }
  bool operator==(const TrainingRun&) const = default;
};

}  // namespace stepcast
