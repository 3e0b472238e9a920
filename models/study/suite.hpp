// A validation suite: a study and measurements of its points.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "models/describe/describe.hpp"
#include "models/describe/json_value.hpp"
#include "models/part/evidence.hpp"
#include "models/scenario/document.hpp"
#include "models/scenario/platform_facts.hpp"
#include "models/study/study.hpp"

namespace stepcast {

/// The measured quantity of a point. Each one is a column of the report.
enum class MeasuredQuantity { step_time, forward, backward, throughput, speedup, scaling_efficiency, algbw, busbw };

template <>
struct Choices<MeasuredQuantity> {
  static constexpr std::array table = {
      Choice<MeasuredQuantity>{"step_time", MeasuredQuantity::step_time, "time per step, s"},
      Choice<MeasuredQuantity>{"forward", MeasuredQuantity::forward, "a step's forward passes, s"},
      Choice<MeasuredQuantity>{"backward", MeasuredQuantity::backward, "a step's backward passes, s"},
      Choice<MeasuredQuantity>{"throughput", MeasuredQuantity::throughput, "samples of all workers per second"},
      Choice<MeasuredQuantity>{"speedup", MeasuredQuantity::speedup, "throughput over the baseline's"},
      Choice<MeasuredQuantity>{"scaling_efficiency", MeasuredQuantity::scaling_efficiency,
                               "throughput(p) / (p · throughput(1))"},
      Choice<MeasuredQuantity>{"algbw", MeasuredQuantity::algbw, "bytes of a collective over its time, B/s"},
      Choice<MeasuredQuantity>{"busbw", MeasuredQuantity::busbw, "algbw times nccl-tests' bus factor, B/s"},
  };
};

/// One measured value in a suite's file: exactly one of the quantities.
struct Measurement {
  JsonValue at{};
  std::optional<Seconds> step_time, forward, backward;
  std::optional<double> throughput, speedup, scaling_efficiency;
  std::optional<BytesPerSecond> algbw, busbw;
  std::optional<double> spread;
  Evidence evidence = Evidence::measured;
  std::optional<std::string> fitted;

  template <class V>
  static void describe(V& v, Measurement& x) {
    v.required("at", x.at,
               "the point, by axis and value as tables show them; axes that tell no points apart may be left out");
    v.optional("step_time", x.step_time, "time per step", positive);
    v.optional("forward", x.forward, "a step's forward passes", positive);
    v.optional("backward", x.backward, "a step's backward passes", positive);
    v.optional("throughput", x.throughput, "samples of all workers per second", positive);
    v.optional("speedup", x.speedup, "throughput over the baseline's", positive);
    v.optional("scaling_efficiency", x.scaling_efficiency, "throughput(p) / (p · throughput(1))", positive);
    v.optional("algbw", x.algbw, "bytes of a collective over its time", positive);
    v.optional("busbw", x.busbw, "algbw times nccl-tests' bus factor", positive);
    v.optional("spread", x.spread, "standard deviation of repeated measurements over their mean; null: not known",
               non_negative);
    v.optional("evidence", x.evidence, "kind of source");
    v.optional("fitted", x.fitted,
               "the constant of the study that was set from this value, which therefore tests nothing; null: none");
  }
  bool operator==(const Measurement&) const = default;
};

/// A suite's limits on the errors |predicted/measured - 1| of rows without a fit.
struct ErrorLimits {
  std::optional<double> median, largest;

  template <class V>
  static void describe(V& v, ErrorLimits& x) {
    v.optional("median", x.median, "most that their median may be; null: anything", non_negative);
    v.optional("largest", x.largest, "most that any of them may be; null: anything", non_negative);
  }
  bool operator==(const ErrorLimits&) const = default;
};

/// A suite's file. `study` is an inline scenario, or the name or path of one.
struct SuiteFields {
  std::optional<std::string> schema;
  std::string name;
  std::string description;
  std::string source;
  std::string assumes;
  JsonValue study{};
  std::optional<std::string> alternatives;
  ErrorLimits tolerance;
  std::vector<Measurement> measurements;

  template <class V>
  static void describe(V& v, SuiteFields& x) {
    v.optional("$schema", x.schema, "for editors");
    v.required("name", x.name, "its name in tables");
    v.optional("description", x.description, "the measurement, in a line");
    v.required("source", x.source, "source of the measurement, its device, and its publication");
    v.optional("assumes", x.assumes, "assumptions of the study that the source does not state, and known errors");
    v.required("study", x.study, "the scenario whose points were measured: in place, or its name or path");
    v.optional(
        "alternatives", x.alternatives,
        "the axis whose values one chooses between: points that differ on it alone are ranked; null: nothing is ranked");
    v.optional("tolerance", x.tolerance, "limits of the errors, else exit code 4");
    v.required("measurements", x.measurements, "the measured values");
  }
  bool operator==(const SuiteFields&) const = default;
};

/// A measurement and its point.
struct MeasuredPoint {
  std::size_t point = 0;  ///< index in the study
  MeasuredQuantity quantity = MeasuredQuantity::step_time;
  double value = 0;  ///< in SI
  std::optional<double> spread;
  Evidence evidence = Evidence::measured;
  std::optional<std::string> fitted;
};

struct Suite {
  std::string name;
  std::string description;
  std::string source;
  std::string assumes;
  Study study;
  std::optional<std::string> alternatives;  ///< an axis of the study
  ErrorLimits tolerance;
  std::vector<MeasuredPoint> measurements;  ///< in the file's order
  Document document{Json(), Origins("")};   ///< the document that `study` was expanded from
  std::vector<std::string> sets;            ///< changes since: "/stack/host_cost=1ns/B" (changed_suite.hpp)
  std::size_t changed = 0;                  ///< number of measurements whose scenarios these changes affect
};

/// Reads and checks a suite and its study, and finds the point of each measurement.
/// @param library  folder with workloads/, clusters/, ... for parts given by bare name
/// @throws ScenarioError with every fault; measurements are checked once the study has no fault
Suite load_suite(const std::filesystem::path& file, const std::filesystem::path& library,
                 const PlatformInspector& inspect = {});

/// The same for text without a file. `name` stands for the file in faults, and references are relative to it.
Suite parse_suite(std::string_view text, const std::string& name, const std::filesystem::path& library);

/// The folder of the library's suites, with one file per suite.
std::filesystem::path suites_folder(const std::filesystem::path& library);

}  // namespace stepcast
