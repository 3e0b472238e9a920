#include "models/scenario/rules.hpp"

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/describe/json.hpp"
#include "models/scenario/cluster_rules.hpp"
#include "models/scenario/compressor_rules.hpp"
#include "models/scenario/foldable.hpp"
#include "models/scenario/strategy_rules.hpp"
#include "models/scenario/workload_rules.hpp"
#include "models/workload/check_profile.hpp"

namespace stepcast {
namespace {

class ScenarioChecker {
 public:
  ScenarioChecker(const Scenario& scenario, const Workload* workload, std::vector<Fault>& faults,
                  const PlatformFacts* platform)
      : s_(scenario), workload_(workload), faults_(faults), platform_(platform) {}

  void run() {
    const std::size_t before = faults_.size();
    workload();
    if (s_.codec.device) check_rates(*s_.codec.device, "/codec/device", faults_);
    check_cluster(s_, platform_, faults_);
    check_strategy(s_, workload_, faults_);
    if (faults_.size() == before) check_compressor(s_, workload_, faults_);
    training_run();
    evaluation();
    output();
  }

 private:
  void fault(std::string pointer, std::string found, std::string allowed, std::string remedy = "") {
    faults_.push_back({"", std::move(pointer), std::move(found), std::move(allowed), std::move(remedy)});
  }

  void workload() {
    if (!s_.workload && !std::holds_alternative<CollectiveBenchmark>(s_.strategy))
      fault("/workload", "nothing", "a workload, inline or by name", "add it, or use strategy kind \"collective\"");
    if (s_.cluster.gpus_per_worker > 1 && s_.workload && gives_shapes(*s_.workload) && !s_.workload->measured)
      fault("/cluster/gpus_per_worker",
            fmt::format("{}, and layer times that follow from one GPU's profile", s_.cluster.gpus_per_worker),
            "measured times of the whole group",
            R"(add "measured": {"forward": ..., "backward": ...} to the workload, or take a table with times)");
  }

  void training_run() {
    if (!s_.run) return;
    if (std::holds_alternative<CollectiveBenchmark>(s_.strategy))
      fault("/run", "a run of strategy collective", "null: nothing is trained");
    if (s_.run->phases.empty()) fault("/run/phases", "an empty list", "at least one phase");
    std::set<std::string> names;
    for (std::size_t i = 0; i < s_.run->phases.size(); ++i) {
      const TrainingPhase& phase = s_.run->phases[i];
      if (!phase.set->is_object())
        fault(fmt::format("/run/phases/{}/set", i), describe_value(*phase.set),
              "an object of JSON pointers and values");
      if (!names.insert(phase.name).second)
        fault(fmt::format("/run/phases/{}/name", i), describe_value(phase.name) + " a second time", "each name once");
    }
    if (!s_.run->target) return;
    target(*s_.run->target);
  }

  /// Names of the network variants that a phase may train. Empty if a phase may bring a network of its own.
  [[nodiscard]] std::vector<std::string> network_variants() const {
    if (!s_.workload) return {};
    std::vector<std::string> names{"vanilla"};
    for (const WorkloadVariant& variant : s_.workload->variants) names.push_back(variant.name);
    if (s_.workload->variant) names.push_back(s_.workload->variant->name);
    for (const TrainingPhase& phase : s_.run->phases)
      for (const auto& [pointer, value] : phase.set->items()) {
        const bool by_name = pointer == "/workload/variant" && (value.is_string() || value.is_null());
        if (pointer == "/workload" || pointer == "/workload/from" ||
            (pointer.starts_with("/workload/variant") && !by_name))
          return {};
      }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
  }

  /// Whether the text is a kind, or several joined by "+".
  static bool are_kinds(const std::string& text, const std::vector<std::string>& kinds) {
    std::istringstream stream(text + '+');
    for (std::string one; std::getline(stream, one, '+');)
      if (std::find(kinds.begin(), kinds.end(), one) == kinds.end()) return false;
    return true;
  }

  void target(const AccuracyTarget& target) {
    const auto kinds = kinds_of<Compressor>();
    const std::vector<std::string> variants = network_variants();
    std::set<std::pair<std::string, std::optional<std::string>>> known;
    for (std::size_t i = 0; i < target.methods.size(); ++i) {
      const EpochsToTarget& method = target.methods[i];
      const std::string at = fmt::format("/run/target/methods/{}", i);
      if (!are_kinds(method.compressor, kinds))
        fault(at + "/compressor", describe_value(method.compressor),
              fmt::format("{}, or several kinds joined by +", fmt::join(kinds, ", ")));
      if (method.variant && !variants.empty() &&
          std::find(variants.begin(), variants.end(), *method.variant) == variants.end())
        fault(at + "/variant", describe_value(*method.variant),
              fmt::format("null, or a variant of the workload: {}", fmt::join(variants, ", ")));
      if (!known.emplace(method.compressor, method.variant).second)
        fault(at,
              fmt::format("the epochs of {}{} a second time", describe_value(method.compressor),
                          method.variant ? " with variant " + describe_value(*method.variant) : ""),
              "each method once", "remove one of the two");
    }
  }

  void evaluation() {
    if (s_.cluster.jitter.cv > 0 && asks_equations(s_.evaluation.evaluator))
      fault("/evaluation/evaluator", fmt::format("\"{}\" with jitter", name_of(s_.evaluation.evaluator)),
            "\"auto\" or \"replay\": the equations know no randomness");
    if (s_.evaluation.fidelity == Fidelity::folded)
      if (const auto refusal = folding_refusal(s_))
        fault("/evaluation/fidelity", "\"folded\", but " + *refusal, "\"full\" or \"auto\"");
  }

  void output() {
    if (!s_.output.plot || is_plot_file(*s_.output.plot)) return;
    fault("/output/plot", describe_value(*s_.output.plot), "a file name that ends in .png, .svg or .pdf");
  }

  const Scenario& s_;
  const Workload* workload_;
  std::vector<Fault>& faults_;
  const PlatformFacts* platform_;
};

}  // namespace

void check(const Scenario& scenario, const Workload* workload, std::vector<Fault>& faults,
           const PlatformFacts* platform) {
  ScenarioChecker(scenario, workload, faults, platform).run();
}

void check(const Scenario& scenario, std::vector<Fault>& faults) {
  const std::size_t before = faults.size();
  if (scenario.workload) check_workload(*scenario.workload, faults);
  if (!scenario.workload || faults.size() > before) return check(scenario, nullptr, faults);
  const Workload workload = make_workload(*scenario.workload);
  check(scenario, &workload, faults);
}

}  // namespace stepcast
