// Whether this is a build with AddressSanitizer: g++ and clang say so in different ways.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define STEPCAST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define STEPCAST_SANITIZED 1
#endif
#endif

namespace stepcast::test {

#ifdef STEPCAST_SANITIZED
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace stepcast::test
