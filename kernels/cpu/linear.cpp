// y = W x + b for each row; W is whole or V U. X has R = batch·rows rows and is row-major.
//   forward          T = X Uᵀ, Y = T Vᵀ + b                 2R·r(in + out) operations, 2R·in·out with W whole
//   data gradient    dT = dY V, dX = dT U                   as many
//   weight gradient  dU = dTᵀ X, dV = dYᵀ T, db = Σ dY      as many
// A bias adds one operation for each output. T and dT are kept: the weight gradient takes them as inputs.
#include "kernels/cpu/reference.hpp"

namespace stepcast::kernels {
namespace {

struct Sizes {
  explicit Sizes(const LinearShape& x)
      : u((x.rank > 0 ? x.rank : x.out) * x.in), v(x.rank * x.out), bias(x.bias ? x.out : 0) {}
  std::int64_t u, v, bias;
};

double product_flops(const LinearShape& x) {
  return 2 * real(x.rows) * (x.rank > 0 ? real(x.rank) * (real(x.in) + real(x.out)) : real(x.in) * real(x.out));
}
double bias_flops(const LinearShape& x) { return x.bias ? real(x.rows) * real(x.out) : 0; }

/// A (m x k) B (k x n)
Numbers product(std::int64_t m, std::int64_t n, std::int64_t k, View a, View b) {
  Numbers c(m * n);
  add_product(m, n, k, a, b, c.data(), n);
  return c;
}

void forward(const Call& call, Precision precision) {
  const LinearShape s = linear_shape(call.parameters);
  const Sizes sizes(s);
  const Operands operands(call, precision);
  using Buffers = ProductForward;
  const std::int64_t rows = call.n * s.rows;
  Numbers x = operands.read(Buffers::x, rows * s.in), weight = operands.read(Buffers::u, sizes.u);
  std::int64_t in = s.in;
  if (s.rank > 0) {
    x = product(rows, s.rank, s.in, {x.data(), s.in}, {weight.data(), s.in, true});
    operands.write(Buffers::t, x);
    weight = operands.read(Buffers::v, sizes.v);
    in = s.rank;
  }
  Numbers y = product(rows, s.out, in, {x.data(), in}, {weight.data(), in, true});
  const Numbers bias = operands.read(Buffers::bias, sizes.bias);
  for (std::size_t i = 0; !bias.empty() && i < y.size(); ++i) y[i] += bias[i % bias.size()];
  operands.write(Buffers::y, y);
}

void data_gradient(const Call& call, Precision precision) {
  const LinearShape s = linear_shape(call.parameters);
  const Sizes sizes(s);
  const Operands operands(call, precision);
  using Buffers = ProductDataGradient;
  const std::int64_t rows = call.n * s.rows;
  Numbers dy = operands.read(Buffers::dy, rows * s.out);
  std::int64_t out = s.out;
  if (s.rank > 0) {
    const Numbers v = operands.read(Buffers::v, sizes.v);
    dy = product(rows, s.rank, s.out, {dy.data(), s.out}, {v.data(), s.rank});
    operands.write(Buffers::dt, dy);
    out = s.rank;
  }
  const Numbers u = operands.read(Buffers::u, sizes.u);
  Numbers dx = product(rows, s.in, out, {dy.data(), out}, {u.data(), s.in});
  operands.write(Buffers::dx, dx);
}

void weight_gradient(const Call& call, Precision precision) {
  const LinearShape s = linear_shape(call.parameters);
  const Operands operands(call, precision);
  using Buffers = ProductWeightGradient;
  const std::int64_t rows = call.n * s.rows, between = s.rank > 0 ? s.rank : s.out;
  const Numbers x = operands.read(Buffers::x, rows * s.in), dy = operands.read(Buffers::dy, rows * s.out);
  const Numbers dt = s.rank > 0 ? operands.read(Buffers::dt, rows * s.rank) : dy;
  Numbers du = product(between, s.in, rows, {dt.data(), between, true}, {x.data(), s.in});
  operands.write(Buffers::du, du);
  if (s.rank > 0) {
    const Numbers t = operands.read(Buffers::t, rows * s.rank);
    Numbers dv = product(s.out, s.rank, rows, {dy.data(), s.out, true}, {t.data(), s.rank});
    operands.write(Buffers::dv, dv);
  }
  if (s.bias) {
    Numbers db = column_sums(dy, s.out);
    operands.write(Buffers::db, db);
  }
}

}  // namespace

LayerKernels linear_layer(const LinearShape& s, Precision p) {
  const Sizes sizes(s);
  const bool factorized = s.rank > 0;
  const auto forward_buffers = [=](std::int64_t n) {
    const std::int64_t rows = n * s.rows;
    return std::vector<Buffer>{values(Role::input, "x", p, rows * s.in),
                               values(Role::weight, "u", p, sizes.u),
                               values(Role::weight, "v", p, sizes.v),
                               values(Role::weight, "bias", p, sizes.bias),
                               product_result(Role::kept, "t", p, rows * s.rank, deviation_of(p, s.in)),
                               factorized
                                   ? result(Role::output, "y", p, rows * s.out, deviation_of(p, s.in + s.rank, s.in))
                                   : product_result(Role::output, "y", p, rows * s.out, deviation_of(p, s.in))};
  };
  const auto data_buffers = [=](std::int64_t n) {
    const std::int64_t rows = n * s.rows;
    return std::vector<Buffer>{
        values(Role::output_gradient, "dy", p, rows * s.out), values(Role::weight, "u", p, sizes.u),
        values(Role::weight, "v", p, sizes.v),
        product_result(Role::kept, "dt", p, rows * s.rank, deviation_of(p, s.out)),
        factorized ? result(Role::input_gradient, "dx", p, rows * s.in, deviation_of(p, s.out + s.rank, s.out))
                   : product_result(Role::input_gradient, "dx", p, rows * s.in, deviation_of(p, s.out))};
  };
  const auto weight_buffers = [=](std::int64_t n) {
    const std::int64_t rows = n * s.rows;
    const Deviation sum = deviation_of(p, rows);
    return std::vector<Buffer>{values(Role::input, "x", p, rows * s.in),
                               values(Role::kept, "t", p, rows * s.rank),
                               values(Role::kept, "dt", p, rows * s.rank),
                               values(Role::output_gradient, "dy", p, rows * s.out),
                               product_result(Role::weight_gradient, "du", p, sizes.u, sum),
                               product_result(Role::weight_gradient, "dv", p, sizes.v, sum),
                               product_result(Role::weight_gradient, "db", p, sizes.bias, sum)};
  };
  const auto kernel = kernel_maker(parameters_of(s), p);
  return {kernel("linear-forward", forward_buffers, product_flops(s) + bias_flops(s), forward),
          kernel("linear-data-gradient", data_buffers, product_flops(s), data_gradient),
          kernel("linear-weight-gradient", weight_buffers, product_flops(s) + bias_flops(s), weight_gradient)};
}

}  // namespace stepcast::kernels
