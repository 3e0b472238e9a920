// Layer times from shapes and a device profile.
#pragma once

#include <vector>

#include "models/workload/autocast.hpp"

namespace stepcast {

/// Time of a layer's kernels by the smooth roofline
///
///     t = kernels · launch + (a^k + b^k)^(1/k),   a = flops / (peak · e_c),   b = bytes / (bandwidth · e_m)
///
/// with the profile's peak for the type, its efficiencies e and its bend k. e_c is `efficiency`, or compute_efficiency.
/// The usual roofline max(a, b) is the limit for large k. It has a kink at a = b, where the answer to "would a faster
/// memory help?" jumps from no to yes. Real kernels overlap arithmetic and traffic imperfectly there. The k-norm is
/// smooth, never below the roofline and at most 2^(1/k) times above it (at a = b). k = 1 means no overlap.
/// @throws ModelError when the profile has no peak for the type
Seconds roofline(const KernelWork& work, const DeviceProfile& profile, Dtype dtype, double efficiency);
Seconds roofline(const KernelWork& work, const DeviceProfile& profile, Dtype dtype);

/// Whether the layer is attention with scores that stay on the chip.
bool is_fused_attention(const LayerShape& shape);

/// e_c of a layer: for fused attention the profile's
/// attention_efficiency, if it has one; otherwise compute_efficiency.
double efficiency_of(const DeviceProfile& profile, const LayerShape& shape);

/// Whether the roofline's fit includes this work, divided into work.kernels equal kernels. A profile without ranges
/// covers everything: without a fit there is no extrapolation.
bool covers(const DeviceProfile& profile, const KernelWork& work, Dtype dtype);

/// A layer's kernels with this device's library, and their work. In fp32, 3 x 3 convolutions with stride 1 use
/// Winograd's algorithm, with the profile's gain.
PassKernels kernels_on(const DeviceProfile& profile, const LayerShape& shape, int batch, Dtype dtype);
LayerWork work_on(const DeviceProfile& profile, const LayerShape& shape, int batch, Dtype dtype);

/// Whether two layers do the same work. Fields that change no kernel do not count:
/// a tied weight, a norm's scale or bias, a fused loss. Nor do key positions and
/// heads at their default, or causality where all scores are computed.
bool same_work(const LayerShape& a, const LayerShape& b);

/// The profile's entry for a layer with this work, batch and type; null if there is none.
const LayerEntry* find_entry(const DeviceProfile& profile, const LayerShape& shape, int batch, Dtype dtype);

/// The parts of a layer's time.
struct LayerTimes {
  Seconds forward, data_gradient, weight_gradient;
};

/// Time of a pass without an entry: each kernel by its kind's model, those of a kind without a model by the roofline.
/// Without any model it is the roofline of their work together.
/// @throws ModelError when the profile has no peak for the type
Seconds modelled_time(const DeviceProfile& profile, const std::vector<LayerKernel>& kernels, KernelPass pass,
                      Dtype dtype, double efficiency);

/// For each part, the time of the profile's entry if it has one, else modelled_time.
/// @throws ModelError when the profile has no peak for the type and a part needs it
LayerTimes times_of(const DeviceProfile& profile, const LayerShape& shape, int batch, Dtype dtype);

/// Times of the kernels beside a layer's own.
/// @throws ModelError when there are some and the profile has no peak for their type
LayerTimes times_beside(const DeviceProfile& profile, const LayerPrecision& precision);

/// The update of all the table's parameters, with one kernel for each gradient tensor or one for all. Weights and state
/// are fp32, independent of the gradients' type. `dtype` is fp32 if the profile has a peak for it, else the type of
/// forward and backward.
struct Update {
  KernelWork work;
  Dtype dtype = Dtype::fp32;
  std::vector<KernelWork> kernels;     ///< the kernels that make up `work`
  const KernelEntry* entry = nullptr;  ///< the profile's entry for the optimizer and the type; null if there is none
};
/// @pre the table passed list_gradients
Update update_of(const WorkloadTable& listed, const DeviceProfile& profile);

/// Sums over the kernels: the entry's time if the profile has one, else the roofline.
/// @throws ModelError when the profile has no peak
Seconds time_of(const Update& update, const DeviceProfile& profile);

/// Measured time of the whole network over its time from the profile of the measurement. Each part's times are
/// multiplied by its correction. Without a measurement it is 1.
struct Corrections {
  double forward = 1, backward = 1, update = 1;
};
/// @pre the table passed check_shapes
Corrections corrections_of(const WorkloadTable& table);

/// Adds times to the table: gradients from the shapes, times for `batch` samples from the profile, and the update time.
/// Measured times correct each of them. A variant is applied first. The first layer has no data gradient, since no
/// layer before it learns. With the profile's host_launch a layer takes as much longer as the device waits for the host,
/// from an empty queue before the first layer. For recomputed blocks, the last layer's backward includes the block's
/// forward time, since that runs first. Kernels beside a layer's own count with it. A table with times is returned
/// unchanged.
/// @pre the table passed check_shapes
WorkloadTable time_layers(const WorkloadTable& table, const DeviceProfile& profile, int batch);

/// The table with a transformer's layers, its variant applied and its gradients listed, without times.
WorkloadTable list_gradients(const WorkloadTable& table);

}  // namespace stepcast
