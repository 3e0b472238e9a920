#include "kernels/code/activations.hpp"

#include "kernels/cuda/elements.cuh"

namespace stepcast::kernels {
namespace {

/// y = f(x)
template <class T, class F>
struct Map {
  const T* x;
  T* y;
  std::int64_t n;
  __device__ void operator()(std::int64_t first) const {
    Values<kWide<T>> a = load_values<kWide<T>>(x, first, n);
    for (float& value : a.v) value = F{}(value);
    store_values<kWide<T>>(y, first, n, a);
  }
};

/// out = f(a, b)
template <class T, class F>
struct Join {
  const T *a, *b;
  T* out;
  std::int64_t n;
  __device__ void operator()(std::int64_t first) const {
    Values<kWide<T>> x = load_values<kWide<T>>(a, first, n);
    const Values<kWide<T>> y = load_values<kWide<T>>(b, first, n);
    for (int k = 0; k < kWide<T>; ++k) x.v[k] = F{}(x.v[k], y.v[k]);
    store_values<kWide<T>>(out, first, n, x);
  }
};

template <class F>
struct ValueOf {
  __device__ float operator()(float x) const { return F::value(x); }
};
template <class F>
struct GradientOf {
  __device__ float operator()(float dy, float saved) const { return F::gradient(dy, saved); }
};
struct Sum {
  __device__ float operator()(float a, float b) const { return a + b; }
};
struct Product {
  __device__ float operator()(float a, float b) const { return a * b; }
};

/// A vector is one or two groups of four elements, each of which has its random words.
template <class T>
struct Dropout {
  const T* x;
  T* y;
  std::int64_t n;
  std::uint64_t seed;
  __device__ void operator()(std::int64_t first) const {
    Values<kWide<T>> a = load_values<kWide<T>>(x, first, n);
    for (int k = 0; k < kWide<T>; k += 4) {
      const RandomWords random = random_words(seed, static_cast<std::uint64_t>((first + k) / 4));
      for (int j = 0; j < 4; ++j) a.v[k + j] = dropout(a.v[k + j], random.word[j]);
    }
    store_values<kWide<T>>(y, first, n, a);
  }
};

template <class T>
struct ProductGradient {
  const T *dy, *a, *b;
  T *da, *db;
  std::int64_t n;
  __device__ void operator()(std::int64_t first) const {
    const Values<kWide<T>> gradient = load_values<kWide<T>>(dy, first, n);
    Values<kWide<T>> x = load_values<kWide<T>>(a, first, n), y = load_values<kWide<T>>(b, first, n);
    for (int k = 0; k < kWide<T>; ++k) {
      x.v[k] = gradient.v[k] * x.v[k];
      y.v[k] = gradient.v[k] * y.v[k];
    }
    store_values<kWide<T>>(da, first, n, y);
    store_values<kWide<T>>(db, first, n, x);
  }
};

struct Same {
  __device__ float operator()(float x) const { return x; }
};

std::int64_t elements_of(const DeviceCall& c) { return c.n * c.parameters[0]; }

template <class T, class F>
void map(const DeviceCall& c) {
  sweep_vectors<kWide<T>>(c, elements_of(c), Map<T, F>{c.at<T>(0), c.at<T>(1), elements_of(c)});
}
template <class T, class F>
void join(const DeviceCall& c) {
  sweep_vectors<kWide<T>>(c, elements_of(c), Join<T, F>{c.at<T>(0), c.at<T>(1), c.at<T>(2), elements_of(c)});
}
template <class T>
void drop(const DeviceCall& c) {
  sweep_vectors<kWide<T>>(c, elements_of(c), Dropout<T>{c.at<T>(0), c.at<T>(1), elements_of(c), c.seed});
}
template <class T>
void product_gradient(const DeviceCall& c) {
  sweep_vectors<kWide<T>>(
      c, elements_of(c),
      ProductGradient<T>{c.at<T>(0), c.at<T>(1), c.at<T>(2), c.at<T>(3), c.at<T>(4), elements_of(c)});
}

template <class T, class F>
void add_activation(std::vector<Launch>& list, const std::string& name, const std::string& method) {
  list.push_back({name + "-forward" + method, map<T, ValueOf<F>>, no_scratch});
  list.push_back({name + "-data_gradient" + method, join<T, GradientOf<F>>, no_scratch});
}

template <class T>
void add_all(std::vector<Launch>& list, const std::string& method) {
  add_activation<T, Relu>(list, "relu", method);
  add_activation<T, Gelu>(list, "gelu", method);
  add_activation<T, Tanh>(list, "tanh", method);
  add_activation<T, Sigmoid>(list, "sigmoid", method);
  add_activation<T, Silu>(list, "silu", method);
  for (const char* part : {"-forward", "-data_gradient"}) {
    list.push_back({std::string("dropout") + part + method, drop<T>, no_scratch});
    list.push_back({std::string("add") + part + method, join<T, Sum>, no_scratch});
    list.push_back({std::string("concat") + part + method, map<T, Same>, no_scratch});
  }
  list.push_back({"multiply-forward" + method, join<T, Product>, no_scratch});
  list.push_back({"multiply-data_gradient" + method, product_gradient<T>, no_scratch});
}

}  // namespace

void add_activation_launches(std::vector<Launch>& list) {
  add_all<float>(list, "/fp32");
  add_all<std::uint16_t>(list, "/bf16");
}

}  // namespace stepcast::kernels
