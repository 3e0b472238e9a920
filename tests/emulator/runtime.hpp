// Code shared by launches and the runtime's calls.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include <cuda_runtime_api.h>

namespace stepcast::emulator {

/// Keeps an error for cudaGetLastError, if there is none yet. Returns the code.
cudaError_t report_error(cudaError_t code, const std::string& what);

/// Bytes in front of and behind a buffer that nobody may touch.
void mark_guard(std::byte* data, std::size_t bytes);
/// Whether nobody wrote there. Always, where AddressSanitizer watches them.
bool is_intact(const std::byte* data, std::size_t bytes);

/// The buffers of this host thread that were written out of bounds. Each is reported once.
std::optional<std::string> find_damage();

/// Makes accesses to guard pages print the running kernel before the program ends. The first call is by cudaMalloc, so
/// other handlers of SIGSEGV may be installed later.
void watch_faults();

/// Kernel, block and thread that this thread of the host runs; empty if none.
std::string running_thread();

}  // namespace stepcast::emulator
