#include <algorithm>

#include "models/compressor/codec_kernels.hpp"
#include "models/compressor/low_rank.hpp"

namespace stepcast {

CodecPlan plan(const PowerSgd& x, const Tensor& tensor) {
  // Payload: Vogels et al. 2019, algorithm 1 (recalled): P of n x r and Q of m x r, each summed over the workers.
  if (!tensor.is_matrix()) return uncompressed(tensor);
  const std::int64_t n = tensor.rows(), m = tensor.columns(), r = std::min<std::int64_t>({x.rank, n, m});
  if (static_cast<double>(n * m) <= x.min_rate * static_cast<double>((n + m) * r)) return uncompressed(tensor);
  const Bytes element = size_of(tensor.dtype);
  CodecPlan plan;
  plan.stages = {{{orthogonalise(m, r, element), matrix_product("matrix-product", n, m, r, element)},
                  {{"P", Primitive::all_reduce, static_cast<double>(n * r) * element}}},
                 {{orthogonalise(n, r, element), matrix_product("matrix-product", m, n, r, element)},
                  {{"Q", Primitive::all_reduce, static_cast<double>(m * r) * element}}}};
  plan.decode.first = {matrix_product("matrix-product", n, r, m, element)};
  add_error_feedback(plan, tensor);
  return plan;
}

}  // namespace stepcast
