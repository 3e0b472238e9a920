// A large value that is seldom there, and alike in most copies of what holds it.
#pragma once

#include <memory>
#include <utility>

#include "models/part/describe.hpp"

namespace stepcast {

/// std::optional<T> in the size of two pointers. Copies share the value until one of them is asked for a T that it may
/// change: points of a study mostly hold the same device profile, or none.
template <class T>
class SharedOptional {
 public:
  using value_type = T;

  SharedOptional() = default;
  SharedOptional(T value) : value_(std::make_shared<T>(std::move(value))) {}  // NOLINT: implicit, as std::optional's

  [[nodiscard]] bool has_value() const { return value_ != nullptr; }
  explicit operator bool() const { return has_value(); }
  void reset() { value_.reset(); }

  const T& operator*() const { return *value_; }
  const T* operator->() const { return value_.get(); }
  T& operator*() { return own(); }
  T* operator->() { return &own(); }

  friend bool operator==(const SharedOptional& a, const SharedOptional& b) {
    return a.value_ == b.value_ || (a.value_ && b.value_ && *a.value_ == *b.value_);
  }

 private:
  T& own() {
    if (value_.use_count() > 1) value_ = std::make_shared<T>(*value_);
    return *value_;
  }

  std::shared_ptr<T> value_;
};

template <class T>
struct IsOptional<SharedOptional<T>> : std::true_type {};

}  // namespace stepcast
