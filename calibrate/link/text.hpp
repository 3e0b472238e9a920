// Words and numbers of lines of text, for the formats of benchmarks.
#pragma once

#include <cmath>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "models/unit/parse.hpp"

namespace stepcast::calibrate {

inline std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

/// The line without a launcher's prefix: "[1,0]<stdout>:" of mpirun --tag-output, "0: " of srun --label.
inline std::string untagged(const std::string& line) {
  if (line.starts_with('['))
    for (const char* stream : {"]<stdout>:", "]<stderr>:"})
      if (const auto end = line.find(stream); end != std::string::npos)
        return line.substr(end + std::string_view(stream).size());
  const auto label = line.find(": ");
  const auto first = line.find_first_not_of(' ');
  if (label != std::string::npos && first < label && line.find_first_not_of("0123456789", first) == label)
    return line.substr(label + 2);
  return line;
}

/// A whole number of bytes, at least 0.
inline std::optional<double> size_of_word(const std::string& word) {
  const auto value = parse_number(word);
  return value && *value >= 0 && *value == std::floor(*value) ? value : std::nullopt;
}

}  // namespace stepcast::calibrate
