#include "kernels/cuda/eight_bit.cuh"
#include "kernels/cuda/reduce.cuh"

namespace stepcast::kernels {
namespace {

struct Magnitude {
  __device__ std::uint32_t operator()(float x) const { return magnitude_bits(x); }
};
struct Clipped {
  const float* moments;
  __device__ std::uint32_t operator()(float x) const { return bits_of(clip(x, kTernaryClip * moments[1])); }
};

/// Elements beyond n load as 0, whose key is 0 and changes no maximum.
template <class Key>
__global__ void largest(const float* x, std::int64_t n, Key key, std::uint32_t* most) {
  std::uint32_t mine = 0;
  const std::int64_t groups = (n + 3) / 4, stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t g = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; g < groups; g += stride) {
    const Pack<float> a = load(x, g, n);
    for (int k = 0; k < 4; ++k)
      if (4 * g + k < n) mine = LargerBits{}(mine, key(a.v[k]));
  }
  keep_block_max(mine, most);
}

template <class Key>
void reduce_largest(const DeviceCall& c, const Key& key, float* out) {
  cudaMemsetAsync(out, 0, sizeof(float), c.stream);
  largest<<<reduction_blocks(ceil_div(c.n, 4)), kThreads, 0, c.stream>>>(c.at<float>(0), c.n, key,
                                                                         reinterpret_cast<std::uint32_t*>(out));
}

__global__ void sum_moments(const float* x, std::int64_t n, double* sums) {
  double sum = 0, squares = 0;
  const std::int64_t groups = (n + 3) / 4, stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t g = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; g < groups; g += stride) {
    const Pack<float> a = load(x, g, n);
    for (int k = 0; k < 4; ++k) {
      const double value = static_cast<double>(a.v[k]);
      sum += value;
      squares += value * value;
    }
  }
  add_block_sum(sum, sums);
  add_block_sum(squares, sums + 1);
}

__global__ void finish_moments(const double* sums, std::int64_t n, float* moments) {
  const double mean = sums[0] / static_cast<double>(n), variance = sums[1] / static_cast<double>(n) - mean * mean;
  moments[0] = static_cast<float>(mean);
  moments[1] = static_cast<float>(variance < 0 ? 0.0 : sqrt(variance));
}

/// One warp a bucket.
__global__ void bucket_norms(const float* x, std::int64_t n, std::int64_t bucket, float* norms) {
  const std::int64_t buckets = (n + bucket - 1) / bucket,
                     warps = static_cast<std::int64_t>(gridDim.x) * (blockDim.x / 32);
  const int lane = static_cast<int>(threadIdx.x % 32);
  for (std::int64_t b = static_cast<std::int64_t>(blockIdx.x) * (blockDim.x / 32) + threadIdx.x / 32; b < buckets;
       b += warps) {
    const std::int64_t end = (b + 1) * bucket < n ? (b + 1) * bucket : n;
    double sum = 0;
    for (std::int64_t i = b * bucket + lane; i < end; i += 32)
      sum += static_cast<double>(x[i]) * static_cast<double>(x[i]);
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffU, sum, offset);
    if (lane == 0) norms[b] = static_cast<float>(sqrt(sum));
  }
}

struct EightBitEncode {
  const float *x, *max_abs;
  std::uint8_t* codes;
  std::int64_t n;
  __device__ void operator()(std::int64_t g, const EightBitTable& table) const {
    const Pack<float> a = load(x, g, n);
    Pack<std::uint8_t> b;
    for (int k = 0; k < 4; ++k) b.v[k] = eight_bit_code(a.v[k], *max_abs, table);
    store(codes, g, n, b);
  }
};

struct EightBitDecode {
  const std::uint8_t* codes;
  const float* max_abs;
  float* dense;
  std::int64_t n;
  bool add;
  __device__ void operator()(std::int64_t g, const EightBitTable& table) const {
    const Pack<std::uint8_t> a = load(codes, g, n);
    Pack<float> b;
    for (int k = 0; k < 4; ++k) b.v[k] = eight_bit_decode(a.v[k], *max_abs, table);
    if (add) {
      const Pack<float> sum = load(dense, g, n);
      for (int k = 0; k < 4; ++k) b.v[k] = sum.v[k] + b.v[k];
    }
    store(dense, g, n, b);
  }
};

