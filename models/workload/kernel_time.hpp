// The time of one kernel by its kind's constants (models/part/kernel_model.hpp), on a device with `peak` and
// `bandwidth`.
//
// A kernel of F operations and B bytes takes
//
//     t = launch + f/sustained · (a^k + b^k)^(1/k),   b = B/(bandwidth · memory_share),   k = bend
//     a = F/(peak · share) · (1 + half_m/m) · (1 + half_k/k)
//
// A pool has the elements of all its windows as operations, so its share is a small one.
// Attention has max(1, P/x) in a as well, x = products·max(m/128, 1). Blocks of 128 positions of a head are spread over P
// processors, and few leave some idle (Dao 2023, section 3.2). The 128 is assumed. A part of a block counts as a part, so
// that times are smooth.
//
// Kinds bound by memory have their halves in b instead. Batch norm has its channels as m. Other norms have their rows as m
// and the width of these as k. A block takes one of them, and few blocks do not draw the whole bandwidth (measured on an
// H200, docs/device-profiles.md). A block of a short row spends its time on sums and not on bytes. Norms read the part
// `again` of their bytes twice (1/3 forward, 2/5 backward). Short rows are then still in a processor's cache, so the
// memory moves a part of `again` alone:
//
//     again · x/(1 + x),   x = (k/cached_k)^8
//
// Blocks fill a processor's cache at once, so the change is sharp. By bytes read and written once, an A100's norms
// of many rows draw 1530 GB/s at 2,048 elements, 1150 at 4,096 and 1070 from 5,120 on (NeuSight's times in fp32). Its
// processors have 192 KB for 16 blocks of 128 threads.
//
// Products on tensor cores whose matrices have rows that are no multiples of 16 bytes reach share/slowdown. Kernels
// copy 16 bytes at once, and Hopper's copy engine needs strides of as many (NVIDIA, CUDA C++ Programming Guide, Tensor
// Memory Access). The library then takes others, such as `cutlass_75_tensorop_bf16_s1688gemm_bf16_128x128_tn_align1` on an
// H100. `misaligned` has the slowdown of each alignment that was measured. In a step such a product takes as long as alone,
// or as an aligned one does there, whichever is longer. The rule is assumed. GPT-2's took 3 % longer in a step than
// alone (calibrate/measured/h100-2026-11-28).
//
// f is the factor of its shape, 1 without `factors`. With a tiling, a product of m x k and k x n is cut into tiles of
// h x w elements, and its depth into s parts. P processors work on a tile each, so there are W waves of them:
//
//     a = W · (2·h·w·(k/s)/(peak/P · share_A) + wave),   share_A = share/(1 + (half_tile/A)²),   A = h·w/(h + w)
//     W = tail·⌈x⌉ + (1 - tail)·max(x, 1),               x = ⌈m/h⌉·⌈n/w⌉·s·products/P
//
// A is the operations for each element that a tile loads, up to a constant. A tile's part of the depth is 32 or more, and
// Winograd's algorithm executes only a part of k. A split product also writes and reads its s parts in fp32; `split`, the
// time to sum them, is added after the bend. The library is taken to choose the quickest of the tiles and splits below.
// The model is that of cuBLAS's and CUTLASS's kernels (NVIDIA, Matrix Multiplication Background User's Guide: tile and
// wave quantization).
#pragma once

#include <array>
#include <cstddef>

#include "models/part/profile.hpp"
#include "models/workload/layer_work.hpp"

namespace stepcast {

/// The device's rates that a kernel model refers to.
struct DevicePeaks {
  FlopsPerSecond peak;  ///< of the kernels' type
  BytesPerSecond bandwidth;
  int processors = 0;    ///< 0: not known; a tiling needs them
  double sustained = 1;  ///< share of a lone kernel's rates that one in a step keeps
};

/// Time of all kernels that `kernel` stands for.
/// @pre a model with a tiling has processors
Seconds kernel_time(const KernelModel& model, const LayerKernel& kernel, const DevicePeaks& device);

/// (a^k + b^k)^(1/k) of two times, in a form that cannot underflow: the longer one, with a smooth bend where both are as
/// long.
Seconds bent(Seconds a, Seconds b, double k);

/// The divisor of a product's share of the peak: 1 where rows are multiples of 16 bytes, or where nothing is known.
double slowdown_of(const KernelModel& model, const ProductShape& shape);

/// Multiplies a model's fixed times: launch, wave and split.
void scale_fixed_times(KernelModel& model, double factor);

/// The knots around a shape and their weights, which add up to 1. Outside the grid the nearest knots count.
struct WeightedKnot {
  std::size_t index = 0;  ///< of the factor
  double weight = 0;
};
std::array<WeightedKnot, 8> knots_around(const ShapeFactors& grid, const ProductShape& shape);

/// The factor of a product's shape.
double factor_at(const ShapeFactors& factors, const ProductShape& shape);

/// The profile's model of a kind, type and pass, or of the kind and type in any pass; null if there is none. A type
/// without a model takes another's where the kernels are taken to reach the same shares: fp16 and bf16 with equal peaks,
/// and all types of kinds that are bound by memory, of the same size if there is one. Batch norm without a model takes
/// that of elementwise kernels: an H200's with many channels draw 0.88 to 0.98 of the bandwidth in fp32, its sums 0.96, its
/// other norms 0.56 to 0.74.
const KernelModel* find_model(const DeviceProfile& profile, KernelKind kind, KernelPass pass, Dtype dtype);

/// The largest power of two, up to 16 elements, of which the rows of a product's matrices are multiples.
Bytes row_alignment(const ProductShape& shape, Dtype dtype);

/// Whether the rows of a product's matrices are multiples of 16 bytes. Those in fp32 count as such whatever they are: its
/// kernels read single words (1.00 to 1.06 times as slow on V100, P100, Titan Xp, A100 and H100, docs/device-profiles.md).
bool is_aligned(const ProductShape& shape, Dtype dtype);

/// Whether the sizes of each of these kernels are within those that the model rests on, and their alignment is known. A
/// kernel bound by memory may be smaller: it comes closer to its launch.
bool covers(const KernelModel& model, const LayerKernel& kernel);

}  // namespace stepcast
