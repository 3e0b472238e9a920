// Four parameters a thread: 16 bytes of weight and state, 8 or 16 of the gradient.
#include "kernels/code/updates.hpp"

#include "kernels/cuda/elements.cuh"

namespace stepcast::kernels {
namespace {

template <class T>
struct Sgd {
  const T* gradient;
  float* weight;
  T* copy;  ///< for bf16
  std::int64_t n;
  __device__ void operator()(std::int64_t first) const {
    const Values<4> g = load_values<4>(gradient, first, n);
    Values<4> w = load_values<4>(weight, first, n);
    for (int k = 0; k < 4; ++k) sgd(g.v[k], w.v[k]);
    store_values<4>(weight, first, n, w);
    if (copy != nullptr) store_values<4>(copy, first, n, w);
  }
};

template <class T>
struct SgdMomentum {
  const T* gradient;
  float *weight, *momentum;
  T* copy;  ///< for bf16
  std::int64_t n;
  __device__ void operator()(std::int64_t first) const {
    const Values<4> g = load_values<4>(gradient, first, n);
    Values<4> w = load_values<4>(weight, first, n), v = load_values<4>(momentum, first, n);
    for (int k = 0; k < 4; ++k) sgd_momentum(g.v[k], w.v[k], v.v[k]);
    store_values<4>(weight, first, n, w);
    store_values<4>(momentum, first, n, v);
    if (copy != nullptr) store_values<4>(copy, first, n, w);
  }
};

template <class T>
struct Adam {
  const T* gradient;
  float *weight, *first_moment, *second_moment;
  T* copy;  ///< for bf16
  std::int64_t n;
  AdamBias bias;
  __device__ void operator()(std::int64_t first) const {
    const Values<4> g = load_values<4>(gradient, first, n);
    Values<4> w = load_values<4>(weight, first, n), m = load_values<4>(first_moment, first, n),
              v = load_values<4>(second_moment, first, n);
    for (int k = 0; k < 4; ++k) adam(g.v[k], w.v[k], m.v[k], v.v[k], bias);
    store_values<4>(weight, first, n, w);
    store_values<4>(first_moment, first, n, m);
    store_values<4>(second_moment, first, n, v);
    if (copy != nullptr) store_values<4>(copy, first, n, w);
  }
};

template <class T>
T* copy_at(const DeviceCall& c, int buffer) {
  if constexpr (sizeof(T) == 4) return nullptr;
  else return c.at<T>(buffer);
}

template <class T>
void sgd_update(const DeviceCall& c) {
  sweep_vectors<4>(c, c.n, Sgd<T>{c.at<T>(0), c.at<float>(1), copy_at<T>(c, 2), c.n});
}
template <class T>
void sgd_momentum_update(const DeviceCall& c) {
  sweep_vectors<4>(c, c.n, SgdMomentum<T>{c.at<T>(0), c.at<float>(1), c.at<float>(2), copy_at<T>(c, 3), c.n});
}
template <class T>
void adam_update(const DeviceCall& c) {
  sweep_vectors<4>(c, c.n,
                   Adam<T>{c.at<T>(0), c.at<float>(1), c.at<float>(2), c.at<float>(3), copy_at<T>(c, 4), c.n,
                           adam_bias(c.parameters[0])});
}

}  // namespace

void add_update_launches(std::vector<Launch>& list) {
  list.push_back({"sgd-update/fp32", sgd_update<float>, no_scratch});
  list.push_back({"sgd-update/bf16", sgd_update<std::uint16_t>, no_scratch});
  list.push_back({"sgd_momentum-update/fp32", sgd_momentum_update<float>, no_scratch});
  list.push_back({"sgd_momentum-update/bf16", sgd_momentum_update<std::uint16_t>, no_scratch});
  list.push_back({"adam-update/fp32", adam_update<float>, no_scratch});
  list.push_back({"adam-update/bf16", adam_update<std::uint16_t>, no_scratch});
}

}  // namespace stepcast::kernels
