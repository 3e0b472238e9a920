#include "kernels/cuda/columns.hpp"

#include <algorithm>
#include <stdexcept>

#include "kernels/code/divisor.hpp"
#include "kernels/cuda/error.hpp"
#include "kernels/cuda/gemm.hpp"
#include "kernels/cuda/stored.cuh"

namespace stepcast::kernels {
namespace {

constexpr std::int64_t kColumnBytes = std::int64_t{256} << 20;
constexpr std::int64_t kMostElements = std::int64_t{1} << 31;  // elements in a part: indices have 32 bits

Divisor divisor(std::int64_t x) { return Divisor(static_cast<std::uint32_t>(x)); }

/// Rows of an image's columns, over all groups.
std::int64_t rows_of(const Conv2dShape& s) { return s.in * s.kernel_height * s.kernel_width; }

/// Images whose columns are made at once.
std::int64_t images_at_once(const Conv2dShape& s, std::int64_t images, std::int64_t element) {
  const std::int64_t columns = rows_of(s) * output_pixels(s),
                     most = std::max({columns, input_elements(s), output_elements(s)});
  if (most > kMostElements)
    throw std::length_error("a convolution of " + std::to_string(most) +
                            " elements for an image; allowed: 2^31, as their indices have 32 bits");
  return std::min(images,
                  std::max<std::int64_t>(1, std::min(kColumnBytes / (columns * element), kMostElements / most)));
}

/// Columns of images, as columns[image][row][pixel] or, side by side, columns[row][image][pixel]; a row is a channel
/// and a tap. A thread writes four elements, wherever they begin.
template <class T>
struct Unfold {
  Unfold(const Conv2dShape& s, std::int64_t images, bool side_by_side_, const T* x_, T* columns_)
      : x(x_),
        columns(columns_),
        count(images * rows_of(s) * output_pixels(s)),
        side_by_side(side_by_side_),
        pixels(divisor(output_pixels(s))),
        width_out(divisor(output_width(s))),
        rows(divisor(rows_of(s))),
        images_(divisor(images)),
        taps(divisor(s.kernel_height * s.kernel_width)),
        kernel_width(divisor(s.kernel_width)),
        channels(static_cast<int>(s.in)),
        height(static_cast<int>(s.height)),
        width(static_cast<int>(s.width)),
        height_out(static_cast<int>(output_height(s))),
        columns_out(static_cast<int>(output_width(s))),
        stride(static_cast<int>(s.stride)),
        padding_height(static_cast<int>(s.padding_height)),
        padding_width(static_cast<int>(s.padding_width)) {}

  const T* x;
  T* columns;
  std::int64_t count;
  bool side_by_side;
  Divisor pixels, width_out, rows, images_, taps, kernel_width;
  int channels, height, width, height_out, columns_out, stride, padding_height, padding_width;

  /// The source of element e of the columns: row and column of the image's plane for output pixel (0, 0), and the
  /// output pixel.
  struct Source {
    const T* plane;
    int top, left, row, column;
  };

  __device__ Source source(std::uint32_t e) const {
    const std::uint32_t pixel = pixels.split(e);
    std::uint32_t image, row;
    if (side_by_side) {
      image = images_.split(e);
      row = e;
    } else {
      row = rows.split(e);
      image = e;
    }
    const std::uint32_t tap = taps.split(row);  // row is the channel now
    std::uint32_t kernel_row = tap, output_row = pixel;
    const std::uint32_t kernel_column = kernel_width.split(kernel_row), output_column = width_out.split(output_row);
    const T* plane = x + (static_cast<std::int64_t>(image) * channels + row) * height * width;
    return {plane, static_cast<int>(kernel_row) - padding_height, static_cast<int>(kernel_column) - padding_width,
            static_cast<int>(output_row), static_cast<int>(output_column)};
  }

  __device__ void operator()(std::int64_t g) const {
    const auto first = static_cast<std::uint32_t>(4 * g);
    Source from = source(first);
    Pack<T> pack{};
    for (int k = 0; k < 4 && 4 * g + k < count; ++k) {
      const int row = from.row * stride + from.top, column = from.column * stride + from.left;
      if (row >= 0 && row < height && column >= 0 && column < width)
        pack.v[k] = from.plane[static_cast<std::int64_t>(row) * width + column];
      if (++from.column < columns_out) continue;
      from.column = 0;
      if (++from.row == height_out && k < 3 && 4 * g + k + 1 < count)
        from = source(first + static_cast<std::uint32_t>(k) + 1);
    }
    store(columns, g, count, pack);
  }
};

template <class T>
void unfold(const DeviceCall& call, const Conv2dShape& s, std::int64_t images, bool side_by_side, const T* x,
            T* columns) {
  const Unfold<T> op(s, images, side_by_side, x, columns);
  sweep_groups(call, op.count, op);
}

/// dx of the columns' gradients, columns[image][row][pixel]: each input pixel adds up the taps that met it.
template <class T>
struct Fold {
  Fold(const Conv2dShape& s, const T* columns_, T* dx_, bool accumulate_)
      : columns(columns_),
        dx(dx_),
        accumulate(accumulate_),
        width(divisor(s.width)),
        height(divisor(s.height)),
        strides(divisor(s.stride)),
        kernel_height(static_cast<int>(s.kernel_height)),
        kernel_width(static_cast<int>(s.kernel_width)),
        stride(static_cast<int>(s.stride)),
        padding_height(static_cast<int>(s.padding_height)),
        padding_width(static_cast<int>(s.padding_width)),
        height_out(static_cast<int>(output_height(s))),
        width_out(static_cast<int>(output_width(s))) {}

