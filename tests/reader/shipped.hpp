// The scenarios and parts that come with stepcast.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <vector>

#include "models/scenario/library.hpp"
#include "models/study/study.hpp"

namespace stepcast::test {

/// The JSON files of a folder of the library, schemas left out; "" is the library itself.
inline std::vector<std::filesystem::path> shipped(std::string_view folder) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(default_library() / folder, error))
    if (entry.path().extension() == ".json" && !entry.path().stem().string().ends_with(".schema"))
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace stepcast::test
