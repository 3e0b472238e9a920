#include "models/workload/layer_times.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "models/describe/fault.hpp"
#include "models/workload/blocks.hpp"
#include "models/workload/kernel_rates.hpp"
#include "models/workload/kernel_time.hpp"
#include "models/workload/transformer_layers.hpp"
#include "models/workload/variant.hpp"

namespace stepcast {
namespace {

FlopsPerSecond peak_of(const DeviceProfile& profile, Dtype dtype) {
  const PeakRate* found = find_peak(profile, dtype);
  if (found == nullptr)
    throw ModelError(fmt::format("the device profile \"{}\" has no peak rate for {}", profile.name, name_of(dtype)));
  return found->rate;
}

/// The shape with default values for the fields that change no kernel.
LayerShape work_alone(LayerShape shape) {
  if (auto* linear = std::get_if<Linear>(&shape)) linear->tied = false;
  if (auto* norm = std::get_if<BatchNorm>(&shape)) norm->scale = true;
  if (auto* loss = std::get_if<SoftmaxLoss>(&shape)) loss->fused = false;
  if (auto* norm = std::get_if<LayerNorm>(&shape)) norm->bias = true;
  if (auto* attention = std::get_if<Attention>(&shape)) {
    attention->memory = attention->memory.value_or(attention->sequence);
    attention->kv_heads = attention->kv_heads.value_or(attention->heads);
    attention->causal = attention->causal && attention->fused;
  }
  return shape;
}

/// When the device has done the kernels that the host has launched so far. Kernels wait in a queue, so the host runs
/// ahead of a busy device.
class LaunchQueue {
 public:
  explicit LaunchQueue(Seconds launch) : launch_(launch) {}

  /// By how much later the device is done with n more equal kernels that take `time` together. The i-th is launched i
  /// launches from now on, and n - i + 1 of them follow from there. The latest of these ends is that of i = 1 or n.
  Seconds add(double n, Seconds time) {
    if (launch_ == Seconds{}) return time;
    if (n == 0) {
      done_ += time;
      return time;
    }
    const Seconds before = done_;
    done_ = std::max({done_ + time, host_ + launch_ + time, host_ + launch_ * n + time / n});
    host_ += launch_ * n;
    return done_ - before;
  }

 private:
  Seconds launch_, host_{}, done_{};
};

/// A part of a layer: what the device does, and what the host launches.
struct PartCost {
  Seconds time{};
  double kernels = 0;

