#include <algorithm>

#include <fmt/format.h>

#include "models/compressor/codec_kernels.hpp"
#include "models/compressor/low_rank.hpp"

namespace stepcast {

CodecPlan plan(const Atomo& x, const Tensor& tensor) {
  // Payload: Wang et al. 2018, section 3.2, "spectral-ATOMO" (recalled): s triplets of a value and two vectors.
  if (!tensor.is_matrix()) return uncompressed(tensor);
  const std::int64_t n = tensor.rows(), m = tensor.columns(), s = std::min<std::int64_t>({x.rank, n, m});
  if (static_cast<double>(n * m) <= x.min_rate * static_cast<double>((n + m + 1) * s)) return uncompressed(tensor);
  const double a = static_cast<double>(std::max(n, m)), b = static_cast<double>(std::min(n, m));
  const Bytes element = size_of(tensor.dtype), dense = tensor.dense(),
              wire = static_cast<double>(s * (n + m + 1)) * element;
  CodecPlan plan;
  plan.stages = {
      {{{"svd", dense, (a * b + b + b * b) * element, Flops(14 * a * b * b + 8 * b * b * b)}, {"gather", wire, wire}},
       {{"singular triplets", Primitive::all_gather_unequal, wire, 4_B}}}};
  const CodecKernel product = matrix_product("matrix-product", n, s, m, element);
  CodecKernel accumulate = product;  // also reads the sum
  accumulate.read += dense;
  accumulate.flops += Flops(static_cast<double>(tensor.elements()));
  plan.decode.first = {product};
  plan.decode.further = {accumulate};
  plan.assumed = fmt::format("{} singular triplets drawn, the expected number, on all workers", s);
  return plan;
}

}  // namespace stepcast
