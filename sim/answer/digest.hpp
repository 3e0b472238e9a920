// Short names of long texts.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace stepcast {

/// 128 bits, alike for like texts only: among 10^9 texts the odds of any two sharing a digest are 10^-21. (XXH3,
/// https://xxhash.com. Not against someone who looks for a collision: who can write the cache can write anything.)
using Digest = std::array<unsigned char, 16>;

Digest digest_of(std::string_view text);

/// 32 hexadecimal digits.
std::string to_string(const Digest& digest);

}  // namespace stepcast
