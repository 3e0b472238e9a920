#include "tests/emulator/grid.hpp"

#include <cxxabi.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <span>
#include <stdexcept>
#include <utility>

#include "tests/emulator/block.hpp"
#include "tests/emulator/device_builtins.hpp"

namespace stepcast::emulator {
namespace {

Order order_of_environment() {
  const char* const name = std::getenv("STEPCAST_EMULATED_ORDER");
  const std::string order = name == nullptr ? "first-to-last" : name;
  if (order == "first-to-last") return Order::first_to_last;
  if (order == "last-to-first") return Order::last_to_first;
  if (order == "shuffled") return Order::shuffled;
  throw std::invalid_argument("STEPCAST_EMULATED_ORDER is \"" + order +
                              "\"; allowed: first-to-last, last-to-first, shuffled");
}

Order& chosen_order() {
  thread_local Order chosen = order_of_environment();
  return chosen;
}

/// The launch that this thread of the host runs.
struct Running {
  const Kernel& kernel;
  bool cooperative;
  const std::function<void()>& work;  ///< the work of each thread
  std::string wrong{};
  Block* block = nullptr;
  unsigned thread = 0;
  Fiber* fiber = nullptr;  ///< fiber of the thread; null while none runs
};
thread_local Running* running = nullptr;

void enter(Block& block, unsigned thread) {
  running->block = &block;
  running->thread = thread;
  blockIdx = block.index();
  threadIdx = block.thread_index(thread);
}

/// On a fiber: its thread, and then others that have not begun. So threads that wait for nobody share one fiber, and
/// are no slower than calls.
void run_threads() {
  for (;;) {
    running->work();
    Block& block = *running->block;
    block.end(running->thread);
    const std::optional<unsigned> next = block.take_next();
    if (!next) return;
    if (block.fiber(*next) != nullptr) return block.allow(*next);
    enter(block, *next);
    block.fiber(*next) = running->fiber;
  }
}

/// Kept from launch to launch.
class Fibers {
 public:
  Fiber* take() {
    if (free_.empty()) free_.push_back(all_.emplace_back(std::make_unique<Fiber>(run_threads)).get());
    Fiber* const fiber = free_.back();
    free_.pop_back();
    return fiber;
  }
  void give_back(Fiber* fiber) { free_.push_back(fiber); }
  void abandon() {
    free_.clear();
    for (const auto& fiber : all_) {
      fiber->abandon();
      free_.push_back(fiber.get());
    }
  }

