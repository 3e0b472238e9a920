// A stack of its own on which a device thread runs until it waits.
#pragma once

#include <csetjmp>
#include <cstddef>
#include <functional>

namespace stepcast::emulator {

/// Belongs to the host thread that made it.
class Fiber {
 public:
  /// @param work  called again at each resume() after it has returned; throws nothing
  explicit Fiber(std::function<void()> work);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Goes on with the work until it returns or calls leave().
  void resume();
  /// From within the work, back to resume().
  void leave();
  /// Whether the work has left without returning.
  [[nodiscard]] bool busy() const { return busy_; }
  /// Forgets where the work was, with all that stood on its stack.
  void abandon();

 private:
  static void main();

  std::function<void()> work_;
  void* stack_;
  std::jmp_buf inside_, outside_;
  bool begun_ = false, busy_ = false;
  // AddressSanitizer's data about both stacks.
  void *fake_inside_ = nullptr, *fake_outside_ = nullptr;
  const void* host_stack_ = nullptr;
  std::size_t host_size_ = 0;
};

}  // namespace stepcast::emulator
