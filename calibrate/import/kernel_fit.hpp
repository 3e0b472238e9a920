// The constants of one kind of kernel from measured times.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/part/profile.hpp"
#include "models/workload/kernel_time.hpp"

namespace stepcast::calibrate {

/// One measured kernel, or equal ones in sequence.
struct KernelSample {
  LayerKernel kernel;
  Seconds time{};
  std::string family;  ///< samples of one family are held out together
  bool judges = true;  ///< false: the fit rests on it, but errors of the model leave it out
};

/// Errors of held-out kernels: |modelled - measured|/measured.
struct HeldOut {
  FitErrors all;
  FitErrors long_ones;  ///< those of kLong and more; held_out is 0 if there are none
  double bias = 0;      ///< median of modelled/measured - 1
};
inline constexpr Seconds kLong = 20_us;

/// Fewer samples determine no model.
inline constexpr std::size_t kLeastSamples = 10;
/// As many samples determine all constants of a product.
inline constexpr std::size_t kLeastOfPass = 32;
/// From so many judging samples on, 70 % of the families are fitted and the others held out. Fewer are cut into five
/// folds of families: each is held out once, and the model rests on all.
inline constexpr std::size_t kManySamples = 500;

struct FittedModel {
  KernelModel model;
  HeldOut held_out;
  int assumed = 0;  ///< constants that so few samples do not determine; they stay where the search begins
};

/// The kind's constants (kernel_time.hpp) that minimise the sum of ρ(log(modelled/measured)), where ρ is square for
/// small deviations and linear beyond 10 %: a table has a few times that another algorithm or an interruption explains.
/// Products and convolutions have a tiling, and with enough samples factors by shape; attention has halves. Others are
/// bound by memory, and the share of the peak stays 1, but for pools. Batch norm has half_m, norms have half_m, half_k
/// and cached_k. A norm's table has a constant for each two samples, others for each four. The rest stay where the search
/// begins.
///
/// Products of odd sizes have no part in these constants: with them held fixed, they give the slowdown of each
/// alignment. Five folds of their families judge them. Where a fold leaves few samples of an alignment, it takes its
/// neighbour's slowdown. If none takes notably longer, all products are fitted alike, and each slowdown is 1.
/// @pre kLeastSamples samples or more, of two families or more, some of them judging
FittedModel fit_kernel_model(KernelKind kind, Dtype dtype, const std::vector<KernelSample>& samples,
                             const DevicePeaks& device, std::uint64_t seed);

}  // namespace stepcast::calibrate
