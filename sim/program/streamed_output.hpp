// Results that are written row by row, into a file that gets its name only when it is complete.
#pragma once

#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace stepcast {

/// Writes to PATH.partial, which finish() renames to PATH. "-" is standard output; devices, pipes and the like are
/// written to directly. The partial file can be read while it grows. It stays if a signal ends the program, and the
/// next writer of PATH starts it anew.
class StreamedOutput {
 public:
  using Write = std::function<void(std::string_view)>;
  /// Reads all that was written, and writes the text that is to take its place.
  using Filter = std::function<void(std::FILE* all, const Write& write)>;

  /// @param filter  of the complete output, if any; standard output and the like get all of it by finish() then
  /// @throws std::runtime_error naming path and cause, also when another process is writing the same file
  explicit StreamedOutput(const std::string& path, Filter filter = {});
  ~StreamedOutput();
  StreamedOutput(StreamedOutput&&) = default;
  StreamedOutput& operator=(StreamedOutput&&) = delete;

  /// @throws std::runtime_error
  void write(std::string_view text);
  /// Afterwards, all of it is in place.
  /// @throws std::runtime_error
  void finish();

 private:
  struct Close {
    void operator()(std::FILE* file) const;
  };
  [[noreturn]] void fail() const;
  void open_partial();
  void apply_filter();
  void replace_target();
  [[nodiscard]] std::filesystem::path filtered_path() const;

  std::string name_;
  std::filesystem::path target_, partial_;  ///< empty if nothing is renamed
  std::unique_ptr<std::FILE, Close> file_;
  Filter filter_;
  std::unique_ptr<std::FILE, Close> filtered_;  ///< where the filter writes, unless that is a file to be renamed
};

}  // namespace stepcast
