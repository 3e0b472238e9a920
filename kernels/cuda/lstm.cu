#include "kernels/cuda/bias.cuh"
#include "kernels/cuda/error.hpp"
#include "kernels/cuda/gemm.hpp"
#include "kernels/products.hpp"

namespace stepcast::kernels {
namespace {

__device__ float sigmoid(float a) { return 1.0F / (1.0F + expf(-a)); }

/// Replaces a step's gates by their activations, and computes the states.
template <class T>
struct Advance {
  T* gates;        ///< n x 4h
  const T* cells;  ///< n x h
  T *next_cells, *next_hidden;
  std::int64_t h;
  __device__ void operator()(std::int64_t k) const {
    T* gate = gates + k / h * 4 * h + k % h;
    const float i = sigmoid(widen(gate[0])), f = sigmoid(widen(gate[h])), g = tanhf(widen(gate[2 * h])),
                o = sigmoid(widen(gate[3 * h]));
    const float c = f * widen(cells[k]) + i * g;
    store_rounded(next_cells[k], c);
    store_rounded(next_hidden[k], o * tanhf(c));
    store_rounded(gate[0], i);
    store_rounded(gate[h], f);
    store_rounded(gate[2 * h], g);
    store_rounded(gate[3 * h], o);
  }
};

/// The same backward: computes da, and updates dc in place; dh comes from the step after.
template <class T>
struct Return {
  const T *dy, *dh, *gates, *cells, *next_cells;
  T *dgates, *dc;
  std::int64_t h;
  __device__ void operator()(std::int64_t k) const {
    const std::int64_t at = k / h * 4 * h + k % h;
    const T* gate = gates + at;
    T* da = dgates + at;
    const float i = widen(gate[0]), f = widen(gate[h]), g = widen(gate[2 * h]), o = widen(gate[3 * h]),
                tanh_c = tanhf(widen(next_cells[k]));
    const float output = widen(dy[k]) + widen(dh[k]), cell = widen(dc[k]) + output * o * (1.0F - tanh_c * tanh_c);
    store_rounded(da[0], cell * g * i * (1.0F - i));
    store_rounded(da[h], cell * widen(cells[k]) * f * (1.0F - f));
    store_rounded(da[2 * h], cell * i * (1.0F - g * g));
    store_rounded(da[3 * h], output * tanh_c * o * (1.0F - o));
    store_rounded(dc[k], cell * f);
  }
};

/// Multiplies the four gates' matrices, each h x width, by `rows` vectors. Factorized: one product for all U, then a
/// batch for the V. Backward: the batch comes first.
template <Precision kPrecision>
class GateProducts {
  using T = Stored<kPrecision>;

 public:
  GateProducts(const DeviceCall& call, std::int64_t width, std::int64_t h, std::int64_t rank)
      : call_(call), width_(width), h_(h), rank_(rank) {}

  /// Elements of t for a vector.
  [[nodiscard]] std::int64_t inner() const { return 4 * rank_; }

  /// gates += W z
  void forward(std::int64_t rows, const T* z, const T* u, const T* v, T* t, T* gates) const {
    if (rank_ == 0)
      return multiply(call_, kPrecision, {rows, 4 * h_, width_, {z, width_}, {u, width_, true}, {gates, 4 * h_}, true});
    multiply(call_, kPrecision, {rows, inner(), width_, {z, width_}, {u, width_, true}, {t, inner()}});
    multiply(call_, kPrecision,
             of_gates({rows,
                       h_,
                       rank_,
                       {t, inner(), false, 0, rank_},
                       {v, rank_, true, 0, h_ * rank_},
                       {gates, 4 * h_, 0, h_},
                       true}));
  }
  /// dz = Wᵀ da
  void data_gradient(std::int64_t rows, const T* da, const T* u, const T* v, T* dt, T* dz) const {
    if (rank_ == 0) return multiply(call_, kPrecision, {rows, width_, 4 * h_, {da, 4 * h_}, {u, width_}, {dz, width_}});
    multiply(
        call_, kPrecision,
        of_gates(
            {rows, rank_, h_, {da, 4 * h_, false, 0, h_}, {v, rank_, false, 0, h_ * rank_}, {dt, inner(), 0, rank_}}));
    multiply(call_, kPrecision, {rows, width_, inner(), {dt, inner()}, {u, width_}, {dz, width_}});
  }
  void weight_gradient(std::int64_t rows, const T* z, const T* t, const T* dt, const T* da, T* du, T* dv) const {
    if (rank_ == 0)
      return multiply(call_, kPrecision, {4 * h_, width_, rows, {da, 4 * h_, true}, {z, width_}, {du, width_}});
    multiply(call_, kPrecision, {inner(), width_, rows, {dt, inner(), true}, {z, width_}, {du, width_}});
    multiply(
        call_, kPrecision,
        of_gates(
            {h_, rank_, rows, {da, 4 * h_, true, 0, h_}, {t, inner(), false, 0, rank_}, {dv, rank_, 0, h_ * rank_}}));
  }

