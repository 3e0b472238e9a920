// Convolutions as matrix products whose columns are never written (implicit GEMM): a block gathers the columns of its
// tile from the image into shared memory, depth by depth, and multiplies them there. C++17.
//
//   y = W · columns(x)                  out x (images·pixels), sums over in·kh·kw taps
//   dx = Wᵀ · columns(dy)               in x (images·pixels), sums over out·kh·kw: the columns of a pixel are those
//                                       output pixels that it went into. With a stride of s the pixels of each of
//                                       the s² remainders of row and column have taps of their own, a launch each
//   dW = dy · columns(x)ᵀ               out x in·kh·kw, sums over images·pixels
//
// Images stay batch x channels x height x width, so neighbours in a column's row are neighbours in memory. Where a
// product has fewer tiles than fill the device, its sums are cut into parts in scratch, which are added in their order:
// the same result each time. 1 x 1 kernels with stride 1 have no columns: y and dx are cuBLAS's products (columns.hpp)
// where an image's pixels are whole 16 bytes, as its fast kernels need them. Kernels of more than 15 taps a side are
// im2col's.
//
// Bytes moved at the least, for E of an element: E·(images·in·height·width + out·in·kh·kw + images·out·pixels);
// im2col writes E·images·in·kh·kw·pixels more, and reads them. Each element of a column is gathered once for every 128
// rows of the product (32 or 64, where it has no more), from L1 or L2 but for the first of kh·kw times. Operations are
// im2col's, but that tiles of 32 x 128, 64 x 128 or 128 x 64 are multiplied whole.
//
// Expected, not measured, of 32 images of 128 channels of 28 x 28 and a rank of 32 in tf32: the product on columns that
// are there reads 25088·1152·4 bytes, 116 MB, 35 us at 3.35 TB/s. Gathering instead, a warp needs about 250
// instructions (sm_90) for its 32 x 32 sums and a depth of 16; 196 tiles of four warps, 72 deep, are 14 million, 24 us
// at 2.5 a cycle of 1.75 GHz on each of 132 multiprocessors.
#pragma once

#include "kernels/cuda/launch.hpp"
#include "kernels/products.hpp"

namespace stepcast::kernels {

/// As ColumnsConvolution (columns.hpp).
/// @throws std::length_error for images or pixels beyond 2^31, as their indices have 32 bits
template <Precision kPrecision>
struct ImplicitConvolution {
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
