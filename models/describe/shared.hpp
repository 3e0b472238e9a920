// An optional value that copies share.
#pragma once

#include <atomic>
#include <utility>

namespace stepcast {

/// Nothing, or a constant value: std::optional of the size of one pointer, whose copies hold the same object. For what
/// is large, seldom there, or the same at all points of a study, which holds up to a million. Threads may copy it.
template <class T>
class Shared {
 public:
  using value_type = T;

  Shared() = default;
  Shared(T value) : held_(new Held{std::move(value)}) {}  // as std::optional converts
  Shared(const Shared& other) noexcept : held_(other.held_) {
    if (held_) held_->copies.fetch_add(1, std::memory_order_relaxed);
  }
  Shared(Shared&& other) noexcept : held_(std::exchange(other.held_, nullptr)) {}
  Shared& operator=(Shared other) noexcept {
    std::swap(held_, other.held_);
    return *this;
  }
  ~Shared() {
    if (held_ && held_->copies.fetch_sub(1, std::memory_order_acq_rel) == 1) delete held_;
  }

  void reset() { *this = Shared(); }
  [[nodiscard]] bool has_value() const { return held_ != nullptr; }
  explicit operator bool() const { return has_value(); }
  const T& operator*() const { return held_->value; }
  const T* operator->() const { return &held_->value; }
  [[nodiscard]] T value_or(T other) const { return held_ ? held_->value : std::move(other); }

  bool operator==(const Shared& other) const {
    return held_ == other.held_ || (held_ && other.held_ && held_->value == other.held_->value);
  }

 private:
  struct Held {
    const T value;
    std::atomic<long> copies = 1;
  };
  Held* held_ = nullptr;
};

}  // namespace stepcast
