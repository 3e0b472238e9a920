// A layer kernel as its check runs it: on its own shape, but on just enough of it to show whether it is right. The CPU
// reference is a plain loop in double (about 1 GFLOP/s).
#pragma once

#include "kernels/layers.hpp"

namespace stepcast::kernels {

struct ShapeToCheck {
  Kernel kernel;
  std::int64_t batch;
};

/// One sample; a batch norm gets enough samples for rows of four elements, since shorter rows leave only rounding. A
/// kernel above 2·10^9 operations a sample repeats fewer of its steps. The steps are rows of a linear layer, steps of
/// an LSTM, queries of an attention, or lines of an image. Widths stay, and so do the lengths of all sums except a
/// weight gradient's.
/// @pre a part of one of the layers of kernels/layers.hpp, not an update
ShapeToCheck shape_to_check(const Kernel& kernel);

}  // namespace stepcast::kernels
