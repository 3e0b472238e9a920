#include "kernels/cuda/implicit.hpp"

#include <algorithm>
#include <stdexcept>

#include "kernels/code/divisor.hpp"
#include "kernels/cuda/columns.hpp"
#include "kernels/cuda/conv2d.cuh"
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/error.hpp"
#include "kernels/cuda/product_tile.cuh"

namespace stepcast::kernels {
namespace {

// To be tuned on a device.
/// Blocks of a multiprocessor, of small warps and of large ones, which sums are cut into parts for.
constexpr std::int64_t kBlocksOfProcessor = 3, kLargeBlocksOfProcessor = 2;
constexpr std::int64_t kLeastTilesOfPart = 8;  ///< of the depth
constexpr std::int64_t kMostIndex = (std::int64_t{1} << 31) - 1, kMostOfGrid = 65535;

/// Kernels of up to so many rows and columns: a tap is two bits of a word.
constexpr int kMostTaps = 15;
/// The bit of what is never inside.
constexpr std::uint32_t kNever = 1U << 31;

Divisor divisor(std::int64_t x) { return Divisor(static_cast<std::uint32_t>(std::max<std::int64_t>(x, 1))); }

/// A tap, from the place of its window: elements, and its row's and column's bits.
struct Tap {
  int elements;
  std::uint32_t bits;
};
/// Where a window's first tap is, which may be outside, and the bits of those of its rows and columns that are.
template <class T>
struct Pixel {
  const T* at;
  std::uint32_t outside;
};

/// Bits of taps first, first + step, ... that are not among 0 to size - 1.
__device__ inline std::uint32_t outside_of(int first, int size, int step) {
  const int from = step > 0 ? -first : first - size + 1, to = step > 0 ? size - first : first + 1;
  const int low = from < 0           ? 0
                  : from > kMostTaps ? kMostTaps
                                     : from,
            high = to < low         ? low
                   : to > kMostTaps ? kMostTaps
                                    : to;
  return ((1U << kMostTaps) - 1) & ~((1U << high) - (1U << low));
}

/// The columns of images: at(pixel, tap) is the element of the image that the tap of that pixel's window meets.
template <class T>
struct Columns {
  const T* images;
  std::int64_t image;  ///< elements of one
  int plane, height, width;
  int stride, top, left;  ///< of windows: output pixel (p, q)'s begins at (stride·p + top, stride·q + left)
  int step;               ///< from a tap to the next one: 1 or -1
  Divisor pixels, pixel_columns, taps, tap_columns;