 private:
  std::vector<std::unique_ptr<Fiber>> all_;
  std::vector<Fiber*> free_;
};
thread_local Fibers fibers;

/// Until none of the block's threads can go on.
void run_block(Block& block) {
  while (const std::optional<unsigned> next = block.take_next()) {
    Fiber*& own = block.fiber(*next);
    if (own == nullptr) own = fibers.take();
    Fiber* const fiber = running->fiber = own;
    enter(block, *next);
    fiber->resume();
    if (!running->wrong.empty()) return;
    running->fiber = nullptr;
    if (!fiber->busy()) fibers.give_back(fiber);
  }
}

/// Blocks that are all there at once, to their end or to an error.
void run_blocks(std::span<Block* const> blocks) {
  const auto all = [&](auto holds) { return std::all_of(blocks.begin(), blocks.end(), holds); };
  const auto ended = [](const Block* block) { return block->ended(); };
  const auto at_grid_barrier = [](const Block* block) { return block->at_grid_barrier(); };
  for (;;) {
    for (Block* const block : blocks) {
      run_block(*block);
      if (!running->wrong.empty()) return;
    }
    if (all(ended)) break;
    if (!all(at_grid_barrier)) {
      const auto stuck = std::find_if(blocks.begin(), blocks.end(),
                                      [&](const Block* block) { return !ended(block) && !at_grid_barrier(block); });
      running->block = stuck != blocks.end() ? *stuck : *std::find_if(blocks.begin(), blocks.end(), at_grid_barrier);
      running->wrong = "waits for ever: " + running->block->describe_stuck() +
                       (stuck != blocks.end() ? "" : "; other blocks have ended");
      return;
    }
    for (Block* const block : blocks) block->leave_grid_barrier();
  }
  for (Block* const block : blocks)
    if (const auto damage = block->shared().find_damage()) {
      running->block = block;
      running->wrong = *damage;
      return;
    }
}

std::uint64_t volume(const dim3& size) { return std::uint64_t{size.x} * size.y * size.z; }

/// The device's limits, from compute capability 8.0 on.
cudaError_t check(const Config& config, bool cooperative) {
  const auto& [x, y, z] = config.grid;
  const dim3& block = config.block;
  if (volume(config.grid) == 0 || x > 0x7fffffffU || y > 65535 || z > 65535) return cudaErrorInvalidConfiguration;
  if (volume(block) == 0 || volume(block) > 1024 || block.z > 64 || config.shared > 48 << 10)
    return cudaErrorInvalidConfiguration;
  if (cooperative && volume(config.grid) > std::uint64_t{kProcessors} * kResidentBlocks)
    return cudaErrorCooperativeLaunchTooLarge;
  return cudaSuccess;
}

std::string text(const dim3& size) {
  return std::to_string(size.x) + " x " + std::to_string(size.y) + " x " + std::to_string(size.z);
}
std::string text(const uint3& index) {
  return std::string("(")
      .append(std::to_string(index.x))
      .append(", ")
      .append(std::to_string(index.y))
      .append(", ")
      .append(std::to_string(index.z))
      .append(")");
}

std::string describe(const Kernel& kernel) {
  const std::unique_ptr<char, decltype(&std::free)> arguments(
      abi::__cxa_demangle(kernel.arguments.name(), nullptr, nullptr, nullptr), &std::free);
  return std::string(kernel.name) + " of " + (arguments ? arguments.get() : kernel.arguments.name()) +
         ", launched at " + kernel.launched.file + ":" + std::to_string(kernel.launched.line);
}

}  // namespace

void set_order(Order order) { chosen_order() = order; }
Order order() { return chosen_order(); }

void fill_unwritten(void* data, std::size_t bytes) {
  constexpr std::uint32_t words[] = {0xffffffffU, 0x7f7f7f7fU, 1};
  const std::uint32_t word = words[static_cast<int>(order())];
  auto* const to = static_cast<std::byte*>(data);
  for (std::size_t i = 0; i < bytes; i += sizeof word) std::memcpy(to + i, &word, std::min(sizeof word, bytes - i));
}

std::string running_thread() {
  if (running == nullptr) return "";
  std::string where = describe(running->kernel);
  if (running->block != nullptr) where += ", block " + text(running->block->index());
  if (running->fiber != nullptr) where += ", thread " + text(running->block->thread_index(running->thread));
  return where;
}

void run_grid(const Kernel& kernel, const Config& config, bool cooperative, const std::function<void()>& thread) {
  if (const cudaError_t wrong = check(config, cooperative); wrong != cudaSuccess) {
    report_error(wrong, describe(kernel) + ": " + text(config.grid) + " blocks of " + text(config.block) +
                            " threads, " + std::to_string(config.shared) + " bytes of shared memory");
    return;
  }
  Running launch{kernel, cooperative, thread};
  running = &launch;
  gridDim = config.grid;
  blockDim = config.block;
  // The shuffles of a launch are the same in each run.
  std::minstd_rand random(static_cast<unsigned>(kernel.launched.line) + config.grid.x);
  const auto index = [&](unsigned i) {
    return uint3{i % config.grid.x, i / config.grid.x % config.grid.y, i / config.grid.x / config.grid.y};
  };
  const std::vector<unsigned> sequence = arranged(volume(config.grid), random);
  std::vector<std::unique_ptr<Block>> blocks;  // one that is used again, or all of a cooperative grid's
  std::vector<Block*> together;
  for (const unsigned i : sequence) {
    if (cooperative || blocks.empty())
      together.push_back(blocks.emplace_back(std::make_unique<Block>(config.block, random)).get());
    together.back()->begin(index(i), random);
    if (cooperative && together.size() < sequence.size()) continue;
    run_blocks(together);
    if (!launch.wrong.empty()) break;
  }
  if (launch.wrong.empty())
    if (const auto damage = find_damage()) {
      launch.block = nullptr;
      launch.wrong = *damage;
    }
  if (!launch.wrong.empty()) {
    report_error(cudaErrorLaunchFailure, running_thread() + ": " + launch.wrong);
    fibers.abandon();
  }
  running = nullptr;
}

void fail(std::string what) {
  running->wrong = std::move(what);
  running->fiber->leave();
  std::abort();  // nobody resumes it
}

void meet_block(Place where) {
  Running& now = *running;
  if (auto wrong = now.block->wait_for_block(now.thread, where)) fail(std::move(*wrong));
  now.fiber->leave();
}

void meet_grid(Place where) {
  Running& now = *running;
  if (!now.cooperative) fail("grid.sync() in a launch that is not cooperative");
  now.block->wait_for_grid(now.thread, where);
  now.fiber->leave();
}

const Lanes& meet_lanes(std::uint32_t mask, std::uint64_t value, Place where) {
  Block& block = *running->block;
  const unsigned thread = running->thread;
  if (auto wrong = block.wait_for_lanes(thread, mask, value, where)) fail(std::move(*wrong));
  running->fiber->leave();
  return block.received(thread);
}

unsigned lane() { return running->thread % 32; }

std::size_t new_shared_variable() {
  static std::atomic<std::size_t> count = 0;
  return count++;
}

void* shared_memory(std::size_t variable, std::size_t bytes) { return running->block->shared().find(variable, bytes); }

}  // namespace stepcast::emulator
