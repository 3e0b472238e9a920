#include "sim/program/output.hpp"

#include <algorithm>
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

#include "models/describe/fault.hpp"
#include "models/describe/json.hpp"
#include "models/scenario/library.hpp"
#include "models/scenario/scenario.hpp"
#include "program/options.hpp"
#include "program/output_path.hpp"
#include "program/streams.hpp"

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

/// A temporary file beside its final place. It is removed unless it is kept.
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

/// Starts a program whose standard output and error go to a file. @returns 0, or the error's number
int spawn(pid_t& pid, const std::string& program, std::vector<char*>& argv, const fs::path& output) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  const int error = ::posix_spawnp(&pid, program.c_str(), &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  return error;
}

/// The last line that a script printed. It names the fault, both in our scripts and in Python's tracebacks.
std::string reason_in(const fs::path& output, const std::string& program) {
  std::ifstream file(output, std::ios::binary);
  std::string last;
  for (std::string line; std::getline(file, line);)
    if (line.find_first_not_of(" \t\r") != std::string::npos) last = line;
  return last.empty() ? fmt::format("{} failed and did not say why", program) : shorten(last, 500);
}

/// Debian's matplotlib belongs to the system's Python; another Python earlier on PATH may not find it.
std::string python() {
  if (const char* chosen = std::getenv("STEPCAST_PYTHON")) return chosen;
  return ::access("/usr/bin/python3", X_OK) == 0 ? "/usr/bin/python3" : "python3";
}

fs::path canonical(const fs::path& path) {
  std::error_code error;
  const fs::path whole = fs::absolute(path, error);
  const fs::path real = fs::weakly_canonical(whole, error);
  return error ? whole : real;
}

/// Whether two paths are the same file; the file need not exist.
bool are_same(const std::string& a, const std::string& b) {
  if (a == "-" || b == "-") return a == b;
  std::error_code error;
  return fs::equivalent(a, b, error) || canonical(a) == canonical(b);
}

}  // namespace

std::string json_text(const Json& document) {
  return document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

void write_output(const std::string& path, const std::string& text) {
  if (path == "-") return print_result(text);
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
      throw UsageError(
          "output", fmt::format("{} twice; give each output a different path", path == "-" ? "standard output" : path));
    if (path != "-" && !is_special(path) && std::any_of(inputs.begin(), inputs.end(), is_path))
      throw UsageError("output",
                       fmt::format("{} is read, and would be overwritten; give the output another path", path));
    seen.push_back(path);
    if (const std::string why = why_not_writable(path); !why.empty()) throw UsageError("output", why);
  }
  if (!plot.empty() && !is_plot_file(plot))
    throw UsageError("output", fmt::format("the plot {} must end in .png, .svg or .pdf", plot));
}

void make_with_script(const std::string& script, const Json& report, const std::string& path,
                      const std::vector<std::string>& asked) {
  std::error_code error;
  const fs::path folder = fs::temp_directory_path(error);
  if (error)
    throw std::runtime_error(
        fmt::format("cannot make {}: there is no folder for temporary files, which TMPDIR names", path));
  Beside data(folder / "stepcast-report.json");
  write_file(data.path(), json_text(report), data.path().string());
  Beside picture(path);
  const std::string program = python();
  std::vector<std::string> words = {program, (shipped_folder("notebooks") / script).string(), data.path().string(),
                                    picture.path().string()};
  words.insert(words.end(), asked.begin(), asked.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  Beside said(folder / "stepcast-script.txt");
  pid_t pid = -1;
  if (const int code = spawn(pid, program, argv, said.path()))
    throw std::runtime_error(
        fmt::format("cannot make {}: {} does not start ({}); install python3 and python3-matplotlib", path, program,
                    std::strerror(code)));
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw std::runtime_error(fmt::format("cannot make {}: {}", path, reason_in(said.path(), program)));
  picture.keep();
}

}  // namespace stepcast