  /// Of row k of the columns: channel, and tap by tap.
  __device__ Tap tap(std::uint32_t k, std::uint32_t end) const {
    if (k >= end) return {0, kNever};
    std::uint32_t channel = k, row = taps.split(channel);
    const std::uint32_t column = tap_columns.split(row);
    return {static_cast<int>(channel) * plane + step * (static_cast<int>(row) * width + static_cast<int>(column)),
            1U << row | 1U << (kMostTaps + column)};
  }
  __device__ Pixel<T> pixel(std::uint32_t n, std::uint32_t end) const {
    if (n >= end) return {images, ~0U};
    std::uint32_t of_image = n, row = pixels.split(of_image);
    const int left_tap = static_cast<int>(pixel_columns.split(row)) * stride + left,
              top_tap = static_cast<int>(row) * stride + top;
    return {images + of_image * image + (static_cast<std::int64_t>(top_tap) * width + left_tap),
            kNever | outside_of(top_tap, height, step) | outside_of(left_tap, width, step) << kMostTaps};
  }
  __device__ static T at(const Pixel<T>& pixel, const Tap& tap) {
    return (pixel.outside & tap.bits) == 0 ? __ldg(pixel.at + tap.elements) : T{};
  }
};

/// An index of three parts, each with its distance.
struct Places {
  Divisor outer, inner;  ///< indices below an outer one, and below an inner one
  std::int64_t outer_step, inner_step, step;
  __device__ std::int64_t at(std::uint32_t index) const {
    std::uint32_t first = index, second = outer.split(first);
    const std::uint32_t third = inner.split(second);
    return first * outer_step + second * inner_step + third * step;
  }
};

/// A matrix whose rows are evenly apart, as weights are, and dy with its pixels as the depth.
template <class T>
struct Rows {
  const T* data;
  std::uint32_t pitch;
  Places depth;
};

/// Where C goes. Parts of sums lie one after the other, each as the result does.
template <class T>
struct Sums {
  T* to;
  float* parts;           ///< null: to the result at once
  std::int64_t elements;  ///< of the result
  std::int64_t first, pitch;
  Places columns;
  bool accumulate;
};

/// C (rows x columns) = A · B, for each group.
template <class T>
struct Problem {
  Rows<T> a;
  Columns<T> b;
  Sums<T> c;
  std::int64_t a_group, b_group, c_group;  ///< elements from group to group
  std::uint32_t rows = 0, columns = 0, depth = 0;
  std::uint32_t depth_of_part = 0;  ///< whole tiles
};

/// Of a step of the depth: where A's column begins, null beyond the end, and B's tap or pixel.
template <class T, class OfB>
struct alignas(16) Step {
  const T* a;
  OfB b;
};

/// Numbers that go to shared memory as one word.
template <class T>
struct alignas(4) Word {
  static constexpr int kCount = static_cast<int>(4 / sizeof(T));
  T v[kCount];
};

/// Of kOfRows rows that are contiguous along the depth a thread fetches a word in every kApart-th.
template <class T, class Shape, int kOfRows>
struct DepthWords {
  static constexpr int kAcross = 16, kApart = Shape::kThreads / kAcross, kCount = kOfRows / kApart;
  Word<T> words[kCount];

  __device__ static int place() { return static_cast<int>(threadIdx.x) % kAcross * Word<T>::kCount; }
  __device__ static int row(int i) { return static_cast<int>(threadIdx.x) / kAcross + kApart * i; }
  __device__ void put(T* to, int pitch) const {
    for (int i = 0; i < kCount; ++i) *reinterpret_cast<Word<T>*>(to + row(i) * pitch + place()) = words[i];
  }
};

/// Where a row of A begins; of one beyond the last the last one, since its sums are not stored.
template <class T>
__device__ std::uint32_t start_of_row(const Problem<T>& problem, std::uint32_t row) {
  return (row < problem.rows ? row : problem.rows - 1) * problem.a.pitch;
}

/// A thread's part of A's tiles.
template <class T, class Shape>
struct FetchedRows : DepthWords<T, Shape, Shape::kRows> {
  std::uint32_t from[FetchedRows::kCount];

  __device__ void begin(std::uint32_t first, const Problem<T>& problem) {
    for (int i = 0; i < FetchedRows::kCount; ++i)
      from[i] = start_of_row(problem, first + static_cast<std::uint32_t>(FetchedRows::row(i)));
  }
  template <class Steps>
  __device__ void fetch(const Steps* steps) {
    for (int k = 0; k < Word<T>::kCount; ++k) {
      const T* const column = steps[FetchedRows::place() + k].a;
      for (int i = 0; i < FetchedRows::kCount; ++i)
        this->words[i].v[k] = column == nullptr ? T{} : __ldg(column + from[i]);
    }
  }
};

/// The same where the depth is contiguous in memory too, in whole and aligned 16 bytes.
template <class T, class Shape>
struct FetchedChunks {
  static constexpr int kAcross = static_cast<int>(kTileDepth<T> * sizeof(T) / sizeof(uint4)),
                       kApart = Shape::kThreads / kAcross, kCount = Shape::kRows / kApart;
  uint4 chunks[kCount];
  std::uint32_t from[kCount];

