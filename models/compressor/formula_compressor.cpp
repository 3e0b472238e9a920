#include "models/compressor/formula_compressor.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/compressor/codec_kernels.hpp"
#include "models/describe/json_pointer.hpp"

namespace stepcast {
namespace {

/// Values that need each other, one after the other: enough for any method, and few enough for the stack.
constexpr std::size_t kLongestChain = 1000;

using Names = std::vector<std::pair<std::string, Measure>>;

/// The names that every formula may use.
Names names_of(const Tensor& tensor, int workers) {
  return {{"elements", {static_cast<double>(tensor.elements())}},
          {"rows", {static_cast<double>(tensor.rows())}},
          {"columns", {static_cast<double>(tensor.columns())}},
          {"element", {size_of(tensor.dtype).si(), 1}},
          {"workers", {static_cast<double>(workers)}}};
}

template <class F>
void for_each_formula(const MethodFormulas& method, const F& f) {
  const auto all = [&](const std::vector<FormulaKernel>& kernels) {
    for (const FormulaKernel& kernel : kernels)
      f(kernel.reads), f(kernel.writes), f(kernel.operations), f(kernel.repeats);
  };
  for (const auto& [name, formula] : method.values) f(formula);
  all(method.prepare), all(method.compensate), all(method.remember);
  all(method.decode.first), all(method.decode.further), all(method.decode.together), all(method.decode.finish);
  for (const FormulaStage& stage : method.stages) {
    all(stage.encode);
    for (const FormulaMessage& message : stage.messages) f(message.bytes), f(message.sum);
  }
}

Primitive primitive_of(Carried carried) {
  switch (carried) {
    case Carried::summed: return Primitive::all_reduce;
    case Carried::gathered: return Primitive::all_gather;
    case Carried::gathered_unequal: break;
  }
  return Primitive::all_gather_unequal;
}

/// Evaluates the formulas of a method for one tensor.
class Evaluation {
 public:
  Evaluation(const FormulaCompressor& compressor, const Tensor& tensor, int workers)
      : method_(compressor.formulas()), tensor_(tensor), known_(names_of(tensor, workers)) {
    if (compressor.parameters)
      for (const auto& [name, value] : *compressor.parameters) known_.push_back({name, {value}});
  }

  /// @post faults has all faults of formulas; those count as 0 in the plan
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

  std::vector<CompressorFault> faults;

 private:
  /// A formula that needs a value with a fault. The value's fault is enough.
  struct NeedsFaulty {};

  Measure value_of(const std::string& name) {
    for (const auto& [known, value] : known_)
      if (known == name) return value;
    const auto formula = method_.values.find(name);
    if (formula == method_.values.end())
      throw FormulaError(fmt::format("the name \"{}\"", name), fmt::format("{}", fmt::join(known_names(), ", ")));
    if (faulty_.contains(name)) throw NeedsFaulty{};
    if (!open_.insert(name).second)
      throw FormulaError(fmt::format("\"{}\", which needs itself", name), "values that do not need each other");
    if (open_.size() > kLongestChain)
      throw FormulaError("a chain of values", fmt::format("at most {} values that need each other", kLongestChain));
    const std::optional<Measure> value = finite(formula->second, pointer_to("values", name));
    open_.erase(name);
    if (!value) {
      faulty_.insert(name);
      throw NeedsFaulty{};
    }
    known_.emplace_back(name, *value);
    return *value;
  }

  [[nodiscard]] std::vector<std::string> known_names() const {
    std::vector<std::string> names;
    for (const auto& [name, value] : known_)
      if (!method_.values.contains(name)) names.push_back(name);
    for (const auto& [name, formula] : method_.values) names.push_back(name);
    return names;
  }

  /// The value of a formula; nothing after a fault.
  std::optional<Measure> finite(const Formula& formula, const std::string& field) {
    try {
      return formula.evaluate([this](const std::string& name) { return value_of(name); });
    } catch (const FormulaError& error) {
      fault(formula, field, error.found(), error.allowed());
    } catch (const NeedsFaulty&) {
    }
    return {};
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
      const auto whole_bytes = [&](const Formula& formula, const char* name) {
        return Bytes(std::ceil(evaluate(formula, 1, fmt::format("{}/messages/{}/{}", field, i, name))));
      };
      Payload payload{message.what, primitive_of(message.carried), whole_bytes(message.bytes, "bytes")};
      payload.sum = whole_bytes(message.sum, "sum");
      if (payload.sum > Bytes{} && payload.sum < payload.bytes)
        fault(message.sum, fmt::format("{}/messages/{}/sum", field, i), fmt::format("{} bytes", payload.sum.si()),
              fmt::format("0, or at least the {} bytes of one message", payload.bytes.si()));
      if (message.carried == Carried::gathered_unequal) payload.size_exchange = 4_B;
      if (message.carried == Carried::summed && payload.sum > payload.bytes) {
        payload.narrower = payload.sum - payload.bytes;
        payload.bytes = payload.sum;
      }
      stage.messages.push_back(std::move(payload));
    }
    return stage;
  }

