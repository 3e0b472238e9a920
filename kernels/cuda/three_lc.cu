#include <cub/block/block_scan.cuh>

#include "kernels/code/three_lc.hpp"
#include "kernels/cuda/tiles.cuh"

namespace stepcast::kernels {
namespace {

/// Bytes of a tile that a thread has.
constexpr int kBytes = kTile / kThreads;

/// Four bytes a thread, of twenty elements. Elements beyond n load as 0, whose trit is 0.
struct Quantize {
  const float *x, *largest;
  std::uint8_t* codes;
  std::int64_t n, count;
  __device__ void operator()(std::int64_t g) const {
    const float scale = kSparsity * *largest;
    int trits[20];
    for (int part = 0; part < 5; ++part) {
      const Pack<float> a = load(x, 5 * g + part, n);
      for (int k = 0; k < 4; ++k) trits[4 * part + k] = trit_of(a.v[k], scale);
    }
    Pack<std::uint8_t> b;
    for (int k = 0; k < 4; ++k) b.v[k] = quartic_code(trits + 5 * k);
    store(codes, g, count, b);
  }
};

/// Codes the message of one tile. Thread t has bytes 16t to 16t + 15; `bytes` holds the whole tile.
struct RunCoder {
  const std::uint8_t* bytes;
  int end;    ///< bytes of the tile
  int begin;  ///< begin of the run of zeros that the thread's first byte may continue

