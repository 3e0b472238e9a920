// Results that are written row by row, into a file that takes its name only when it is whole.
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace stepcast {

/// Writes to PATH.partial, which finish() renames to PATH; "-" is standard output, and what is no regular file (a
/// device, a pipe) is written to directly. The partial file can be read while it grows; it stays when a signal ends
/// the program, and the next one that writes PATH begins it anew.
class StreamedOutput {
 public:
  /// @throws std::runtime_error naming path and cause, also when another process is writing the same file
  explicit StreamedOutput(const std::string& path);
  ~StreamedOutput();
  StreamedOutput(StreamedOutput&&) = default;
  StreamedOutput& operator=(StreamedOutput&&) = delete;

  /// @throws std::runtime_error
  void write(std::string_view text);
  /// All of it is in place when this returns.
  /// @throws std::runtime_error
  void finish();

 private:
  struct Close {
    void operator()(std::FILE* file) const;
  };
  [[noreturn]] void fail() const;

  std::string name_;
  std::filesystem::path target_, partial_;  ///< empty where there is nothing to rename
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace stepcast
