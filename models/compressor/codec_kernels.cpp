#include "models/compressor/codec_kernels.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace stepcast {

Bytes packed_bits(std::int64_t count, int width) {
  const std::int64_t whole = (count * width + 7) / 8;
  return Bytes(static_cast<double>(whole));
}

int code_width(std::int64_t values) {
  return values <= 1 ? 1 : static_cast<int>(std::bit_width(static_cast<std::uint64_t>(values - 1)));
}

std::int64_t kept(double ratio, const Tensor& tensor) {
  return std::max<std::int64_t>(1,
                                static_cast<std::int64_t>(std::floor(static_cast<double>(tensor.elements()) * ratio)));
}

std::int64_t expected_count(double density, const Tensor& tensor) {
  const std::int64_t d = tensor.elements();
  return std::min<std::int64_t>(d, std::llround(static_cast<double>(d) * density));
}

Bytes index_width(const Tensor& tensor, Packing packing, Framework framework) {
  const bool wide = (packing == Packing::grace && framework == Framework::torch) || tensor.elements() > std::int64_t{1}
                                                                                                            << 32;
  return wide ? 8_B : 4_B;
}

Bytes size_width(Packing packing, Framework framework) {
  return packing == Packing::grace && framework != Framework::tensorflow ? 8_B : 4_B;
}

CodecKernel sweep(std::string kernel, Bytes read, Bytes written, const Tensor& tensor, double per_element) {
  return {std::move(kernel), read, written, Flops(per_element * static_cast<double>(tensor.elements()))};
}

CodecKernel radix_select(double count) { return {"radix-select", count * 4_B, {}, Flops(2 * count), 4}; }

CodecKernel select_compact(const Tensor& tensor, Bytes written) {
  CodecKernel kernel = sweep("select-compact", tensor.dense(), written / 2.0, tensor, 2);
  kernel.repeats = 2;
  return kernel;
}

CodecKernel radix_sort(const Tensor& tensor) {
  CodecKernel kernel = sweep("radix-sort", tensor.dense(), tensor.dense(), tensor, 2);
  kernel.repeats = 4;
  return kernel;
}

CodecKernel matrix_product(std::string kernel, std::int64_t a, std::int64_t b, std::int64_t c, Bytes element) {
  const double rows = static_cast<double>(a), inner = static_cast<double>(b), columns = static_cast<double>(c);
  return {std::move(kernel), (rows * inner + inner * columns) * element, rows * columns * element,
          Flops(2 * rows * inner * columns)};
}

CodecKernel orthogonalise(std::int64_t n, std::int64_t r, Bytes element) {
  // Values of one kernel out of r: the totals divided by r.
  const double length = static_cast<double>(n), columns = static_cast<double>(r);
  const Bytes touched = length * (columns + 1) / 2 * element;
  return {"gram-schmidt", touched, touched, Flops(2 * length * columns), columns};
}

Decode dense_decode(Bytes wire, const Tensor& tensor, double per_element, Packing packing) {
  const Bytes dense = tensor.dense();
  Decode decode;
  decode.first = {sweep("decode", wire, dense, tensor, per_element)};
  if (packing == Packing::grace) decode.further = {decode.first[0], sweep("add", 2.0 * dense, dense, tensor, 1)};
  else decode.further = {sweep("decode-add", wire + dense, dense, tensor, per_element + 1)};
  return decode;
}

Decode decode_sum(Bytes wire, const Tensor& tensor, double per_element, Packing packing) {
  Decode decode = dense_decode(wire, tensor, per_element, packing);
  if (packing == Packing::ideal) decode.together = {sweep("decode-sum", wire, tensor.dense(), tensor, per_element + 1)};
  return decode;
}

Decode sparse_decode(Bytes wire, std::int64_t k, const Tensor& tensor, Packing packing) {
  const Bytes dense = tensor.dense();
  const Bytes values = static_cast<double>(k) * size_of(tensor.dtype);
  Decode decode;
  decode.first = {sweep("fill", {}, dense, tensor, 0), {"scatter", wire, values}};
  if (packing == Packing::grace)
    decode.further = {decode.first[0], decode.first[1], sweep("add", 2.0 * dense, dense, tensor, 1)};
  else decode.further = {{"scatter-add", wire + values, values, Flops(static_cast<double>(k))}};
  return decode;
}

std::vector<Payload> gathered_parts(const std::string& codes, Bytes of_codes, const std::string& numbers,
                                    Bytes of_numbers, Packing packing) {
  if (packing == Packing::ideal) return {{codes + " and " + numbers, Primitive::all_gather, of_codes + of_numbers}};
  return {{codes, Primitive::all_gather, of_codes}, {numbers, Primitive::all_gather, of_numbers}};
}

void add_error_feedback(CodecPlan& plan, const Tensor& tensor) {
  const Bytes dense = tensor.dense();
  plan.compensate.push_back(sweep("add", 2.0 * dense, dense, tensor, 1));
  plan.remember = plan.decode.first;
  plan.remember.push_back(sweep("subtract", 2.0 * dense, dense, tensor, 1));
  plan.kept = 1;
}

CodecPlan uncompressed(const Tensor& tensor) {
  CodecPlan plan;
  plan.stages = {{{}, {{"gradient", Primitive::all_reduce, tensor.dense()}}}};
  return plan;
}

}  // namespace stepcast
