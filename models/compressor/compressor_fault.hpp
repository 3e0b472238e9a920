// Faults of a compressor's fields.
#pragma once

#include <string>

namespace stepcast {

struct CompressorFault {
  std::string field;  ///< pointer below the compressor, such as "rank" or "method/stages"; empty: a tensor
  std::string found;
  std::string allowed;
};

/// "FIELD is FOUND, allowed is ALLOWED"
std::string to_string(const CompressorFault& fault);

}  // namespace stepcast
