#include "sim/program/streamed_output.hpp"

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include "program/output_path.hpp"

namespace stepcast {

void StreamedOutput::Close::operator()(std::FILE* file) const {
  if (file != stdout) static_cast<void>(std::fclose(file));
}

StreamedOutput::StreamedOutput(const std::string& path, Filter filter) : name_(path), filter_(std::move(filter)) {
  if (path != "-" && !is_special(path)) {
    target_ = followed(path);
    partial_ = target_.string() + ".partial";
    open_partial();
    return;
  }
  file_.reset(path == "-" ? stdout : std::fopen(path.c_str(), "wb"));
  if (!file_) fail();
  if (!filter_) return;
  filtered_ = std::exchange(file_, std::unique_ptr<std::FILE, Close>(std::tmpfile()));
  if (!file_) fail();
}

void StreamedOutput::open_partial() {
  const int descriptor = ::open(partial_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) fail();
  file_.reset(::fdopen(descriptor, "w+b"));
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0)
    throw std::runtime_error(fmt::format("another process is writing {}", partial_.string()));
  if (::ftruncate(descriptor, 0) != 0) fail();
}

StreamedOutput::~StreamedOutput() {
  std::error_code ignored;
  if (!file_ || partial_.empty()) return;
  std::filesystem::remove(partial_, ignored);
  std::filesystem::remove(filtered_path(), ignored);
}

void StreamedOutput::write(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size()) fail();
}

void StreamedOutput::finish() {
  if (std::fflush(file_.get()) != 0) fail();
  if (filter_) apply_filter();
  if (!partial_.empty()) replace_target();
}

/// The partial file stays locked until the filtered one, beside it, has its name.
void StreamedOutput::apply_filter() {
  if (!partial_.empty()) filtered_.reset(std::fopen(filtered_path().c_str(), "wbe"));
  if (!filtered_) fail();
  std::rewind(file_.get());
  filter_(file_.get(), [this](std::string_view text) {
    if (std::fwrite(text.data(), 1, text.size(), filtered_.get()) != text.size()) fail();
  });
  if (std::fflush(filtered_.get()) != 0) fail();
}

void StreamedOutput::replace_target() {
  // The data must be on the disk before the file replaces the old one.
  if (::fsync(::fileno(filtered_ ? filtered_.get() : file_.get())) != 0) fail();
  std::error_code error;
  std::filesystem::rename(filtered_ ? filtered_path() : partial_, target_, error);
  if (error) throw std::runtime_error(fmt::format("cannot write {}: {}", name_, error.message()));
  if (filtered_) std::filesystem::remove(partial_, error);
  partial_.clear();
}

std::filesystem::path StreamedOutput::filtered_path() const { return partial_.string() + ".filtered"; }

void StreamedOutput::fail() const {
  throw std::runtime_error(
      fmt::format("cannot write {}: {}", name_ == "-" ? "standard output" : name_, std::strerror(errno)));
}

}  // namespace stepcast
