// Scaled dot-product attention (Vaswani et al., NeurIPS 2017) of h heads of width w = d/h, without a mask: for each
// head
//
//   S = Q Kᵀ,   P = softmax(S/√w) by rows,   Y = P V
//   dV = Pᵀ dY,   dP = dY Vᵀ,   dS = P∘(dP - Σ P∘dP)/√w with the sum of each row,   dQ = dS K,   dK = dSᵀ Q
//
// The forward pass keeps P, which the data gradient takes as an input. S, dP and dS are in the layer's type, as a
// product leaves them. There are no parameters: the projections are linear layers. For q queries and m keys, forward
// takes 4q·m·d operations and backward 8q·m·d. The softmax or its gradient takes 6h·q·m.
#include <algorithm>
#include <cmath>

#include "kernels/cpu/reference.hpp"

namespace stepcast::kernels {
namespace {

/// softmax(scale·row)
void soften(double* row, std::int64_t count, double scale) {
  double most = row[0] * scale, sum = 0;
  for (std::int64_t j = 0; j < count; ++j) most = std::max(most, row[j] * scale);
  for (std::int64_t j = 0; j < count; ++j) sum += row[j] = std::exp(row[j] * scale - most);
  for (std::int64_t j = 0; j < count; ++j) row[j] /= sum;
}

void forward(const Call& call, Precision precision) {
  const AttentionShape s = attention_shape(call.parameters);
  const Operands operands(call, precision);
  using Buffers = AttentionForward;
  const std::int64_t width = s.d / s.heads, scores = s.sequence * s.memory;
  const Numbers q = operands.read(Buffers::q, call.n * s.sequence * s.d),
                k = operands.read(Buffers::k, call.n * s.memory * s.d),
                v = operands.read(Buffers::v, call.n * s.memory * s.d);
  Numbers probabilities(call.n * s.heads * scores), y(q.size());
  for (std::int64_t b = 0; b < call.n * s.heads; ++b) {
    const std::int64_t queries = b / s.heads * s.sequence * s.d + b % s.heads * width,
                       keys = b / s.heads * s.memory * s.d + b % s.heads * width;
    double* p = probabilities.data() + b * scores;
    add_product(s.sequence, s.memory, width, {q.data() + queries, s.d}, {k.data() + keys, s.d, true}, p, s.memory);
    for (std::int64_t i = 0; i < scores; ++i) p[i] = operands.rounded(p[i]);
    for (std::int64_t i = 0; i < s.sequence; ++i) soften(p + i * s.memory, s.memory, 1 / std::sqrt(real(width)));
    for (std::int64_t i = 0; i < scores; ++i) p[i] = operands.rounded(p[i]);
    add_product(s.sequence, width, s.memory, {p, s.memory}, {v.data() + keys, s.d}, y.data() + queries, s.d);
  }
  operands.write(Buffers::probabilities, probabilities);
  operands.write(Buffers::y, y);
}

void data_gradient(const Call& call, Precision precision) {
  const AttentionShape s = attention_shape(call.parameters);
  const Operands operands(call, precision);
  using Buffers = AttentionDataGradient;
  const std::int64_t width = s.d / s.heads, scores = s.sequence * s.memory;
  const double scale = 1 / std::sqrt(real(width));
  const Numbers q = operands.read(Buffers::q, call.n * s.sequence * s.d),
                k = operands.read(Buffers::k, call.n * s.memory * s.d),
                v = operands.read(Buffers::v, call.n * s.memory * s.d);
  const Numbers probabilities = operands.read(Buffers::probabilities, call.n * s.heads * scores),
                dy = operands.read(Buffers::dy, call.n * s.sequence * s.d);
  Numbers dq(q.size()), dk(k.size()), dv(v.size());
  for (std::int64_t b = 0; b < call.n * s.heads; ++b) {
    const std::int64_t queries = b / s.heads * s.sequence * s.d + b % s.heads * width,
                       keys = b / s.heads * s.memory * s.d + b % s.heads * width;
    const double* p = probabilities.data() + b * scores;
    Numbers ds(scores);
    add_product(s.memory, width, s.sequence, {p, s.memory, true}, {dy.data() + queries, s.d}, dv.data() + keys, s.d);
    add_product(s.sequence, s.memory, width, {dy.data() + queries, s.d}, {v.data() + keys, s.d, true}, ds.data(),
                s.memory);
    for (std::int64_t i = 0; i < s.sequence; ++i) {
      double sum = 0;
      for (std::int64_t j = i * s.memory; j < (i + 1) * s.memory; ++j) sum += p[j] * (ds[j] = operands.rounded(ds[j]));
      for (std::int64_t j = i * s.memory; j < (i + 1) * s.memory; ++j)
        ds[j] = operands.rounded(p[j] * (ds[j] - sum) * scale);
    }
    add_product(s.sequence, width, s.memory, {ds.data(), s.memory}, {k.data() + keys, s.d}, dq.data() + queries, s.d);
    add_product(s.memory, width, s.sequence, {ds.data(), s.memory, true}, {q.data() + queries, s.d}, dk.data() + keys,
                s.d);
  }
  operands.write(Buffers::dq, dq);
  operands.write(Buffers::dk, dk);
  operands.write(Buffers::dv, dv);
}

/// Turns numbers into probabilities.
void prepare_data_gradient(const Call& call, Precision precision) {
  const AttentionShape s = attention_shape(call.parameters);
  const Operands operands(call, precision);
  Numbers p = operands.read(AttentionDataGradient::probabilities, call.n * s.heads * s.sequence * s.memory);
  for (std::int64_t row = 0; row < call.n * s.heads * s.sequence; ++row) soften(p.data() + row * s.memory, s.memory, 1);
  operands.write(AttentionDataGradient::probabilities, p);
}

}  // namespace

LayerKernels attention_layer(const AttentionShape& s, Precision p) {
  // The largest scores are below 8 after scaling. In bf16 a score may round the other way, by 2^-7 of it, which changes
  // its probability by as much as 2^-4. In tf32 a score's error is about 2^-9 of the scores' spread, 1.
  const double tolerance = tolerance_of(p, s.d / s.heads + s.memory, p == Precision::bf16 ? 4 : 2),
               gradient_tolerance = tolerance_of(p, s.d / s.heads + s.memory + s.sequence, 3);
  const auto forward_buffers = [=](std::int64_t n) {
    const std::int64_t queries = n * s.sequence * s.d, keys = n * s.memory * s.d;
    return std::vector<Buffer>{values(Role::input, "q", p, queries), values(Role::input, "k", p, keys),
                               values(Role::input, "v", p, keys),
                               result(Role::kept, "probabilities", p, n * s.heads * s.sequence * s.memory, tolerance),
                               result(Role::output, "y", p, queries, tolerance)};
  };
  const auto data_buffers = [=](std::int64_t n) {
    const std::int64_t queries = n * s.sequence * s.d, keys = n * s.memory * s.d;
    return std::vector<Buffer>{values(Role::input, "q", p, queries),
                               values(Role::input, "k", p, keys),
                               values(Role::input, "v", p, keys),
                               values(Role::kept, "probabilities", p, n * s.heads * s.sequence * s.memory),
                               values(Role::output_gradient, "dy", p, queries),
                               result(Role::input_gradient, "dq", p, queries, gradient_tolerance),
                               result(Role::input_gradient, "dk", p, keys, gradient_tolerance),
                               result(Role::input_gradient, "dv", p, keys, gradient_tolerance)};
  };
  const double products = 4 * real(s.sequence) * real(s.memory) * real(s.d),
               softmax = 6 * real(s.heads) * real(s.sequence) * real(s.memory);
  const auto kernel = kernel_maker(parameters_of(s), p);
  LayerKernels layer{kernel("attention-forward", forward_buffers, products + softmax, forward),
                     kernel("attention-data-gradient", data_buffers, 2 * products + softmax, data_gradient),
                     std::nullopt};
  layer.data_gradient->prepare = [p](const Call& call) { prepare_data_gradient(call, p); };
  return layer;
}

}  // namespace stepcast::kernels
