// Every compressor kernel's name, sweeps of one call and largest size, for the test of calibrate/torch_compressors.py.
#include <cstdio>

#include "kernels/kernel.hpp"

int main() {
  for (const stepcast::kernels::Kernel& kernel : stepcast::kernels::compressor_kernels())
    std::printf("%s %d %lld\n", kernel.name().c_str(), kernel.repeats, static_cast<long long>(kernel.largest));
}
