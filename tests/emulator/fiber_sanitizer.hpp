// Notices to AddressSanitizer; nothing in other builds.
#pragma once

#include <cstddef>

#include "tests/support/sanitized.hpp"

#ifdef STEPCAST_SANITIZED
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace stepcast::emulator {

using test::kSanitized;

#ifdef STEPCAST_SANITIZED
inline void poison(const void* data, std::size_t bytes) { __asan_poison_memory_region(data, bytes); }
inline void unpoison(const void* data, std::size_t bytes) { __asan_unpoison_memory_region(data, bytes); }
inline void start_switch(void** fake, const void* stack, std::size_t bytes) {
  __sanitizer_start_switch_fiber(fake, stack, bytes);
}
inline void finish_switch(void* fake, const void** stack, std::size_t* bytes) {
  __sanitizer_finish_switch_fiber(fake, stack, bytes);
}
#else
inline void poison(const void*, std::size_t) {}
inline void unpoison(const void*, std::size_t) {}
inline void start_switch(void**, const void*, std::size_t) {}
inline void finish_switch(void*, const void**, std::size_t*) {}
#endif

}  // namespace stepcast::emulator
