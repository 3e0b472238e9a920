#include "models/workload/layer_times.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "models/scenario/fault.hpp"
#include "models/workload/factorize.hpp"

namespace stepcast {
namespace {

FlopsPerSecond peak_of(const DeviceProfile& profile, Dtype dtype) {
  const auto found = std::find_if(profile.peaks.begin(), profile.peaks.end(), [&](const PeakRate& peak) { return peak.dtype == dtype; });
  if (found == profile.peaks.end()) throw ModelError(fmt::format("the device profile \"{}\" has no peak rate for {}", profile.name, name_of(dtype)));
  return found->rate;
}

}  // namespace

LayerWork work_on(const DeviceProfile& profile, const LayerShape& shape, int batch, Dtype dtype) {
  LayerWork work = work_of(shape, batch, dtype);
  const auto* conv = std::get_if<Conv2d>(&shape);
  if (conv && dtype == Dtype::fp32 && conv->kernel == Extent{3, 3} && conv->stride == 1 && conv->groups == 1)
    for (Work* part : {&work.forward, &work.data_gradient, &work.weight_gradient}) part->flops *= 1 / profile.winograd.value;
  return work;
}

Seconds roofline(const Work& work, const DeviceProfile& profile, Dtype dtype) {
  const Seconds arithmetic = work.flops / (peak_of(profile, dtype) * profile.compute_efficiency.value);
  const Seconds traffic = work.bytes / (profile.memory_bandwidth.value * profile.memory_efficiency.value);
  const Seconds longer = std::max(arithmetic, traffic), shorter = std::min(arithmetic, traffic);
  const Seconds launches = profile.launch_overhead.value * work.kernels;
  if (longer == Seconds{}) return launches;
  // As longer · (1 + x^k)^(1/k), which cannot underflow as a^k can.
  const double k = profile.bend.value;
  return launches + longer * std::pow(1 + std::pow(shorter / longer, k), 1 / k);
}

WorkloadTable list_gradients(const WorkloadTable& table) {
  if (!gives_shapes(table)) return table;
  WorkloadTable listed = table.variant && table.variant->factorize ? factorize(table, *table.variant->factorize) : table;
  listed.variant.reset();
  for (Layer& layer : listed.layers) layer.gradients = gradients_of(layer);
  return listed;
}

WorkloadTable time_layers(const WorkloadTable& table, const DeviceProfile& profile, int batch) {
  if (!gives_shapes(table)) return table;
  WorkloadTable timed = list_gradients(table);
  double elements = 0, tensors = 0;
  for (Layer& layer : timed.layers) {
    const LayerWork work = work_on(profile, *layer.shape, batch, table.dtype);
    layer.forward = roofline(work.forward, profile, table.dtype);
    layer.backward = roofline(work.weight_gradient, profile, table.dtype);
    if (&layer != &timed.layers.front()) layer.backward += roofline(work.data_gradient, profile, table.dtype);
    for (const GradientTensor& tensor : layer.gradients) elements += static_cast<double>(tensor.elements);
    tensors += static_cast<double>(layer.gradients.size());
    layer.shape.reset();
  }
  // Weights and state are fp32 whatever the gradients are, and there is always an fp32 peak to do it with.
  const Dtype arithmetic = std::any_of(profile.peaks.begin(), profile.peaks.end(), [](const PeakRate& p) { return p.dtype == Dtype::fp32; }) ? Dtype::fp32 : table.dtype;
  timed.update = roofline(update_work(elements, tensors, table.optimizer, table.dtype), profile, arithmetic);
  timed.batch = batch;
  timed.profile.reset();
  timed.variants.clear();
  timed.parameters.reset();
  return timed;
}

}  // namespace stepcast