  __device__ static int place() { return static_cast<int>(threadIdx.x) % kAcross * kWide<T>; }
  __device__ static int row(int i) { return static_cast<int>(threadIdx.x) / kAcross + kApart * i; }
  __device__ void begin(std::uint32_t first, const Problem<T>& problem) {
    for (int i = 0; i < kCount; ++i) from[i] = start_of_row(problem, first + static_cast<std::uint32_t>(row(i)));
  }
  template <class Steps>
  __device__ void fetch(const Steps* steps) {
    const T* const column = steps[place()].a;
    for (int i = 0; i < kCount; ++i)
      chunks[i] = column == nullptr ? uint4{} : __ldg(reinterpret_cast<const uint4*>(column + from[i]));
  }
  __device__ void put(T* a, int pitch) const {
    for (int i = 0; i < kCount; ++i) *reinterpret_cast<uint4*>(a + row(i) * pitch + place()) = chunks[i];
  }
};

/// The thread's pixels of a tile, word by word, those of a warp side by side.
template <class T, int kTimes>
struct OwnPixels {
  static constexpr int kCount = Word<T>::kCount;
  Pixel<T> pixels[kTimes][kCount];

  __device__ static int place(int time) { return (static_cast<int>(threadIdx.x) % 32 + 32 * time) * kCount; }
  __device__ void find(const Columns<T>& columns, std::uint32_t first, std::uint32_t end) {
    for (int time = 0; time < kTimes; ++time)
      for (int k = 0; k < kCount; ++k)
        pixels[time][k] = columns.pixel(first + static_cast<std::uint32_t>(place(time) + k), end);
  }
};

/// B = columns: the steps are taps, and a thread has its pixels for good.
template <class T, class Shape>
struct FetchedTaps {
  static constexpr bool kByColumn = false;
  static constexpr int kTimes = Shape::kColumns / Word<T>::kCount / 32, kApart = Shape::kThreads / 32,
                       kRows = kTileDepth<T> / kApart;
  using Own = OwnPixels<T, kTimes>;
  struct Kept {};  ///< in shared memory, for all tiles
  using OfStep = Tap;
  Own own;
  Word<T> words[kRows][kTimes];

  __device__ static int row(int i) { return static_cast<int>(threadIdx.x) / 32 + kApart * i; }
  __device__ static Tap step(const Columns<T>& columns, std::uint32_t depth, std::uint32_t end) {
    return columns.tap(depth, end);
  }
  __device__ void begin(Kept&, const Columns<T>& columns, std::uint32_t first, std::uint32_t end) {
    own.find(columns, first, end);
  }
  __device__ void fetch(const Kept&, const Step<T, Tap>* steps) {
    for (int i = 0; i < kRows; ++i) {
      const Tap tap = steps[row(i)].b;
      for (int time = 0; time < kTimes; ++time)
        for (int k = 0; k < Own::kCount; ++k) words[i][time].v[k] = Columns<T>::at(own.pixels[time][k], tap);
    }
  }
  __device__ void put(T* b, int pitch) const {
    for (int i = 0; i < kRows; ++i)
      for (int time = 0; time < kTimes; ++time)
        *reinterpret_cast<Word<T>*>(b + row(i) * pitch + Own::place(time)) = words[i][time];
  }
};

/// B = columnsᵀ: the steps are pixels, and the same taps are met in every tile.
template <class T, class Shape>
struct FetchedPixels : DepthWords<T, Shape, Shape::kColumns> {
  static constexpr bool kByColumn = true;
  struct Kept {
    Tap taps[Shape::kColumns];
  };
  using OfStep = Pixel<T>;

