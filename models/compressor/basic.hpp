// The two entries that are not methods of the survey.
#pragma once

#include "models/compressor/codec_plan.hpp"
#include "models/compressor/tensor.hpp"
#include "models/describe/describe.hpp"

namespace stepcast {

/// No compression: d·e bytes, summed by AllReduce, no codec work.
struct NoCompressor {
  static constexpr std::string_view kind = "none";
  static constexpr std::string_view meaning = "gradients travel as they are";
  template <class V>
  static void describe(V&, NoCompressor&) {}
  bool operator==(const NoCompressor&) const = default;
};

/// A compressor with a known ratio and cost only. Its messages can be summed, so AllReduce may carry them.
struct RatioCompressor {
  static constexpr std::string_view kind = "ratio";
  static constexpr std::string_view meaning = "any summable compressor, by its ratio and cost per uncompressed byte";
  double ratio = 1.0;
  SecondsPerByte encode_cost{};
  SecondsPerByte decode_cost{};

  template <class V>
  static void describe(V& v, RatioCompressor& x) {
    v.required("ratio", x.ratio, "c: uncompressed bytes over payload bytes", at_least(1));
    v.optional("encode_cost", x.encode_cost, "GPU time per uncompressed byte to encode", non_negative);
    v.optional("decode_cost", x.decode_cost, "GPU time per uncompressed byte to decode", non_negative);
  }
  bool operator==(const RatioCompressor&) const = default;
};

CodecPlan plan(const NoCompressor&, const Tensor&);
CodecPlan plan(const RatioCompressor&, const Tensor&);

}  // namespace stepcast
