#include "sim/replay/inspect_platform.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <new>
#include <optional>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "models/describe/fault.hpp"
#include "models/describe/json.hpp"
#include "sim/platform/platform.hpp"
#include "sim/platform/platform_file.hpp"
#include "sim/replay/engine.hpp"
#include "sim/replay/processes.hpp"

namespace stepcast {
namespace {

namespace s4u = simgrid::s4u;
using Clock = std::chrono::steady_clock;

constexpr const char* kLoadable = "a platform that SimGrid loads";

/// Stops SimGrid's loading if the platform gets too large.
struct TooLarge {
  PlatformFault fault;
};

/// The child's progress when SimGrid ended it, in memory that both processes see.
class Notes {
 public:
  struct Page {
    long hosts = 0;      ///< 0 until the platform is loaded
    long connected = 0;  ///< hosts before the one whose routes are being tried
    char pair[512] = "";
  };
  Notes() {
    void* memory = ::mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "cannot map a page");
    page_ = new (memory) Page;
  }
  ~Notes() { ::munmap(page_, sizeof(Page)); }
  Notes(const Notes&) = delete;
  Notes& operator=(const Notes&) = delete;

  Page& operator*() const { return *page_; }
  Page* operator->() const { return page_; }

 private:
  Page* page_;
};

/// An unnamed file for SimGrid's output.
class Printed {
 public:
  Printed() : fd_(::memfd_create("stepcast-platform", MFD_CLOEXEC)) {
    if (fd_ < 0) throw std::system_error(errno, std::generic_category(), "cannot make a file in memory");
  }
  ~Printed() { ::close(fd_); }
  Printed(const Printed&) = delete;
  Printed& operator=(const Printed&) = delete;

  /// From now on, both standard streams of this process go to the file.
  void take_streams() const {
    for (const int stream : {STDOUT_FILENO, STDERR_FILENO})
      if (::dup2(fd_, stream) < 0) throw std::system_error(errno, std::generic_category(), "cannot redirect a stream");
  }
  [[nodiscard]] std::string text() const {
    std::string text(65536, '\0');
    const ssize_t n = ::pread(fd_, text.data(), text.size(), 0);
    text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    return text;
  }

 private:
  int fd_;
};

/// The first line of SimGrid's message, after the line number in the file if the message has one.
std::string cleaned(std::string message, const std::string& file) {
  const std::string at = "Parse error at " + file + ":";
  if (message.starts_with(at)) message.replace(0, at.size(), "line ");
  // "******* BIG FAT WARNING *********": the line after it says what is wrong.
  if (const auto end = message.find("**\n"); end != std::string::npos) message.replace(end, 3, ": ");
  message.erase(std::min(message.find('\n'), message.size()));
  std::erase(message, '*');
  std::replace_if(
      message.begin(), message.end(), [](unsigned char c) { return c < ' ' || c > '~'; }, '?');
  message.erase(message.find_last_not_of(" .:!") + 1);
  if (message == "Not a valid model") message = "a zone has an unknown routing";
  return shorten(message, 200);
}

PlatformFault not_loaded(const std::string& why) { return {"which SimGrid cannot load: " + why, kLoadable}; }

/// Memory of the process before it loads anything.
void limit_process(const InspectionLimits& limits) {
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  static_cast<void>(std::signal(SIGXFSZ, SIG_IGN));
  const rlimit printed{1u << 20, 1u << 20};
  ::setrlimit(RLIMIT_FSIZE, &printed);
  std::size_t pages = 0;  // pages that the parent has already
  if (kAddressSanitizer || !(std::ifstream("/proc/self/statm") >> pages)) return;
  const rlim_t bytes = pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) + limits.memory_bytes;
  const rlimit memory{bytes, bytes};
  ::setrlimit(RLIMIT_AS, &memory);
}

/// SimGrid makes hosts and links one by one, so the callback can stop it at a limit.
void count_parts(const InspectionLimits& limits) {
  s4u::Host::on_creation_cb([most = limits.hosts, hosts = 0L](const s4u::Host&) mutable {
    if (++hosts > most)
      throw TooLarge{{fmt::format("which has more than {} hosts", most), fmt::format("at most {} hosts", most)}};
  });
  s4u::Link::on_creation_cb([links = 0L](const s4u::Link&) mutable {
    if (++links > kMostSimulatedLinks)
      throw TooLarge{{fmt::format("which has more than {} links", kMostSimulatedLinks),
                      fmt::format("at most {} links", kMostSimulatedLinks)}};
  });
}

