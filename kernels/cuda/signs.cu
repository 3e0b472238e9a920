#include "kernels/code/quantizers.hpp"
#include "kernels/cuda/reduce.cuh"

namespace stepcast::kernels {
namespace {

/// Sums over the elements below zero and the others, and how many the others are.
struct SignSums {
  double below, others, count;
};

struct Plain {
  const float* x;
  __device__ Pack<float> operator()(std::int64_t g, std::int64_t n) const { return load(x, g, n); }
};

/// c = g + e, kept in e's place.
struct Compensated {
  const float* gradient;
  float* residual;
  __device__ Pack<float> operator()(std::int64_t g, std::int64_t n) const {
    const Pack<float> a = load(gradient, g, n);
    Pack<float> c = load(residual, g, n);
    for (int k = 0; k < 4; ++k) c.v[k] = c.v[k] + a.v[k];
    store(residual, g, n, c);
    return c;
  }
};

/// Four elements a lane, eight lanes a word. The loop is the same for all lanes of a warp, as the shuffles demand.
template <bool kSums, class Input>
__global__ void pack_signs(std::int64_t n, Input input, std::uint32_t* words, SignSums* sums) {
  const std::int64_t groups = (n + 3) / 4, stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  const int lane = static_cast<int>(threadIdx.x % 32);
  double below = 0, others = 0, number = 0;
  for (std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x - lane; first < groups;
       first += stride) {
    const std::int64_t g = first + lane;
    const Pack<float> a = input(g, n);
    std::uint32_t word = 0;
    for (int k = 0; k < 4; ++k) {
      if (4 * g + k >= n) continue;
      const bool bit = sign_bit(a.v[k]);
      word |= static_cast<std::uint32_t>(bit) << k;
      if (kSums) {
        (bit ? others : below) += static_cast<double>(a.v[k]);
        number += bit ? 1 : 0;
      }
    }
    word <<= 4 * (lane % 8);
    for (int offset = 1; offset < 8; offset *= 2) word |= __shfl_xor_sync(0xffffffffU, word, offset);
    if (lane % 8 == 0 && g < groups) words[g / 8] = word;
  }
  if (kSums) {
    add_block_sum(below, &sums->below);
    add_block_sum(others, &sums->others);
    add_block_sum(number, &sums->count);
  }
}

__global__ void finish_means(const SignSums* sums, std::int64_t n, float* means) {
  const double below = static_cast<double>(n) - sums->count;
  means[0] = below > 0 ? static_cast<float>(sums->below / below) : 0.0F;
  means[1] = sums->count > 0 ? static_cast<float>(sums->others / sums->count) : 0.0F;
}

/// Mean |x|. A NaN is among the others, and the sum stays NaN.
__global__ void finish_mean(const SignSums* sums, std::int64_t n, float* mean) {
  *mean = static_cast<float>((sums->others - sums->below) / static_cast<double>(n));
}

struct LeaveResidual {
  const float* mean;
  float* residual;
  std::int64_t n;
  __device__ void operator()(std::int64_t g) const {
    Pack<float> c = load(residual, g, n);
    for (int k = 0; k < 4; ++k) c.v[k] = c.v[k] - (sign_bit(c.v[k]) ? *mean : -*mean);
    store(residual, g, n, c);
  }
};

/// Bit 1 is worth high, bit 0 low; a null pointer stands for 1, and `low` for minus `high`.
struct SignValue {
  const std::uint32_t* words;
  const float *low, *high;
  __device__ Pack<float> operator()(std::int64_t g, std::int64_t) const {
    const float one = high == nullptr ? 1.0F : *high, zero = low == nullptr ? -one : *low;
    const std::uint32_t bits = words[g / 8] >> (4 * (g % 8));
    Pack<float> pack;
    for (int k = 0; k < 4; ++k) pack.v[k] = ((bits >> k) & 1U) != 0 ? one : zero;
    return pack;
  }
};

struct Vote {
  const std::uint32_t* messages;
  std::uint32_t* majority;
  std::int64_t count;
  int p;
  __device__ void operator()(std::int64_t w) const { majority[w] = majority_word(messages + w, count, p); }
};

template <bool kSums, class Input>
void pack(const DeviceCall& c, const Input& input, std::uint32_t* words) {
  if (kSums) cudaMemsetAsync(c.scratch, 0, sizeof(SignSums), c.stream);
  const std::int64_t groups = ceil_div(c.n, 4);
  pack_signs<kSums><<<kSums ? reduction_blocks(groups) : blocks_for(groups), kThreads, 0, c.stream>>>(
      c.n, input, words, c.scratch_at<SignSums>());
}

void sign_pack(const DeviceCall& c) { pack<false>(c, Plain{c.at<float>(0)}, c.at<std::uint32_t>(1)); }
void sign_means(const DeviceCall& c) {
  pack<true>(c, Plain{c.at<float>(0)}, c.at<std::uint32_t>(1));
  finish_means<<<1, 1, 0, c.stream>>>(c.scratch_at<SignSums>(), c.n, c.at<float>(2));
}
void sign_mean(const DeviceCall& c) {
  pack<true>(c, Plain{c.at<float>(0)}, c.at<std::uint32_t>(1));
  finish_mean<<<1, 1, 0, c.stream>>>(c.scratch_at<SignSums>(), c.n, c.at<float>(2));
}
void ef_sign(const DeviceCall& c) {
  pack<true>(c, Compensated{c.at<float>(0), c.at<float>(1)}, c.at<std::uint32_t>(3));
  finish_mean<<<1, 1, 0, c.stream>>>(c.scratch_at<SignSums>(), c.n, c.at<float>(2));
  sweep_groups(c, c.n, LeaveResidual{c.at<float>(2), c.at<float>(1), c.n});
}
void majority_vote(const DeviceCall& c) {
  const std::int64_t count = ceil_div(c.n, 32);
  sweep<<<blocks_for(count), kThreads, 0, c.stream>>>(
      count, Vote{c.at<std::uint32_t>(0), c.at<std::uint32_t>(1), count, static_cast<int>(c.parameters[0])});
}

template <bool kAdd>
void decode_signs(const DeviceCall& c) {
  decode(c, SignValue{c.at<std::uint32_t>(0), nullptr, nullptr}, c.at<float>(1), kAdd);
}
template <bool kAdd>
void decode_means(const DeviceCall& c) {
  decode(c, SignValue{c.at<std::uint32_t>(0), c.at<float>(1), c.at<float>(1) + 1}, c.at<float>(2), kAdd);
}
template <bool kAdd>
void decode_mean(const DeviceCall& c) {
  decode(c, SignValue{c.at<std::uint32_t>(0), nullptr, c.at<float>(1)}, c.at<float>(2), kAdd);
}

}  // namespace

void add_sign_launches(std::vector<Launch>& list) {
  list.push_back({"sign-pack/signsgd", sign_pack, no_scratch});
  list.push_back({"decode/signsgd", decode_signs<false>, no_scratch});
  list.push_back({"decode-add/signsgd", decode_signs<true>, no_scratch});
  list.push_back({"majority-vote/signsgd", majority_vote, no_scratch});
  list.push_back({"sign-means/1-bit", sign_means, few_scratch});
  list.push_back({"decode/1-bit", decode_means<false>, no_scratch});
  list.push_back({"decode-add/1-bit", decode_means<true>, no_scratch});
  list.push_back({"sign-mean/ef-signsgd", sign_mean, few_scratch});
  list.push_back({"decode/ef-signsgd", decode_mean<false>, no_scratch});
  list.push_back({"decode-add/ef-signsgd", decode_mean<true>, no_scratch});
  list.push_back({"compensate-encode-remember/ef-signsgd", ef_sign, few_scratch});
}

}  // namespace stepcast::kernels
