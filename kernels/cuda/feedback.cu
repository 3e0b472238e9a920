#include <stdexcept>

#include "kernels/code/half.hpp"
#include "kernels/cuda/eight_bit.cuh"
#include "kernels/cuda/reduce.cuh"
#include "kernels/cuda/top_k.cuh"

namespace stepcast::kernels {
namespace {

/// c = e + g of a group.
__device__ Pack<float> compensated(const float* gradient, const float* residual, std::int64_t g, std::int64_t n) {
  const Pack<float> a = load(gradient, g, n);
  Pack<float> c = load(residual, g, n);
  for (int k = 0; k < 4; ++k) c.v[k] = c.v[k] + a.v[k];
  return c;
}

struct FeedHalf {
  const float* gradient;
  float* residual;
  std::uint16_t* halves;
  std::int64_t n;
  __device__ void operator()(std::int64_t g) const {
    Pack<float> c = compensated(gradient, residual, g, n);
    Pack<std::uint16_t> code;
    for (int k = 0; k < 4; ++k) {
      code.v[k] = device_half_bits(c.v[k]);
      c.v[k] = c.v[k] - device_float_of_half(code.v[k]);
    }
    store(halves, g, n, code);
    store(residual, g, n, c);
  }
};

struct FeedNatural {
  const float* gradient;
  float* residual;
  std::uint8_t* codes;
  std::int64_t n;
  std::uint64_t seed;
  __device__ void operator()(std::int64_t g) const {
    Pack<float> c = compensated(gradient, residual, g, n);
    const RandomWords random = random_words(seed, static_cast<std::uint64_t>(g));
    Pack<std::uint8_t> code;
    for (int k = 0; k < 4; ++k) {
      code.v[k] = natural_code(c.v[k], random.word[k]);
      c.v[k] = c.v[k] - natural_decode(code.v[k]);
    }
    store(codes, g, n, code);
    store(residual, g, n, c);
  }
};

/// Writes c in e's place. Elements beyond n are 0 and change no maximum.
__global__ void compensate_and_find_largest(const float* gradient, float* residual, std::int64_t n,
                                            std::uint32_t* most) {
  std::uint32_t mine = 0;
  const std::int64_t groups = (n + 3) / 4, stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t g = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; g < groups; g += stride) {
    const Pack<float> c = compensated(gradient, residual, g, n);
    for (int k = 0; k < 4; ++k) mine = LargerBits{}(mine, magnitude_bits(c.v[k]));
    store(residual, g, n, c);
  }
  keep_block_max(mine, most);
}

struct LeaveEightBit {
  float* residual;
  const float* largest;
  std::uint8_t* codes;
  std::int64_t n;
  __device__ void operator()(std::int64_t g, const EightBitTable& table) const {
    Pack<float> c = load(residual, g, n);
    Pack<std::uint8_t> code;
    for (int k = 0; k < 4; ++k) {
      code.v[k] = eight_bit_code(c.v[k], *largest, table);
      c.v[k] = c.v[k] - eight_bit_decode(code.v[k], *largest, table);
    }
    store(codes, g, n, code);
    store(residual, g, n, c);
  }
};

/// One warp a bucket, which it holds: its groups are those of kBucket/128 rounds. `residual` null: the gradient alone.
__global__ void code_buckets(const float* gradient, float* residual, std::int64_t n, int levels, std::uint64_t seed,
                             float* norms, std::uint8_t* codes) {
  constexpr int kHeld = static_cast<int>(kBucket) / 128;
  const std::int64_t buckets = (n + kBucket - 1) / kBucket,
                     warps = static_cast<std::int64_t>(gridDim.x) * (blockDim.x / 32);
  const int lane = static_cast<int>(threadIdx.x % 32);
  for (std::int64_t b = static_cast<std::int64_t>(blockIdx.x) * (blockDim.x / 32) + threadIdx.x / 32; b < buckets;
       b += warps) {
    const std::int64_t first = b * (kBucket / 4) + lane;
    Pack<float> c[kHeld];
    double sum = 0;
    for (int round = 0; round < kHeld; ++round) {
      const std::int64_t g = first + 32 * round;
      c[round] = residual == nullptr ? load(gradient, g, n) : compensated(gradient, residual, g, n);
      for (int k = 0; k < 4; ++k) sum += static_cast<double>(c[round].v[k]) * static_cast<double>(c[round].v[k]);
    }
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffU, sum, offset);
    const float norm = static_cast<float>(sqrt(sum));
    if (lane == 0) norms[b] = norm;
    const QsgdScale scale = qsgd_scale(norm, levels);
    const float step = qsgd_step(norm, levels);
    for (int round = 0; round < kHeld; ++round) {
      const std::int64_t g = first + 32 * round;
      const RandomWords random = random_words(seed, static_cast<std::uint64_t>(g));
      Pack<std::uint8_t> code;
      for (int k = 0; k < 4; ++k) {
        code.v[k] = qsgd_code(c[round].v[k], scale, levels, random.word[k]);
        c[round].v[k] = c[round].v[k] - qsgd_decode(code.v[k], step, levels);
      }
      store(codes, g, n, code);
      if (residual != nullptr) store(residual, g, n, c[round]);
    }
  }
}