  __device__ static Pixel<T> step(const Columns<T>& columns, std::uint32_t depth, std::uint32_t end) {
    return columns.pixel(depth, end);
  }
  __device__ void begin(Kept& kept, const Columns<T>& columns, std::uint32_t first, std::uint32_t end) {
    for (int i = static_cast<int>(threadIdx.x); i < Shape::kColumns; i += Shape::kThreads)
      kept.taps[i] = columns.tap(first + static_cast<std::uint32_t>(i), end);
  }
  __device__ void fetch(const Kept& kept, const Step<T, Pixel<T>>* steps) {
    for (int k = 0; k < Word<T>::kCount; ++k) {
      const Pixel<T> pixel = steps[FetchedPixels::place() + k].b;
      for (int i = 0; i < FetchedPixels::kCount; ++i)
        this->words[i].v[k] = Columns<T>::at(pixel, kept.taps[FetchedPixels::row(i)]);
    }
  }
};

__device__ inline std::uint32_t smaller(std::uint32_t a, std::uint32_t b) { return a < b ? a : b; }

/// Block x has a tile of C, tiles of the same columns next to each other since they gather the same; y is the group, z
/// the part of the depth. Tiles go from memory to registers while the one before is multiplied, and then to shared
/// memory; what their steps are is found out by a thread for each, another tile ahead.
template <Precision kPrecision, class Shape, template <class, class> class FetchedA,
          template <class, class> class FetchedB>
__global__ void __launch_bounds__(Shape::kThreads) multiply_tiles(Problem<Stored<kPrecision>> problem) {
  using T = Stored<kPrecision>;
  using B = FetchedB<T, Shape>;
  using Layout = TileMemory<T, Shape, B::kByColumn>;
  constexpr std::uint32_t kDepth = Layout::kDepth;
  __shared__ typename Layout::Memory memory;
  __shared__ Step<T, typename B::OfStep> steps[2][kDepth];
  __shared__ typename B::Kept kept;

  const std::uint32_t row_tiles = (problem.rows + Shape::kRows - 1) / Shape::kRows,
                      first_row = blockIdx.x % row_tiles * Shape::kRows,
                      first_column = blockIdx.x / row_tiles * Shape::kColumns,
                      begin = smaller(blockIdx.z * problem.depth_of_part, problem.depth),
                      end = smaller(begin + problem.depth_of_part, problem.depth);
  const int tiles = static_cast<int>((end - begin + kDepth - 1) / kDepth);
  const T* const a_data = problem.a.data + blockIdx.y * problem.a_group;
  Columns<T> columns = problem.b;
  columns.images += blockIdx.y * problem.b_group;

  FetchedA<T, Shape> a;
  B b;
  a.begin(first_row, problem);
  b.begin(kept, columns, first_column, problem.columns);
  const auto find_steps = [&](int tile) {
    const std::uint32_t depth = begin + kDepth * static_cast<std::uint32_t>(tile) + threadIdx.x;
    if (threadIdx.x < kDepth)
      steps[tile % 2][threadIdx.x] = {depth < end ? a_data + problem.a.depth.at(depth) : nullptr,
                                      B::step(columns, depth, end)};
  };
  const auto fetch = [&](int tile) {
    a.fetch(steps[tile % 2]);
    b.fetch(kept, steps[tile % 2]);
  };
  const auto put = [&](int tile) {
    a.put(memory.operands[tile % 2].a, Layout::kDepthPitch);
    b.put(memory.operands[tile % 2].b, Layout::kBPitch);
  };

  TileSums<kPrecision, Shape, B::kByColumn> sums;
  sums.clear();
  if (tiles > 0) {
    find_steps(0);
    __syncthreads();
    fetch(0);
    put(0);
    find_steps(1);
    __syncthreads();
  }
  for (int tile = 0; tile < tiles; ++tile) {
    if (tile + 1 < tiles) fetch(tile + 1);
    sums.add(memory.operands[tile % 2]);
    if (tile + 1 < tiles) put(tile + 1);
    find_steps(tile + 2);  // where this tile's were, which all have fetched
    __syncthreads();
  }

  sums.store(memory.sums);
  __syncthreads();
  const std::uint32_t column = threadIdx.x % Shape::kColumns;
  if (first_column + column >= problem.columns) return;
  const Sums<T>& c = problem.c;
  const std::int64_t to = c.first + blockIdx.y * problem.c_group + c.columns.at(first_column + column);
  float* const part = c.parts == nullptr ? nullptr : c.parts + blockIdx.z * c.elements;
  for (std::uint32_t row = threadIdx.x / Shape::kColumns; row < Shape::kRows && first_row + row < problem.rows;
       row += Shape::kThreads / Shape::kColumns) {
    const float sum = memory.sums[row * Layout::kSumPitch + column];
    const std::int64_t at = to + (first_row + row) * c.pitch;
    if (part != nullptr) part[at] = sum;
    else store_rounded(c.to[at], c.accumulate ? widen(c.to[at]) + sum : sum);
  }
}

/// Each thread has every kDown-th part of an element.
template <class T, int kDown>
__global__ void add_parts(const float* parts, std::int64_t count, std::int64_t elements, T* to, bool accumulate) {
  constexpr int kAcross = kThreads / kDown;
  __shared__ float sums[kDown][kAcross];
  const int across = static_cast<int>(threadIdx.x) % kAcross, down = static_cast<int>(threadIdx.x) / kAcross;
  for (std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kAcross; first < elements;
       first += static_cast<std::int64_t>(gridDim.x) * kAcross) {
    const std::int64_t at = first + across;
    float sum = 0;
    if (at < elements)
      for (std::int64_t part = down; part < count; part += kDown) sum += parts[part * elements + at];
    if constexpr (kDown > 1) {
      sums[down][across] = sum;
      __syncthreads();
      if (down == 0)
        for (int i = 1; i < kDown; ++i) sum += sums[i][across];
      __syncthreads();  // they are written again
    }
    if (down == 0 && at < elements) store_rounded(to[at], accumulate ? widen(to[at]) + sum : sum);
  }
}

// How a product is cut ---------------------------------------------------------------------------------------------

int processors() {
  int device = 0, count = 0;
  require_cuda(cudaGetDevice(&device), "asking for the device");
  require_cuda(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device), "counting multiprocessors");
  return count;
}

/// launch(shape) of the tile for so many rows: of those that have room for all of them the one of fewest.
template <class Visit>
auto with_shape(std::int64_t rows, const Visit& visit) {
  if (rows <= 32) return visit(TileShape<32, 128, 32>{});
  if (rows <= 64) return visit(TileShape<64, 128, 64>{});
  return visit(TileShape<128, 64, 64>{});
}

struct Extent {
  std::int64_t rows, columns, depth, groups;
  /// Of tiles with that depth: as many as fill the device at once, so that no few blocks are left for the end.
  [[nodiscard]] std::int64_t parts(int tile_depth) const {
    return with_shape(rows, [&](auto shape) {
      const std::int64_t tiles = ceil_div(rows, shape.kRows) * ceil_div(columns, shape.kColumns) * groups,
                         room = processors() * (shape.kWarpRows > 32 ? kLargeBlocksOfProcessor : kBlocksOfProcessor),
                         most = depth / (tile_depth * kLeastTilesOfPart);
      return std::max<std::int64_t>(1, std::min({room / std::max<std::int64_t>(tiles, 1), most, kMostOfGrid}));
    });
  }
};

std::size_t part_bytes(std::int64_t parts, std::int64_t elements) {
  return parts > 1 ? sizeof(float) * static_cast<std::size_t>(parts * elements) : 0;
}

void require_index(std::int64_t count, const char* of_what) {
  if (count > kMostIndex)
    throw std::length_error("a convolution of " + std::to_string(count) + " " + of_what +
                            "; allowed: 2^31 - 1, as their indices have 32 bits");
}

void require_indices(const Conv2dShape& s) {
  require_index(std::max(input_elements(s), output_elements(s)), "elements for an image");
  require_index(weight_elements(s), "weights");
}

/// @param run  of A's elements along the depth that are contiguous, the depth being whole runs
template <Precision kPrecision, template <class, class> class FetchedB>
void multiply(const DeviceCall& call, const Extent& extent, std::int64_t parts, std::int64_t run,
              Problem<Stored<kPrecision>> problem) {
  if (extent.rows * extent.columns * extent.groups == 0) return;
  require_index(extent.columns, "columns of its product");
  require_index(extent.depth, "terms in a sum");
  if (extent.groups > kMostOfGrid)
    throw std::length_error("a convolution of " + std::to_string(extent.groups) + " groups; allowed: 65535");
  constexpr int kDepth = kTileDepth<Stored<kPrecision>>;
  problem.rows = static_cast<std::uint32_t>(extent.rows);
  problem.columns = static_cast<std::uint32_t>(extent.columns);
  problem.depth = static_cast<std::uint32_t>(extent.depth);
  problem.depth_of_part = static_cast<std::uint32_t>(ceil_div(ceil_div(extent.depth, kDepth), parts) * kDepth);
  problem.c.parts = parts > 1 ? call.scratch_at<float>() : nullptr;
  with_shape(extent.rows, [&](auto shape) {
    const dim3 grid(
        static_cast<unsigned>(ceil_div(extent.rows, shape.kRows) * ceil_div(extent.columns, shape.kColumns)),
        static_cast<unsigned>(extent.groups), static_cast<unsigned>(parts));
    if (run % kWide<Stored<kPrecision>> == 0)
      multiply_tiles<kPrecision, decltype(shape), FetchedChunks, FetchedB>
          <<<grid, shape.kThreads, 0, call.stream>>>(problem);
    else
      multiply_tiles<kPrecision, decltype(shape), FetchedRows, FetchedB>
          <<<grid, shape.kThreads, 0, call.stream>>>(problem);
  });
}

template <class T>
void add_up(const DeviceCall& call, std::int64_t parts, const Sums<T>& c) {
  if (parts <= 1) return;
  constexpr int kDown = 8;  // where there are few elements
  const float* from = call.scratch_at<float>();
  if (c.elements > kDown * kThreads * processors())
    add_parts<T, 1><<<blocks_for(c.elements), kThreads, 0, call.stream>>>(from, parts, c.elements, c.to, c.accumulate);
  else
    add_parts<T, kDown>
        <<<blocks_for(kDown * c.elements), kThreads, 0, call.stream>>>(from, parts, c.elements, c.to, c.accumulate);
}

// The three products -----------------------------------------------------------------------------------------------

/// Places of indices that are one run of neighbours.
Places in_a_row(std::int64_t count) { return {divisor(count), divisor(count), 0, 0, 1}; }

Extent forward_extent(const Conv2dShape& s, std::int64_t images) {
  return {s.out / s.groups, images * output_pixels(s), taps(s), s.groups};
}

Extent weight_extent(const Conv2dShape& s, std::int64_t images) {
  return {s.out / s.groups, taps(s), images * output_pixels(s), s.groups};
}

/// The pixels of dx with one remainder of (row + padding) by the stride, along one direction.
struct Phase {
  std::int64_t first, count;     ///< pixels: first, first + stride, ...
  std::int64_t first_tap, taps;  ///< first_tap, first_tap + stride, ...
  std::int64_t source;           ///< of the first pixel at the first tap, in dy; one less for each tap
};
Phase phase_of(std::int64_t remainder, std::int64_t size, std::int64_t kernel, std::int64_t stride,
               std::int64_t padding) {
  const std::int64_t first = ((remainder - padding) % stride + stride) % stride;
  return {first, first < size ? ceil_div(size - first, stride) : 0, remainder,
          remainder < kernel ? ceil_div(kernel - remainder, stride) : 0, (first + padding - remainder) / stride};
}

/// Of the first phase, the largest.
Extent data_extent(const Conv2dShape& s, std::int64_t images) {
  return {s.in / s.groups, images * ceil_div(s.height, s.stride) * ceil_div(s.width, s.stride),
          s.out / s.groups * ceil_div(s.kernel_height, s.stride) * ceil_div(s.kernel_width, s.stride), s.groups};
}

template <class T>
Columns<T> input_columns(const Conv2dShape& s, const void* x) {
  return {static_cast<const T*>(x),
          input_elements(s),
          static_cast<int>(s.height * s.width),
          static_cast<int>(s.height),
          static_cast<int>(s.width),
          static_cast<int>(s.stride),
          static_cast<int>(-s.padding_height),
          static_cast<int>(-s.padding_width),
          1,
          divisor(output_pixels(s)),
          divisor(output_width(s)),
          divisor(s.kernel_height * s.kernel_width),
          divisor(s.kernel_width)};
}

bool is_large(const Conv2dShape& s) { return s.kernel_height > kMostTaps || s.kernel_width > kMostTaps; }

/// Forward and data gradient: also where cuBLAS multiplies the images themselves.
template <class T>
bool is_by_columns(const Conv2dShape& s) {
  return is_large(s) || (is_pointwise(s) && output_pixels(s) * static_cast<std::int64_t>(sizeof(T)) % 16 == 0);
}

}  // namespace

