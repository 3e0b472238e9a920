#include "models/compressor/codec_plan.hpp"

#include <utility>

namespace stepcast {
namespace {

void append(std::vector<Pass>& to, const std::vector<Pass>& from) { to.insert(to.end(), from.begin(), from.end()); }

}  // namespace

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

std::vector<Pass> encode_passes(const CodecPlan& plan) {
  std::vector<Pass> passes = plan.prepare;
  append(passes, plan.compensate);
  for (const Stage& stage : plan.stages) append(passes, stage.encode);
  return passes;
}

std::vector<Pass> decode_passes(const CodecPlan& plan, int p) {
  const Decode& decode = plan.decode;
  std::vector<Pass> passes;
  if (p > 1 && !decode.together.empty()) {
    for (Pass pass : decode.together) {
      pass.read *= p;
      pass.flops *= p;
      passes.push_back(std::move(pass));
    }
  } else {
    passes = decode.first;
    if (p > 1)
      for (Pass pass : decode.further) {
        pass.repeats *= p - 1;
        passes.push_back(std::move(pass));
      }
  }
  append(passes, plan.decode.finish);
  append(passes, plan.remember);
  return passes;
}

std::vector<Pass> sum_passes(const CodecPlan& plan, int p) {
  CodecPlan sum = plan;
  sum.remember.clear();
  return decode_passes(sum, p);
}

std::vector<Pass> recode_passes(const CodecPlan& plan, int p) {
  CodecPlan sum = plan;
  sum.prepare.clear();
  if (p > 1 && plan.votes) {
    sum.decode.finish.clear();
    return sum_passes(sum, p);
  }
  std::vector<Pass> passes = sum_passes(sum, p);
  append(passes, encode_passes(sum));
  append(passes, sum.remember);
  return passes;
}

Seconds price(const std::vector<Pass>& passes, const CodecRates& rates) {
  Seconds sum{};
  for (const Pass& pass : passes) {
    if (pass.fixed > Seconds{}) {
      sum += pass.fixed * pass.repeats;
      continue;
    }
    const auto known = rates.measured.find(pass.kernel);
    const KernelRates& kernel = known == rates.measured.end() ? rates.all : known->second;
    sum += pass.repeats * rates.slowdown * kernel.time(pass.read + pass.written, pass.flops);
  }
  return sum;
}

}  // namespace stepcast
