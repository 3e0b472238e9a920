// The classes of compressors.
#pragma once

#include "models/describe/describe.hpp"

namespace stepcast {

/// The four classes of the survey, and none.
enum class CompressorClass { none, quantization, sparsification, hybrid, low_rank };

template <>
struct Choices<CompressorClass> {
  static constexpr std::array table = {
      Choice<CompressorClass>{"none", CompressorClass::none, "in no class of the survey"},
      Choice<CompressorClass>{"quantization", CompressorClass::quantization, "every element in fewer bits"},
      Choice<CompressorClass>{"sparsification", CompressorClass::sparsification, "few elements at full width"},
      Choice<CompressorClass>{"hybrid", CompressorClass::hybrid, "few elements in fewer bits, or a coded quantization"},
      Choice<CompressorClass>{"low-rank", CompressorClass::low_rank, "factors of matrices"},
  };
};

}  // namespace stepcast