template <Precision kPrecision>
void ImplicitConvolution<kPrecision>::forward(const DeviceCall& call, const Conv2dShape& s, const void* x,
                                              const void* w, void* y, bool accumulate) {
  using T = Stored<kPrecision>;
  if (is_by_columns<T>(s)) return ColumnsConvolution<kPrecision>::forward(call, s, x, w, y, accumulate);
  require_indices(s);
  const Extent extent = forward_extent(s, call.n);
  const std::int64_t parts = extent.parts(kTileDepth<T>), pixels = output_pixels(s), k = taps(s);
  const Problem<T> problem{{static_cast<const T*>(w), static_cast<std::uint32_t>(k), in_a_row(k)},
                           input_columns<T>(s, x),
                           {static_cast<T*>(y),
                            nullptr,
                            call.n * output_elements(s),
                            0,
                            pixels,
                            {divisor(pixels), divisor(pixels), output_elements(s), 0, 1},
                            accumulate},
                           extent.rows * k,
                           s.in / s.groups * s.height * s.width,
                           extent.rows * pixels};
  multiply<kPrecision, FetchedTaps>(call, extent, parts, k, problem);
  add_up(call, parts, problem.c);
}

template <Precision kPrecision>
void ImplicitConvolution<kPrecision>::data_gradient(const DeviceCall& call, const Conv2dShape& s, const void* dy,
                                                    const void* w, void* dx, bool accumulate) {
  using T = Stored<kPrecision>;
  if (is_by_columns<T>(s)) return ColumnsConvolution<kPrecision>::data_gradient(call, s, dy, w, dx, accumulate);
  require_indices(s);
  const std::int64_t parts = data_extent(s, call.n).parts(kTileDepth<T>), in = s.in / s.groups, out = s.out / s.groups,
                     kernel = s.kernel_height * s.kernel_width, pixels = output_pixels(s);
  Sums<T> c{static_cast<T*>(dx),
            nullptr,
            call.n * input_elements(s),
            0,
            s.height * s.width,
            {divisor(1), divisor(1), 0, 0, 0},
            accumulate};
  for (std::int64_t i = 0; i < s.stride; ++i)
    for (std::int64_t j = 0; j < s.stride; ++j) {
      const Phase down = phase_of(i, s.height, s.kernel_height, s.stride, s.padding_height),
                  across = phase_of(j, s.width, s.kernel_width, s.stride, s.padding_width);
      const std::int64_t taps = down.taps * across.taps;
      c.first = down.first * s.width + across.first;
      c.columns = {divisor(down.count * across.count), divisor(across.count), input_elements(s), s.stride * s.width,
                   s.stride};
      multiply<kPrecision, FetchedTaps>(
          call, {in, call.n * down.count * across.count, out * taps, s.groups}, parts, 1,
          {{static_cast<const T*>(w) + down.first_tap * s.kernel_width + across.first_tap,
            static_cast<std::uint32_t>(kernel),
            {divisor(taps), divisor(across.taps), in * kernel, s.stride * s.kernel_width, s.stride}},
           {static_cast<const T*>(dy), output_elements(s), static_cast<int>(pixels), static_cast<int>(output_height(s)),
            static_cast<int>(output_width(s)), 1, static_cast<int>(down.source), static_cast<int>(across.source), -1,
            divisor(down.count * across.count), divisor(across.count), divisor(taps), divisor(across.taps)},
           c,
           out * in * kernel,
           out * pixels,
           in * s.height * s.width});
    }
  add_up(call, parts, c);
}