/// Tries routes host by host, and stops at the first missing one.
void try_routes(const std::vector<s4u::Host*>& hosts, const InspectionLimits& limits, Notes::Page& notes,
                PlatformFacts& facts) {
  const auto is_missing = [&](long from, long to) {
    const s4u::Host *a = hosts[from], *b = hosts[to];
    const auto end = fmt::format_to_n(notes.pair, sizeof notes.pair - 1, "no route from {} to {}",
                                      describe_value(a->get_name()), describe_value(b->get_name()));
    *end.out = '\0';
    try {
      if (has_route(a, b)) return false;
    } catch (const std::exception&) {  // 3.32's "No route from ..."
    }
    facts.missing = notes.pair;
    return true;
  };
  const auto is_cut_off = [&](long host) {
    const auto cut_off = [&](long other) { return is_missing(other, host) || is_missing(host, other); };
    if (host < limits.all_pairs) {
      for (long other = 0; other < host; ++other)
        if (cut_off(other)) return true;
      return false;
    }
    for (long distance = 1; distance < host; distance *= 2)
      if (cut_off(host - distance)) return true;
    return cut_off(0);
  };
  const auto deadline = Clock::now() + limits.routes;
  for (long host = 1; host < facts.hosts && Clock::now() < deadline; ++host) {
    notes.connected = facts.connected = host;
    if (is_cut_off(host)) return;
  }
  facts.connected = facts.hosts;
}

/// Runs in the child.
PlatformFacts look_into(const std::string& file, const InspectionLimits& limits, Notes::Page& notes) {
  PlatformFacts facts;
  const auto refused = [&](PlatformFault fault) {
    facts.fault = std::move(fault.found);
    facts.allowed = std::move(fault.allowed);
    return facts;
  };
  try {
    if (auto fault = find_changing_parts(file)) return refused(std::move(*fault));
    s4u::Engine engine = start_engine(0);
    configure_network(IdealTransport{});
    count_parts(limits);
    const std::vector<s4u::Host*> hosts = load_hosts(engine, file);
    if (auto fault = find_bad_parts(engine, hosts)) return refused(std::move(*fault));
    notes.hosts = facts.hosts = static_cast<long>(hosts.size());
    try_routes(hosts, limits, notes, facts);
  } catch (const TooLarge& large) {
    return refused(large.fault);
  } catch (const std::bad_alloc&) {
    return refused({fmt::format("which takes more than {} MiB of memory", limits.memory_bytes >> 20), kLoadable});
  } catch (const std::exception& error) {
    return refused(not_loaded(cleaned(error.what(), file)));
  }
  return facts;
}

std::string packed(const PlatformFacts& facts) {
  return Json{{"fault", facts.fault},
              {"allowed", facts.allowed},
              {"hosts", facts.hosts},
              {"connected", facts.connected},
              {"missing", facts.missing}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

PlatformFacts unpacked(const Json& json) {
  return {json.at("fault"), json.at("allowed"), json.at("hosts"), json.at("connected"), json.at("missing")};
}

/// The error for a child that SimGrid ended.
PlatformFacts facts_of_crash(const ChildAnswer& answer, const Notes::Page& notes, const std::string& printed,
                             const std::string& file) {
  if (notes.connected > 0) return {"", "", notes.hosts, notes.connected, notes.pair};
  constexpr std::string_view kMark = "/CRITICAL] ";
  std::string why;
  if (const auto at = printed.find(kMark); at != std::string::npos)
    why = cleaned(printed.substr(at + kMark.size()), file);
  else if (answer.signal != 0)
    why = fmt::format("it ends by signal {} ({})", answer.signal, ::strsignal(answer.signal));
  else why = cleaned(answer.error, file);
  const PlatformFault fault = not_loaded(why);
  return {fault.found, fault.allowed, 0, 0, ""};
}

/// Errors that are found without SimGrid.
std::optional<PlatformFault> check_file(const std::string& file, const InspectionLimits& limits) {
  if (!std::ifstream(file)) return PlatformFault{"which cannot be opened", "a file that may be read"};
  std::error_code error;
  if (const auto bytes = std::filesystem::file_size(file, error); !error && bytes > limits.file_bytes)
    return PlatformFault{fmt::format("which has {} bytes", bytes),
                         fmt::format("at most {} MiB", limits.file_bytes >> 20)};
  return std::nullopt;
}

}  // namespace

PlatformFacts inspect_platform_within(const std::string& file, const InspectionLimits& limits) {
  if (const auto fault = check_file(file, limits)) return {fault->found, fault->allowed, 0, 0, ""};
  const Notes notes;
  const Printed printed;
  ProcessPool pool(1);
  pool.start(0, [&] {
    printed.take_streams();
    limit_process(limits);
    return packed(look_into(file, limits, *notes));
  });
  const auto deadline = Clock::now() + limits.time;
  for (auto left = limits.time; left.count() > 0;
       left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()))
    for (const ChildAnswer& answer : pool.wait(static_cast<int>(left.count())))
      return answer.error.empty() ? unpacked(Json::parse(answer.bytes))
                                  : facts_of_crash(answer, *notes, printed.text(), file);
  const auto seconds = std::chrono::duration<double>(limits.time).count();
  return {fmt::format("which SimGrid has not loaded after {:g} s", seconds),
          fmt::format("a platform that it loads within {:g} s", seconds), 0, 0, ""};
}

}  // namespace stepcast