  void decode(CodecPlan& plan) {
    const Bytes dense = tensor_.dense();
    plan.decode = {.first = kernels(method_.decode.first, "decode/first"),
                   .further = kernels(method_.decode.further, "decode/further"),
                   .together = kernels(method_.decode.together, "decode/together"),
                   .vote = {},
                   .finish = kernels(method_.decode.finish, "decode/finish")};
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
  const Tensor& tensor_;
  Names known_;                   ///< of the tensor, parameters, and values that were evaluated
  std::set<std::string> open_;    ///< values that wait for others
  std::set<std::string> faulty_;  ///< values whose fault is told
};

}  // namespace

bool all_carried(const MethodFormulas& method, Carried carried) {
  const auto so = [&](const FormulaMessage& message) { return message.carried == carried; };
  return std::all_of(method.stages.begin(), method.stages.end(), [&](const FormulaStage& stage) {
    return std::all_of(stage.messages.begin(), stage.messages.end(), so);
  });
}

const MethodFormulas& FormulaCompressor::formulas() const {
  static const MethodFormulas unchanged = [] {
    MethodFormulas formulas;
    formulas.stages = {{{}, {{"gradient", Carried::summed, Formula("elements * element"), {}}}}};
    return formulas;
  }();
  return method ? *method : unchanged;
}

std::vector<CompressorFault> check_method(const FormulaCompressor& compressor) {
  if (!compressor.method) return {{"method", "null", "an object of formulas"}};
  const MethodFormulas& method = compressor.formulas();
  std::vector<CompressorFault> faults;
  if (method.stages.empty()) faults.push_back({"method/stages", "an empty list", "one or more stages"});
  for (std::size_t s = 0; s < method.stages.size(); ++s)
    if (method.stages[s].messages.empty())
      faults.push_back({fmt::format("method/stages/{}/messages", s), "an empty list", "one or more messages"});
  if (!faults.empty()) return faults;
  if (method.recodable && method.stages.size() > 1)
    faults.push_back({"method/recodable", "true with several stages", "false, or one stage"});
  if (all_carried(method, Carried::summed))
    for (const auto& [field, kernels] :
         {std::pair{"further", &method.decode.further}, {"together", &method.decode.together}})
      if (!kernels->empty())
        faults.push_back({pointer_to("method/decode", field), "kernels, and all messages are summed",
                          "an empty list: a sum is decoded once, by \"first\""});
  std::set<std::string> used, taken(Formula::functions().begin(), Formula::functions().end());
  for_each_formula(method, [&](const Formula& formula) {
    for (std::string& name : formula.names()) used.insert(std::move(name));
  });
  for (const auto& [name, value] : names_of(Tensor{{1}}, 1)) taken.insert(name);
  const auto check_name = [&](const std::string& name, std::string field) {
    if (!taken.insert(name).second)
      faults.push_back({std::move(field), fmt::format("the name \"{}\"", name), "a name of its own"});
    else if (!used.contains(name))
      faults.push_back({std::move(field), fmt::format("\"{}\", which no formula uses", name),
                        "names that formulas use, of letters, digits and _"});
  };
  if (compressor.parameters)
    for (const auto& [name, value] : *compressor.parameters) check_name(name, pointer_to("parameters", name));
  for (const auto& [name, formula] : method.values) check_name(name, pointer_to("method/values", name));
  return faults;
}

std::vector<CompressorFault> check_formulas(const FormulaCompressor& compressor, const Tensor& tensor, int workers) {
  if (compressor.formulas().view == TensorView::matrix && !tensor.is_matrix()) return {};  // stays whole
  Evaluation evaluation(compressor, tensor, workers);
  evaluation.plan();
  return std::move(evaluation.faults);
}

CodecPlan plan(const FormulaCompressor& compressor, const Tensor& tensor, int workers) {
  if (compressor.formulas().view == TensorView::matrix && !tensor.is_matrix()) return uncompressed(tensor);
  Evaluation evaluation(compressor, tensor, workers);
  CodecPlan plan = evaluation.plan();
  if (!evaluation.faults.empty())
    throw std::runtime_error(fmt::format("for {} elements and {} workers {}", tensor.elements(), workers,
                                         to_string(evaluation.faults.front())));
  return plan;
}

}  // namespace stepcast
