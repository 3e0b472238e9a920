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
  add_block_launches(list);
  add_product_launches(list);
  return list;
}

Launch find_launch(const std::string& name) {
  for (const Launch& launch : launches())
    if (launch.name == name) return launch;
  throw std::invalid_argument("kernel \"" + name + "\" has no CUDA launch");
}

void launch_empty(cudaStream_t stream) { empty<<<1, 1, 0, stream>>>(); }

}  // namespace stepcast::kernels
