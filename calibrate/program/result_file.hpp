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

/// PATH.partial, renamed when it is whole, so that a file of that name is. Opened at once: a path that cannot be
/// written is known before the work whose result it is for.
class ResultFile {
 public:
  /// @throws CalibrationError where it cannot be written
  explicit ResultFile(std::filesystem::path path);
  /// Leaves nothing of what was not finished.
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
