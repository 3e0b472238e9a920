#include "sim/program/output.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace stepcast {
namespace {

namespace fs = std::filesystem;

/// A file beside its final place that vanishes unless it is kept.
class Beside {
 public:
  explicit Beside(const fs::path& target) : target_(target), path_(target.parent_path() / fmt::format(".{}.{}{}", target.stem().string(), ::getpid(), target.extension().string())) {}
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

}  // namespace

void write_output(const std::string& path, const std::string& text) {
  if (path == "-") {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return;
  }
  Beside beside(path);
  {
    std::ofstream file(beside.path(), std::ios::binary);
    file << text;
    file.flush();
    if (!file) throw std::runtime_error(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
  }
  beside.keep();
}

void draw_plot(const Json& report, const std::string& path) {
  Beside data(fs::temp_directory_path() / "stepcast-report.json");
  {
    std::ofstream file(data.path());
    file << report.dump();
    if (!file) throw std::runtime_error(fmt::format("cannot write {}", data.path().string()));
  }
  Beside picture(path);
  const std::string program = python();
  std::vector<std::string> words = {program, std::string(STEPCAST_NOTEBOOKS_DIR) + "/plot_speedup.py", data.path().string(), picture.path().string()};
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t pid = -1;
  if (const int error = ::posix_spawnp(&pid, program.c_str(), nullptr, nullptr, argv.data(), environ))
    throw std::runtime_error(fmt::format("cannot draw {}: {} does not start ({}); install python3 and python3-matplotlib", path, program, std::strerror(error)));
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) throw std::runtime_error(fmt::format("cannot draw {} (see the message above); everything else is written", path));
  picture.keep();
}

}  // namespace stepcast