  const T* columns;
  T* dx;
  bool accumulate;
  Divisor width, height, strides;
  int kernel_height, kernel_width, stride, padding_height, padding_width, height_out, width_out;

  __device__ void operator()(std::int64_t e) const {
    auto plane = static_cast<std::uint32_t>(e);
    const std::uint32_t column = width.split(plane), row = height.split(plane);  // plane is image and channel now
    // Tap i of output row p meets input row stride·p + i - padding: the first tap, and its output row.
    std::uint32_t bottom = row + static_cast<std::uint32_t>(padding_height),
                  right = column + static_cast<std::uint32_t>(padding_width);
    const int first_i = static_cast<int>(strides.split(bottom)), first_j = static_cast<int>(strides.split(right));
    const std::int64_t pixels = static_cast<std::int64_t>(height_out) * width_out;
    const T* taps = columns + static_cast<std::int64_t>(plane) * kernel_height * kernel_width * pixels;
    float sum = accumulate ? widen(dx[e]) : 0.0F;
    for (int i = first_i, p = static_cast<int>(bottom); i < kernel_height && p >= 0; i += stride, --p) {
      if (p >= height_out) continue;
      for (int j = first_j, q = static_cast<int>(right); j < kernel_width && q >= 0; j += stride, --q)
        if (q < width_out) sum += widen(taps[(i * kernel_width + j) * pixels + p * width_out + q]);
    }
    store_rounded(dx[e], sum);
  }
};

template <class T>
struct Narrow {
  const float* from;
  T* to;
  __device__ void operator()(std::int64_t i) const { store_rounded(to[i], from[i]); }
};

template <class T>
T* at(std::size_t& offset, const DeviceCall& call, std::int64_t elements) {
  T* data = call.scratch_at<T>(offset);
  offset += aligned(sizeof(T) * elements);
  return data;
}

/// W · columns of some images.
Product forward_product(const Conv2dShape& s, std::int64_t images) {
  const std::int64_t k = taps(s), pixels = output_pixels(s), out = s.out / s.groups;
  Product product{out,
                  pixels,
                  k,
                  {nullptr, k, false, 0, out * k},
                  {nullptr, pixels, false, rows_of(s) * pixels, k * pixels},
                  {nullptr, pixels, s.out * pixels, out * pixels}};
  product.outer_count = images;
  product.inner_count = s.groups;
  return product;
}

/// Wᵀ · dy of some images.
Product data_product(const Conv2dShape& s, std::int64_t images) {
  const std::int64_t k = taps(s), pixels = output_pixels(s), out = s.out / s.groups;
  Product product{k,
                  pixels,
                  out,
                  {nullptr, k, true, 0, out * k},
                  {nullptr, pixels, false, s.out * pixels, out * pixels},
                  {nullptr, pixels, rows_of(s) * pixels, k * pixels}};
  product.outer_count = images;
  product.inner_count = s.groups;
  return product;
}

/// dy as the columns of a 1 x 1 kernel, to be laid out side by side.
Conv2dShape pixels_of_output(const Conv2dShape& s) {
  return {s.out, s.out, 1, 1, 1, 0, 0, 1, output_height(s), output_width(s)};
}

}  // namespace

template <Precision kPrecision>
void ColumnsConvolution<kPrecision>::forward(const DeviceCall& call, const Conv2dShape& s, const void* x, const void* w,
                                             void* y, bool accumulate) {
  using T = Stored<kPrecision>;
  const std::int64_t at_once = is_pointwise(s) ? call.n : images_at_once(s, call.n, sizeof(T));
  for (std::int64_t first = 0; first < call.n; first += at_once) {
    const std::int64_t images = std::min(at_once, call.n - first);
    Product product = forward_product(s, images);
    std::size_t offset = aligned(pointer_bytes(product));
    const T* input = static_cast<const T*>(x) + first * input_elements(s);
    if (!is_pointwise(s)) {
      T* columns = at<T>(offset, call, images * rows_of(s) * output_pixels(s));
      unfold(call, s, images, false, input, columns);
      input = columns;
    }
    product.a.data = w;
    product.b.data = input;
    product.c.data = static_cast<T*>(y) + first * output_elements(s);
    product.accumulate = accumulate;
    multiply(call, kPrecision, product, call.scratch);
  }
}

template <Precision kPrecision>
void ColumnsConvolution<kPrecision>::data_gradient(const DeviceCall& call, const Conv2dShape& s, const void* dy,
                                                   const void* w, void* dx, bool accumulate) {
  using T = Stored<kPrecision>;
  const std::int64_t at_once = is_pointwise(s) ? call.n : images_at_once(s, call.n, sizeof(T));
  for (std::int64_t first = 0; first < call.n; first += at_once) {
    const std::int64_t images = std::min(at_once, call.n - first);
    Product product = data_product(s, images);
    std::size_t offset = aligned(pointer_bytes(product));
    T* to = static_cast<T*>(dx) + first * input_elements(s);
    T* columns = is_pointwise(s) ? to : at<T>(offset, call, images * rows_of(s) * output_pixels(s));
    product.a.data = w;
    product.b.data = static_cast<const T*>(dy) + first * output_elements(s);
    product.c.data = columns;
    product.accumulate = accumulate && is_pointwise(s);
    multiply(call, kPrecision, product, call.scratch);
    if (is_pointwise(s)) continue;
    const std::int64_t elements = images * input_elements(s);
    sweep<<<blocks_for(elements), kThreads, 0, call.stream>>>(elements, Fold<T>(s, columns, to, accumulate));
  }
}

template <Precision kPrecision>
void ColumnsConvolution<kPrecision>::weight_gradient(const DeviceCall& call, const Conv2dShape& s, const void* x,
                                                     const void* dy, void* dw) {
  using T = Stored<kPrecision>;
  const std::int64_t at_once = images_at_once(s, call.n, sizeof(T)), k = taps(s), out = s.out / s.groups;
  // Sums over parts are kept in fp32.
  const bool wide = sizeof(T) < sizeof(float) && at_once < call.n;
  std::size_t offset = 0;
  T* columns_scratch = at<T>(offset, call, at_once * rows_of(s) * output_pixels(s));
  T* output_scratch = at<T>(offset, call, at_once > 1 ? at_once * output_elements(s) : 0);
  float* sums = at<float>(offset, call, wide ? weight_elements(s) : 0);
  for (std::int64_t first = 0; first < call.n; first += at_once) {
    const std::int64_t images = std::min(at_once, call.n - first), columns = images * output_pixels(s);
    const T* input = static_cast<const T*>(x) + first * input_elements(s);
    const T* output = static_cast<const T*>(dy) + first * output_elements(s);
    if (images > 1 || !is_pointwise(s)) {
      unfold(call, s, images, true, input, columns_scratch);
      input = columns_scratch;
    }
    if (images > 1) {
      unfold(call, pixels_of_output(s), images, true, output, output_scratch);
      output = output_scratch;
    }
    Product product{out,
                    k,
                    columns,
                    {output, columns, false, 0, out * columns},
                    {input, columns, true, 0, k * columns},
                    {wide ? static_cast<void*>(sums) : dw, k, 0, out * k}};
    product.accumulate = first > 0;
    product.inner_count = s.groups;
    product.wide_result = wide;
    multiply(call, kPrecision, product);
  }
  if (wide)
    sweep<<<blocks_for(weight_elements(s)), kThreads, 0, call.stream>>>(weight_elements(s),
                                                                        Narrow<T>{sums, static_cast<T*>(dw)});
}

template <Precision kPrecision>
std::size_t ColumnsConvolution<kPrecision>::forward_scratch(const DeviceCall& call, const Conv2dShape& s) {
  using T = Stored<kPrecision>;
  if (is_pointwise(s)) return aligned(pointer_bytes(forward_product(s, call.n)));
  const std::int64_t images = images_at_once(s, call.n, sizeof(T));
  return aligned(pointer_bytes(forward_product(s, images))) +
         aligned(sizeof(T) * (images * rows_of(s) * output_pixels(s)));
}

template <Precision kPrecision>
std::size_t ColumnsConvolution<kPrecision>::data_scratch(const DeviceCall& call, const Conv2dShape& s) {
  using T = Stored<kPrecision>;
  if (is_pointwise(s)) return aligned(pointer_bytes(data_product(s, call.n)));
  const std::int64_t images = images_at_once(s, call.n, sizeof(T));
  return aligned(pointer_bytes(data_product(s, images))) +
         aligned(sizeof(T) * (images * rows_of(s) * output_pixels(s)));
}

template <Precision kPrecision>
std::size_t ColumnsConvolution<kPrecision>::weight_scratch(const DeviceCall& call, const Conv2dShape& s) {
  using T = Stored<kPrecision>;
  const std::int64_t images = images_at_once(s, call.n, sizeof(T));
  const auto bytes = [](std::int64_t elements, std::size_t size) {
    return aligned(size * static_cast<std::size_t>(elements));
  };
  return bytes(images * rows_of(s) * output_pixels(s), sizeof(T)) +
         bytes(images > 1 ? images * output_elements(s) : 0, sizeof(T)) +
         bytes(sizeof(T) < sizeof(float) && images < call.n ? weight_elements(s) : 0, sizeof(float));
}

template struct ColumnsConvolution<Precision::fp32>;
template struct ColumnsConvolution<Precision::tf32>;
template struct ColumnsConvolution<Precision::bf16>;

}  // namespace stepcast::kernels
