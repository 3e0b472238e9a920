#include "models/compressor/basic.hpp"
#include "models/compressor/codec_kernels.hpp"

namespace stepcast {

// Payload: d·e by definition; no paper.
CodecPlan plan(const NoCompressor&, const Tensor& tensor) { return uncompressed(tensor); }

}  // namespace stepcast
