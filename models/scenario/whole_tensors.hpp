// Tensors that a compressor leaves as they are.
#pragma once

#include <fnmatch.h>

#include <algorithm>

#include "models/part/codec.hpp"
#include "models/workload/workload.hpp"

namespace stepcast {

/// Whether a tensor's name matches a pattern of the codec's `whole`.
inline bool matches(const std::string& pattern, const Gradient& tensor) {
  return fnmatch(pattern.c_str(), tensor.name.c_str(), 0) == 0;
}

/// Whether the codec leaves this tensor as it is: by its elements, its dimensions or its name.
inline bool stays_whole(const CodecSettings& codec, const Gradient& tensor) {
  if (tensor.elements < codec.min_elements || (codec.whole_vectors && tensor.dims.size() == 1)) return true;
  return codec.whole && std::any_of(codec.whole->begin(), codec.whole->end(),
                                    [&](const std::string& pattern) { return matches(pattern, tensor); });
}

/// Whether the codec may leave any tensor as it is.
inline bool may_leave_whole(const CodecSettings& codec) {
  return codec.min_elements > 0 || codec.whole_vectors || codec.whole;
}

}  // namespace stepcast
