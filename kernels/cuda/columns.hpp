// Convolutions as matrix products of columns (im2col): column p, one for each output pixel, holds the
// input pixels under its taps. C++17.
//
// An image's columns are kh·kw times the image. Images are therefore taken in parts whose columns fill at most 256 MiB,
// or one by one if a single image's are more. Kernels of 1 x 1 with stride 1 read the image itself.
//   y = W · columns                      a batch of products, of each image and group; y is in its place at once
//   dx: Wᵀ · dy, then folded             likewise; each input pixel gathers its taps, without atomics
//   dW = dy · columnsᵀ                   one product over all pixels of all images of the part; columns and dy are
//                                        laid out channel by channel for it; 1 x 1 kernels too
#pragma once

#include "kernels/cuda/launch.hpp"
#include "kernels/products.hpp"

namespace stepcast::kernels {

/// The convolutions of call.n images, without bias and rank; scratch begins at call.scratch. With `accumulate`, they
/// add to the existing result.
template <Precision kPrecision>
struct ColumnsConvolution {
  static void forward(const DeviceCall& call, const Conv2dShape& shape, const void* x, const void* w, void* y,
                      bool accumulate);
  static void data_gradient(const DeviceCall& call, const Conv2dShape& shape, const void* dy, const void* w, void* dx,
                            bool accumulate);
  static void weight_gradient(const DeviceCall& call, const Conv2dShape& shape, const void* x, const void* dy,
                              void* dw);
  static std::size_t forward_scratch(const DeviceCall& call, const Conv2dShape& shape);
  static std::size_t data_scratch(const DeviceCall& call, const Conv2dShape& shape);
  static std::size_t weight_scratch(const DeviceCall& call, const Conv2dShape& shape);
};

}  // namespace stepcast::kernels
