#include <algorithm>
#include <stdexcept>

#include "kernels/cuda/launch.hpp"

namespace stepcast::kernels {
namespace {

__global__ void empty() {}

}  // namespace

std::vector<Launch> launches() {
  std::vector<Launch> list;
  add_elementwise_launches(list);
  add_sign_launches(list);
  add_quantizer_launches(list);
  add_sparsifier_launches(list);
  add_sampled_threshold_launches(list);
  add_sketch_launches(list);
  add_three_lc_launches(list);
  add_inceptionn_launches(list);
  add_low_rank_launches(list);
  add_decode_sum_launches(list);
  add_feedback_launches(list);
#ifdef STEPCAST_HAS_CUSOLVER
  add_svd_launches(list);
#endif
  add_block_launches(list);
  add_product_launches(list);
  return list;
}

bool has_launch(const std::string& name) {
  const std::vector<Launch> list = launches();
  return std::any_of(list.begin(), list.end(), [&](const Launch& launch) { return launch.name == name; });
}

Launch find_launch(const std::string& name) {
  for (const Launch& launch : launches())
    if (launch.name == name) return launch;
  throw std::invalid_argument("kernel \"" + name + "\" has no CUDA launch");
}

void launch_empty(cudaStream_t stream) { empty<<<1, 1, 0, stream>>>(); }

}  // namespace stepcast::kernels
