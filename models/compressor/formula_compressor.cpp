#include "models/compressor/formula_compressor.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/compressor/codec_kernels.hpp"
#include "models/describe/json_pointer.hpp"

namespace stepcast {
namespace {

constexpr std::string_view kOfTensor[] = {"elements", "rows", "columns", "element", "workers"};

/// Evaluates the formulas of a method for one tensor.
class Evaluation {
 public:
  Evaluation(const FormulaCompressor& compressor, const Tensor& tensor, int workers)
      : method_(compressor.formulas()), parameters_(compressor.parameters), tensor_(tensor), workers_(workers) {}

  CodecPlan plan() {
    CodecPlan plan;
    plan.prepare = kernels(method_.prepare, "prepare");
    plan.compensate = kernels(method_.compensate, "compensate");
    for (std::size_t s = 0; s < method_.stages.size(); ++s)
      plan.stages.push_back(stage(method_.stages[s], fmt::format("stages/{}", s)));
    decode(plan);
    plan.remember = kernels(method_.remember, "remember");
    plan.kept = method_.kept;
    plan.recodable = method_.recodable;
    if (method_.error_feedback) feed_back(plan);
    plan.assumed = method_.assumed;
    return plan;
  }

  /// Faults are collected here. A formula with a fault counts as 0.
  std::vector<FormulaFault> faults;

  /// A fault of a value shows here once, not in each formula that uses it.
  void check_values() {
    for (const auto& [name, formula] : method_.values) finite(formula, pointer_to("values", name));
  }

  void check_names() {
    std::set<std::string, std::less<>> used;
    const auto use = [&](const Formula& formula) {
      for (std::string& name : formula.names()) used.insert(std::move(name));
    };
    for (const auto& [name, formula] : method_.values) use(formula);
    for_each_kernel([&](const FormulaKernel& kernel) {
      for (const Formula* one : {&kernel.reads, &kernel.writes, &kernel.operations, &kernel.repeats}) use(*one);
    });
    for (const FormulaStage& stage : method_.stages)
      for (const FormulaMessage& message : stage.messages) use(message.bytes);
    const auto own = [&](const std::string& name, const std::string& field) {
      if (is_taken(name)) faults.push_back({field, fmt::format("the name \"{}\"", name), "a name of its own"});
      else if (!used.contains(name))
        faults.push_back({field, fmt::format("\"{}\", which no formula uses", name), "names that formulas use"});
    };
    if (parameters_)
      for (const auto& [name, value] : *parameters_) {
        own(name, pointer_to("parameters", name));
        if (method_.values.contains(name))
          faults.push_back({pointer_to("parameters", name), "a parameter and a value of one name", "one of them"});
      }
    for (const auto& [name, formula] : method_.values) own(name, pointer_to("method/values", name));
  }

 private:
  static bool is_taken(std::string_view name) {
    const auto& functions = Formula::functions();
    return std::find(std::begin(kOfTensor), std::end(kOfTensor), name) != std::end(kOfTensor) ||
           std::find(functions.begin(), functions.end(), name) != functions.end();
  }

  template <class F>
  void for_each_kernel(const F& f) const {
    const auto all = [&](const std::vector<FormulaKernel>& kernels) {
      std::for_each(kernels.begin(), kernels.end(), f);
    };
    all(method_.prepare), all(method_.compensate), all(method_.remember);
    all(method_.decode.first), all(method_.decode.further), all(method_.decode.together), all(method_.decode.finish);
    for (const FormulaStage& stage : method_.stages) all(stage.encode);
  }

  Measure value_of(const std::string& name) {
    if (name == "elements") return {static_cast<double>(tensor_.elements())};
    if (name == "rows") return {static_cast<double>(tensor_.rows())};
    if (name == "columns") return {static_cast<double>(tensor_.columns())};
    if (name == "element") return {size_of(tensor_.dtype).si(), 1};
    if (name == "workers") return {static_cast<double>(workers_)};
    if (parameters_)
      if (const auto found = parameters_->find(name); found != parameters_->end()) return {found->second};
    const auto formula = method_.values.find(name);
    if (formula == method_.values.end())
      throw FormulaError(fmt::format("the name \"{}\"", name), fmt::format("{}", fmt::join(known_names(), ", ")));
    if (const auto known = known_.find(name); known != known_.end()) return known->second;
    if (!open_.insert(name).second)
      throw FormulaError(fmt::format("\"{}\", which needs itself", name), "values that do not need each other");
    const Measure value = formula->second.evaluate([this](const std::string& inner) { return value_of(inner); });
    open_.erase(name);
    return known_[name] = value;
  }

  [[nodiscard]] std::vector<std::string> known_names() const {
    std::vector<std::string> names(std::begin(kOfTensor), std::end(kOfTensor));
    if (parameters_)
      for (const auto& [name, value] : *parameters_) names.push_back(name);
    for (const auto& [name, formula] : method_.values) names.push_back(name);
    return names;
  }

  /// The value of a formula; nothing after a fault.
  std::optional<Measure> finite(const Formula& formula, const std::string& field) {
    open_.clear();
    try {
      return formula.evaluate([this](const std::string& name) { return value_of(name); });
    } catch (const FormulaError& error) {
      fault(formula, field, error.found(), error.allowed());
      return {};
    }
  }

