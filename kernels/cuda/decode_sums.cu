#include "kernels/code/half.hpp"
#include "kernels/cuda/eight_bit.cuh"

namespace stepcast::kernels {
namespace {

/// Σ value(message, group) over the messages, in their order.
template <class Value>
struct SumMessages {
  Value value;
  float* sum;
  std::int64_t n, messages;

  template <class... Table>
  __device__ void operator()(std::int64_t g, const Table&... table) const {
    Pack<float> total{};
    for (std::int64_t m = 0; m < messages; ++m) {
      const Pack<float> a = value(m, g, table...);
      for (int k = 0; k < 4; ++k) total.v[k] = total.v[k] + a.v[k];
    }
    store(sum, g, n, total);
  }
};

/// Codes of group g of message m; messages are whole groups, so none is read beyond its end.
template <class T>
struct Messages {
  const T* codes;
  std::int64_t n;
  __device__ Pack<T> at(std::int64_t m, std::int64_t g) const {
    return reinterpret_cast<const Pack<T>*>(codes)[m * ((n + 3) / 4) + g];
  }
};

struct HalfValue {
  Messages<std::uint16_t> messages;
  __device__ Pack<float> operator()(std::int64_t m, std::int64_t g) const {
    const Pack<std::uint16_t> a = messages.at(m, g);
    Pack<float> b;
    for (int k = 0; k < 4; ++k) b.v[k] = device_float_of_half(a.v[k]);
    return b;
  }
};

struct EightBitValue {
  Messages<std::uint8_t> messages;
  const float* largest;
  __device__ Pack<float> operator()(std::int64_t m, std::int64_t g, const EightBitTable& table) const {
    const Pack<std::uint8_t> a = messages.at(m, g);
    Pack<float> b;
    for (int k = 0; k < 4; ++k) b.v[k] = eight_bit_decode(a.v[k], largest[m], table);
    return b;
  }
};

struct QsgdValue {
  Messages<std::uint8_t> messages;
  const float* norms;
  std::int64_t buckets;
  std::uint32_t groups;  ///< groups in a bucket
  int levels;
  __device__ Pack<float> operator()(std::int64_t m, std::int64_t g) const {
    const Pack<std::uint8_t> a = messages.at(m, g);
    const float step = qsgd_step(norms[m * buckets + static_cast<std::uint32_t>(g) / groups], levels);
    Pack<float> b;
    for (int k = 0; k < 4; ++k) b.v[k] = qsgd_decode(a.v[k], step, levels);
    return b;
  }
};

struct TernaryValue {
  const std::uint8_t* codes;
  const float* scales;
  std::int64_t n;
  __device__ Pack<float> operator()(std::int64_t m, std::int64_t g) const {
    const std::uint32_t byte = codes[m * ((n + 3) / 4) + g];
    Pack<float> b;
    for (int k = 0; k < 4; ++k) b.v[k] = ternary_decode((byte >> (2 * k)) & 3U, scales[m]);
    return b;
  }
};

struct NaturalValue {
  Messages<std::uint8_t> messages;
  __device__ Pack<float> operator()(std::int64_t m, std::int64_t g) const {
    const Pack<std::uint8_t> a = messages.at(m, g);
    Pack<float> b;
    for (int k = 0; k < 4; ++k) b.v[k] = natural_decode(a.v[k]);
    return b;
  }
};

/// Values of bit 0 and bit 1: ±1, two means of a message, or its mean with either sign.
struct Ones {
  __device__ float low(std::int64_t) const { return -1; }
  __device__ float high(std::int64_t) const { return 1; }
};
struct Means {
  const float* means;
  __device__ float low(std::int64_t m) const { return means[2 * m]; }
  __device__ float high(std::int64_t m) const { return means[2 * m + 1]; }
};
struct Mean {
  const float* means;
  __device__ float low(std::int64_t m) const { return -means[m]; }
  __device__ float high(std::int64_t m) const { return means[m]; }
};

template <class Worth>
struct SignValue {
  const std::uint32_t* words;
  std::int64_t count;  ///< words of a message
  Worth worth;
  __device__ Pack<float> operator()(std::int64_t m, std::int64_t g) const {
    const std::uint32_t bits = words[m * count + g / 8] >> (4 * (g % 8));
    Pack<float> b;
    for (int k = 0; k < 4; ++k) b.v[k] = ((bits >> k) & 1U) != 0 ? worth.high(m) : worth.low(m);
    return b;
  }
};

/// By the messages' tables, one behind the other.
struct TableValue {
  Messages<std::uint8_t> messages;
  __device__ Pack<float> operator()(std::int64_t m, std::int64_t g, const float* means) const {
    const Pack<std::uint8_t> a = messages.at(m, g);
    Pack<float> b;
    for (int k = 0; k < 4; ++k) b.v[k] = means[m * kQuantiles + a.v[k]];
    return b;
  }
};

/// The number of messages whose tables a block keeps in shared memory, 16 KiB. With more messages, tables are read in
/// place.
constexpr int kMostTables = 16;

__global__ void sum_by_tables(SumMessages<TableValue> sum, const float* means) {
  __shared__ float kept[kMostTables * kQuantiles];
  const std::int64_t groups = (sum.n + 3) / 4, first = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x,
                     stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  if (sum.messages > kMostTables) {
    for (std::int64_t g = first; g < groups; g += stride) sum(g, means);
    return;
  }
  for (std::int64_t i = threadIdx.x; i < sum.messages * kQuantiles; i += blockDim.x) kept[i] = means[i];
  __syncthreads();
  for (std::int64_t g = first; g < groups; g += stride) sum(g, kept);
}

template <class Value>
void add_up(const DeviceCall& c, const Value& value, float* sum) {
  sweep_groups(c, c.n, SumMessages<Value>{value, sum, c.n, c.parameters[0]});
}

Messages<std::uint8_t> bytes(const DeviceCall& c) { return {c.at<std::uint8_t>(0), c.n}; }
template <class Worth>
SignValue<Worth> signs(const DeviceCall& c, const Worth& worth) {
  return {c.at<std::uint32_t>(0), ceil_div(c.n, 32), worth};
}

void sum_halves(const DeviceCall& c) { add_up(c, HalfValue{{c.at<std::uint16_t>(0), c.n}}, c.at<float>(1)); }
void sum_eight_bit(const DeviceCall& c) {
  sweep_with_table(c, SumMessages<EightBitValue>{{bytes(c), c.at<float>(1)}, c.at<float>(2), c.n, c.parameters[0]});
}
void sum_qsgd(const DeviceCall& c) {
  add_up(c,
         QsgdValue{bytes(c), c.at<float>(1), ceil_div(c.n, c.parameters[1]), groups_of_bucket(c.parameters[1]),
                   static_cast<int>(c.parameters[2])},
         c.at<float>(2));
}
void sum_terngrad(const DeviceCall& c) {
  add_up(c, TernaryValue{c.at<std::uint8_t>(0), c.at<float>(1), c.n}, c.at<float>(2));
}
void sum_natural(const DeviceCall& c) { add_up(c, NaturalValue{bytes(c)}, c.at<float>(1)); }
void sum_signs(const DeviceCall& c) { add_up(c, signs(c, Ones{}), c.at<float>(1)); }
void sum_one_bit(const DeviceCall& c) { add_up(c, signs(c, Means{c.at<float>(1)}), c.at<float>(2)); }
void sum_ef_sign(const DeviceCall& c) { add_up(c, signs(c, Mean{c.at<float>(1)}), c.at<float>(2)); }
void sum_sketch(const DeviceCall& c) {
  sum_by_tables<<<blocks_for(ceil_div(c.n, 4), 2048), kThreads, 0, c.stream>>>(
      SumMessages<TableValue>{{bytes(c)}, c.at<float>(2), c.n, c.parameters[0]}, c.at<float>(1));
}

}  // namespace

void add_decode_sum_launches(std::vector<Launch>& list) {
  list.push_back({"decode-sum/fp16", sum_halves, no_scratch});
  list.push_back({"decode-sum/8-bit", sum_eight_bit, no_scratch});
  list.push_back({"decode-sum/qsgd", sum_qsgd, no_scratch});
  list.push_back({"decode-sum/terngrad", sum_terngrad, no_scratch});
  list.push_back({"decode-sum/natural", sum_natural, no_scratch});
  list.push_back({"decode-sum/signsgd", sum_signs, no_scratch});
  list.push_back({"decode-sum/1-bit", sum_one_bit, no_scratch});
  list.push_back({"decode-sum/ef-signsgd", sum_ef_sign, no_scratch});
  list.push_back({"decode-sum/sketchml", sum_sketch, no_scratch});
}

}  // namespace stepcast::kernels
