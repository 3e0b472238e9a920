// Layer times from shapes and a device profile.
#pragma once

#include <vector>

#include "models/workload/layer_work.hpp"

namespace stepcast {

/// Time of a layer's kernels: the smooth roofline
///
///     t = kernels · launch + (a^k + b^k)^(1/k),   a = flops / (peak · e_c),   b = bytes / (bandwidth · e_m)
///
/// with the profile's peak of the type, its efficiencies e and bend k. e_c is `efficiency`, or compute_efficiency. The
/// usual roofline max(a, b) is the limit of large k and has a kink where a = b, at which the forecast's answer to
/// "would a faster memory help?" jumps from no to yes; real kernels overlap arithmetic and traffic imperfectly there.
/// The k-norm is smooth, never below the roofline, at most 2^(1/k) above it (at a = b), and k = 1 is no overlap at all.
/// @throws ModelError when the profile has no peak for the type
Seconds roofline(const KernelWork& work, const DeviceProfile& profile, Dtype dtype, double efficiency);
Seconds roofline(const KernelWork& work, const DeviceProfile& profile, Dtype dtype);

/// Attention whose scores stay on the chip.
bool is_fused_attention(const LayerShape& shape);

/// e_c of a layer: the profile's attention_efficiency, if it has one, of fused attention, compute_efficiency of all
/// others.
double efficiency_of(const DeviceProfile& profile, const LayerShape& shape);

/// Whether the roofline was fitted on kernels of this work, taken as work.kernels alike ones. A profile without any
/// range covers everything: nothing was fitted, so nothing is beyond it.
bool covers(const DeviceProfile& profile, const KernelWork& work, Dtype dtype);

/// The work of a layer's kernels as this device's library does it: 3 x 3 convolutions of stride 1 in fp32 by
/// Winograd's algorithm, with the profile's gain.
LayerWork work_on(const DeviceProfile& profile, const LayerShape& shape, int batch, Dtype dtype);

/// Whether two layers do the same work: alike but for what changes no kernel (whose weight it is, whether a norm has a
/// scale or a bias, or a loss all scores at once, key positions and heads left to their default, which scores are
/// masked where all are computed).
bool same_work(const LayerShape& a, const LayerShape& b);

/// The profile's entry for a layer of this work, batch and type; null without one.
const LayerEntry* find_entry(const DeviceProfile& profile, const LayerShape& shape, int batch, Dtype dtype);

/// The parts of a layer's time.
struct LayerTimes {
  Seconds forward, data_gradient, weight_gradient;
};

/// Each part from the profile's entry where it has it, else from the roofline.
/// @throws ModelError when the profile has no peak for the type and a part needs it
LayerTimes times_of(const DeviceProfile& profile, const LayerShape& shape, int batch, Dtype dtype);

/// The update of all the table's parameters, a kernel for each gradient tensor or one for all. Weights and state are
/// fp32 whatever the gradients are: `dtype` is fp32 where the profile has a peak for it, else that of forward and
/// backward.
struct Update {
  KernelWork work;
  Dtype dtype = Dtype::fp32;
  std::vector<KernelWork> kernels;     ///< what `work` consists of
  const KernelEntry* entry = nullptr;  ///< the profile's, for the optimizer and the type; null without one
};
/// @pre the table passed list_gradients
Update update_of(const WorkloadTable& listed, const DeviceProfile& profile);

/// The sum over kernels of the entry's time where the profile has it, else the roofline.
/// @throws ModelError when the profile has no peak
Seconds time_of(const Update& update, const DeviceProfile& profile);

/// What was measured of the whole network over what the profile of the measurement says of it, by which each part's
/// times are multiplied; 1 where nothing was.
struct Corrections {
  double forward = 1, backward = 1, update = 1;
};
/// @pre the table passed check_shapes
Corrections corrections_of(const WorkloadTable& table);

/// The table in the form with times: gradients from the shapes, times from the profile for `batch` samples, update time
/// from the optimizer and the profile, each corrected by what was measured. The first layer needs no data gradient,
/// since nothing before it learns. A variant is applied first. Where blocks are computed again, the last layer's
/// backward has the time of the block's forward, since that comes first. A table that gives times is returned as it is.
/// @pre the table passed check_shapes
WorkloadTable time_layers(const WorkloadTable& table, const DeviceProfile& profile, int batch);

/// The table with a transformer's layers, its variant applied and its gradients written out, without times.
WorkloadTable list_gradients(const WorkloadTable& table);

}  // namespace stepcast
