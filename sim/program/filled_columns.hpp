// Leaves empty columns out of a complete CSV file.
#pragma once

#include <cstdio>
#include <functional>
#include <string_view>

namespace stepcast {

/// Help of the option that keeps them.
inline constexpr const char* kWideCsv =
    "CSV with its empty columns; standard output then has each row at once, else all at the end";

/// Writes a CSV (RFC 4180, with a header) without the columns in which no row has a value.
void write_filled_columns(std::FILE* csv, const std::function<void(std::string_view)>& write);

}  // namespace stepcast
