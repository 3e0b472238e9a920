// Words and numbers of lines of text, for the formats of benchmarks.
#pragma once

#include <cmath>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "models/unit/parse.hpp"

namespace stepcast::calibrate {

inline std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

/// A whole number of bytes, at least 0.
inline std::optional<double> size_of_word(const std::string& word) {
  const auto value = parse_number(word);
  return value && *value >= 0 && *value == std::floor(*value) ? value : std::nullopt;
}

}  // namespace stepcast::calibrate