template <Precision kPrecision>
void ImplicitConvolution<kPrecision>::weight_gradient(const DeviceCall& call, const Conv2dShape& s, const void* x,
                                                      const void* dy, void* dw) {
  using T = Stored<kPrecision>;
  if (is_large(s)) return ColumnsConvolution<kPrecision>::weight_gradient(call, s, x, dy, dw);
  require_indices(s);
  const Extent extent = weight_extent(s, call.n);
  const std::int64_t parts = extent.parts(kTileDepth<T>), pixels = output_pixels(s), k = taps(s);
  const Problem<T> problem{{static_cast<const T*>(dy),
                            static_cast<std::uint32_t>(pixels),
                            {divisor(pixels), divisor(pixels), output_elements(s), 0, 1}},
                           input_columns<T>(s, x),
                           {static_cast<T*>(dw), nullptr, weight_elements(s), 0, k, in_a_row(k), false},
                           extent.rows * pixels,
                           s.in / s.groups * s.height * s.width,
                           extent.rows * k};
  multiply<kPrecision, FetchedPixels>(call, extent, parts, pixels, problem);
  add_up(call, parts, problem.c);
}

template <Precision kPrecision>
std::size_t ImplicitConvolution<kPrecision>::forward_scratch(const DeviceCall& call, const Conv2dShape& s) {
  using T = Stored<kPrecision>;
  if (is_by_columns<T>(s)) return ColumnsConvolution<kPrecision>::forward_scratch(call, s);
  return part_bytes(forward_extent(s, call.n).parts(kTileDepth<T>), call.n * output_elements(s));
}

