// Buffers begin behind a page without access rights, and end before one, as far as an alignment of 256 bytes allows. A
// pattern guards the gap.
#include "tests/emulator/runtime.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "tests/emulator/fiber_sanitizer.hpp"
#include "tests/emulator/grid.hpp"

namespace stepcast::emulator {
namespace {

constexpr std::size_t kAlignment = 256;
constexpr std::byte kGuard{0xc3};

thread_local cudaError_t last_error = cudaSuccess;
thread_local std::string last_what;

std::size_t rounded_up(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }
std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

struct Allocation {
  std::byte* pages;  ///< the first one that may be touched
  std::size_t size;  ///< the accessible bytes
  std::byte* data;
  std::size_t bytes;
  std::thread::id owner;
  bool damaged = false;

  [[nodiscard]] std::size_t before() const { return static_cast<std::size_t>(data - pages); }
  [[nodiscard]] std::size_t behind() const { return size - before() - bytes; }
};

/// Allocations of all host threads, by their begin.
class Allocations {
 public:
  std::byte* add(std::size_t bytes) {
    const std::size_t page = page_bytes(), room = rounded_up(bytes, kAlignment), size = rounded_up(room, page);
    void* const pages = mmap(nullptr, size + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED) return nullptr;
    std::byte* const first = static_cast<std::byte*>(pages) + page;
    if (mprotect(first, size, PROT_READ | PROT_WRITE) != 0) return nullptr;
    const Allocation made{first, size, first + (size - room), bytes, std::this_thread::get_id()};
    mark_guard(first, made.before());
    fill_unwritten(made.data, bytes);
    mark_guard(made.data + bytes, made.behind());
    const std::lock_guard lock(mutex_);
    return all_.emplace(made.data, made).first->first;
  }
  bool remove(std::byte* data) {
    const std::lock_guard lock(mutex_);
    const auto found = all_.find(data);
    if (found == all_.end()) return false;
    const Allocation& gone = found->second;
    unpoison(gone.pages, gone.size);
    munmap(gone.pages - page_bytes(), gone.size + 2 * page_bytes());
    all_.erase(found);
    return true;
  }
  /// Whether all of it lies in one buffer.
  bool holds(const void* data, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    auto after = all_.upper_bound(const_cast<std::byte*>(static_cast<const std::byte*>(data)));
    if (after == all_.begin()) return false;
    const Allocation& buffer = std::prev(after)->second;
    const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(data) - buffer.data);
    return offset <= buffer.bytes && bytes <= buffer.bytes - offset;
  }
  std::optional<std::string> find_damage() {
    const std::lock_guard lock(mutex_);
    for (auto& [data, buffer] : all_) {
      if (buffer.owner != std::this_thread::get_id() || buffer.damaged) continue;
      const bool before = !is_intact(buffer.pages, buffer.before()),
                 behind = !is_intact(data + buffer.bytes, buffer.behind());
      if (!before && !behind) continue;
      buffer.damaged = true;
      return std::string("written ") + (before ? "before" : "behind") + " a buffer of " + std::to_string(buffer.bytes) +
             " bytes";
    }
    return std::nullopt;
  }

 private:
  std::mutex mutex_;
  std::map<std::byte*, Allocation> all_;
};

Allocations& allocations() {
  static Allocations all;
  return all;
}

/// Prints the running kernel, then lets the signal end the program as usual. Calls like snprintf are safe here, because
/// the fault is in the running code.
void on_fault(int signal, siginfo_t* info, void*) {
  const std::string running = running_thread();
  std::fprintf(stderr, "emulator: %s: no memory at %p, or not for writing\n",
               running.empty() ? "in the host's code" : running.c_str(), info->si_addr);
  std::signal(signal, SIG_DFL);
}

}  // namespace

void watch_faults() {
  if (kSanitized) return;  // it tells by itself
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, nullptr);
}

cudaError_t report_error(cudaError_t code, const std::string& what) {
  if (last_error == cudaSuccess) {
    last_error = code;
    last_what = what;
  }
  return code;
}

void mark_guard(std::byte* data, std::size_t bytes) {
  std::memset(data, static_cast<int>(kGuard), bytes);
  poison(data, bytes);
}

bool is_intact(const std::byte* data, std::size_t bytes) {
  return kSanitized || std::all_of(data, data + bytes, [](std::byte byte) { return byte == kGuard; });
}

std::optional<std::string> find_damage() { return allocations().find_damage(); }

}  // namespace stepcast::emulator

using namespace stepcast::emulator;

const char* cudaGetErrorName(cudaError_t code) {
  switch (code) {
    case cudaSuccess: return "cudaSuccess";
    case cudaErrorInvalidValue: return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation: return "cudaErrorMemoryAllocation";
    case cudaErrorInvalidConfiguration: return "cudaErrorInvalidConfiguration";
    case cudaErrorInsufficientDriver: return "cudaErrorInsufficientDriver";
    case cudaErrorNoDevice: return "cudaErrorNoDevice";
    case cudaErrorLaunchFailure: return "cudaErrorLaunchFailure";
    case cudaErrorCooperativeLaunchTooLarge: return "cudaErrorCooperativeLaunchTooLarge";
  }
  return "unknown";
}

const char* cudaGetErrorString(cudaError_t) { return last_what.c_str(); }

cudaError_t cudaGetLastError() { return std::exchange(last_error, cudaSuccess); }
cudaError_t cudaPeekAtLastError() { return last_error; }

cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr, int) {
  *value = kProcessors;
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  *stream = nullptr;
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }

cudaError_t cudaMalloc(void** data, std::size_t bytes) {
  static const bool watching = (watch_faults(), true);
  static_cast<void>(watching);
  *data = allocations().add(bytes);
  return *data != nullptr ? cudaSuccess
                          : report_error(cudaErrorMemoryAllocation, "no room for " + std::to_string(bytes) + " bytes");
}

cudaError_t cudaFree(void* data) {
  if (data == nullptr || allocations().remove(static_cast<std::byte*>(data))) return cudaSuccess;
  return report_error(cudaErrorInvalidValue, "freed what is no buffer");
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  if (!allocations().holds(kind == cudaMemcpyHostToDevice ? to : from, bytes))
    return report_error(cudaErrorInvalidValue, "copied " + std::to_string(bytes) + " bytes beyond a buffer");
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void* data, int value, std::size_t bytes, cudaStream_t) {
  if (!allocations().holds(data, bytes))
    return report_error(cudaErrorInvalidValue, "set " + std::to_string(bytes) + " bytes beyond a buffer");
  std::memset(data, value, bytes);
  return cudaSuccess;
}
