#include "calibrate/program/result_file.hpp"

#include <cerrno>
#include <cstring>

#include "program/options.hpp"
#include <fmt/format.h>

#include "calibrate/calibration_error.hpp"
#include "program/output_path.hpp"

namespace stepcast::calibrate {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& place, const std::string& why) {
  throw CalibrationError(
      fmt::format("{} cannot be written: {}; choose another path, or make room", place.string(), why));
}

}  // namespace

void check_result_path(const std::string& option, const std::string& path) {
  if (path.empty()) return;
  if (const std::string why = why_not_writable(path); !why.empty()) throw UsageError(option, why);
}

ResultFile::ResultFile(fs::path path) : path_(std::move(path)), partial_(path_.string() + ".partial"), file_(partial_) {
  if (!file_) fail(partial_, std::strerror(errno));
}

ResultFile::~ResultFile() {
  std::error_code ignored;  // renamed, or never made
  fs::remove(partial_, ignored);
}

void ResultFile::write(const Json& json) { write(json.dump(1) + "\n"); }

void ResultFile::write(const std::string& text) {
  errno = 0;
  file_ << text;
  file_.close();
  if (!file_) fail(partial_, std::strerror(errno));
  std::error_code error;
  fs::rename(partial_, path_, error);
  if (error) fail(path_, error.message());
}

}  // namespace stepcast::calibrate