  /// The value of a formula that has to be a count (bytes = 0) or bytes (1), and not negative.
  double evaluate(const Formula& formula, int bytes, const std::string& field) {
    const std::optional<Measure> measure = finite(formula, field);
    if (!measure) return 0;
    const bool zero = measure->value == 0 && measure->bytes == 0;  // 0 is also 0 bytes
    if (measure->bytes != bytes && !zero) fault(formula, field, unit_name(*measure), bytes == 0 ? "a count" : "bytes");
    else if (measure->value < 0 || !is_sane(measure->value))
      fault(formula, field, fmt::format("the value {}", measure->value),
            fmt::format("0, or a value from {} to {}", kSmallest, kLargest));
    else return measure->value;
    return 0;
  }

  void fault(const Formula& formula, const std::string& field, const std::string& found, const std::string& allowed) {
    faults.push_back({"method/" + field, fmt::format("\"{}\", with {}", formula.text(), found), allowed});
  }

  Bytes bytes(const Formula& formula, const std::string& field) { return Bytes(evaluate(formula, 1, field)); }

  std::vector<CodecKernel> kernels(const std::vector<FormulaKernel>& from, const std::string& field) {
    std::vector<CodecKernel> kernels;
    for (std::size_t i = 0; i < from.size(); ++i) {
      const auto at = [&](const char* name) { return fmt::format("{}/{}/{}", field, i, name); };
      kernels.push_back({from[i].kernel, bytes(from[i].reads, at("reads")), bytes(from[i].writes, at("writes")),
                         Flops(evaluate(from[i].operations, 0, at("operations"))),
                         evaluate(from[i].repeats, 0, at("repeats"))});
    }
    return kernels;
  }

  Stage stage(const FormulaStage& from, const std::string& field) {
    Stage stage{kernels(from.encode, field + "/encode"), {}};
    for (std::size_t i = 0; i < from.messages.size(); ++i) {
      const FormulaMessage& message = from.messages[i];
      const Bytes size(std::ceil(evaluate(message.bytes, 1, fmt::format("{}/messages/{}/bytes", field, i))));
      switch (message.carried) {
        case Carried::summed: stage.messages.push_back({message.what, Primitive::all_reduce, size}); break;
        case Carried::gathered: stage.messages.push_back({message.what, Primitive::all_gather, size}); break;
        case Carried::gathered_unequal:
          stage.messages.push_back({message.what, Primitive::all_gather_unequal, size, 4_B});
          break;
      }
    }
    return stage;
  }

  void decode(CodecPlan& plan) {
    const Bytes dense = tensor_.dense();
    plan.decode = {kernels(method_.decode.first, "decode/first"), kernels(method_.decode.further, "decode/further"),
                   kernels(method_.decode.together, "decode/together"),
                   kernels(method_.decode.finish, "decode/finish")};
    if (plan.decode.first.empty()) plan.decode.first = {sweep("decode", payload(plan), dense, tensor_, 1)};
    if (!plan.decode.further.empty() || plan.summable()) return;
    plan.decode.further = plan.decode.first;
    plan.decode.further.push_back(sweep("add", 2.0 * dense, dense, tensor_, 1));
  }

  /// Own kernels of error feedback stay beside it.
  void feed_back(CodecPlan& plan) const {
    CodecPlan usual;
    usual.decode.first = plan.decode.first;
    add_error_feedback(usual, tensor_);
    plan.compensate.insert(plan.compensate.end(), usual.compensate.begin(), usual.compensate.end());
    plan.remember.insert(plan.remember.begin(), usual.remember.begin(), usual.remember.end());
    plan.kept += usual.kept;
  }

  const MethodFormulas& method_;
  const Shared<std::map<std::string, double>>& parameters_;
  const Tensor& tensor_;
  int workers_;
  std::map<std::string, Measure> known_;  ///< values that were evaluated
  std::set<std::string> open_;            ///< values that wait for others
};

}  // namespace

const MethodFormulas& FormulaCompressor::formulas() const {
  static const MethodFormulas unchanged = [] {
    MethodFormulas formulas;
    formulas.stages = {{{}, {{"gradient", Carried::summed, Formula("elements * element")}}}};
    return formulas;
  }();
  return method ? *method : unchanged;
}

std::vector<FormulaFault> check_formulas(const FormulaCompressor& compressor, const Tensor& tensor, int workers) {
  if (!compressor.method) return {{"method", "null", "an object of formulas"}};
  const MethodFormulas& method = compressor.formulas();
  if (method.stages.empty()) return {{"method/stages", "an empty list", "one or more stages"}};
  for (std::size_t s = 0; s < method.stages.size(); ++s)
    if (method.stages[s].messages.empty())
      return {{fmt::format("method/stages/{}/messages", s), "an empty list", "one or more messages"}};
  if (method.view == TensorView::matrix && !tensor.is_matrix()) return {};  // stays whole
  Evaluation evaluation(compressor, tensor, workers);
  evaluation.check_names();
  evaluation.check_values();
  if (evaluation.faults.empty()) evaluation.plan();
  if (method.recodable && method.stages.size() > 1)
    evaluation.faults.push_back({"method/recodable", "true with several stages", "false, or one stage"});
  return std::move(evaluation.faults);
}

CodecPlan plan(const FormulaCompressor& compressor, const Tensor& tensor, int workers) {
  if (compressor.formulas().view == TensorView::matrix && !tensor.is_matrix()) return uncompressed(tensor);
  return Evaluation(compressor, tensor, workers).plan();
}

}  // namespace stepcast
