// Strict JSON: duplicate keys and deep nesting, which nlohmann/json accepts silently, are faults here.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "models/describe/fault.hpp"
#include "models/describe/json_fwd.hpp"
#include "models/describe/json_pointer.hpp"

namespace stepcast {

inline constexpr std::size_t kMaxFileBytes = std::size_t{32} << 20;
inline constexpr int kMaxDepth = 32;
/// An ordered_json object searches its keys linearly, so a million keys would take hours.
inline constexpr std::size_t kMaxKeys = 1000;
inline constexpr std::size_t kMaxKeyBytes = 1000;

/// Parses `text`, which may have comments (// and /* */); `file` is its name in faults. Duplicate keys, malformed text
/// and anything beyond the limits above are faults.
/// @throws ScenarioError
Json parse_json(std::string_view text, const std::string& file, std::size_t most_bytes = kMaxFileBytes);

/// Reads and parses a file; "-" is standard input.
/// @throws ScenarioError also when the file cannot be read
Json read_json(const std::filesystem::path& path, std::size_t most_bytes = kMaxFileBytes);

/// The text of an object's field; "" if it has none, or another value.
std::string text_at(const Json& object, const char* field);

/// Whether JSON can contain the text.
bool is_utf8(const std::string& text);

/// A short rendering of a value for messages: `3.7`, `"ring"`, `an object`, `a list of 3`.
std::string describe_value(const Json& value);

}  // namespace stepcast