  PartCost& operator+=(const PartCost& other) {
    time += other.time;
    kernels += other.kernels;
    return *this;
  }
};
struct LayerCost {
  PartCost forward, data_gradient, weight_gradient;
};

/// The layer's own kernels and those beside.
LayerCost cost_of(const DeviceProfile& profile, const LayerShape& shape, int batch, const LayerPrecision& precision) {
  const LayerTimes own = times_of(profile, shape, batch, precision.dtype), beside = times_beside(profile, precision);
  const LayerWork work = work_of(shape, batch, precision.dtype);
  const PassKernels& more = precision.beside;
  const auto count = [](const KernelWork& part, const std::vector<LayerKernel>& kernels) {
    return part.kernels + sum_of(kernels).kernels;
  };
  return {{own.forward + beside.forward, count(work.forward, more.forward)},
          {own.data_gradient + beside.data_gradient, count(work.data_gradient, more.data_gradient)},
          {own.weight_gradient + beside.weight_gradient, count(work.weight_gradient, more.weight_gradient)}};
}

/// The backward pass of a block starts with its forward pass.
void compute_again(const std::vector<LayerRange>& blocks, std::vector<Layer>& layers) {
  for (const LayerRange& block : blocks) {
    Seconds forward{};
    for (std::size_t i = block.first; i < block.last; ++i) forward += layers[i].forward;
    layers[block.last - 1].backward += forward;
  }
}

}  // namespace

bool covers(const DeviceProfile& profile, const KernelWork& work, Dtype dtype) {
  if (profile.range.empty() || work.kernels == 0) return true;
  const auto range = std::find_if(profile.range.begin(), profile.range.end(),
                                  [&](const FittedRange& fitted) { return fitted.dtype == dtype; });
  if (range == profile.range.end()) return false;
  const Flops flops = work.flops / work.kernels;
  const Bytes bytes = work.bytes / work.kernels;
  return flops >= range->flops.min && flops <= range->flops.max && bytes >= range->bytes.min &&
         bytes <= range->bytes.max;
}

PassKernels kernels_on(const DeviceProfile& profile, const LayerShape& shape, int batch, Dtype dtype) {
  PassKernels kernels = kernels_of(shape, batch, dtype);
  const auto* conv = std::get_if<Conv2d>(&shape);
  if (conv && dtype == Dtype::fp32 && conv->kernel == Extent{3, 3} && conv->stride == 1 && conv->groups == 1)
    for (auto* pass : {&kernels.forward, &kernels.data_gradient, &kernels.weight_gradient})
      for (LayerKernel& kernel : *pass)
        if (kernel.kind == KernelKind::convolution) {
          kernel.work.flops *= 1 / profile.winograd.value;
          kernel.shape->executed = 1 / profile.winograd.value;
        }
  return kernels;
}

LayerWork work_on(const DeviceProfile& profile, const LayerShape& shape, int batch, Dtype dtype) {
  const PassKernels kernels = kernels_on(profile, shape, batch, dtype);
  return {sum_of(kernels.forward), sum_of(kernels.data_gradient), sum_of(kernels.weight_gradient)};
}

Seconds modelled_time(const DeviceProfile& profile, const std::vector<LayerKernel>& kernels, KernelPass pass,
                      Dtype dtype, double efficiency) {
  const bool has_model = std::any_of(kernels.begin(), kernels.end(), [&](const LayerKernel& kernel) {
    return find_model(profile, kernel.kind, pass, dtype) != nullptr;
  });
  if (!has_model) return roofline(sum_of(kernels), profile, dtype, efficiency);
  const FlopsPerSecond own_peak = peak_of(profile, dtype);
  DevicePeaks device{own_peak, profile.memory_bandwidth.value, profile.processors ? profile.processors->value : 0};
  Seconds sum{};
  for (const LayerKernel& kernel : kernels) {
    const KernelModel* model = find_model(profile, kernel.kind, pass, dtype);
    if (model == nullptr) {
      sum += roofline(kernel.work, profile, dtype, efficiency);
      continue;
    }
    // A model's shares refer to the peak of its own type.
    const PeakRate* peak = find_peak(profile, model->dtype);
    device.peak = peak ? peak->rate : own_peak;
    device.sustained = profile.sustained ? profile.sustained->of(*model) : 1;
    sum += kernel_time(*model, kernel, device);
  }
  return sum;
}

bool is_fused_attention(const LayerShape& shape) {
  const auto* attention = std::get_if<Attention>(&shape);
  return attention && attention->fused;
}

double efficiency_of(const DeviceProfile& profile, const LayerShape& shape) {
  return profile.attention_efficiency && is_fused_attention(shape) ? profile.attention_efficiency->value
                                                                   : profile.compute_efficiency.value;
}

Seconds roofline(const KernelWork& work, const DeviceProfile& profile, Dtype dtype) {
  return roofline(work, profile, dtype, profile.compute_efficiency.value);
}

Seconds roofline(const KernelWork& work, const DeviceProfile& profile, Dtype dtype, double efficiency) {
  const Seconds arithmetic = work.flops / (peak_of(profile, dtype) * efficiency);
  const Seconds traffic = work.bytes / (profile.memory_bandwidth.value * profile.memory_efficiency.value);
  return profile.launch_overhead.value * work.kernels + bent(arithmetic, traffic, profile.bend.value);
}

bool same_work(const LayerShape& a, const LayerShape& b) { return work_alone(a) == work_alone(b); }

const LayerEntry* find_entry(const DeviceProfile& profile, const LayerShape& shape, int batch, Dtype dtype) {
  if (profile.layers.empty()) return nullptr;
  const LayerShape alone = work_alone(shape);
  const auto found = std::find_if(profile.layers.begin(), profile.layers.end(), [&](const LayerEntry& entry) {
    return entry.batch == batch && entry.dtype == dtype && entry.shape.index() == alone.index() &&
           work_alone(entry.shape) == alone;
  });
  return found == profile.layers.end() ? nullptr : &*found;
}

LayerTimes times_of(const DeviceProfile& profile, const LayerShape& shape, int batch, Dtype dtype) {
  const LayerEntry* entry = find_entry(profile, shape, batch, dtype);
  const PassKernels kernels = kernels_on(profile, shape, batch, dtype);
  const double efficiency = efficiency_of(profile, shape);
  const auto time = [&](std::optional<Seconds> known, const std::vector<LayerKernel>& part, KernelPass pass) {
    return known ? *known : modelled_time(profile, part, pass, dtype, efficiency);
  };
  return {time(entry ? entry->forward : std::nullopt, kernels.forward, KernelPass::forward),
          time(entry ? entry->data_gradient : std::nullopt, kernels.data_gradient, KernelPass::data_gradient),
          time(entry ? entry->weight_gradient : std::nullopt, kernels.weight_gradient, KernelPass::weight_gradient)};
}

LayerTimes times_beside(const DeviceProfile& profile, const LayerPrecision& precision) {
  const auto time = [&](const std::vector<LayerKernel>& kernels, KernelPass pass) {
    if (kernels.empty()) return Seconds{};
    return modelled_time(profile, kernels, pass, precision.beside_dtype, profile.compute_efficiency.value);
  };
  const PassKernels& beside = precision.beside;
  return {time(beside.forward, KernelPass::forward), time(beside.data_gradient, KernelPass::data_gradient),
          time(beside.weight_gradient, KernelPass::weight_gradient)};
}

Update update_of(const WorkloadTable& listed, const DeviceProfile& profile) {
  std::vector<double> elements;  // for each kernel
  for (const Layer& layer : listed.layers)
    for (const GradientTensor& tensor : layer.gradients) elements.push_back(static_cast<double>(tensor.elements));
  if (listed.fused_update && !elements.empty()) elements = {std::accumulate(elements.begin(), elements.end(), 0.0)};
  Update update;
  for (const double count : elements) {
    update.kernels.push_back(update_work(count, 1, listed.optimizer, listed.dtype));
    update.work += update.kernels.back();
  }
  update.dtype = find_peak(profile, Dtype::fp32) ? Dtype::fp32 : compute_dtype_of(listed);
  update.entry = find_kernel(profile, update_kernel(listed.optimizer, listed.dtype));
  return update;
}

Seconds time_of(const Update& update, const DeviceProfile& profile) {
  if (update.entry == nullptr) return roofline(update.work, profile, update.dtype);
  const KernelRates rates = rates_of(*update.entry, device_rates(profile));
  Seconds sum{};
  for (const KernelWork& kernel : update.kernels) sum += rates.time(kernel.bytes, kernel.flops);
  return sum;
}

WorkloadTable list_gradients(const WorkloadTable& table) {
  if (!gives_shapes(table)) return table;
  if (table.transformer) return list_gradients(expand(table));
  WorkloadTable listed = with_variant(table);
  for (Layer& layer : listed.layers) layer.gradients = gradients_of(layer);
  return listed;
}

Corrections corrections_of(const WorkloadTable& table) {
  Corrections all;
  if (!table.measured) return all;
  const MeasuredTimes& measured = *table.measured;
  WorkloadTable whole = table;
  whole.measured.reset();
  if (whole.variant) whole.variant->factorize.reset();  // another network; its other changes are other code
  whole.recomputation = Recomputation::none;
  whole.compute_dtype = measured.dtype;
  whole.optimizer = measured.optimizer.value_or(table.optimizer);
  const WorkloadTable timed = time_layers(whole, measured.profile, measured.batch);
  Seconds forward{}, backward{};
  for (const Layer& layer : timed.layers) {
    forward += layer.forward;
    backward += layer.backward;
  }
  const auto correct = [](double& factor, const std::optional<Seconds>& known, Seconds said) {
    if (known && said > Seconds{}) factor = *known / said;
  };
  correct(all.forward, measured.forward, forward);
  correct(all.backward, measured.backward, backward);
  correct(all.update, measured.update, timed.update);
  return all;
}

WorkloadTable time_layers(const WorkloadTable& table, const DeviceProfile& profile, int batch) {
  if (!gives_shapes(table)) return table;
  WorkloadTable timed = list_gradients(table);
  const Corrections corrections = corrections_of(table);
  timed.update = time_of(update_of(timed, profile), profile) * corrections.update;
  LaunchQueue queue(profile.host_launch ? profile.host_launch->value : Seconds{});
  const std::vector<LayerPrecision> precisions = precisions_of(timed, batch);
  std::vector<LayerCost> costs;
  for (std::size_t i = 0; i < timed.layers.size(); ++i) {
    costs.push_back(cost_of(profile, *timed.layers[i].shape, batch, precisions[i]));
    timed.layers[i].forward = queue.add(costs[i].forward.kernels, costs[i].forward.time) * corrections.forward;
  }
  for (std::size_t i = timed.layers.size(); i-- > 0;) {
    PartCost backward = costs[i].weight_gradient;
    if (i > 0) backward += costs[i].data_gradient;  // the input needs no gradient
    timed.layers[i].backward = queue.add(backward.kernels, backward.time) * corrections.backward;
    timed.layers[i].shape.reset();
  }
  compute_again(recomputed_blocks(timed), timed.layers);
  timed.recomputation = Recomputation::none;
  timed.recomputed_share = 1;
  timed.batch = batch;
  timed.profile.reset();
  timed.measured.reset();
  timed.compute_dtype.reset();
  timed.autocast = false;
  timed.variants.clear();
  timed.parameters.reset();
  return timed;
}

}  // namespace stepcast
