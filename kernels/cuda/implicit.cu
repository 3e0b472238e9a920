#include "kernels/cuda/implicit.hpp"

#include <algorithm>
#include <stdexcept>

#include "kernels/code/divisor.hpp"
#include "kernels/cuda/columns.hpp"
#include "kernels/cuda/conv2d.cuh"
#include "kernels/cuda/error.hpp"
#include "kernels/cuda/product_tile.cuh"

namespace stepcast::kernels {
namespace {

// To be tuned on a device.
constexpr std::int64_t kWarpsOfProcessor = 8;  ///< that sums are cut into parts for
constexpr std::int64_t kLeastTilesOfPart = 8;  ///< of the depth
constexpr std::int64_t kMostIndex = (std::int64_t{1} << 31) - 1, kMostOfGrid = 65535;

/// A row or column that is outside, whatever is added to it.
constexpr int kOutside = -(1 << 30);

Divisor divisor(std::int64_t x) { return Divisor(static_cast<std::uint32_t>(std::max<std::int64_t>(x, 1))); }

/// What is added to a pixel's place to find one of its taps: elements, rows, columns.
struct alignas(16) Tap {
  int elements, row, column, unused;
};
/// Where an output pixel's window is: the place of its first tap, which may be outside.
struct Pixel {
  std::int64_t at;
  int row, column;
};

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
    if (k >= end) return {0, kOutside, kOutside, 0};
    std::uint32_t channel = k, row = taps.split(channel);
    const int j = step * static_cast<int>(tap_columns.split(row)), i = step * static_cast<int>(row);
    return {static_cast<int>(channel) * plane + i * width + j, i, j, 0};
  }
  __device__ Pixel pixel(std::uint32_t n, std::uint32_t end) const {
    if (n >= end) return {0, kOutside, kOutside};
    std::uint32_t of_image = n, row = pixels.split(of_image);
    const int column = static_cast<int>(pixel_columns.split(row)) * stride + left,
              first = static_cast<int>(row) * stride + top;
    return {of_image * image + static_cast<std::int64_t>(first) * width + column, first, column};
  }
  __device__ T at(const Pixel& pixel, const Tap& tap) const {
    const auto row = static_cast<unsigned>(pixel.row + tap.row),
               column = static_cast<unsigned>(pixel.column + tap.column);
    if (row >= static_cast<unsigned>(height) || column >= static_cast<unsigned>(width)) return T{};
    return images[pixel.at + tap.elements];
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

/// A matrix whose rows are evenly apart: weights, or dy with its pixels as the depth.
template <class T>
struct Rows {
  const T* data;
  std::int64_t pitch;
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
  std::uint32_t rows, columns, depth;
  std::uint32_t depth_of_part;             ///< whole tiles
  std::int64_t a_group, b_group, c_group;  ///< elements from group to group
};

/// Numbers that go to shared memory as one word.
template <class T>
struct alignas(4) Word {
  static constexpr int kCount = static_cast<int>(4 / sizeof(T));
  T v[kCount];
};

/// What a thread fetches of each tile of A: a word of the depth in every kApart-th row.
template <class T, class Shape, int kOfRows>
struct DepthWords {
  static constexpr int kAcross = 16, kApart = Shape::kThreads / kAcross, kCount = kOfRows / kApart;
  __device__ static int place() { return static_cast<int>(threadIdx.x) % kAcross * Word<T>::kCount; }
  __device__ static int row(int i) { return static_cast<int>(threadIdx.x) / kAcross + kApart * i; }
};

template <Precision kPrecision, class Shape>
struct FetchedRows {
  using T = Stored<kPrecision>;
  using At = DepthWords<T, Shape, Shape::kRows>;
  Word<T> words[At::kCount];

  __device__ void fetch(const Rows<T>& rows, std::int64_t group, std::uint32_t first_row, std::uint32_t end_row,
                        std::uint32_t depth, std::uint32_t end) {
    for (int k = 0; k < Word<T>::kCount; ++k) {
      const std::uint32_t at = depth + static_cast<std::uint32_t>(At::place() + k);
      const T* from = rows.data + group + (at < end ? rows.depth.at(at) : 0);
      for (int i = 0; i < At::kCount; ++i) {
        const std::uint32_t row = first_row + static_cast<std::uint32_t>(At::row(i));
        words[i].v[k] = at < end && row < end_row ? as_operand<kPrecision>(from[row * rows.pitch]) : T{};
      }
    }
  }
  __device__ void put(T* a, int pitch) const {
    for (int i = 0; i < At::kCount; ++i) *reinterpret_cast<Word<T>*>(a + At::row(i) * pitch + At::place()) = words[i];
  }
};

/// A thread's pixels of a tile that many columns wide: a warp has all of a row, word by word.
template <class T, int kColumns>
struct OwnPixels {
  static constexpr int kCount = Word<T>::kCount, kTimes = kColumns / kCount / 32;
  Pixel pixels[kTimes][kCount];

  __device__ static int place(int time) { return (static_cast<int>(threadIdx.x) % 32 + 32 * time) * kCount; }
  __device__ void find(const Columns<T>& columns, std::uint32_t first, std::uint32_t end) {
    for (int time = 0; time < kTimes; ++time)
      for (int k = 0; k < kCount; ++k)
        pixels[time][k] = columns.pixel(first + static_cast<std::uint32_t>(place(time) + k), end);
  }
};

/// B = columns: the depth is taps, which all threads share, and a thread has its pixels for good.
template <Precision kPrecision, class Shape>
class FetchedTaps {
  using T = Stored<kPrecision>;
  using Own = OwnPixels<T, Shape::kColumns>;
  static constexpr int kDepth = kTileDepth<T>, kApart = Shape::kThreads / 32, kRows = kDepth / kApart;
  Own own_;
  Word<T> words_[kRows][Own::kTimes];

  __device__ static int row(int i) { return static_cast<int>(threadIdx.x) / 32 + kApart * i; }

 public:
  static constexpr bool kByColumn = false;
  static constexpr int kTaps = 2 * kDepth;  ///< of two tiles

  __device__ void begin(const Columns<T>& columns, std::uint32_t first, std::uint32_t end) {
    own_.find(columns, first, end);
  }
  /// Of a tile, before a barrier and its fetch.
  __device__ static void write_taps(const Columns<T>& columns, Tap* taps, std::uint32_t, std::uint32_t,
                                    std::uint32_t depth, std::uint32_t end, int tile) {
    if (threadIdx.x < kDepth)
      taps[tile % 2 * kDepth + static_cast<int>(threadIdx.x)] = columns.tap(depth + threadIdx.x, end);
  }
  __device__ void fetch(const Columns<T>& columns, const Tap* taps, std::uint32_t, std::uint32_t, int tile) {
    for (int i = 0; i < kRows; ++i) {
      const Tap tap = taps[tile % 2 * kDepth + row(i)];
      for (int time = 0; time < Own::kTimes; ++time)
        for (int k = 0; k < Own::kCount; ++k)
          words_[i][time].v[k] = as_operand<kPrecision>(columns.at(own_.pixels[time][k], tap));
    }
  }
  __device__ void put(T* b, int pitch) const {
    for (int i = 0; i < kRows; ++i)
      for (int time = 0; time < Own::kTimes; ++time)
        *reinterpret_cast<Word<T>*>(b + row(i) * pitch + Own::place(time)) = words_[i][time];
  }
};

/// B = columnsᵀ: the depth is pixels, and a thread meets the same taps in every tile.
template <Precision kPrecision, class Shape>
class FetchedPixels {
  using T = Stored<kPrecision>;
  using At = DepthWords<T, Shape, Shape::kColumns>;
  Word<T> words_[At::kCount];

 public:
  static constexpr bool kByColumn = true;
  static constexpr int kTaps = Shape::kColumns;

  __device__ void begin(const Columns<T>&, std::uint32_t, std::uint32_t) {}
  __device__ static void write_taps(const Columns<T>& columns, Tap* taps, std::uint32_t first, std::uint32_t end,
                                    std::uint32_t, std::uint32_t, int tile) {
    if (tile > 0) return;
    for (int i = static_cast<int>(threadIdx.x); i < kTaps; i += Shape::kThreads)
      taps[i] = columns.tap(first + static_cast<std::uint32_t>(i), end);
  }
  __device__ void fetch(const Columns<T>& columns, const Tap* taps, std::uint32_t depth, std::uint32_t end, int) {
    for (int k = 0; k < Word<T>::kCount; ++k) {
      const Pixel pixel = columns.pixel(depth + static_cast<std::uint32_t>(At::place() + k), end);
      for (int i = 0; i < At::kCount; ++i) words_[i].v[k] = as_operand<kPrecision>(columns.at(pixel, taps[At::row(i)]));
    }
  }
  __device__ void put(T* b, int pitch) const {
    for (int i = 0; i < At::kCount; ++i) *reinterpret_cast<Word<T>*>(b + At::row(i) * pitch + At::place()) = words_[i];
  }
};

__device__ inline std::uint32_t smaller(std::uint32_t a, std::uint32_t b) { return a < b ? a : b; }

/// Block x has a tile of C, tiles of the same columns next to each other since they gather the same; y is the group, z
/// the part of the depth. Tiles go from memory to registers while the one before is multiplied.
template <Precision kPrecision, class Shape, template <Precision, class> class Fetched>
__global__ void __launch_bounds__(Shape::kThreads) multiply_tiles(Problem<Stored<kPrecision>> problem) {
  using T = Stored<kPrecision>;
  using B = Fetched<kPrecision, Shape>;
  using Layout = TileMemory<T, Shape, B::kByColumn>;
  __shared__ typename Layout::Memory memory;
  __shared__ Tap taps[B::kTaps];
  constexpr std::uint32_t kDepth = Layout::kDepth;

  const std::uint32_t row_tiles = (problem.rows + Shape::kRows - 1) / Shape::kRows,
                      first_row = blockIdx.x % row_tiles * Shape::kRows,
                      first_column = blockIdx.x / row_tiles * Shape::kColumns,
                      begin = smaller(blockIdx.z * problem.depth_of_part, problem.depth),
                      end = smaller(begin + problem.depth_of_part, problem.depth);
  const int tiles = static_cast<int>((end - begin + kDepth - 1) / kDepth);
  Columns<T> columns = problem.b;
  columns.images += blockIdx.y * problem.b_group;
  const std::int64_t a_group = blockIdx.y * problem.a_group;

  FetchedRows<kPrecision, Shape> a;
  B b;
  b.begin(columns, first_column, problem.columns);
  const auto write_taps = [&](int tile) {
    B::write_taps(columns, taps, first_column, problem.columns, begin + kDepth * static_cast<std::uint32_t>(tile), end,
                  tile);
  };
  const auto fetch = [&](int tile) {
    const std::uint32_t depth = begin + kDepth * static_cast<std::uint32_t>(tile);
    a.fetch(problem.a, a_group, first_row, problem.rows, depth, end);
    b.fetch(columns, taps, depth, end, tile);
  };
  const auto put = [&](int tile) {
    a.put(memory.operands[tile % 2].a, Layout::kDepthPitch);
    b.put(memory.operands[tile % 2].b, Layout::kBPitch);
  };

  TileSums<kPrecision, Shape, B::kByColumn> sums;
  sums.clear();
  if (tiles > 0) {
    write_taps(0);
    __syncthreads();
    fetch(0);
    put(0);
    write_taps(1);
    __syncthreads();
  }
  for (int tile = 0; tile < tiles; ++tile) {
    if (tile + 1 < tiles) fetch(tile + 1);
    sums.add(memory.operands[tile % 2]);
    if (tile + 1 < tiles) put(tile + 1);
    write_taps(tile + 2);  // where this tile's were, which all have fetched
    __syncthreads();
  }

  sums.store(memory.sums);
  __syncthreads();
  const std::uint32_t column = threadIdx.x % Shape::kColumns;
  if (first_column + column >= problem.columns) return;
  const Sums<T>& c = problem.c;
  std::int64_t to = c.first + blockIdx.y * problem.c_group + c.columns.at(first_column + column);
  float* const part = c.parts == nullptr ? nullptr : c.parts + blockIdx.z * c.elements;
  for (std::uint32_t row = threadIdx.x / Shape::kColumns; row < Shape::kRows && first_row + row < problem.rows;
       row += Shape::kThreads / Shape::kColumns) {
    const float sum = memory.sums[row * Layout::kSumPitch + column];
    const std::int64_t at = to + (first_row + row) * c.pitch;
    if (part != nullptr) part[at] = sum;
    else store_rounded(c.to[at], c.accumulate ? widen(c.to[at]) + sum : sum);
  }
}

constexpr int kPartsAcross = 32, kPartsDown = kThreads / kPartsAcross;

/// The parts of 32 elements at a time; each thread has every kDown-th part of an element.
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
  if (rows <= 32) return visit(TileShape<32, 128>{});
  if (rows <= 64) return visit(TileShape<64, 64>{});
  return visit(TileShape<128, 64>{});
}

struct Extent {
  std::int64_t rows, columns, depth, groups;
  /// Of tiles with that depth.
  [[nodiscard]] std::int64_t parts(int tile_depth) const {
    return with_shape(rows, [&](auto shape) {
      const std::int64_t warps =
          ceil_div(rows, shape.kRows) * ceil_div(columns, shape.kColumns) * groups * (shape.kThreads / 32);
      const std::int64_t wanted = ceil_div(kWarpsOfProcessor * processors(), std::max<std::int64_t>(warps, 1)),
                         most = depth / (tile_depth * kLeastTilesOfPart);
      return std::max<std::int64_t>(1, std::min({wanted, most, kMostOfGrid}));
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

template <Precision kPrecision, template <Precision, class> class Fetched>
void multiply(const DeviceCall& call, const Extent& extent, std::int64_t parts, Problem<Stored<kPrecision>> problem) {
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
    multiply_tiles<kPrecision, decltype(shape), Fetched><<<grid, shape.kThreads, 0, call.stream>>>(problem);
  });
}

template <class T>
void add_up(const DeviceCall& call, std::int64_t parts, const Sums<T>& c) {
  if (parts <= 1) return;
  const float* from = call.scratch_at<float>();
  if (parts < kPartsDown)
    add_parts<T, 1><<<blocks_for(c.elements), kThreads, 0, call.stream>>>(from, parts, c.elements, c.to, c.accumulate);
  else
    add_parts<T, kPartsDown><<<blocks_for(c.elements * kPartsDown), kThreads, 0, call.stream>>>(from, parts, c.elements,
                                                                                                c.to, c.accumulate);
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

/// Whether cuBLAS multiplies the images themselves.
template <class T>
bool is_plain_product(const Conv2dShape& s) {
  return is_pointwise(s) && output_pixels(s) * static_cast<std::int64_t>(sizeof(T)) % 16 == 0;
}

}  // namespace

template <Precision kPrecision>
void ImplicitConvolution<kPrecision>::forward(const DeviceCall& call, const Conv2dShape& s, const void* x,
                                              const void* w, void* y, bool accumulate) {
  using T = Stored<kPrecision>;
  if (is_plain_product<T>(s)) return ColumnsConvolution<kPrecision>::forward(call, s, x, w, y, accumulate);
  require_index(std::max(input_elements(s), output_elements(s)), "elements for an image");
  const Extent extent = forward_extent(s, call.n);
  const std::int64_t parts = extent.parts(kTileDepth<T>), pixels = output_pixels(s), k = taps(s);
  const Problem<T> problem{{static_cast<const T*>(w), k, in_a_row(k)},
                           input_columns<T>(s, x),
                           {static_cast<T*>(y),
                            nullptr,
                            call.n * output_elements(s),
                            0,
                            pixels,
                            {divisor(pixels), divisor(pixels), output_elements(s), 0, 1},
                            accumulate},
                           0,
                           0,
                           0,
                           0,
                           extent.rows * k,
                           s.in / s.groups * s.height * s.width,
                           extent.rows * pixels};
  multiply<kPrecision, FetchedTaps>(call, extent, parts, problem);
  add_up(call, parts, problem.c);
}

template <Precision kPrecision>
void ImplicitConvolution<kPrecision>::data_gradient(const DeviceCall& call, const Conv2dShape& s, const void* dy,
                                                    const void* w, void* dx, bool accumulate) {
  using T = Stored<kPrecision>;
  if (is_plain_product<T>(s)) return ColumnsConvolution<kPrecision>::data_gradient(call, s, dy, w, dx, accumulate);
  require_index(std::max(input_elements(s), output_elements(s)), "elements for an image");
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
          call, {in, call.n * down.count * across.count, out * taps, s.groups}, parts,
          {{static_cast<const T*>(w) + down.first_tap * s.kernel_width + across.first_tap,
            kernel,
            {divisor(taps), divisor(across.taps), in * kernel, s.stride * s.kernel_width, s.stride}},
           {static_cast<const T*>(dy), output_elements(s), static_cast<int>(pixels), static_cast<int>(output_height(s)),
            static_cast<int>(output_width(s)), 1, static_cast<int>(down.source), static_cast<int>(across.source), -1,
            divisor(down.count * across.count), divisor(across.count), divisor(taps), divisor(across.taps)},
           c,
           0,
           0,
           0,
           0,
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
  require_index(std::max(input_elements(s), output_elements(s)), "elements for an image");
  const Extent extent = weight_extent(s, call.n);
  const std::int64_t parts = extent.parts(kTileDepth<T>), pixels = output_pixels(s), k = taps(s);
  const Problem<T> problem{
      {static_cast<const T*>(dy), pixels, {divisor(pixels), divisor(pixels), output_elements(s), 0, 1}},
      input_columns<T>(s, x),
      {static_cast<T*>(dw), nullptr, weight_elements(s), 0, k, in_a_row(k), false},
      0,
      0,
      0,
      0,
      extent.rows * pixels,
      s.in / s.groups * s.height * s.width,
      extent.rows * k};
  multiply<kPrecision, FetchedPixels>(call, extent, parts, problem);
  add_up(call, parts, problem.c);
}

template <Precision kPrecision>
std::size_t ImplicitConvolution<kPrecision>::forward_scratch(const DeviceCall& call, const Conv2dShape& s) {
  using T = Stored<kPrecision>;
  if (is_plain_product<T>(s)) return ColumnsConvolution<kPrecision>::forward_scratch(call, s);
  return part_bytes(forward_extent(s, call.n).parts(kTileDepth<T>), call.n * output_elements(s));
}

template <Precision kPrecision>
std::size_t ImplicitConvolution<kPrecision>::data_scratch(const DeviceCall& call, const Conv2dShape& s) {
  using T = Stored<kPrecision>;
  if (is_plain_product<T>(s)) return ColumnsConvolution<kPrecision>::data_scratch(call, s);
  return part_bytes(data_extent(s, call.n).parts(kTileDepth<T>), call.n * input_elements(s));
}

template <Precision kPrecision>
std::size_t ImplicitConvolution<kPrecision>::weight_scratch(const DeviceCall& call, const Conv2dShape& s) {
  using T = Stored<kPrecision>;
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
