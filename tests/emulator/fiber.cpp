// The first entry is by ucontext, each later switch by setjmp and longjmp, which unlike swapcontext make no system
// call. (As QEMU's coroutines, util/coroutine-ucontext.c.)
#undef _FORTIFY_SOURCE  // its longjmp refuses other stacks
#include "tests/emulator/fiber.hpp"

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <new>

#include "tests/emulator/fiber_sanitizer.hpp"

namespace stepcast::emulator {
namespace {

constexpr std::size_t kStackBytes = kSanitized ? 512 << 10 : 64 << 10;
std::size_t guard_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

thread_local Fiber* entering = nullptr;  // makecontext hands over no pointer

}  // namespace

// Below the stack lies a page that nobody may touch.
Fiber::Fiber(std::function<void()> work)
    : work_(std::move(work)),
      stack_(mmap(nullptr, guard_bytes() + kStackBytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
  if (stack_ == MAP_FAILED || mprotect(stack_, guard_bytes(), PROT_NONE) != 0) throw std::bad_alloc();
}

Fiber::~Fiber() { munmap(stack_, guard_bytes() + kStackBytes); }

void Fiber::main() {
  Fiber& self = *entering;
  finish_switch(nullptr, &self.host_stack_, &self.host_size_);
  for (;;) {
    self.work_();
    self.busy_ = false;
    self.leave();
  }
}

void Fiber::resume() {
  auto* const stack = static_cast<unsigned char*>(stack_) + guard_bytes();
  busy_ = true;
  start_switch(&fake_outside_, stack, kStackBytes);
  if (_setjmp(outside_) == 0) {
    if (begun_) _longjmp(inside_, 1);
    begun_ = true;
    entering = this;
    ucontext_t context;
    getcontext(&context);
    context.uc_stack.ss_sp = stack;
    context.uc_stack.ss_size = kStackBytes;
    context.uc_link = nullptr;
    makecontext(&context, &Fiber::main, 0);
    setcontext(&context);
  }
  finish_switch(fake_outside_, nullptr, nullptr);
}

void Fiber::leave() {
  start_switch(&fake_inside_, host_stack_, host_size_);
  if (_setjmp(inside_) == 0) _longjmp(outside_, 1);
  finish_switch(fake_inside_, &host_stack_, &host_size_);
}

void Fiber::abandon() {
  begun_ = busy_ = false;
  unpoison(static_cast<unsigned char*>(stack_) + guard_bytes(), kStackBytes);
}

}  // namespace stepcast::emulator
