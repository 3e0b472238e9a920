// Results in files.
#pragma once

#include <filesystem>
#include <fstream>

#include "models/part/json.hpp"

namespace stepcast::calibrate {

/// PATH.partial, renamed when it is whole, so that a file of that name is. Opened at once: a path that cannot be
/// written is known before the work whose result it is for.
class JsonFile {
 public:
  /// @throws CalibrationError where it cannot be written
  explicit JsonFile(std::filesystem::path path);
  /// Leaves nothing of what was not finished.
  ~JsonFile();
  JsonFile(const JsonFile&) = delete;
  JsonFile& operator=(const JsonFile&) = delete;
  /// @throws CalibrationError where it cannot be written to its end
  void write(const Json& json);

 private:
  std::filesystem::path path_, partial_;
  std::ofstream file_;
};

}  // namespace stepcast::calibrate
