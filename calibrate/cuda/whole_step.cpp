#include "calibrate/cuda/whole_step.hpp"

#include <algorithm>

#include "kernels/cuda/fill.hpp"

namespace stepcast::calibrate {
namespace {

constexpr std::uint64_t kSeed = 11;

std::size_t most_scratch(const std::vector<StepCall>& calls, const kernels::Context& context) {
  std::size_t most = 1;
  for (const StepCall& call : calls)
    most = std::max(most,
                    kernels::scratch_bytes(kernels::find_launch(call.kernel->name()), *call.kernel, call.n, context));
  return most;
}

}  // namespace

WholeStep::WholeStep(const StepToMeasure& step, const kernels::Context& context)
    : WholeStep(plan_buffers(step), context) {}

WholeStep::WholeStep(const StepBuffers& plan, const kernels::Context& context)
    : scratch_(most_scratch(plan.calls, context)) {
  std::uint64_t seed = kSeed;
  for (const Slot& slot : plan.slots) {
    void* data = slots_.emplace_back(slot.bytes).data();
    if (slot.fill) kernels::fill_on_device(*slot.fill, data, slot.n, seed++, context.stream());
  }
  kernels::require_cuda(cudaGetLastError(), "filling buffers");
  for (const StepCall& call : plan.calls) {
    std::vector<void*> buffers;
    for (const std::size_t slot : call.slots)
      buffers.push_back(slot == StepCall::kNothing ? nullptr : slots_[slot].data());
    // One seed, so that dropout's backward part drops what its forward part did.
    calls_.push_back(std::make_unique<kernels::DeviceWorkspace>(kernels::find_launch(call.kernel->name()), *call.kernel,
                                                                call.n, kSeed, context, std::move(buffers),
                                                                scratch_.data()));
  }
}

void WholeStep::run() const {
  for (const auto& call : calls_) call->run();
}

}  // namespace stepcast::calibrate