 private:
  static Product of_gates(Product product) {
    product.inner_count = 4;
    return product;
  }

  const DeviceCall& call_;
  std::int64_t width_, h_, rank_;
};

template <Precision kPrecision>
void forward(const DeviceCall& c) {
  using T = Stored<kPrecision>;
  using B = LstmForward;
  const LstmShape s = lstm_shape(c.parameters);
  const GateProducts<kPrecision> input(c, s.input, s.hidden, s.input_rank),
      recurrent(c, s.hidden, s.hidden, s.hidden_rank);
  const std::int64_t rows = s.steps * c.n, state = c.n * s.hidden;
  T *gates = c.at<T>(B::gates), *hidden = c.at<T>(B::hidden), *cells = c.at<T>(B::cells);
  write_bias(c, c.at<T>(B::bias), gates, rows, 4 * s.hidden, 1);
  input.forward(rows, c.at<T>(B::x), c.at<T>(B::u_x), c.at<T>(B::v_x), c.at<T>(B::t_x), gates);
  for (std::int64_t t = 0; t < s.steps; ++t) {
    T *step = gates + 4 * t * state, *h = hidden + t * state, *cell = cells + t * state;
    recurrent.forward(c.n, h, c.at<T>(B::u_h), c.at<T>(B::v_h), c.at<T>(B::t_h) + t * c.n * recurrent.inner(), step);
    sweep<<<blocks_for(state), kThreads, 0, c.stream>>>(state,
                                                        Advance<T>{step, cell, cell + state, h + state, s.hidden});
  }
}

template <Precision kPrecision>
void data_gradient(const DeviceCall& c) {
  using T = Stored<kPrecision>;
  using B = LstmDataGradient;
  const LstmShape s = lstm_shape(c.parameters);
  const GateProducts<kPrecision> input(c, s.input, s.hidden, s.input_rank),
      recurrent(c, s.hidden, s.hidden, s.hidden_rank);
  const std::int64_t rows = s.steps * c.n, state = c.n * s.hidden;
  T *dgates = c.at<T>(B::dgates), *dh = c.at<T>(B::dh), *dc = c.at<T>(B::dc);
  for (T* last : {dh, dc})
    require_cuda(cudaMemsetAsync(last, 0, sizeof(T) * state, c.stream), "clearing the last state's gradient");
  for (std::int64_t t = s.steps - 1; t >= 0; --t) {
    const T* cell = c.at<T>(B::cells) + t * state;
    T* step = dgates + 4 * t * state;
    sweep<<<blocks_for(state), kThreads, 0, c.stream>>>(
        state, Return<T>{c.at<T>(B::dy) + t * state, dh, c.at<T>(B::gates) + 4 * t * state, cell, cell + state, step,
                         dc, s.hidden});
    recurrent.data_gradient(c.n, step, c.at<T>(B::u_h), c.at<T>(B::v_h), c.at<T>(B::dt_h) + t * c.n * recurrent.inner(),
                            dh);
  }
  input.data_gradient(rows, dgates, c.at<T>(B::u_x), c.at<T>(B::v_x), c.at<T>(B::dt_x), c.at<T>(B::dx));
}

template <Precision kPrecision>
void weight_gradient(const DeviceCall& c) {
  using T = Stored<kPrecision>;
  using B = LstmWeightGradient;
  const LstmShape s = lstm_shape(c.parameters);
  const GateProducts<kPrecision> input(c, s.input, s.hidden, s.input_rank),
      recurrent(c, s.hidden, s.hidden, s.hidden_rank);
  const std::int64_t rows = s.steps * c.n;
  const T* dgates = c.at<T>(B::dgates);
  input.weight_gradient(rows, c.at<T>(B::x), c.at<T>(B::t_x), c.at<T>(B::dt_x), dgates, c.at<T>(B::du_x),
                        c.at<T>(B::dv_x));
  recurrent.weight_gradient(rows, c.at<T>(B::hidden), c.at<T>(B::t_h), c.at<T>(B::dt_h), dgates, c.at<T>(B::du_h),
                            c.at<T>(B::dv_h));
  sum_channels(c, dgates, rows, 4 * s.hidden, 1, c.at<T>(B::db), c.scratch);
}

std::size_t weight_scratch(const DeviceCall& c) {
  const LstmShape s = lstm_shape(c.parameters);
  return channel_sum_scratch(s.steps * c.n, 4 * s.hidden, 1);
}

}  // namespace

void add_lstm_launches(std::vector<Launch>& list) {
  for_each_precision([&](auto precision) {
    constexpr Precision kPrecision = decltype(precision)::value;
    const std::string method = name_of(kPrecision);
    list.push_back({"lstm-forward/" + method, forward<kPrecision>, no_scratch});
    list.push_back({"lstm-data-gradient/" + method, data_gradient<kPrecision>, no_scratch});
    list.push_back({"lstm-weight-gradient/" + method, weight_gradient<kPrecision>, weight_scratch});
  });
}

}  // namespace stepcast::kernels