/// Adds where it reads: Input of count_digits.
struct Compensate {
  const float* gradient;
  float* residual;
  __device__ Pack<float> operator()(std::int64_t g, std::int64_t n) const {
    const Pack<float> c = compensated(gradient, residual, g, n);
    store(residual, g, n, c);
    return c;
  }
};

struct PutAndClear {
  PutValueAndIndex put;
  float* residual;
  __device__ void operator()(std::uint32_t place, std::uint32_t index, float value) const {
    put(place, index, value);
    residual[index] = 0;
  }
};

void feed_half(const DeviceCall& c) {
  sweep_groups(c, c.n, FeedHalf{c.at<float>(0), c.at<float>(1), c.at<std::uint16_t>(2), c.n});
}
void feed_natural(const DeviceCall& c) {
  sweep_groups(c, c.n, FeedNatural{c.at<float>(0), c.at<float>(1), c.at<std::uint8_t>(2), c.n, c.seed});
}
void feed_eight_bit(const DeviceCall& c) {
  cudaMemsetAsync(c.at<float>(2), 0, sizeof(float), c.stream);
  compensate_and_find_largest<<<reduction_blocks(ceil_div(c.n, 4)), kThreads, 0, c.stream>>>(
      c.at<float>(0), c.at<float>(1), c.n, c.at<std::uint32_t>(2));
  sweep_with_table(c, LeaveEightBit{c.at<float>(1), c.at<float>(2), c.at<std::uint8_t>(3), c.n});
}

void code_qsgd(const DeviceCall& c, float* residual, float* norms, std::uint8_t* codes) {
  if (c.parameters[0] != kBucket)
    throw std::invalid_argument("QSGD in one sweep: bucket of " + std::to_string(c.parameters[0]) +
                                " elements; allowed: " + std::to_string(kBucket) +
                                "; \"norm/qsgd\" and \"quantize/qsgd\" take any");
  code_buckets<<<blocks_for(32 * ceil_div(c.n, kBucket)), kThreads, 0, c.stream>>>(
      c.at<float>(0), residual, c.n, static_cast<int>(c.parameters[1]), c.seed, norms, codes);
}
void feed_qsgd(const DeviceCall& c) { code_qsgd(c, c.at<float>(1), c.at<float>(2), c.at<std::uint8_t>(3)); }
void norm_quantize(const DeviceCall& c) { code_qsgd(c, nullptr, c.at<float>(1), c.at<std::uint8_t>(2)); }

void feed_top_k(const DeviceCall& c) {
  select_and_compact(c, Compensate{c.at<float>(0), c.at<float>(1)}, c.at<float>(1), kept_of(c.n),
                     PutAndClear{{c.at<float>(2), c.at<std::uint32_t>(3)}, c.at<float>(1)});
}

}  // namespace

void add_feedback_launches(std::vector<Launch>& list) {
  list.push_back({"compensate-encode-remember/fp16", feed_half, no_scratch});
  list.push_back({"compensate-encode-remember/natural", feed_natural, no_scratch});
  list.push_back({"compensate-encode-remember/8-bit", feed_eight_bit, no_scratch});
  list.push_back({"compensate-encode-remember/qsgd", feed_qsgd, no_scratch});
  list.push_back({"norm-quantize/qsgd", norm_quantize, no_scratch});
  list.push_back({"compensate-encode-remember/top-k", feed_top_k, top_k_scratch});
}

}  // namespace stepcast::kernels