struct QsgdEncode {
  const float *x, *norms;
  std::uint8_t* codes;
  std::int64_t n;
  std::uint32_t groups;  ///< groups in a bucket
  int levels;
  std::uint64_t seed;
  __device__ void operator()(std::int64_t g) const {
    const Pack<float> a = load(x, g, n);
    const QsgdScale scale = qsgd_scale(norms[static_cast<std::uint32_t>(g) / groups], levels);
    const RandomWords random = random_words(seed, static_cast<std::uint64_t>(g));
    Pack<std::uint8_t> b;
    for (int k = 0; k < 4; ++k) b.v[k] = qsgd_code(a.v[k], scale, levels, random.word[k]);
    store(codes, g, n, b);
  }
};

struct QsgdValue {
  const std::uint8_t* codes;
  const float* norms;
  std::uint32_t groups;  ///< groups in a bucket
  int levels;
  __device__ Pack<float> operator()(std::int64_t g, std::int64_t n) const {
    const Pack<std::uint8_t> a = load(codes, g, n);
    const float step = qsgd_step(norms[static_cast<std::uint32_t>(g) / groups], levels);
    Pack<float> b;
    for (int k = 0; k < 4; ++k) b.v[k] = qsgd_decode(a.v[k], step, levels);
    return b;
  }
};

struct TernaryEncode {
  const float *x, *moments, *scale;
  std::uint8_t* codes;
  std::int64_t n;
  std::uint64_t seed;
  __device__ void operator()(std::int64_t g) const {
    const Pack<float> a = load(x, g, n);
    const RandomWords random = random_words(seed, static_cast<std::uint64_t>(g));
    const float limit = kTernaryClip * moments[1], largest = *scale;
    std::uint32_t byte = 0;
    for (int k = 0; k < 4; ++k)
      if (4 * g + k < n) byte |= ternary_code(a.v[k], limit, largest, random.word[k]) << (2 * k);
    codes[g] = static_cast<std::uint8_t>(byte);
  }
};

struct TernaryValue {
  const std::uint8_t* codes;
  const float* scale;
  __device__ Pack<float> operator()(std::int64_t g, std::int64_t) const {
    const std::uint32_t byte = codes[g];
    Pack<float> b;
    for (int k = 0; k < 4; ++k) b.v[k] = ternary_decode((byte >> (2 * k)) & 3U, *scale);
    return b;
  }
};

struct NaturalEncode {
  const float* x;
  std::uint8_t* codes;
  std::int64_t n;
  std::uint64_t seed;
  __device__ void operator()(std::int64_t g) const {
    const Pack<float> a = load(x, g, n);
    const RandomWords random = random_words(seed, static_cast<std::uint64_t>(g));
    Pack<std::uint8_t> b;
    for (int k = 0; k < 4; ++k) b.v[k] = natural_code(a.v[k], random.word[k]);
    store(codes, g, n, b);
  }
};

struct NaturalValue {
  const std::uint8_t* codes;
  __device__ Pack<float> operator()(std::int64_t g, std::int64_t n) const {
    const Pack<std::uint8_t> a = load(codes, g, n);
    Pack<float> b;
    for (int k = 0; k < 4; ++k) b.v[k] = natural_decode(a.v[k]);
    return b;
  }
};

void max_abs(const DeviceCall& c) { reduce_largest(c, Magnitude{}, c.at<float>(1)); }
void clipped_max(const DeviceCall& c) { reduce_largest(c, Clipped{c.at<float>(1)}, c.at<float>(2)); }

void norm(const DeviceCall& c) {
  bucket_norms<<<blocks_for(32 * ceil_div(c.n, c.parameters[0])), kThreads, 0, c.stream>>>(
      c.at<float>(0), c.n, c.parameters[0], c.at<float>(1));
}

