// A reference is total: whatever the input, it gives the same result twice.
#pragma once

#include "kernels/workspace.hpp"
#include "tests/support/catch.hpp"

namespace stepcast::test {

inline void check_total(const kernels::Kernel& kernel, std::int64_t n) {
  for (const kernels::Input input : kernels::kInputs) {
    kernels::Workspace a(kernel, n, input, 8), b(kernel, n, input, 8);
    kernel.reference(a.call());
    kernel.reference(b.call());
    for (std::size_t i = 0; i < a.buffers().size(); ++i) {
      const auto wrong = kernels::difference(a.buffers()[i], a.data(i), b.data(i));
      INFO(kernel.name() << ": " << wrong.value_or(""));
      CHECK_FALSE(wrong);
    }
  }
}

}  // namespace stepcast::test