  /// put(byte) for each byte of the message that begins at one of the thread's.
  template <class Put>
  __device__ void operator()(const Put& put) const {
    int run = begin;
    const int first = static_cast<int>(threadIdx.x) * kBytes;
    for (int i = first; i < first + kBytes && i < end; ++i) {
      if (bytes[i] != kZeroByte) {
        put(bytes[i]);
        run = i + 1;
        continue;
      }
      if ((i - run) % kLongestRun != 0) continue;
      int length = 1;
      while (length < kLongestRun && i + length < end && bytes[i + length] == kZeroByte) ++length;
      put(run_code(length));
    }
  }
};

struct LaterBegin {
  __device__ int operator()(int a, int b) const { return a > b ? a : b; }
};

/// Counts a tile's message (runs null) or writes it at the tile's offset. One block a tile.
__global__ void code_runs(const std::uint8_t* codes, std::int64_t count, Count* counts, const Count* offsets,
                          std::uint8_t* runs, std::uint32_t* total) {
  __shared__ std::uint8_t bytes[kTile];
  __shared__ typename cub::BlockScan<int, kThreads>::TempStorage begin_storage;
  __shared__ typename cub::BlockScan<std::uint32_t, kThreads>::TempStorage sum_storage;
  const std::int64_t tile = static_cast<std::int64_t>(blockIdx.x) * kTile;
  const int end = static_cast<int>(count - tile < kTile ? count - tile : kTile);
  for (int g = static_cast<int>(threadIdx.x); 4 * g < end; g += kThreads) {
    const Pack<std::uint8_t> a = load(codes + tile, g, end);
    for (int k = 0; k < 4; ++k) bytes[4 * g + k] = a.v[k];
  }
  __syncthreads();
  // A run begins after the last byte that is not zero.
  int mine = 0, begin = 0;
  const int first = static_cast<int>(threadIdx.x) * kBytes;
  for (int i = first; i < first + kBytes && i < end; ++i)
    if (bytes[i] != kZeroByte) mine = i + 1;
  cub::BlockScan<int, kThreads>(begin_storage).ExclusiveScan(mine, begin, 0, LaterBegin{});
  const RunCoder coder{bytes, end, begin};
  std::uint32_t written = 0, place = 0, sum = 0;
  coder([&](std::uint8_t) { ++written; });
  cub::BlockScan<std::uint32_t, kThreads>(sum_storage).ExclusiveSum(written, place, sum);
  if (runs == nullptr) {
    if (threadIdx.x == 0) counts[blockIdx.x] = sum;
    return;
  }
  std::uint8_t* next = runs + offsets[blockIdx.x] + place;
  coder([&](std::uint8_t byte) { *next++ = byte; });
  if (threadIdx.x == 0 && blockIdx.x == gridDim.x - 1) *total = static_cast<std::uint32_t>(offsets[blockIdx.x] + sum);
}

/// Counts the bytes that a tile of the message stands for (codes null), or writes the bytes that are not zero. One
/// block a tile.
__global__ void expand_runs(const std::uint8_t* runs, const std::uint32_t* total, Count* counts, const Count* offsets,
                            std::uint8_t* codes, std::int64_t count) {
  __shared__ typename cub::BlockScan<std::uint32_t, kThreads>::TempStorage storage;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kTile +
                             static_cast<std::int64_t>(threadIdx.x) * kBytes,
                     end = *total;
  std::uint8_t bytes[kBytes];
  std::uint32_t length = 0, place = 0, sum = 0;
  for (int i = 0; i < kBytes; ++i) {
    bytes[i] = first + i < end ? runs[first + i] : std::uint8_t{0};
    if (first + i < end) length += static_cast<std::uint32_t>(run_length(bytes[i]));
  }
  cub::BlockScan<std::uint32_t, kThreads>(storage).ExclusiveSum(length, place, sum);
  if (codes == nullptr) {
    if (threadIdx.x == 0) counts[blockIdx.x] = sum;
    return;
  }
  Count next = offsets[blockIdx.x] + place;
  for (int i = 0; i < kBytes && first + i < end; ++i) {
    if (bytes[i] < kFirstRun && next < static_cast<Count>(count)) codes[next] = bytes[i];
    next += static_cast<Count>(run_length(bytes[i]));
  }
}

struct TernaryValue {
  const std::uint8_t* codes;
  const float* largest;
  __device__ Pack<float> operator()(std::int64_t g, std::int64_t n) const {
    const float scale = kSparsity * *largest;
    Pack<float> b{};
    for (int k = 0; k < 4; ++k)
      if (const std::int64_t i = 4 * g + k; i < n)
        b.v[k] = three_lc_decode(codes[i / 5], static_cast<int>(i % 5), scale);
    return b;
  }
};

std::int64_t quartic_count(std::int64_t n) { return ceil_div(n, 5); }

void quantize(const DeviceCall& c) {
  const std::int64_t count = quartic_count(c.n);
  sweep_groups(c, count, Quantize{c.at<float>(0), c.at<float>(1), c.at<std::uint8_t>(2), c.n, count});
}

std::size_t run_scratch(const DeviceCall& c) { return 2 * sizeof(Count) * tiles_of(quartic_count(c.n)); }
void zero_runs(const DeviceCall& c) {
  const std::int64_t count = quartic_count(c.n);
  const unsigned tiles = tiles_of(count);
  Count *counts = c.scratch_at<Count>(), *offsets = counts + tiles;
  code_runs<<<tiles, kThreads, 0, c.stream>>>(c.at<std::uint8_t>(0), count, counts, nullptr, nullptr, nullptr);
  scan(c, counts, tiles, offsets);
  code_runs<<<tiles, kThreads, 0, c.stream>>>(c.at<std::uint8_t>(0), count, nullptr, offsets, c.at<std::uint8_t>(1),
                                              c.at<std::uint32_t>(2));
}

std::size_t decode_scratch(const DeviceCall& c) {
  return run_scratch(c) + static_cast<std::size_t>(quartic_count(c.n));
}
template <bool kAdd>
void decode_runs(const DeviceCall& c) {
  const std::int64_t count = quartic_count(c.n);
  const unsigned tiles = tiles_of(count);
  Count *counts = c.scratch_at<Count>(), *offsets = counts + tiles;
  auto* codes = c.scratch_at<std::uint8_t>(run_scratch(c));
  cudaMemsetAsync(codes, kZeroByte, static_cast<std::size_t>(count), c.stream);
  expand_runs<<<tiles, kThreads, 0, c.stream>>>(c.at<std::uint8_t>(0), c.at<std::uint32_t>(1), counts, nullptr, nullptr,
                                                count);
  scan(c, counts, tiles, offsets);
  expand_runs<<<tiles, kThreads, 0, c.stream>>>(c.at<std::uint8_t>(0), c.at<std::uint32_t>(1), nullptr, offsets, codes,
                                                count);
  decode(c, TernaryValue{codes, c.at<float>(2)}, c.at<float>(3), kAdd);
}

}  // namespace

void add_three_lc_launches(std::vector<Launch>& list) {
  list.push_back({"quantize/3lc", quantize, no_scratch});
  list.push_back({"zero-runs/3lc", zero_runs, run_scratch});
  list.push_back({"decode/3lc", decode_runs<false>, decode_scratch});
  list.push_back({"decode-add/3lc", decode_runs<true>, decode_scratch});
}

}  // namespace stepcast::kernels
