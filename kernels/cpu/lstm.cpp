// One LSTM layer over T steps of n samples, in one direction (Hochreiter and Schmidhuber 1997, with forget gates):
//
//   a = W_x x_t + W_h h_{t-1} + b,   i, f, o = σ(a_i), σ(a_f), σ(a_o),   g = tanh(a_g)
//   c_t = f c_{t-1} + i g,           h_t = o tanh(c_t)
//
// Each gate's unit has one bias. Factorized, each gate's matrix is V_q U_q: the four U_q are one product, the four V_q
// a batch of four. Tensors are time-major, steps x n x width, as in PyTorch. Backward goes through time, from dh = dy_T
// on:
//
//   dc += dh o (1 - tanh²c_t),   da_o = dh tanh(c_t) o(1-o),   da_i = dc g i(1-i),   da_f = dc c_{t-1} f(1-f),
//   da_g = dc i (1 - g²),        dc ← dc f,   dh ← W_hᵀ da + dy_{t-1}
//   dx = W_xᵀ da for all steps at once; dW_x = Σ da xᵀ, dW_h = Σ da h_{t-1}ᵀ, db = Σ da
//
// The forward pass keeps activations, states and the results of U; the data gradient keeps da. They are inputs of the
// parts that follow. Operations of a step: two for each multiply-accumulate of the eight gate matrices, and 30 for the
// gates of a unit, forward and backward.
#include <cmath>

#include "kernels/cpu/reference.hpp"

