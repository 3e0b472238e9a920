// A compressor described by formulas, in a JSON file instead of C++ (docs/own-compressor.md):
//
//     {"kind": "formula", "parameters": {"ratio": 0.01},
//      "method": {"name": "my-top-k", "class": "sparsification",
//                 "values": {"k": "max(1, floor(ratio * elements))"},
//                 "stages": [{"encode": [{"kernel": "select-compact", "reads": "elements * element", "repeats": 2}],
//                             "messages": [{"what": "values and indices", "carried": "gathered",
//                                           "bytes": "k * (element + 4 B)"}]}]}}
//
// Names in formulas: elements (d), rows (n) and columns (m) of the tensor, element (bytes of one), workers (p: those
// whose messages one exchange sums), and the names of `parameters` and `values`.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "models/compressor/codec_plan.hpp"
#include "models/compressor/compressor_class.hpp"
#include "models/compressor/compressor_fault.hpp"
#include "models/compressor/tensor.hpp"
#include "models/describe/describe.hpp"
#include "models/describe/shared.hpp"
#include "models/unit/formula.hpp"

namespace stepcast {

/// One kernel, as CodecKernel has it.
struct FormulaKernel {
  std::string kernel;
  Formula reads, writes, operations, repeats{"1"};
  template <class V>
  static void describe(V& v, FormulaKernel& x) {
    v.required("kernel", x.kernel, "its name, by which a device profile may have a measured rate");
    v.optional("reads", x.reads, "bytes that it reads");
    v.optional("writes", x.writes, "bytes that it writes");
    v.optional("operations", x.operations, "arithmetic operations, a count");
    v.optional("repeats", x.repeats, "how often it runs, a count; reads, writes and operations are of one run");
  }
  bool operator==(const FormulaKernel&) const = default;
};

/// How messages travel, as Primitive has it.
enum class Carried { summed, gathered, gathered_unequal };

template <>
struct Choices<Carried> {
  static constexpr std::array table = {
      Choice<Carried>{"summed", Carried::summed, "an all-reduce adds them up on the way"},
      Choice<Carried>{"gathered", Carried::gathered, "every worker gets every worker's message; all have one size"},
      Choice<Carried>{"gathered-unequal", Carried::gathered_unequal,
                      "gathered, but sizes differ between workers; 4 bytes of size are gathered first"},
  };
};

struct FormulaMessage {
  std::string what;
  Carried carried = Carried::gathered;
  Formula bytes, sum;
  template <class V>
  static void describe(V& v, FormulaMessage& x) {
    v.required("what", x.what, "what it contains");
    v.required("carried", x.carried, "how it travels");
    v.required("bytes", x.bytes, "its size, rounded up to whole bytes");
    v.optional(
        "sum", x.sum,
        "size of the sum of all workers' messages, where it is larger: servers send it back as it is, and an "
        "all-reduce carries as much. 0: the sum of summed messages is as large as one; servers encode the sum of "
        "gathered ones again");
  }
  bool operator==(const FormulaMessage&) const = default;
};

/// Kernels, then messages. The next stage waits for the messages.
struct FormulaStage {
  std::vector<FormulaKernel> encode;
  std::vector<FormulaMessage> messages;
  template <class V>
  static void describe(V& v, FormulaStage& x) {
    v.optional("encode", x.encode, "kernels before the messages, in order");
    v.required("messages", x.messages, "one or more messages of a worker");
  }
  bool operator==(const FormulaStage&) const = default;
};

/// Kernels that make the sum of the messages dense.
struct FormulaDecode {
  std::vector<FormulaKernel> first, further, together, finish;
  template <class V>
  static void describe(V& v, FormulaDecode& x) {
    v.optional("first", x.first,
               "kernels for the first gathered message, or for the sum; empty: one sweep that reads the messages and "
               "writes the tensor");
    v.optional("further", x.further,
               "kernels for each further gathered message; empty: those of the first, then one that adds a tensor");
    v.optional("together", x.together,
               "kernels that decode and add all gathered messages; reads and operations are of one message");
    v.optional("finish", x.finish, "kernels after the last message");
  }
  bool operator==(const FormulaDecode&) const = default;
};

/// The part of a tensor's shape that a method uses.
enum class TensorView { flat, matrix };

template <>
struct Choices<TensorView> {
  static constexpr std::array table = {
      Choice<TensorView>{"flat", TensorView::flat, "a bucket of tensors is one vector"},
      Choice<TensorView>{"matrix", TensorView::matrix,
                         "each tensor is a matrix of its first dimension's rows; tensors with one dimension are summed "
                         "uncompressed"},
  };
};

struct MethodFormulas {
  static constexpr bool axes = false;
  std::string name = "formula", description, source;
  CompressorClass of = CompressorClass::quantization;
  TensorView view = TensorView::flat;
  std::map<std::string, Formula> values;
  std::vector<FormulaKernel> prepare, compensate;
  std::vector<FormulaStage> stages;
  FormulaDecode decode;
  bool error_feedback = false;
  std::vector<FormulaKernel> remember;
  int kept = 0;
  bool recodable = false;
  std::string assumed;

