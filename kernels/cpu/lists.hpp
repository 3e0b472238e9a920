// The parts of compressor_kernels() and layer_kernels().
#pragma once

#include <utility>

#include "kernels/kernel.hpp"
#include "kernels/layers.hpp"

namespace stepcast::kernels {

inline constexpr double kSumTolerance = 1e-6;  // a sum in double of another order, then rounded to float
inline constexpr double kRandomFlops = 10;     // as models/compressor/codec_plan.hpp counts
inline constexpr std::int64_t kMessages = 8;   // messages that one call decodes and adds, or counts
inline constexpr std::int64_t kLevels = 127;   // QSGD's

void add_elementwise(std::vector<Kernel>& list);
void add_signs(std::vector<Kernel>& list);
void add_quantizers(std::vector<Kernel>& list);
void add_sparsifiers(std::vector<Kernel>& list);
void add_sampled_thresholds(std::vector<Kernel>& list);
void add_sketch(std::vector<Kernel>& list);
void add_three_lc(std::vector<Kernel>& list);
void add_inceptionn(std::vector<Kernel>& list);
void add_low_rank(std::vector<Kernel>& list);
void add_decode_sums(std::vector<Kernel>& list);
void add_feedback(std::vector<Kernel>& list);
void add_product_layers(std::vector<Kernel>& list);
void add_block_layers(std::vector<Kernel>& list);

/// The parts that the layer has.
void add_layer(std::vector<Kernel>& list, const LayerKernels& layer);

/// n times a factor, plus a constant.
inline std::function<double(std::int64_t)> linear(double per_element, double fixed = 0) {
  return [=](std::int64_t n) { return per_element * static_cast<double>(n) + fixed; };
}

/// The kernels "decode" and "decode-add" of a method. value(call, i) decodes element i from the wire's buffers. The
/// result is written to, or added to, the dense vector, which is the last buffer.
/// @param wire_bytes   of n elements, as the message has them
/// @param per_element  operations of decoding an element; adding is one more
template <class Wire, class WireBytes, class Value>
void add_decoders(std::vector<Kernel>& list, const std::string& method, std::vector<std::int64_t> parameters, Wire wire,
                  WireBytes wire_bytes, double per_element, Value value) {
  for (const bool add : {false, true}) {
    const auto buffers = [=](std::int64_t n) {
      std::vector<Buffer> all = wire(n);
      all.push_back({"dense", Element::f32, n, add ? Fill::values : Fill::zero, true});
      return all;
    };
    const auto reference = [=](const Call& call) {
      float* dense = call.at<float>(static_cast<int>(wire(call.n).size()));
      for (std::int64_t i = 0; i < call.n; ++i) dense[i] = add ? dense[i] + value(call, i) : value(call, i);
    };
    list.push_back({add ? "decode-add" : "decode", method, parameters, buffers,
                    [=](std::int64_t n) { return wire_bytes(n) + (add ? 8.0 : 4.0) * static_cast<double>(n); },
                    linear(per_element + (add ? 1 : 0)), reference});
  }
}

}  // namespace stepcast::kernels
