#include "sim/program/streamed_output.hpp"

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include "program/output_path.hpp"

namespace stepcast {

void StreamedOutput::Close::operator()(std::FILE* file) const {
  if (file != stdout) std::fclose(file);
}

StreamedOutput::StreamedOutput(const std::string& path) : name_(path) {
  if (path == "-") {
    file_.reset(stdout);
    return;
  }
  if (is_special(path)) {
    file_.reset(std::fopen(path.c_str(), "wb"));
    if (!file_) fail();
    return;
  }
  target_ = followed(path);
  partial_ = target_.string() + ".partial";
  const int descriptor = ::open(partial_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) fail();
  file_.reset(::fdopen(descriptor, "wb"));
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0)
    throw std::runtime_error(fmt::format("another process is writing {}", partial_.string()));
  if (::ftruncate(descriptor, 0) != 0) fail();
}

StreamedOutput::~StreamedOutput() {
  std::error_code ignored;
  if (file_ && !partial_.empty()) std::filesystem::remove(partial_, ignored);
}

void StreamedOutput::write(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size()) fail();
}

void StreamedOutput::finish() {
  if (std::fflush(file_.get()) != 0) fail();
  if (partial_.empty()) return;
  // The data must be on the disk before the file replaces the old one.
  if (::fsync(::fileno(file_.get())) != 0) fail();
  std::error_code error;
  std::filesystem::rename(partial_, target_, error);
  if (error) throw std::runtime_error(fmt::format("cannot write {}: {}", name_, error.message()));
  partial_.clear();
}

void StreamedOutput::fail() const {
  throw std::runtime_error(
      fmt::format("cannot write {}: {}", name_ == "-" ? "standard output" : name_, std::strerror(errno)));
}

}  // namespace stepcast
