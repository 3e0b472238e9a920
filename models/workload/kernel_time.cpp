#include "models/workload/kernel_time.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stepcast {
namespace {

struct Tile {
  double rows, columns;
};
constexpr Tile kTiles[] = {{256, 128}, {128, 256}, {128, 128}, {64, 128}, {128, 64},
                           {64, 64},   {32, 64},   {64, 32},   {32, 32}};
constexpr double kSplits[] = {1, 2, 4, 8, 16};
/// A tile's part of the depth is no shorter.
constexpr double kLeastDepth = 32;
/// Bytes that a thread loads at once at most.
constexpr Bytes kAligned = 16_B;

/// @param share  of the peak, that of the model over a slowdown
Seconds tiled_time(const KernelModel& model, const LayerKernel& kernel, const ProductShape& shape,
                   const DevicePeaks& device, double share) {
  const Tiling& tiling = *model.tiling;
  const double processors = device.processors;
  const Bytes bytes = kernel.work.bytes / kernel.work.kernels;
  Seconds best(std::numeric_limits<double>::infinity());
  for (const Tile& tile : kTiles) {
    const double intensity = tile.rows * tile.columns / (tile.rows + tile.columns);
    const double ratio = tiling.half_tile / intensity;
    const FlopsPerSecond rate = device.peak * (share / (1 + ratio * ratio) / processors);
    const double tiles = std::ceil(shape.m / tile.rows) * std::ceil(shape.n / tile.columns) * shape.products;
    for (const double split : kSplits) {
      if (split > 1 && shape.k / split < kLeastDepth) break;
      const double filled = tiles * split / processors;
      const double waves = tiling.tail * std::ceil(filled) + (1 - tiling.tail) * std::max(filled, 1.0);
      const double depth = std::max(shape.k * shape.executed / split, std::min(kLeastDepth, shape.k));
      const Seconds arithmetic = (Flops(2 * tile.rows * tile.columns * depth) / rate + tiling.wave) * waves;
      const Bytes parts = split > 1 ? 8_B * (split * shape.m * shape.n * shape.products) : 0_B;
      const Seconds traffic = (bytes + parts) / (device.bandwidth * model.memory_share);
      const Seconds sum = split > 1 ? tiling.split : Seconds{};
      if (std::max(arithmetic, traffic) + sum >= best) continue;  // the bend only adds
      best = std::min(best, bent(arithmetic, traffic, model.bend) + sum);
    }
  }
  return best;
}

bool is_bound_by_memory(KernelKind kind) {
  return kind == KernelKind::norm || kind == KernelKind::batch_norm || kind == KernelKind::elementwise ||
         kind == KernelKind::pool || kind == KernelKind::softmax || kind == KernelKind::embedding;
}

/// How much longer attention takes if its blocks leave processors idle.
double idle_factor(const LayerKernel& kernel, const ProductShape& shape, const DevicePeaks& device) {
  if (kernel.kind != KernelKind::attention) return 1;
  constexpr double kBlock = 128;  // positions of a head
  return std::max(1.0, device.processors / (std::max(shape.m / kBlock, 1.0) * shape.products));
}

/// The part of its bytes that a kernel moves to or from memory. The rest is read again from a processor's cache.
double moved_part(const KernelModel& model, const LayerKernel& kernel, const ProductShape& shape) {
  if (!model.cached_k) return 1;
  constexpr double kSharp = 8;
  return 1 - kernel.again / (1 + std::pow(shape.k / *model.cached_k, kSharp));
}

Seconds even_time(const KernelModel& model, const LayerKernel& kernel, const DevicePeaks& device, double share) {
  Seconds arithmetic = kernel.work.flops / (device.peak * share),
          traffic = kernel.work.bytes / (device.bandwidth * model.memory_share);
  if (kernel.shape) {
    const ProductShape& shape = *kernel.shape;
    Seconds& bound = is_bound_by_memory(kernel.kind) ? traffic : arithmetic;
    if (model.half_m) bound *= 1 + *model.half_m / shape.m;
    if (model.half_k) bound *= 1 + *model.half_k / shape.k;
    traffic *= moved_part(model, kernel, shape);
    arithmetic *= idle_factor(kernel, shape, device);
  }
  return bent(arithmetic, traffic, model.bend) / kernel.work.kernels;
}

/// Whether the model serves another type than its own.
bool stands_in(const DeviceProfile& profile, const KernelModel& model, Dtype dtype) {
  if (is_bound_by_memory(model.kind)) return true;
  const auto is_half = [](Dtype one) { return one == Dtype::fp16 || one == Dtype::bf16; };
  if (!is_half(dtype) || !is_half(model.dtype)) return false;
  const PeakRate *peak = find_peak(profile, dtype), *other = find_peak(profile, model.dtype);
  return peak && other && peak->rate == other->rate;
}

/// Where a value lies between the knots of an axis: `share` of the way from one to the next, in the logarithm.
struct KnotPosition {
  std::size_t index = 0;
  double share = 0;
};

KnotPosition position_at(const std::vector<double>& knots, double value) {
  const auto above = std::upper_bound(knots.begin(), knots.end(), value);
  if (above == knots.begin()) return {0, 0};
  const auto index = static_cast<std::size_t>(above - knots.begin()) - 1;
  if (above == knots.end()) return {index, 0};
  return {index, std::log(value / knots[index]) / std::log(knots[index + 1] / knots[index])};
}

}  // namespace

