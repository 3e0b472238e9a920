// JSON pointers (RFC 6901) as text.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stepcast {

/// "/a/b" + "c/d" -> "/a/b/c~1d" (RFC 6901 escaping).
std::string pointer_to(std::string_view parent, std::string_view key);
std::string pointer_to(std::string_view parent, std::size_t index);
/// "/a/b/c~1d" -> "a", "b", "c/d". Returns nothing if the text is not a pointer.
std::optional<std::vector<std::string>> tokens_of(const std::string& pointer);

/// Whether a token of a pointer is a list index.
bool is_index(std::string_view token);

}  // namespace stepcast
