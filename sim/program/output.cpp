#include "sim/program/output.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <vector>

#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "models/scenario/scenario.hpp"
#include "sim/program/refused.hpp"

extern char** environ;

namespace stepcast {
namespace {

namespace fs = std::filesystem;

void write_file(const fs::path& path, const std::string& text, const std::string& name) {
  errno = 0;
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.flush();
  if (!file) throw std::runtime_error(fmt::format("cannot write {}: {}", name, std::strerror(errno)));
}

/// A file beside its final place that vanishes unless it is kept.
class Beside {
 public:
  explicit Beside(const fs::path& target)
      : target_(followed(target)),
        path_(target_.parent_path() /
              fmt::format(".{}.{}{}", target_.stem().string(), ::getpid(), target_.extension().string())) {}
  ~Beside() {
    std::error_code ignored;
    if (!kept_) fs::remove(path_, ignored);
  }
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;

  [[nodiscard]] const fs::path& path() const { return path_; }
  void keep() {
    std::error_code error;
    fs::rename(path_, target_, error);
    if (error) throw std::runtime_error(fmt::format("cannot write {}: {}", target_.string(), error.message()));
    kept_ = true;
  }

 private:
  fs::path target_, path_;
  bool kept_ = false;
};

/// Debian's matplotlib belongs to the system's interpreter; one earlier on PATH may not see it.
std::string python() {
  if (const char* chosen = std::getenv("STEPCAST_PYTHON")) return chosen;
  return ::access("/usr/bin/python3", X_OK) == 0 ? "/usr/bin/python3" : "python3";
}

/// Whether two paths are one file, whether it is there or not.
bool are_same(const std::string& a, const std::string& b) {
  if (a == "-" || b == "-") return a == b;
  std::error_code error;
  return fs::equivalent(a, b, error) ||
         fs::weakly_canonical(fs::absolute(a), error) == fs::weakly_canonical(fs::absolute(b), error);
}

}  // namespace

fs::path followed(const fs::path& path) {
  std::error_code error;
  return fs::is_symlink(path, error) ? fs::weakly_canonical(path) : path;
}

bool is_special(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error) && !fs::is_regular_file(path, error);
}

std::string json_text(const Json& document) {
  return document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

void write_output(const std::string& path, const std::string& text) {
  if (path == "-") {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return;
  }
  if (is_special(path)) return write_file(path, text, path);
  Beside beside(path);
  write_file(beside.path(), text, path);
  beside.keep();
}

void check_outputs(const std::vector<std::string>& inputs, const std::vector<std::string>& texts,
                   const std::string& plot) {
  std::vector<std::string> seen;
  std::vector<std::string> all(texts);
  all.push_back(plot);
  for (const std::string& path : all) {
    if (path.empty()) continue;
    const auto is_path = [&](const std::string& other) { return are_same(path, other); };
    if (std::any_of(seen.begin(), seen.end(), is_path))
      throw refused("output", fmt::format("{} twice; give each output a path of its own",
                                          path == "-" ? "standard output" : path));
    if (path != "-" && !is_special(path) && std::any_of(inputs.begin(), inputs.end(), is_path))
      throw refused("output", fmt::format("{} is read, and would be overwritten; give the output another path", path));
    seen.push_back(path);
    if (path == "-" || is_special(path)) {
      if (fs::is_directory(path)) throw refused("output", fmt::format("{} is a folder; give a file", path));
      continue;
    }
    const fs::path target = followed(path);
    const fs::path folder = target.parent_path().empty() ? "." : target.parent_path();
    if (::access(folder.c_str(), W_OK | X_OK) != 0)
      throw refused("output", fmt::format("cannot write {}: {}: {}", path, folder.string(), std::strerror(errno)));
  }
  if (!plot.empty() && !is_plot_file(plot))
    throw refused("output", fmt::format("the plot {} must end in .png, .svg or .pdf", plot));
}

void draw_plot(const Json& report, const std::string& path) {
  Beside data(fs::temp_directory_path() / "stepcast-report.json");
  write_file(data.path(), json_text(report), data.path().string());
  Beside picture(path);
  const std::string program = python();
  std::vector<std::string> words = {program, std::string(STEPCAST_NOTEBOOKS_DIR) + "/plot_speedup.py",
                                    data.path().string(), picture.path().string()};
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t pid = -1;
  if (const int error = ::posix_spawnp(&pid, program.c_str(), nullptr, nullptr, argv.data(), environ))
    throw std::runtime_error(
        fmt::format("cannot draw {}: {} does not start ({}); install python3 and python3-matplotlib", path, program,
                    std::strerror(error)));
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw std::runtime_error(fmt::format("cannot draw {} (see the message above); everything else is written", path));
  picture.keep();
}

}  // namespace stepcast
