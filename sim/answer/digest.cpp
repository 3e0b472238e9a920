#include "sim/answer/digest.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <xxhash.h>

namespace stepcast {

Digest digest_of(std::string_view text) {
  XXH128_canonical_t canonical;  // the same bytes on every machine
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(text.data(), text.size()));
  Digest digest{};
  std::copy(std::begin(canonical.digest), std::end(canonical.digest), digest.begin());
  return digest;
}

std::optional<Digest> digest_of_file(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  const std::string content((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  if (!stream) return std::nullopt;
  return digest_of(content);
}

std::string to_string(const Digest& digest) {
  std::string hex;
  for (const unsigned char byte : digest) hex += fmt::format("{:02x}", byte);
  return hex;
}

}  // namespace stepcast