namespace stepcast::kernels {
namespace {

constexpr double kGateFlops = 30;

double sigmoid(double a) { return 1 / (1 + std::exp(-a)); }

/// The four gates' matrices of h x width, as they are stored: u with v, or u alone.
struct GateMatrices {
  std::int64_t width, h, rank;
  [[nodiscard]] std::int64_t u() const { return 4 * (rank > 0 ? rank : h) * width; }
  [[nodiscard]] std::int64_t v() const { return 4 * h * rank; }
  [[nodiscard]] std::int64_t inner() const { return 4 * rank; }
  [[nodiscard]] double macs() const { return 4 * (rank > 0 ? real(rank) * real(h + width) : real(h) * real(width)); }
};
GateMatrices of_input(const LstmShape& s) { return {s.input, s.hidden, s.input_rank}; }
GateMatrices of_hidden(const LstmShape& s) { return {s.hidden, s.hidden, s.hidden_rank}; }

/// a[rows x 4h] += W z, with t = U z kept where there is one.
void add_gates(const GateMatrices& m, const Operands& operands, std::int64_t rows, const double* z, const Numbers& u,
               const Numbers& v, double* t, double* a) {
  if (m.rank == 0) return add_product(rows, 4 * m.h, m.width, {z, m.width}, {u.data(), m.width, true}, a, 4 * m.h);
  add_product(rows, 4 * m.rank, m.width, {z, m.width}, {u.data(), m.width, true}, t, 4 * m.rank);
  for (std::int64_t k = 0; k < rows * 4 * m.rank; ++k) t[k] = operands.rounded(t[k]);
  for (std::int64_t q = 0; q < 4; ++q)
    add_product(rows, m.h, m.rank, {t + q * m.rank, 4 * m.rank}, {v.data() + q * m.h * m.rank, m.rank, true},
                a + q * m.h, 4 * m.h);
}

/// dz[rows x width] = Wᵀ da, with dt = Vᵀ da kept where there is one.
void add_input_gradient(const GateMatrices& m, const Operands& operands, std::int64_t rows, const double* da,
                        const Numbers& u, const Numbers& v, double* dt, double* dz) {
  if (m.rank == 0) return add_product(rows, m.width, 4 * m.h, {da, 4 * m.h}, {u.data(), m.width}, dz, m.width);
  for (std::int64_t q = 0; q < 4; ++q)
    add_product(rows, m.rank, m.h, {da + q * m.h, 4 * m.h}, {v.data() + q * m.h * m.rank, m.rank}, dt + q * m.rank,
                4 * m.rank);
  for (std::int64_t k = 0; k < rows * 4 * m.rank; ++k) dt[k] = operands.rounded(dt[k]);
  add_product(rows, m.width, 4 * m.rank, {dt, 4 * m.rank}, {u.data(), m.width}, dz, m.width);
}

void write_weight_gradient(const GateMatrices& m, const Operands& operands, std::int64_t rows, const double* z,
                           const Numbers& t, const Numbers& dt, const Numbers& da, int u_buffer, int v_buffer) {
  const std::int64_t between = m.rank > 0 ? 4 * m.rank : 4 * m.h;
  Numbers du(m.u()), dv(m.v());
  add_product(between, m.width, rows, {m.rank > 0 ? dt.data() : da.data(), between, true}, {z, m.width}, du.data(),
              m.width);
  for (std::int64_t q = 0; m.rank > 0 && q < 4; ++q)
    add_product(m.h, m.rank, rows, {da.data() + q * m.h, 4 * m.h, true}, {t.data() + q * m.rank, 4 * m.rank},
                dv.data() + q * m.h * m.rank, m.rank);
  operands.write(u_buffer, du);
  operands.write(v_buffer, dv);
}

void forward(const Call& call, Precision precision) {
  const LstmShape s = lstm_shape(call.parameters);
  const GateMatrices mx = of_input(s), mh = of_hidden(s);
  const Operands operands(call, precision);
  using Buffers = LstmForward;
  const std::int64_t n = call.n, h = s.hidden, rows = s.steps * n, state = n * h;
  const Numbers x = operands.read(Buffers::x, rows * s.input), bias = operands.read(Buffers::bias, 4 * h),
                u_h = operands.read(Buffers::u_h, mh.u()), v_h = operands.read(Buffers::v_h, mh.v());
  Numbers hidden = operands.read(Buffers::hidden, (s.steps + 1) * state),
          cells = operands.read(Buffers::cells, (s.steps + 1) * state);
  Numbers t_x(rows * mx.inner()), t_h(rows * mh.inner()), gates(rows * 4 * h);
  for (std::size_t k = 0; k < gates.size(); ++k) gates[k] = bias[k % bias.size()];
  add_gates(mx, operands, rows, x.data(), operands.read(Buffers::u_x, mx.u()), operands.read(Buffers::v_x, mx.v()),
            t_x.data(), gates.data());
  for (double& a : gates) a = operands.rounded(a);
  for (std::int64_t t = 0; t < s.steps; ++t) {
    double* a = gates.data() + t * n * 4 * h;
    add_gates(mh, operands, n, hidden.data() + t * state, u_h, v_h, t_h.data() + t * n * mh.inner(), a);
    for (std::int64_t k = 0; k < state; ++k) {
      double* gate = a + k / h * 4 * h + k % h;
      const double i = sigmoid(operands.rounded(gate[0])), f = sigmoid(operands.rounded(gate[h])),
                   g = std::tanh(operands.rounded(gate[2 * h])), o = sigmoid(operands.rounded(gate[3 * h]));
      const double c = f * cells[t * state + k] + i * g;
      cells[(t + 1) * state + k] = operands.rounded(c);
      hidden[(t + 1) * state + k] = operands.rounded(o * std::tanh(c));
      gate[0] = i, gate[h] = f, gate[2 * h] = g, gate[3 * h] = o;
    }
  }
  operands.write(Buffers::hidden, hidden);
  operands.write(Buffers::cells, cells);
  operands.write(Buffers::t_x, t_x);
  operands.write(Buffers::t_h, t_h);
  operands.write(Buffers::gates, gates);
}

void data_gradient(const Call& call, Precision precision) {
  const LstmShape s = lstm_shape(call.parameters);
  const GateMatrices mx = of_input(s), mh = of_hidden(s);
  const Operands operands(call, precision);
  using Buffers = LstmDataGradient;
  const std::int64_t n = call.n, h = s.hidden, rows = s.steps * n, state = n * h;
  const Numbers dy = operands.read(Buffers::dy, rows * h), gates = operands.read(Buffers::gates, rows * 4 * h),
                cells = operands.read(Buffers::cells, (s.steps + 1) * state);
  const Numbers u_h = operands.read(Buffers::u_h, mh.u()), v_h = operands.read(Buffers::v_h, mh.v());
  Numbers da(rows * 4 * h), dt_x(rows * mx.inner()), dt_h(rows * mh.inner());
  Numbers dx(rows * s.input), dh(state), dc(state);
  for (std::int64_t t = s.steps - 1; t >= 0; --t) {
    double* da_t = da.data() + t * n * 4 * h;
    for (std::int64_t k = 0; k < state; ++k) {
      const std::int64_t at = k / h * 4 * h + k % h;
      const double* gate = gates.data() + t * n * 4 * h + at;
      const double i = gate[0], f = gate[h], g = gate[2 * h], o = gate[3 * h],
                   tanh_c = std::tanh(cells[(t + 1) * state + k]);
      const double output = dy[t * state + k] + dh[k], cell = dc[k] + output * o * (1 - tanh_c * tanh_c);
      da_t[at] = operands.rounded(cell * g * i * (1 - i));
      da_t[at + h] = operands.rounded(cell * cells[t * state + k] * f * (1 - f));
      da_t[at + 2 * h] = operands.rounded(cell * i * (1 - g * g));
      da_t[at + 3 * h] = operands.rounded(output * tanh_c * o * (1 - o));
      dc[k] = operands.rounded(cell * f);
      dh[k] = 0;
    }
    add_input_gradient(mh, operands, n, da_t, u_h, v_h, dt_h.data() + t * n * mh.inner(), dh.data());
    for (double& value : dh) value = operands.rounded(value);
  }
  add_input_gradient(mx, operands, rows, da.data(), operands.read(Buffers::u_x, mx.u()),
                     operands.read(Buffers::v_x, mx.v()), dt_x.data(), dx.data());
  operands.write(Buffers::dgates, da);
  operands.write(Buffers::dt_x, dt_x);
  operands.write(Buffers::dt_h, dt_h);
  operands.write(Buffers::dx, dx);
  operands.write(Buffers::dh, dh);
  operands.write(Buffers::dc, dc);
}

void weight_gradient(const Call& call, Precision precision) {
  const LstmShape s = lstm_shape(call.parameters);
  const GateMatrices mx = of_input(s), mh = of_hidden(s);
  const Operands operands(call, precision);
  using Buffers = LstmWeightGradient;
  const std::int64_t rows = s.steps * call.n;
  const Numbers x = operands.read(Buffers::x, rows * s.input), hidden = operands.read(Buffers::hidden, rows * s.hidden),
                da = operands.read(Buffers::dgates, rows * 4 * s.hidden);
  write_weight_gradient(mx, operands, rows, x.data(), operands.read(Buffers::t_x, rows * mx.inner()),
                        operands.read(Buffers::dt_x, rows * mx.inner()), da, Buffers::du_x, Buffers::dv_x);
  write_weight_gradient(mh, operands, rows, hidden.data(), operands.read(Buffers::t_h, rows * mh.inner()),
                        operands.read(Buffers::dt_h, rows * mh.inner()), da, Buffers::du_h, Buffers::dv_h);
  Numbers db = column_sums(da, 4 * s.hidden);
  operands.write(Buffers::db, db);
}

// Preparation ----------------------------------------------------------------------------------------------------

/// Divides each matrix by the root of its number of columns, as an initialization does. With weights about 1 the
/// recurrence would be chaotic: the smallest error would grow from step to step.
void scale_weights(const Call& call, Precision precision, int u_x) {
  const LstmShape s = lstm_shape(call.parameters);
  const Operands operands(call, precision);
  const auto scale = [&](int buffer, std::int64_t count, std::int64_t columns) {
    Numbers w = operands.read(buffer, count);
    for (double& value : w) value /= std::sqrt(real(columns));
    operands.write(buffer, w);
  };
  int buffer = u_x;
  for (const GateMatrices& m : {of_input(s), of_hidden(s)}) {
    scale(buffer++, m.u(), m.width);
    scale(buffer++, m.v(), m.rank);
  }
}

/// Turns numbers into activations, and scales the weights.
void prepare_data_gradient(const Call& call, Precision precision) {
  const LstmShape s = lstm_shape(call.parameters);
  const Operands operands(call, precision);
  Numbers gates = operands.read(LstmDataGradient::gates, s.steps * call.n * 4 * s.hidden);
  for (std::size_t k = 0; k < gates.size(); ++k)
    gates[k] = static_cast<std::int64_t>(k) / s.hidden % 4 == 2 ? std::tanh(gates[k]) : sigmoid(gates[k]);
  operands.write(LstmDataGradient::gates, gates);
  scale_weights(call, precision, LstmDataGradient::u_x);
}

}  // namespace

LayerKernels lstm_layer(const LstmShape& s, Precision p) {
  const GateMatrices mx = of_input(s), mh = of_hidden(s);
  const std::int64_t h = s.hidden;
  // The terms are those of input, hidden state, activation and cell in sequence. Errors fade from step to step: gates
  // are below 1.
  const double tolerance = tolerance_of(p, s.input + 4 * h, 4);
  const auto forward_buffers = [=](std::int64_t n) {
    const std::int64_t rows = s.steps * n, state = n * h;
    Buffer hidden = values(Role::output, "hidden", p, rows * h + state),
           cells = values(Role::kept, "cells", p, rows * h + state);
    for (Buffer* kept : {&hidden, &cells}) {
      kept->written = true;
      kept->tolerance = tolerance;
    }
    return std::vector<Buffer>{values(Role::input, "x", p, rows * s.input),
                               values(Role::weight, "u_x", p, mx.u()),
                               values(Role::weight, "v_x", p, mx.v()),
                               values(Role::weight, "u_h", p, mh.u()),
                               values(Role::weight, "v_h", p, mh.v()),
                               values(Role::weight, "bias", p, 4 * h),
                               hidden,
                               cells,
                               result(Role::kept, "t_x", p, rows * mx.inner(), tolerance),
                               result(Role::kept, "t_h", p, rows * mh.inner(), tolerance),
                               result(Role::kept, "gates", p, rows * 4 * h, tolerance)};
  };
  const auto data_buffers = [=](std::int64_t n) {
    const std::int64_t rows = s.steps * n, state = n * h;
    return std::vector<Buffer>{values(Role::output_gradient, "dy", p, rows * h),
                               values(Role::kept, "gates", p, rows * 4 * h),
                               values(Role::kept, "cells", p, rows * h + state),
                               values(Role::weight, "u_x", p, mx.u()),
                               values(Role::weight, "v_x", p, mx.v()),
                               values(Role::weight, "u_h", p, mh.u()),
                               values(Role::weight, "v_h", p, mh.v()),
                               result(Role::kept, "dgates", p, rows * 4 * h, tolerance),
                               result(Role::kept, "dt_x", p, rows * mx.inner(), tolerance),
                               result(Role::kept, "dt_h", p, rows * mh.inner(), tolerance),
                               result(Role::input_gradient, "dx", p, rows * s.input, tolerance),
                               result(Role::kept, "dh", p, state, tolerance),
                               result(Role::kept, "dc", p, state, tolerance)};
  };
  const auto weight_buffers = [=](std::int64_t n) {
    const std::int64_t rows = s.steps * n;
    const Deviation sum = deviation_of(p, rows);
    return std::vector<Buffer>{values(Role::input, "x", p, rows * s.input),
                               values(Role::output, "hidden", p, rows * h),
                               values(Role::kept, "t_x", p, rows * mx.inner()),
                               values(Role::kept, "t_h", p, rows * mh.inner()),
                               values(Role::kept, "dgates", p, rows * 4 * h),
                               values(Role::kept, "dt_x", p, rows * mx.inner()),
                               values(Role::kept, "dt_h", p, rows * mh.inner()),
                               product_result(Role::weight_gradient, "du_x", p, mx.u(), sum),
                               product_result(Role::weight_gradient, "dv_x", p, mx.v(), sum),
                               product_result(Role::weight_gradient, "du_h", p, mh.u(), sum),
                               product_result(Role::weight_gradient, "dv_h", p, mh.v(), sum),
                               product_result(Role::weight_gradient, "db", p, 4 * h, sum)};
  };
  const double products = 2 * real(s.steps) * (mx.macs() + mh.macs()), gates = kGateFlops * real(s.steps * h);
  const auto kernel = kernel_maker(parameters_of(s), p);
  LayerKernels layer{kernel("lstm-forward", forward_buffers, products + gates, forward),
                     kernel("lstm-data-gradient", data_buffers, products + gates, data_gradient),
                     kernel("lstm-weight-gradient", weight_buffers, products, weight_gradient)};
  layer.forward->prepare = [p](const Call& call) { scale_weights(call, p, LstmForward::u_x); };
  layer.data_gradient->prepare = [p](const Call& call) { prepare_data_gradient(call, p); };
  return layer;
}

}  // namespace stepcast::kernels