Seconds bent(Seconds a, Seconds b, double k) {
  const Seconds longer = std::max(a, b), shorter = std::min(a, b);
  if (longer == Seconds{}) return longer;
  return longer * std::pow(1 + std::pow(shorter / longer, k), 1 / k);
}

Bytes row_alignment(const ProductShape& shape, Dtype dtype) { return size_of(dtype) * shape.alignment; }

double slowdown_of(const KernelModel& model, const ProductShape& shape) {
  const Bytes alignment = row_alignment(shape, model.dtype);
  if (model.misaligned.empty() || alignment >= kAligned) return 1;
  const auto above = std::find_if(model.misaligned.begin(), model.misaligned.end(),
                                  [&](const Misaligned& one) { return one.alignment >= alignment; });
  const Misaligned next = above == model.misaligned.end() ? Misaligned{kAligned, 1} : *above;
  if (above == model.misaligned.begin() || next.alignment == alignment) return next.slowdown;
  const Misaligned& before = *(above - 1);
  const double along = std::log(alignment / before.alignment) / std::log(next.alignment / before.alignment);
  return before.slowdown * std::pow(next.slowdown / before.slowdown, along);
}

bool is_aligned(const ProductShape& shape, Dtype dtype) {
  return dtype == Dtype::fp32 || row_alignment(shape, dtype) >= kAligned;
}

void scale_fixed_times(KernelModel& model, double factor) {
  model.launch *= factor;
  if (!model.tiling) return;
  model.tiling->wave *= factor;
  model.tiling->split *= factor;
}

std::array<WeightedKnot, 8> knots_around(const ShapeFactors& grid, const ProductShape& shape) {
  const KnotPosition m = position_at(grid.m, shape.m), n = position_at(grid.n, shape.n),
                     k = position_at(grid.k, shape.k);
  std::array<WeightedKnot, 8> knots;
  for (unsigned corner = 0; corner < knots.size(); ++corner) {
    WeightedKnot& knot = knots[corner];
    knot.weight = 1;
    const auto take = [&](const KnotPosition& at, std::size_t size, bool upper) {
      knot.weight *= upper ? at.share : 1 - at.share;
      knot.index = knot.index * size + at.index + (upper ? 1 : 0);
    };
    take(m, grid.m.size(), corner & 1);
    take(n, grid.n.size(), corner & 2);
    take(k, grid.k.size(), corner & 4);
  }
  return knots;
}

double factor_at(const ShapeFactors& factors, const ProductShape& shape) {
  double logarithm = 0;
  for (const WeightedKnot& knot : knots_around(factors, shape))
    if (knot.weight > 0) logarithm += knot.weight * std::log(factors.factors[knot.index]);
  return std::exp(logarithm);
}

Seconds kernel_time(const KernelModel& model, const LayerKernel& kernel, const DevicePeaks& device) {
  if (kernel.work.kernels == 0) return {};
  const double factor = model.factors && kernel.shape ? factor_at(*model.factors, *kernel.shape) : 1;
  const auto lone = [&](double slowdown) {
    const double share = model.share / slowdown;
    return factor * (model.tiling && kernel.shape ? tiled_time(model, kernel, *kernel.shape, device, share)
                                                  : even_time(model, kernel, device, share));
  };
  Seconds each = lone(1) / device.sustained;
  if (const double slowdown = kernel.shape ? slowdown_of(model, *kernel.shape) : 1; slowdown > 1)
    each = std::max(each, lone(slowdown));
  return (model.launch + each) * kernel.work.kernels;
}

const KernelModel* find_model(const DeviceProfile& profile, KernelKind kind, KernelPass pass, Dtype dtype) {
  // The own type before another of its size, and that before others; of each, the own pass before any.
  const KernelModel* best = nullptr;
  int best_rank = -1;
  for (const KernelModel& model : profile.kernel_models) {
    if (model.kind != kind || (model.pass && model.pass != pass)) continue;
    if (model.dtype != dtype && !stands_in(profile, model, dtype)) continue;
    const int rank = (model.dtype == dtype ? 4 : size_of(model.dtype) == size_of(dtype) ? 2 : 0) + (model.pass ? 1 : 0);
    if (rank <= best_rank) continue;
    best = &model;
    best_rank = rank;
  }
  if (best == nullptr && kind == KernelKind::batch_norm)
    return find_model(profile, KernelKind::elementwise, pass, dtype);
  return best;
}

bool covers(const KernelModel& model, const LayerKernel& kernel) {
  const KernelWork& work = kernel.work;
  if (work.kernels == 0) return true;
  if (kernel.shape && !is_aligned(*kernel.shape, model.dtype)) {
    const Bytes alignment = row_alignment(*kernel.shape, model.dtype);
    const auto is_its = [&](const Misaligned& one) { return one.alignment == alignment; };
    if (std::none_of(model.misaligned.begin(), model.misaligned.end(), is_its)) return false;
  }
  const Flops flops = work.flops / work.kernels;
  const Bytes bytes = work.bytes / work.kernels;
  const bool may_be_small = is_bound_by_memory(kernel.kind);
  const auto within = [&](auto size, const auto& range) {
    return !range || (size <= range->max && (may_be_small || size >= range->min));
  };
  return within(flops, model.flops) && within(bytes, model.bytes);
}

}  // namespace stepcast