template <Precision kPrecision>
std::size_t ImplicitConvolution<kPrecision>::data_scratch(const DeviceCall& call, const Conv2dShape& s) {
  using T = Stored<kPrecision>;
  if (is_by_columns<T>(s)) return ColumnsConvolution<kPrecision>::data_scratch(call, s);
  return part_bytes(data_extent(s, call.n).parts(kTileDepth<T>), call.n * input_elements(s));
}

template <Precision kPrecision>
std::size_t ImplicitConvolution<kPrecision>::weight_scratch(const DeviceCall& call, const Conv2dShape& s) {
  using T = Stored<kPrecision>;
  if (is_large(s)) return ColumnsConvolution<kPrecision>::weight_scratch(call, s);
  return part_bytes(weight_extent(s, call.n).parts(kTileDepth<T>), weight_elements(s));
}

template struct ImplicitConvolution<Precision::fp32>;
template struct ImplicitConvolution<Precision::tf32>;
template struct ImplicitConvolution<Precision::bf16>;

void add_implicit_launches(std::vector<Launch>& list) {
  for_each_precision([&](auto precision) {
    constexpr Precision kPrecision = decltype(precision)::value;
    Conv2dLayer<ImplicitConvolution, kPrecision>::add(list, std::string("implicit-") + name_of(kPrecision));
  });
}

}  // namespace stepcast::kernels
