#include "kernels/cuda/launch.hpp"

namespace stepcast::kernels {

void add_block_launches(std::vector<Launch>& list) {
  add_embedding_launches(list);
  add_batch_norm_launches(list);
  add_layer_norm_launches(list);
  add_activation_launches(list);
  add_pool_launches(list);
  add_softmax_loss_launches(list);
  add_update_launches(list);
}

}  // namespace stepcast::kernels
