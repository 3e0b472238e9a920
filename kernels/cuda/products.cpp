#include "kernels/cuda/cudnn.hpp"

namespace stepcast::kernels {

void add_product_launches(std::vector<Launch>& list) {
  add_linear_launches(list);
  add_conv2d_launches(list);
  add_lstm_launches(list);
  add_attention_launches(list);
  add_cudnn_launches(list);
}

}  // namespace stepcast::kernels
