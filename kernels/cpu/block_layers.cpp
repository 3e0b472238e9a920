// Small shapes for the checks of the layers that sweep memory. Rows and planes are, and are not, whole vectors of 16
// bytes. They are narrower and wider than the share of a warp and of a block. Channels take one block, or several.
// Norms have at least three elements in a row or channel, since with two only rounding is left of the gradient. They
// have at least three sums, since a single one sets the scale of its own deviation, and may be small by cancellation.
#include "kernels/cpu/lists.hpp"

namespace stepcast::kernels {
void add_block_layers(std::vector<Kernel>& list) {
  for (const Precision precision : {Precision::fp32, Precision::bf16}) {
    for (const EmbeddingShape& shape :
         {EmbeddingShape{11, 5, 9}, EmbeddingShape{3, 64, 17}, EmbeddingShape{101, 1032, 4}})
      add_layer(list, embedding_layer(shape, precision));
    for (const BatchNormShape& shape :
         {BatchNormShape{5, 3, 1}, BatchNormShape{37, 2, 4}, BatchNormShape{3, 7, 7}, BatchNormShape{4, 14, 14},
          BatchNormShape{3, 100, 101}, BatchNormShape{3, 64, 128}})
      add_layer(list, batch_norm_layer(shape, precision));
    for (const LayerNormShape& shape : {LayerNormShape{3, 11}, LayerNormShape{37, 5}, LayerNormShape{64, 9},
                                        LayerNormShape{1032, 3}, LayerNormShape{1027, 3}, LayerNormShape{24, 301}})
      add_layer(list, layer_norm_layer(shape, precision));
    for (const ActivationKind kind : {ActivationKind::relu, ActivationKind::gelu, ActivationKind::tanh,
                                      ActivationKind::sigmoid, ActivationKind::silu, ActivationKind::dropout})
      for (const std::int64_t elements : {513, 4099}) add_layer(list, activation_layer({kind, elements}, precision));
    for (const bool average : {false, true})
      for (const PoolShape& shape :
           {PoolShape{average, 3, 2, 2, 2, 0, 0, 8, 8}, PoolShape{average, 5, 3, 3, 2, 1, 1, 13, 11},
            PoolShape{average, 2, 3, 2, 1, 1, 0, 5, 7}, PoolShape{average, 7, 7, 7, 1, 0, 0, 7, 7},
            PoolShape{average, 2, 2, 3, 4, 0, 1, 9, 10}})
        add_layer(list, pool_layer(shape, precision));
    for (const std::int64_t elements : {1, 37, 4096}) {
      add_layer(list, add_layer({elements}, precision));
      add_layer(list, multiply_layer({elements}, precision));
      add_layer(list, concat_layer({elements}, precision));
    }
    for (const SoftmaxLossShape& shape :
         {SoftmaxLossShape{1, 5}, SoftmaxLossShape{3, 7}, SoftmaxLossShape{10, 6}, SoftmaxLossShape{1000, 3},
          SoftmaxLossShape{1031, 3}, SoftmaxLossShape{4096, 3}})
      add_layer(list, softmax_loss_layer(shape, precision));
    list.push_back(sgd_update(precision));
    list.push_back(sgd_momentum_update(precision));
    list.push_back(adam_update(precision));
  }
}

}  // namespace stepcast::kernels
