#include "calibrate/program/json_file.hpp"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "calibrate/error.hpp"

namespace stepcast::calibrate {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& place, const std::string& why) {
  throw CalibrationError(
      fmt::format("{} cannot be written: {}; choose another path by -o, or make room", place.string(), why));
}

}  // namespace

JsonFile::JsonFile(fs::path path) : path_(std::move(path)), partial_(path_.string() + ".partial"), file_(partial_) {
  if (!file_) fail(partial_, std::strerror(errno));
}

JsonFile::~JsonFile() {
  std::error_code ignored;  // renamed, or never made
  fs::remove(partial_, ignored);
}

void JsonFile::write(const Json& json) {
  errno = 0;
  file_ << json.dump(1) << '\n';
  file_.close();
  if (!file_) fail(partial_, std::strerror(errno));
  std::error_code error;
  fs::rename(partial_, path_, error);
  if (error) fail(path_, error.message());
}

}  // namespace stepcast::calibrate
