#include "models/compressor/codec_plan.hpp"

#include <utility>

namespace stepcast {

void append(std::vector<CodecKernel>& to, const std::vector<CodecKernel>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

bool CodecPlan::summable() const {
  for (const Stage& stage : stages)
    for (const Payload& message : stage.messages)
      if (message.primitive != Primitive::all_reduce) return false;
  return true;
}

Bytes payload(const CodecPlan& plan) {
  Bytes sum{};
  for (const Stage& stage : plan.stages)
    for (const Payload& message : stage.messages) sum += message.bytes;
  return sum;
}

Bytes size_exchange(const CodecPlan& plan) {
  Bytes sum{};
  for (const Stage& stage : plan.stages)
    for (const Payload& message : stage.messages)
      if (message.primitive == Primitive::all_gather_unequal) sum += message.size_exchange;
  return sum;
}

Bytes pushed(const Stage& stage) {
  Bytes sum{};
  for (const Payload& message : stage.messages) sum += message.pushed();
  return sum;
}

Bytes answer(const Stage& stage) {
  Bytes all{};
  for (const Payload& message : stage.messages) {
    if (message.sum == Bytes{} && message.primitive != Primitive::all_reduce) return {};
    all += message.sum > Bytes{} ? message.sum : message.bytes;
  }
  return all;
}

std::vector<CodecKernel> encode_kernels(const CodecPlan& plan) {
  std::vector<CodecKernel> kernels = plan.prepare;
  append(kernels, plan.compensate);
  for (const Stage& stage : plan.stages) append(kernels, stage.encode);
  return kernels;
}

std::vector<CodecKernel> decode_kernels(const CodecPlan& plan, int p) {
  const Decode& decode = plan.decode;
  std::vector<CodecKernel> kernels;
  if (p > 1 && !decode.together.empty()) {
    for (CodecKernel kernel : decode.together) {
      kernel.read *= p;
      kernel.flops *= p;
      kernels.push_back(std::move(kernel));
    }
  } else {
    kernels = decode.first;
    if (p > 1)
      for (CodecKernel kernel : decode.further) {
        kernel.repeats *= p - 1;
        kernels.push_back(std::move(kernel));
      }
    if (p > 1) append(kernels, decode.vote);
  }
  append(kernels, plan.decode.finish);
  append(kernels, plan.remember);
  return kernels;
}

std::vector<CodecKernel> sum_kernels(const CodecPlan& plan, int p) {
  CodecPlan sum = plan;
  sum.remember.clear();
  return decode_kernels(sum, p);
}

std::vector<CodecKernel> recode_kernels(const CodecPlan& plan, int p) {
  CodecPlan sum = plan;
  sum.prepare.clear();
  if (p > 1 && plan.votes) {
    sum.decode.finish.clear();
    return sum_kernels(sum, p);
  }
  std::vector<CodecKernel> kernels = sum_kernels(sum, p);
  append(kernels, encode_kernels(sum));
  append(kernels, sum.remember);
  return kernels;
}

Seconds price(const std::vector<CodecKernel>& kernels, const CodecRates& rates) {
  Seconds sum{};
  for (const CodecKernel& one : kernels) {
    if (one.known() > Seconds{}) {
      sum += one.known() * one.repeats;
      continue;
    }
    const auto known = rates.measured.find(one.kernel);
    const KernelRates& measured = known == rates.measured.end() ? rates.all : known->second;
    const Seconds time = measured.time(one.read + one.written, one.flops);
    sum += one.repeats * time;
    if (rates.slowdown != 1) sum += one.repeats * (rates.slowdown - 1) * (time - measured.time({}, {}));
  }
  return sum;
}

}  // namespace stepcast
