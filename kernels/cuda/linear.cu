#include "kernels/cuda/bias.cuh"
#include "kernels/cuda/gemm.hpp"
#include "kernels/products.hpp"

namespace stepcast::kernels {
namespace {

template <Precision kPrecision>
void forward(const DeviceCall& c) {
  using T = Stored<kPrecision>;
  using B = ProductForward;
  const LinearShape s = linear_shape(c.parameters);
  const std::int64_t rows = c.n * s.rows;
  if (s.bias) write_bias(c, c.at<T>(B::bias), c.at<T>(B::y), rows, s.out, 1);
  if (s.rank == 0)
    return multiply(
        c, kPrecision,
        {rows, s.out, s.in, {c.buffers[B::x], s.in}, {c.buffers[B::u], s.in, true}, {c.buffers[B::y], s.out}, s.bias});
  multiply(c, kPrecision,
           {rows, s.rank, s.in, {c.buffers[B::x], s.in}, {c.buffers[B::u], s.in, true}, {c.buffers[B::t], s.rank}});
  multiply(c, kPrecision,
           {rows,
            s.out,
            s.rank,
            {c.buffers[B::t], s.rank},
            {c.buffers[B::v], s.rank, true},
            {c.buffers[B::y], s.out},
            s.bias});
}

template <Precision kPrecision>
void data_gradient(const DeviceCall& c) {
  using B = ProductDataGradient;
  const LinearShape s = linear_shape(c.parameters);
  const std::int64_t rows = c.n * s.rows;
  if (s.rank == 0)
    return multiply(c, kPrecision,
                    {rows, s.in, s.out, {c.buffers[B::dy], s.out}, {c.buffers[B::u], s.in}, {c.buffers[B::dx], s.in}});
  multiply(c, kPrecision,
           {rows, s.rank, s.out, {c.buffers[B::dy], s.out}, {c.buffers[B::v], s.rank}, {c.buffers[B::dt], s.rank}});
  multiply(c, kPrecision,
           {rows, s.in, s.rank, {c.buffers[B::dt], s.rank}, {c.buffers[B::u], s.in}, {c.buffers[B::dx], s.in}});
}

template <Precision kPrecision>
void weight_gradient(const DeviceCall& c) {
  using T = Stored<kPrecision>;
  using B = ProductWeightGradient;
  const LinearShape s = linear_shape(c.parameters);
  const std::int64_t rows = c.n * s.rows;
  if (s.rank == 0) {
    multiply(c, kPrecision,
             {s.out, s.in, rows, {c.buffers[B::dy], s.out, true}, {c.buffers[B::x], s.in}, {c.buffers[B::du], s.in}});
  } else {
    multiply(c, kPrecision,
             {s.rank, s.in, rows, {c.buffers[B::dt], s.rank, true}, {c.buffers[B::x], s.in}, {c.buffers[B::du], s.in}});
    multiply(
        c, kPrecision,
        {s.out, s.rank, rows, {c.buffers[B::dy], s.out, true}, {c.buffers[B::t], s.rank}, {c.buffers[B::dv], s.rank}});
  }
  if (s.bias) sum_channels(c, c.at<T>(B::dy), rows, s.out, 1, c.at<T>(B::db), c.scratch);
}

std::size_t weight_scratch(const DeviceCall& c) {
  const LinearShape s = linear_shape(c.parameters);
  return s.bias ? channel_sum_scratch(c.n * s.rows, s.out, 1) : 0;
}

}  // namespace

void add_linear_launches(std::vector<Launch>& list) {
  for_each_precision([&](auto precision) {
    constexpr Precision kPrecision = decltype(precision)::value;
    const std::string method = name_of(kPrecision);
    list.push_back({"linear-forward/" + method, forward<kPrecision>, no_scratch});
    list.push_back({"linear-data-gradient/" + method, data_gradient<kPrecision>, no_scratch});
    list.push_back({"linear-weight-gradient/" + method, weight_gradient<kPrecision>, weight_scratch});
  });
}

}  // namespace stepcast::kernels
