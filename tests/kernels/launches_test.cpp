// Every descriptor has a CUDA launch, and every launch a descriptor.
#include <set>

#include "kernels/cuda/cudnn.hpp"
#include "kernels/cuda/launch.hpp"
#include "kernels/layers.hpp"
#include "tests/support/catch.hpp"

using namespace stepcast::kernels;

TEST_CASE("descriptors and launches have the same names") {
  std::set<std::string> described, launched;
  for (const Kernel& kernel : compressor_kernels()) CHECK(described.insert(kernel.name()).second);
  // A layer is described for several shapes, under a name that no compressor has.
  std::set<std::string> layers;
  for (const Kernel& kernel : layer_kernels()) layers.insert(kernel.name());
  for (const std::string& name : layers) CHECK(described.insert(name).second);
  if (has_cudnn())
    for (const Kernel& kernel : convolution_kernels(ConvolutionPath::cudnn)) described.insert(kernel.name());
  for (const Launch& launch : launches()) CHECK(launched.insert(launch.name).second);
#ifndef STEPCAST_HAS_CUSOLVER
  CHECK_FALSE(has_launch("svd/atomo"));
  described.erase("svd/atomo");
#endif
  CHECK(described == launched);
  for (const std::string& name : described) CHECK(has_launch(name));
}
