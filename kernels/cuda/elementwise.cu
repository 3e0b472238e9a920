#include "kernels/code/half.hpp"
#include "kernels/code/quantizers.hpp"
#include "kernels/cuda/groups.cuh"

namespace stepcast::kernels {
namespace {

struct Encode {
  const float* x;
  std::uint16_t* y;
  std::int64_t n;
  __device__ void operator()(std::int64_t g) const {
    const Pack<float> a = load(x, g, n);
    Pack<std::uint16_t> b;
    for (int k = 0; k < 4; ++k) b.v[k] = device_half_bits(a.v[k]);
    store(y, g, n, b);
  }
};

struct Widen {
  const std::uint16_t* x;
  float* y;
  std::int64_t n;
  __device__ void operator()(std::int64_t g) const {
    const Pack<std::uint16_t> a = load(x, g, n);
    Pack<float> b;
    for (int k = 0; k < 4; ++k) b.v[k] = device_float_of_half(a.v[k]);
    store(y, g, n, b);
  }
};

/// out = f(a, b)
template <class F>
struct Zip {
  const float *a, *b;
  float* out;
  std::int64_t n;
  __device__ void operator()(std::int64_t g) const {
    const Pack<float> x = load(a, g, n), y = load(b, g, n);
    Pack<float> z;
    for (int k = 0; k < 4; ++k) z.v[k] = F{}(x.v[k], y.v[k]);
    store(out, g, n, z);
  }
};

struct Plus {
  __device__ float operator()(float a, float b) const { return a + b; }
};
struct Minus {
  __device__ float operator()(float a, float b) const { return a - b; }
};
struct Momentum {
  __device__ float operator()(float gradient, float momentum) const {
    return kMomentum * momentum + (1 - kMomentum) * gradient;
  }
};

struct Sign {
  const float* x;
  float* y;
  std::int64_t n;
  __device__ void operator()(std::int64_t g) const {
    Pack<float> a = load(x, g, n);
    for (int k = 0; k < 4; ++k) a.v[k] = sign_bit(a.v[k]) ? 1.0F : -1.0F;
    store(y, g, n, a);
  }
};

struct Zero {
  float* x;
  std::int64_t n;
  __device__ void operator()(std::int64_t g) const { store(x, g, n, Pack<float>{}); }
};

void cast_encode(const DeviceCall& c) { sweep_groups(c, c.n, Encode{c.at<float>(0), c.at<std::uint16_t>(1), c.n}); }
void cast_decode(const DeviceCall& c) { sweep_groups(c, c.n, Widen{c.at<std::uint16_t>(0), c.at<float>(1), c.n}); }
void add(const DeviceCall& c) { sweep_groups(c, c.n, Zip<Plus>{c.at<float>(1), c.at<float>(0), c.at<float>(1), c.n}); }
void subtract(const DeviceCall& c) {
  sweep_groups(c, c.n, Zip<Minus>{c.at<float>(0), c.at<float>(1), c.at<float>(2), c.n});
}
void momentum(const DeviceCall& c) {
  sweep_groups(c, c.n, Zip<Momentum>{c.at<float>(0), c.at<float>(1), c.at<float>(1), c.n});
}
void sign(const DeviceCall& c) { sweep_groups(c, c.n, Sign{c.at<float>(0), c.at<float>(1), c.n}); }
void fill(const DeviceCall& c) { sweep_groups(c, c.n, Zero{c.at<float>(0), c.n}); }

}  // namespace

void add_elementwise_launches(std::vector<Launch>& list) {
  list.push_back({"cast/fp16-encode", cast_encode, no_scratch});
  list.push_back({"cast/fp16-decode", cast_decode, no_scratch});
  list.push_back({"add/sum", add, no_scratch});
  list.push_back({"subtract/residual", subtract, no_scratch});
  list.push_back({"momentum/signum", momentum, no_scratch});
  list.push_back({"sign/signsgd", sign, no_scratch});
  list.push_back({"fill/zero", fill, no_scratch});
}

}  // namespace stepcast::kernels