  template <class V>
  static void describe(V& v, MethodFormulas& x) {
    v.required("name", x.name, "the name that reports show");
    v.optional("description", x.description, "one line");
    v.optional("source", x.source, "paper and section; \"recalled\" if it was not at hand");
    v.optional("class", x.of, "class of the survey");
    v.optional("tensors", x.view, "what it compresses");
    v.optional("values", x.values, "named formulas for other formulas");
    v.optional("prepare", x.prepare, "kernels once a gradient, before everything: a momentum");
    v.optional("compensate", x.compensate, "own kernels of error feedback before encoding");
    v.required("stages", x.stages, "one or more stages of messages; each waits for the messages before");
    v.optional("decode", x.decode, "kernels after the messages");
    v.optional("error_feedback", x.error_feedback,
               "add the lost part to the next step's gradient: a kernel that adds it before, the first message's "
               "decoding and a kernel that subtracts it after, and one copy of the gradient");
    v.optional("remember", x.remember, "own kernels of error feedback after decoding");
    v.optional("kept", x.kept, "copies of the gradient that own kernels of error feedback keep", between(0, 16));
    v.optional("recodable", x.recodable, "a sum of messages can be encoded again at the same size");
    v.optional("assumed", x.assumed, "the assumption about the data in the sizes; empty: they are exact");
  }
  bool operator==(const MethodFormulas&) const = default;
};

struct FormulaCompressor {
  static constexpr std::string_view kind = "formula";
  static constexpr std::string_view meaning = "a method described by formulas (docs/own-compressor.md)";
  Shared<std::map<std::string, double>> parameters{};
  Shared<MethodFormulas> method{};
  /// The method. Without one: the gradient as it is.
  [[nodiscard]] const MethodFormulas& formulas() const;
  template <class V>
  static void describe(V& v, FormulaCompressor& x) {
    v.optional("parameters", x.parameters, "numbers for the formulas, by name");
    v.required("method", x.method, "the formulas");
  }
  bool operator==(const FormulaCompressor&) const = default;
};

/// Whether all messages travel so.
bool all_carried(const MethodFormulas& method, Carried carried);

/// Faults that no tensor changes: nothing to send, names that are taken or that no formula uses.
std::vector<CompressorFault> check_method(const FormulaCompressor&);

/// Faults of the formulas for this tensor: unknown names, units, values out of range, loops.
/// @pre check_method() returned nothing
std::vector<CompressorFault> check_formulas(const FormulaCompressor&, const Tensor& tensor, int workers);

/// @pre check_method() returned nothing
/// @throws std::runtime_error with the first fault of the formulas for this tensor, which may be a bucket or a slice
CodecPlan plan(const FormulaCompressor&, const Tensor& tensor, int workers);

}  // namespace stepcast
