#include "kernels/cpu/lists.hpp"

namespace stepcast::kernels {

const char* name_of(Precision precision) {
  switch (precision) {
    case Precision::fp32: return "fp32";
    case Precision::tf32: return "tf32";
    case Precision::bf16: break;
  }
  return "bf16";
}

const char* prefix_of(ConvolutionPath path) {
  switch (path) {
    case ConvolutionPath::im2col: return "";
    case ConvolutionPath::cudnn: break;
  }
  return "cudnn-";
}

std::vector<const Kernel*> LayerKernels::parts() const {
  std::vector<const Kernel*> all;
  for (const std::optional<Kernel>* part : {&forward, &data_gradient, &weight_gradient})
    if (*part) all.push_back(&**part);
  return all;
}

void add_layer(std::vector<Kernel>& list, const LayerKernels& layer) {
  for (const Kernel* part : layer.parts()) list.push_back(*part);
}

std::vector<Kernel> product_layer_kernels() {
  std::vector<Kernel> list;
  add_product_layers(list);
  return list;
}

std::vector<Kernel> block_layer_kernels() {
  std::vector<Kernel> list;
  add_block_layers(list);
  return list;
}

std::vector<Kernel> layer_kernels() {
  std::vector<Kernel> list;
  add_product_layers(list);
  add_block_layers(list);
  return list;
}

}  // namespace stepcast::kernels
