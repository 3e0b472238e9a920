// An optional value that copies share.
#pragma once

#include <memory>
#include <utility>

namespace stepcast {

/// Nothing, or a constant value: std::optional of the size of two pointers, whose copies hold the same object. For what
/// is large, seldom there, or the same at all points of a study, which holds up to a million.
template <class T>
class Shared {
 public:
  using value_type = T;

  Shared() = default;
  Shared(T value) : value_(std::make_shared<const T>(std::move(value))) {}  // as std::optional converts

  void reset() { value_.reset(); }
  [[nodiscard]] bool has_value() const { return value_ != nullptr; }
  explicit operator bool() const { return has_value(); }
  const T& operator*() const { return *value_; }
  const T* operator->() const { return value_.get(); }
  [[nodiscard]] T value_or(T other) const { return value_ ? *value_ : std::move(other); }

  bool operator==(const Shared& other) const {
    return value_ == other.value_ || (value_ && other.value_ && *value_ == *other.value_);
  }

 private:
  std::shared_ptr<const T> value_;
};

}  // namespace stepcast
