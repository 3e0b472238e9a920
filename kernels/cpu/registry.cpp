#include <stdexcept>

#include "kernels/cpu/lists.hpp"

namespace stepcast::kernels {

std::string Kernel::described() const {
  std::string text = name();
  for (std::size_t i = 0; i < parameters.size(); ++i) text += (i == 0 ? " [" : ", ") + std::to_string(parameters[i]);
  return text + (parameters.empty() ? "" : "]");
}

std::vector<Kernel> compressor_kernels() {
  std::vector<Kernel> list;
  add_elementwise(list);
  add_signs(list);
  add_quantizers(list);
  add_sparsifiers(list);
  add_sampled_thresholds(list);
  add_sketch(list);
  add_three_lc(list);
  add_inceptionn(list);
  add_low_rank(list);
  add_decode_sums(list);
  add_feedback(list);
  return list;
}

Kernel find_kernel(const std::string& name) {
  std::string names;
  for (Kernel& kernel : compressor_kernels()) {
    if (kernel.name() == name) return kernel;
    names += (names.empty() ? "" : ", ") + kernel.name();
  }
  throw std::invalid_argument("kernel \"" + name + "\" is not known; allowed: " + names);
}

}  // namespace stepcast::kernels
