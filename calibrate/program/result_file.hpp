// Results in files.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "models/describe/json.hpp"

namespace stepcast::calibrate {

/// Refuses an option's path that nothing can be written to. "" and "-" are none.
/// @throws UsageError with the reason
void check_result_path(const std::string& option, const std::string& path);

/// Writes PATH.partial and renames it to PATH when it is whole, so a file named PATH is whole. It is opened at once, so
/// that a path that cannot be written is known before the work begins.
class ResultFile {
 public:
  /// @throws CalibrationError where it cannot be written
  explicit ResultFile(std::filesystem::path path);
  /// Removes an unfinished file.
  ~ResultFile();
  ResultFile(const ResultFile&) = delete;
  ResultFile& operator=(const ResultFile&) = delete;
  /// @throws CalibrationError where it cannot be written to its end
  void write(const Json& json);
  void write(const std::string& text);

 private:
  std::filesystem::path path_, partial_;
  std::ofstream file_;
};

}  // namespace stepcast::calibrate
