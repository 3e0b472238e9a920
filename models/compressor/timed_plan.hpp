// A method's plan with an implementation's times of encoding and decoding in place of the method's kernels.
#pragma once

#include <span>

#include "models/compressor/compressor.hpp"

namespace stepcast {

/// The plan of make_plan(), with the times that `rates` has for encoding and decoding the method's messages. Without
/// `decode` there, or without such times, it is make_plan()'s own. Messages are the same in any case.
///
/// For d elements in t tensors that the method encodes, b is per_element and t·a the sum of per_tensor + r·per_rank over
/// them, r = rank_of(tensor). a' and b' are those of decoding.
///     encode     t·a + d·b, all before the first stage's messages
///     decode     t·a' + d·b' for each message; each further message is then added, which reads 2d and writes d elements
///     vote       if the workers vote, one kernel takes the sign of the sum of several messages
///     feedback   the kernel that adds the residual; later a'·t + b'·d for the own message, and the kernel that subtracts
/// A group of flat vectors is one tensor, as for make_plan(). A tensor that the method leaves whole does not count. With
/// `error_feedback` the last line is part of encoding.
/// @param rates  of this method (codec_rates)
CodecPlan timed_plan(const Compressor& compressor, std::span<const Tensor> group, int workers, const CodecRates& rates);

}  // namespace stepcast
