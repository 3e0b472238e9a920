// Short digests of long texts.
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace stepcast {

/// 128 bits by XXH3 (https://xxhash.com). Among 10^9 different texts, two share a digest with probability 10^-21. It is
/// no protection against intent, but a person who can write the cache can change anything anyway.
using Digest = std::array<unsigned char, 16>;

Digest digest_of(std::string_view text);

/// The digest of a file's content, or nothing if it cannot be read.
std::optional<Digest> digest_of_file(const std::filesystem::path& file);

/// 32 hexadecimal digits.
std::string to_string(const Digest& digest);

}  // namespace stepcast
