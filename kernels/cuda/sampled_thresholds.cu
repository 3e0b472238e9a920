#include "kernels/code/samples.hpp"
#include "kernels/cuda/reduce.cuh"
#include "kernels/cuda/select.cuh"
#include "kernels/cuda/tiles.cuh"

namespace stepcast::kernels {
namespace {

struct CorrectMomentum {
  const float* gradient;
  float *u, *v;
  std::int64_t n;
  __device__ void operator()(std::int64_t g) const {
    const Pack<float> a = load(gradient, g, n);
    Pack<float> b = load(u, g, n), c = load(v, g, n);
    for (int k = 0; k < 4; ++k) {
      b.v[k] = kMomentum * b.v[k] + a.v[k];
      c.v[k] = c.v[k] + b.v[k];
    }
    store(u, g, n, b);
    store(v, g, n, c);
  }
};

struct Sample {
  const float* x;
  float* sample;
  std::uint64_t n, seed;
  __device__ void operator()(std::int64_t j) const {
    sample[j] = magnitude(x[sample_index(seed, static_cast<std::uint64_t>(j), n)]);
  }
};

struct SampleOfSign {
  const float* x;
  float* sample;
  std::uint64_t n, seed;
  int sign;
  __device__ void operator()(std::int64_t j) const {
    sample[j] = sign_sample(x, n, sign, seed, static_cast<std::uint64_t>(j));
  }
};

struct Reaching {
  float threshold;
  __device__ bool operator()(float x) const { return reaches(x, threshold); }
};
struct ReachingStored {
  const float* threshold;
};
__device__ Reaching loaded(const ReachingStored& keep) { return {*keep.threshold}; }

struct ReachingOfSign {
  float threshold;
  int sign;
  __device__ bool operator()(float x) const { return of_sign(x, sign) && reaches(x, threshold); }
};
struct ReachingOfSignStored {
  const float* threshold;
  int sign;
};
__device__ ReachingOfSign loaded(const ReachingOfSignStored& keep) { return {*keep.threshold, keep.sign}; }

struct ClearSent {
  const float* threshold;
  float *v, *u;
  std::int64_t n;
  __device__ void operator()(std::int64_t g) const {
    Pack<float> a = load(v, g, n), b = load(u, g, n);
    for (int k = 0; k < 4; ++k)
      if (reaches(a.v[k], *threshold)) a.v[k] = b.v[k] = 0;
    store(v, g, n, a);
    store(u, g, n, b);
  }
};

/// Indices of the elements kept, and the sum of the block's.
__global__ void write_kept_and_sum(const float* x, std::int64_t n, ReachingOfSignStored keep, const Count* offsets,
                                   std::uint32_t* indices, double* total_sum, std::uint32_t* total) {
  TileElements mine;
  mine.read(x, n);
  const TileRanks ranks = rank_marked(mine.flags(n, loaded(keep)));
  const Count before = offsets[blockIdx.x];
  double sum = 0;
  for (int round = 0; round < kRounds; ++round)
    for (int k = 0; k < 4; ++k)
      if (ranks.marked(round, k)) {
        indices[before + ranks.rank(round, k)] = static_cast<std::uint32_t>(4 * tile_group(round) + k);
        sum += static_cast<double>(mine.x[round].v[k]);
      }
  add_block_sum(sum, total_sum);
  if (threadIdx.x == 0 && blockIdx.x == gridDim.x - 1) *total = static_cast<std::uint32_t>(before + ranks.total);
}

__global__ void finish_mean(const double* sum, const std::uint32_t* total, float* mean) {
  *mean = *total > 0 ? static_cast<float>(*sum / *total) : 0.0F;
}

struct ScatterMeans {
  const std::uint32_t* indices;
  const float* means;
  const std::uint32_t* positives;
  float* dense;
  bool add;
  __device__ void operator()(std::int64_t j) const {
    float& target = dense[indices[j]];
    const float mean = means[j < *positives ? 0 : 1];
    target = add ? target + mean : mean;
  }
};

template <class Op>
void over(const DeviceCall& c, std::int64_t count, const Op& op) {
  sweep<<<blocks_for(count), kThreads, 0, c.stream>>>(count, op);
}

int sign_of(const DeviceCall& c) { return static_cast<int>(c.parameters[0]); }

void correct_momentum(const DeviceCall& c) {
  sweep_groups(c, c.n, CorrectMomentum{c.at<float>(0), c.at<float>(1), c.at<float>(2), c.n});
}
void sample(const DeviceCall& c) {
  over(c, sample_of(c.n), Sample{c.at<float>(0), c.at<float>(1), static_cast<std::uint64_t>(c.n), c.seed});
}
void select_sample(const DeviceCall& c) {
  const std::int64_t count = sample_of(c.n);
  radix_select(c, c.at<float>(0), count, kept_of(count), c.at<std::uint32_t>(1));
}
void count_dgc(const DeviceCall& c) {
  count_tiles<<<tiles_of(c.n), kThreads, 0, c.stream>>>(c.at<float>(0), c.n, ReachingStored{c.at<float>(1)},
                                                        c.at<Count>(2));
}
void compact_dgc(const DeviceCall& c) {
  scan(c, c.at<Count>(2), tiles_of(c.n), c.scratch_at<Count>());
  write_kept<<<tiles_of(c.n), kThreads, 0, c.stream>>>(
      c.at<float>(0), c.n, ReachingStored{c.at<float>(1)}, c.scratch_at<Count>(),
      PutValueAndIndex{c.at<float>(3), c.at<std::uint32_t>(4)}, c.at<std::uint32_t>(5));
}
void clear_sent(const DeviceCall& c) {
  sweep_groups(c, c.n, ClearSent{c.at<float>(1), c.at<float>(0), c.at<float>(2), c.n});
}

void sample_of_one_sign(const DeviceCall& c) {
  over(c, sign_sample_of(c.n),
       SampleOfSign{c.at<float>(0), c.at<float>(1), static_cast<std::uint64_t>(c.n), c.seed, sign_of(c)});
}
void count_adaptive(const DeviceCall& c) {
  count_tiles<<<tiles_of(c.n), kThreads, 0, c.stream>>>(
      c.at<float>(0), c.n, ReachingOfSignStored{c.at<float>(1), sign_of(c)}, c.at<Count>(2));
}
std::size_t compact_mean_scratch(const DeviceCall& c) { return sizeof(double) + offset_scratch(c); }
void compact_mean(const DeviceCall& c) {
  auto* sum = c.scratch_at<double>();
  auto* offsets = c.scratch_at<Count>(sizeof(double));
  cudaMemsetAsync(sum, 0, sizeof(double), c.stream);
  scan(c, c.at<Count>(2), tiles_of(c.n), offsets);
  write_kept_and_sum<<<tiles_of(c.n), kThreads, 0, c.stream>>>(
      c.at<float>(0), c.n, ReachingOfSignStored{c.at<float>(1), sign_of(c)}, offsets, c.at<std::uint32_t>(3), sum,
      c.at<std::uint32_t>(5));
  finish_mean<<<1, 1, 0, c.stream>>>(sum, c.at<std::uint32_t>(5), c.at<float>(4));
}
template <bool kAdd>
void scatter_means(const DeviceCall& c) {
  over(c, kept_of(c.n),
       ScatterMeans{c.at<std::uint32_t>(0), c.at<float>(1), c.at<std::uint32_t>(2), c.at<float>(3), kAdd});
}

std::size_t select_scratch(const DeviceCall&) { return kSelectScratch; }

}  // namespace

void add_sampled_threshold_launches(std::vector<Launch>& list) {
  list.push_back({"momentum-correction/dgc", correct_momentum, no_scratch});
  list.push_back({"sample/dgc", sample, no_scratch});
  list.push_back({"radix-select/dgc", select_sample, select_scratch});
  list.push_back({"count/dgc", count_dgc, no_scratch});
  list.push_back({"compact/dgc", compact_dgc, offset_scratch});
  list.push_back({"clear-sent/dgc", clear_sent, no_scratch});
  list.push_back({"sample/adaptive", sample_of_one_sign, no_scratch});
  list.push_back({"count/adaptive", count_adaptive, no_scratch});
  list.push_back({"compact-mean/adaptive", compact_mean, compact_mean_scratch});
  list.push_back({"scatter/adaptive", scatter_means<false>, no_scratch});
  list.push_back({"scatter-add/adaptive", scatter_means<true>, no_scratch});
}

}  // namespace stepcast::kernels
