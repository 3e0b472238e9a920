// Strict JSON: duplicate keys and deep nesting, which nlohmann/json accepts silently, are faults here.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "models/describe/fault.hpp"

namespace stepcast {

/// This type keeps the key order: the scenario's order decides the order of the axes.
using Json = nlohmann::ordered_json;

inline constexpr std::size_t kMaxFileBytes = std::size_t{32} << 20;
inline constexpr int kMaxDepth = 32;
/// An ordered_json object searches its keys linearly, so a million keys would take hours.
inline constexpr std::size_t kMaxKeys = 1000;
inline constexpr std::size_t kMaxKeyBytes = 1000;

/// Parses `text`; `file` is its name in faults. Duplicate keys, malformed text and anything beyond the limits above are
/// faults.
/// @throws ScenarioError
Json parse_json(std::string_view text, const std::string& file);

/// Reads and parses a file; "-" is standard input.
/// @throws ScenarioError also when the file cannot be read
Json read_json(const std::filesystem::path& path);

/// "/a/b" + "c/d" -> "/a/b/c~1d" (RFC 6901 escaping).
std::string pointer_to(std::string_view parent, std::string_view key);
std::string pointer_to(std::string_view parent, std::size_t index);
/// "/a/b/c~1d" -> "a", "b", "c/d". Returns nothing if the text is not a pointer.
std::optional<std::vector<std::string>> tokens_of(const std::string& pointer);

/// Whether a token of a pointer is a list index.
bool is_index(std::string_view token);

/// Whether JSON can contain the text.
bool is_utf8(const std::string& text);

/// A short rendering of a value for messages: `3.7`, `"ring"`, `an object`, `a list of 3`.
std::string describe_value(const Json& value);

}  // namespace stepcast
