// The table of compressors: what each sends for a tensor, and what work that takes.
//
//     const CodecPlan plan = make_plan(TopK{.ratio = 0.01}, Tensor{{2048, 1001}});
//     payload(plan);                              // 8·20,500 B: k = floor(0.01 · 2,050,048)
//     price(encode_passes(plan), rates);          // on a device
//     price(decode_passes(plan, 8), rates);       // eight messages, one decoded after the other
//
// A new compressor: a described struct and its plan() in the header of its class, plan() in a file of its own, its
// type in Compressor, its line in compressors().
#pragma once

#include <span>
#include <string>
#include <variant>
#include <vector>

#include "models/compressor/basic.hpp"
#include "models/compressor/hybrid.hpp"
#include "models/compressor/low_rank.hpp"
#include "models/compressor/quantization.hpp"
#include "models/compressor/sparsification.hpp"

namespace stepcast {

using Compressor = std::variant<NoCompressor, RatioCompressor, Fp16, EightBit, OneBit, SignSgd, Signum, EfSignSgd, Qsgd,
                                TernGrad, Natural, Inceptionn, RandomK, TopK, Threshold, Dgc, Wangni, Adaptive,
                                SketchMl, ThreeLc, QsparseLocalSgd, PowerSgd, Atomo, GradiVeq>;

/// The survey's four classes, and none.
enum class CompressorClass { none, quantization, sparsification, hybrid, low_rank };

std::string_view name_of(CompressorClass c);

struct CompressorEntry {
  std::string_view kind;
  CompressorClass of;
  const char* ideal;  ///< bytes of one worker's messages for d elements of e = 4 bytes, packed
  const char* grace;  ///< the same with packing grace; "" where GRACE does not have the method, or sends the same
  const char* source;
};

/// One line for every alternative of Compressor, in its order.
std::span<const CompressorEntry> compressors();
/// @throws std::invalid_argument for a kind that is not in the table
const CompressorEntry& find_compressor(std::string_view kind);

/// What `compressor` does with `tensor`.
/// @pre check(compressor, {tensor}) found nothing
CodecPlan make_plan(const Compressor& compressor, const Tensor& tensor);

/// What it does with tensors that travel together (a bucket, the whole model): low-rank methods encode each tensor and
/// send all factors of one stage in one message, as PowerSGD's authors do; all others see one flat vector, so one
/// norm, one k, one table of means. Same for a group of one.
/// @pre group is not empty
CodecPlan make_plan(const Compressor& compressor, std::span<const Tensor> group);

/// What a method does with any tensor that it compresses at all.
struct CompressorTraits {
  bool summable = false;              ///< its messages' sums are messages
  bool recodable = false;             ///< a sum can be encoded again at the same size
  bool one_gathered_message = false;  ///< sends one message of known size, which every worker needs
  std::size_t stages = 1;             ///< of messages
};
/// @param dtype  of the tensors: what is in halves already, fp16 leaves as it is
CompressorTraits traits_of(const Compressor& compressor, Dtype dtype);

/// What one hop of a ring's reduce-scatter does to a slice when compression sits inside the collective (Pipe-SGD):
/// decode what came, add it to the own slice, encode the sum. Message: payload of make_plan(compressor, slice), which
/// for methods with a scale is a little more than 1/p of the tensor's.
/// @throws std::invalid_argument unless the method is recodable
std::vector<Pass> hop_passes(const Compressor& compressor, const Tensor& slice);

struct CompressorFault {
  std::string field;  ///< of the compressor; empty: of a tensor
  std::string found;
  std::string allowed;
};

/// "FIELD is FOUND, allowed is ALLOWED"
std::string to_string(const CompressorFault& fault);

/// What is wrong with the compressor (fields outside their limits, fields that exclude each other) or with using it
/// on these tensors (a shape without elements; a rank above min(n, m) of every matrix: for single tensors it is
/// cut). Empty: fine.
std::vector<CompressorFault> check(const Compressor& compressor, std::span<const Tensor> tensors);

}  // namespace stepcast
