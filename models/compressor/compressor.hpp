// The table of compressors: the messages of each method for a tensor, and the work to encode and decode them.
//
//     const CodecPlan plan = make_plan(TopK{.ratio = 0.01}, Tensor{{2048, 1001}});
//     payload(plan);                              // 8·20,500 B: k = floor(0.01 · 2,050,048)
//     price(encode_kernels(plan), rates);          // on a device
//     price(decode_kernels(plan, 8), rates);       // eight messages, decoded one by one
//
// A method that is only formulas needs no C++: a file in scenarios/compressors describes it (formula_compressor.hpp).
// To add another one: write a described struct and declare its plan() in its class's header, and write plan() in a
// separate file. Then add its type to Compressor and its line to compressors().
#pragma once

#include <span>
#include <string>
#include <variant>
#include <vector>

#include "models/compressor/basic.hpp"
#include "models/compressor/compressor_class.hpp"
#include "models/compressor/compressor_fault.hpp"
#include "models/compressor/formula_compressor.hpp"
#include "models/compressor/hybrid.hpp"
#include "models/compressor/low_rank.hpp"
#include "models/compressor/quantization.hpp"
#include "models/compressor/sparsification.hpp"

namespace stepcast {

using Compressor = std::variant<NoCompressor, RatioCompressor, Fp16, EightBit, OneBit, SignSgd, Signum, EfSignSgd, Qsgd,
                                TernGrad, Natural, Inceptionn, RandomK, TopK, Threshold, Dgc, Wangni, Adaptive,
                                SketchMl, ThreeLc, QsparseLocalSgd, PowerSgd, Atomo, GradiVeq, FormulaCompressor>;

struct CompressorEntry {
  std::string_view kind;
  CompressorClass of;
  const char* ideal;  ///< bytes of one worker's messages for d elements of e = 4 bytes, packed
  const char* grace;  ///< the same with packing grace; "" if GRACE lacks the method or sends the same bytes
  const char* source;
};

/// One line for every alternative of Compressor, in the same order.
std::span<const CompressorEntry> compressors();
/// @throws std::invalid_argument for a kind that is not in the table
const CompressorEntry& find_compressor(std::string_view kind);

/// Its kind, or the name that formulas give to their method.
std::string_view name_of(const Compressor& compressor);
CompressorClass class_of(const Compressor& compressor);
/// Whether it compresses tensors. None and ratio know bytes alone.
bool compresses_tensors(const Compressor& compressor);
/// Whether the method factorizes matrices. Other methods see flat vectors.
bool works_on_matrices(const Compressor& compressor);
/// Columns of a matrix's factors: min(rank, n, m). A method without a rank, or a vector, has 1.
double rank_of(const Compressor& compressor, const Tensor& tensor);

/// The plan of `compressor` for `tensor`.
/// @param workers  those whose messages one exchange sums; formulas may use it
/// @pre check(compressor, {tensor}, workers) returned nothing
/// @throws std::runtime_error if a formula fails for this size; check() has seen single tensors only
CodecPlan make_plan(const Compressor& compressor, const Tensor& tensor, int workers = 1);

/// The plan for tensors that form one group (a bucket, the whole model). Low-rank methods encode each tensor and send
/// all factors of one stage in one message, as PowerSGD's authors do. Other methods see one flat vector with one norm,
/// one k and one table of means. A group of one tensor has the plan of that tensor.
/// @pre group is not empty
CodecPlan make_plan(const Compressor& compressor, std::span<const Tensor> group, int workers = 1);

/// The method that also factorizes matrices below its `min_rate`.
Compressor of_any_rate(Compressor compressor);

/// The properties of a method for every tensor that it compresses.
struct CompressorTraits {
  bool summable = false;              ///< a sum of its messages is again a message
  bool recodable = false;             ///< a sum can be encoded again at the same size
  bool one_gathered_message = false;  ///< sends a message that every worker needs, or its parts
  std::size_t stages = 1;             ///< stages of messages
  bool votes = false;                 ///< the result of all messages is a message: all-to-all changes nothing
  bool answers = false;               ///< servers may send back the sum of its messages as it is
};
/// @param dtype  of the tensors: fp16 leaves 2-byte elements unchanged
CompressorTraits traits_of(const Compressor& compressor, Dtype dtype);
/// Whether each of several workers may decode its share of a sum: there is one message that is summed or cut in parts.
bool is_cut_in_parts(const Compressor& compressor, const CompressorTraits& traits);

/// The work of one hop of a ring's reduce-scatter with compression inside the collective (Pipe-SGD). A hop decodes the
/// received slice, adds it to the own slice and encodes the sum. The message is the payload of the slice's plan. With a
/// scale, it is slightly more than 1/p of the tensor's payload.
/// @throws std::invalid_argument unless the plan is recodable
std::vector<CodecKernel> hop_kernels(const CodecPlan& plan, const Tensor& slice);

/// The faults of the compressor, or of its use on these tensors. The compressor's fields may be outside their limits or
/// exclude each other. A tensor's shape may have no elements, or the rank may exceed min(n, m) of every matrix (for
/// single tensors it is cut). Empty: no fault.
std::vector<CompressorFault> check(const Compressor& compressor, std::span<const Tensor> tensors, int workers = 1);

}  // namespace stepcast
