#include "kernels/cuda/fill.hpp"

#include "kernels/code/permutation.hpp"
#include "kernels/code/philox.hpp"
#include "kernels/cuda/elements.cuh"

namespace stepcast::kernels {
namespace {

__device__ std::uint32_t word_of(std::uint64_t seed, std::int64_t i) {
  return random_words(seed, static_cast<std::uint64_t>(i / 4)).word[i % 4];
}

/// Box and Muller's transformation of two words.
struct Normal {
  std::uint64_t seed;
  __device__ float operator()(std::int64_t i) const {
    const RandomWords words = random_words(seed, static_cast<std::uint64_t>(i));
    return 0.1F * sqrtf(-2 * logf(1 - uniform(words.word[0]))) * cospif(2 * uniform(words.word[1]));
  }
};

struct Positive {
  std::uint64_t seed;
  __device__ float operator()(std::int64_t i) const { return 0.5F + 3.5F * uniform(word_of(seed, i)); }
};

template <class T, class Draw>
struct FillElements {
  T* data;
  Draw draw;
  __device__ void operator()(std::int64_t i) const { data[i] = narrowed<T>(draw(i)); }
};

struct FillBits {
  std::uint8_t* data;
  std::uint64_t seed;
  __device__ void operator()(std::int64_t i) const { data[i] = static_cast<std::uint8_t>(word_of(seed, i)); }
};

struct FillIndices {
  std::uint32_t* data;
  std::uint64_t n, seed;
  __device__ void operator()(std::int64_t i) const { data[i] = permuted(static_cast<std::uint64_t>(i), n, seed); }
};

template <class T>
struct FillBelow {
  T* data;
  std::uint64_t below, seed;
  __device__ void operator()(std::int64_t i) const { data[i] = static_cast<T>(word_of(seed, i) % below); }
};

template <class Op>
void each(std::int64_t count, const Op& op, cudaStream_t stream) {
  sweep<<<blocks_for(count), kThreads, 0, stream>>>(count, op);
}

template <class Draw>
void draw(const Buffer& buffer, void* data, const Draw& from, cudaStream_t stream) {
  if (buffer.element == Element::bf16)
    each(buffer.count, FillElements<std::uint16_t, Draw>{static_cast<std::uint16_t*>(data), from}, stream);
  else each(buffer.count, FillElements<float, Draw>{static_cast<float*>(data), from}, stream);
}

}  // namespace

void fill_on_device(const Buffer& buffer, void* data, std::int64_t n, std::uint64_t seed, cudaStream_t stream) {
  if (buffer.count == 0) return;
  const auto bytes = static_cast<std::int64_t>(static_cast<std::size_t>(buffer.count) * size_of(buffer.element));
  const bool real = buffer.element == Element::f32 || buffer.element == Element::bf16;
  switch (buffer.fill) {
    case Fill::values: return draw(buffer, data, Normal{seed}, stream);
    case Fill::scale: return draw(buffer, data, Positive{seed}, stream);
    case Fill::code: return each(bytes, FillBits{static_cast<std::uint8_t*>(data), seed}, stream);
    case Fill::index:
      return each(buffer.count, FillIndices{static_cast<std::uint32_t*>(data), static_cast<std::uint64_t>(n), seed},
                  stream);
    case Fill::below:
      return each(
          buffer.count,
          FillBelow<std::uint32_t>{static_cast<std::uint32_t*>(data), static_cast<std::uint64_t>(buffer.below), seed},
          stream);
    case Fill::prepared:
      if (real) return draw(buffer, data, Positive{seed}, stream);
      if (buffer.element == Element::u8 && buffer.below > 0)
        return each(
            buffer.count,
            FillBelow<std::uint8_t>{static_cast<std::uint8_t*>(data), static_cast<std::uint64_t>(buffer.below), seed},
            stream);
      break;
    case Fill::zero: break;
  }
  cudaMemsetAsync(data, 0, static_cast<std::size_t>(bytes), stream);
}

}  // namespace stepcast::kernels
