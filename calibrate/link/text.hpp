// Words and numbers of lines of text, for the formats of benchmarks.
#pragma once

#include <charconv>
#include <cmath>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace stepcast::calibrate {

inline std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

/// A finite number that is the whole word.
inline std::optional<double> number_of(const std::string& word) {
  double value = 0;
  const char* end = word.data() + word.size();
  const auto [rest, error] = std::from_chars(word.data(), end, value);
  if (error != std::errc{} || rest != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

/// A whole number of bytes, at least 0.
inline std::optional<double> size_of_word(const std::string& word) {
  const auto value = number_of(word);
  return value && *value >= 0 && *value == std::floor(*value) ? value : std::nullopt;
}

}  // namespace stepcast::calibrate
