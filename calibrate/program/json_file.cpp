#include "calibrate/program/json_file.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>

#include <fmt/format.h>

#include "calibrate/error.hpp"

namespace stepcast::calibrate {

namespace fs = std::filesystem;

void write_json(const fs::path& path, const Json& json) {
  const fs::path partial = path.string() + ".partial";
  errno = 0;
  std::ofstream file(partial);
  file << json.dump(1) << '\n';
  file.close();
  const auto fail = [&](const fs::path& place, const std::string& why) {
    std::error_code ignored;
    fs::remove(partial, ignored);
    throw CalibrationError(fmt::format("{} cannot be written: {}; choose another path by -o, or make room", place.string(), why));
  };
  if (!file) fail(partial, std::strerror(errno));
  std::error_code error;
  fs::rename(partial, path, error);
  if (error) fail(path, error.message());
}

}  // namespace stepcast::calibrate
