// Convolutions without columns in memory, against the CPU reference: any shape, on the emulator.
#include "kernels/cuda/kernel_check.hpp"
#include "kernels/layers.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/property.hpp"

using namespace stepcast::kernels;
using namespace stepcast::test;

namespace {

void check(const Conv2dShape& shape, std::int64_t n, Input input, std::uint64_t seed) {
  static const Context context;
  for (const Precision precision : kPrecisions) {
    const LayerKernels layer = conv2d_layer(shape, precision, ConvolutionPath::implicit);
    for (const Kernel* part : layer.parts())
      if (const auto wrong = check_kernel(context, *part, n, input, seed)) FAIL(*wrong);
  }
}

Conv2dShape any_convolution() {
  Conv2dShape s{};
  const bool grouped = integer_between(0, 3) == 0;
  s.groups = grouped ? integer_between(2, 3) : 1;
  s.in = s.groups * integer_between(1, grouped ? 3 : 40);
  s.out = s.groups * integer_between(1, grouped ? 3 : 40);
  s.kernel_height = integer_between(1, 7);
  s.kernel_width = coin() ? s.kernel_height : integer_between(1, 7);
  s.stride = integer_between(1, 3);
  // Padding of the kernel's size or more is unusual, and has windows that are all outside.
  s.padding_height = integer_between(0, static_cast<int>(s.kernel_height));
  s.padding_width = integer_between(0, static_cast<int>(s.kernel_width));
  s.height = s.kernel_height + integer_between(0, 6);
  s.width = s.kernel_width + integer_between(0, 6);
  if (!grouped && coin()) s.rank = integer_between(1, 37);
  s.bias = coin();
  return s;
}

}  // namespace

TEST_CASE("implicit convolutions are the reference's") {
  property(
      "any shape, stride and padding, on sums that are rounded and on sums that are exact",
      [] {
        const Conv2dShape shape = any_convolution();
        check(shape, integer_between(1, 3), coin() ? Input::normal : Input::whole,
              static_cast<std::uint64_t>(integer_between(0, 1 << 20)));
      },
      60);
}

// Tiles are 32 x 128, 64 x 128 and 128 x 64; sums are cut into parts of at least 8 tiles of 16 or 32. What is a
// tile's size exactly, one more and one less; pixels that fill 16 bytes or do not, so that 1 x 1 kernels go either way.
TEST_CASE("implicit convolutions at the tiles' borders") {
  for (const std::int64_t out : {16, 31, 32, 33, 64, 65, 128, 129})
    check(square_conv2d(3, out, 3, 1, 8), 2, Input::whole, static_cast<std::uint64_t>(out));
  for (const std::int64_t side : {4, 5, 7, 8}) {
    check(square_conv2d(16, 24, 1, 1, side), 3, Input::normal, static_cast<std::uint64_t>(side));
    check(square_conv2d(40, 24, 1, 1, side, 20, true), 3, Input::normal, static_cast<std::uint64_t>(side));
  }
}

// Windows as large as bits for their taps, and by columns beyond: 15 and 16 a side.
TEST_CASE("implicit convolutions of large kernels") {
  check(square_conv2d(3, 5, 15, 2, 18, 2, true), 2, Input::normal, 15);
  check(square_conv2d(3, 5, 16, 2, 18, 2, true), 2, Input::normal, 16);
}

// The first as the last stage of ResNet-50 at a quarter of its rank: few tiles, long sums.
TEST_CASE("implicit convolutions whose sums are cut into parts") {
  check(square_conv2d(96, 160, 3, 1, 7, 48, true), 1, Input::normal, 5);
  check(square_conv2d(64, 16, 3, 2, 14), 8, Input::whole, 6);
}