void moments(const DeviceCall& c) {
  cudaMemsetAsync(c.scratch, 0, 2 * sizeof(double), c.stream);
  sum_moments<<<reduction_blocks(ceil_div(c.n, 4)), kThreads, 0, c.stream>>>(c.at<float>(0), c.n,
                                                                             c.scratch_at<double>());
  finish_moments<<<1, 1, 0, c.stream>>>(c.scratch_at<double>(), c.n, c.at<float>(1));
}

void quantize_eight_bit(const DeviceCall& c) {
  sweep_with_table(c, EightBitEncode{c.at<float>(0), c.at<float>(1), c.at<std::uint8_t>(2), c.n});
}
template <bool kAdd>
void decode_eight_bit(const DeviceCall& c) {
  sweep_with_table(c, EightBitDecode{c.at<std::uint8_t>(0), c.at<float>(1), c.at<float>(2), c.n, kAdd});
}

void quantize_qsgd(const DeviceCall& c) {
  sweep_groups(c, c.n,
               QsgdEncode{c.at<float>(0), c.at<float>(1), c.at<std::uint8_t>(2), c.n, groups_of_bucket(c.parameters[0]),
                          static_cast<int>(c.parameters[1]), c.seed});
}
template <bool kAdd>
void decode_qsgd(const DeviceCall& c) {
  decode(c,
         QsgdValue{c.at<std::uint8_t>(0), c.at<float>(1), groups_of_bucket(c.parameters[0]),
                   static_cast<int>(c.parameters[1])},
         c.at<float>(2), kAdd);
}

void quantize_terngrad(const DeviceCall& c) {
  sweep_groups(c, c.n,
               TernaryEncode{c.at<float>(0), c.at<float>(1), c.at<float>(2), c.at<std::uint8_t>(3), c.n, c.seed});
}
template <bool kAdd>
void decode_terngrad(const DeviceCall& c) {
  decode(c, TernaryValue{c.at<std::uint8_t>(0), c.at<float>(1)}, c.at<float>(2), kAdd);
}

void round_exponent(const DeviceCall& c) {
  sweep_groups(c, c.n, NaturalEncode{c.at<float>(0), c.at<std::uint8_t>(1), c.n, c.seed});
}
template <bool kAdd>
void decode_natural(const DeviceCall& c) {
  decode(c, NaturalValue{c.at<std::uint8_t>(0)}, c.at<float>(1), kAdd);
}

}  // namespace

void add_quantizer_launches(std::vector<Launch>& list) {
  list.push_back({"max-abs/8-bit", max_abs, no_scratch});
  list.push_back({"quantize/8-bit", quantize_eight_bit, no_scratch});
  list.push_back({"decode/8-bit", decode_eight_bit<false>, no_scratch});
  list.push_back({"decode-add/8-bit", decode_eight_bit<true>, no_scratch});
  list.push_back({"norm/qsgd", norm, no_scratch});
  list.push_back({"quantize/qsgd", quantize_qsgd, no_scratch});
  list.push_back({"decode/qsgd", decode_qsgd<false>, no_scratch});
  list.push_back({"decode-add/qsgd", decode_qsgd<true>, no_scratch});
  list.push_back({"moments/terngrad", moments, few_scratch});
  list.push_back({"clipped-max/terngrad", clipped_max, no_scratch});
  list.push_back({"quantize/terngrad", quantize_terngrad, no_scratch});
  list.push_back({"decode/terngrad", decode_terngrad<false>, no_scratch});
  list.push_back({"decode-add/terngrad", decode_terngrad<true>, no_scratch});
  list.push_back({"round-exponent/natural", round_exponent, no_scratch});
  list.push_back({"decode/natural", decode_natural<false>, no_scratch});
  list.push_back({"decode-add/natural", decode_natural<true>, no_scratch});
}

}  // namespace stepcast::kernels
