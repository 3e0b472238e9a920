// Texts packed into one, for pipes and messages inside one run of the program.
#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

namespace stepcast {

inline void put_frame(std::string& packed, std::string_view text) {
  const std::size_t size = text.size();
  packed.append(reinterpret_cast<const char*>(&size), sizeof size);
  packed += text;
}

/// Takes the first text off.
/// @pre `packed` came from put_frame and is not empty
inline std::string_view take_frame(std::string_view& packed) {
  std::size_t size = 0;
  std::memcpy(&size, packed.data(), sizeof size);
  const std::string_view text = packed.substr(sizeof size, size);
  packed.remove_prefix(sizeof size + size);
  return text;
}

}  // namespace stepcast
