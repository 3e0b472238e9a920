#include "models/compressor/basic.hpp"

namespace stepcast {

CodecPlan plan(const RatioCompressor& x, const Tensor& tensor) {
  // Payload: d·e/c by definition; no paper.
  CodecPlan plan;
  Stage stage;
  const auto known = [&](const char* kernel, SecondsPerByte cost) {
    CodecKernel one{kernel};
    one.fixed = tensor.dense() * cost;
    return one;
  };
  if (x.encode_cost > SecondsPerByte{}) stage.encode = {known("encode", x.encode_cost)};
  if (x.decode_cost > SecondsPerByte{}) plan.decode.first = {known("decode", x.decode_cost)};
  stage.messages = {{"gradient", Primitive::all_reduce, tensor.dense() / x.ratio}};
  plan.stages = {stage};
  return plan;
}

}  // namespace stepcast
