// Element types of gradients and of kernel operands.
#pragma once

#include <cstdint>

#include "models/describe/describe.hpp"

namespace stepcast {

enum class Dtype : std::uint8_t { fp32, tf32, fp16, bf16 };

template <>
struct Choices<Dtype> {
  static constexpr std::array table = {
      Choice<Dtype>{"fp32", Dtype::fp32, "4 bytes an element"},
      Choice<Dtype>{"tf32", Dtype::tf32, "4 bytes an element, products on tensor cores with mantissas of 10 bits"},
      Choice<Dtype>{"fp16", Dtype::fp16, "2 bytes an element"},
      Choice<Dtype>{"bf16", Dtype::bf16, "2 bytes an element"},
  };
};

constexpr Bytes size_of(Dtype dtype) { return dtype == Dtype::fp32 || dtype == Dtype::tf32 ? 4_B : 2_B; }

}  // namespace stepcast
