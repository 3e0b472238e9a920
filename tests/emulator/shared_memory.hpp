// The __shared__ variables of a block, each between guards of 64 bytes or more.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tests/emulator/grid.hpp"
#include "tests/emulator/runtime.hpp"

namespace stepcast::emulator {

class SharedMemory {
 public:
  /// Forgets the content that the block before left.
  void begin() { used_.clear(); }
  /// By its number (new_shared_variable), filled by fill_unwritten before its first use.
  std::byte* find(std::size_t number, std::size_t bytes) {
    if (number >= variables_.size()) variables_.resize(number + 1);
    if (std::find(used_.begin(), used_.end(), number) == used_.end()) {
      used_.push_back(number);
      variables_[number].begin(bytes);
    }
    return variables_[number].data();
  }
  [[nodiscard]] std::optional<std::string> find_damage() const {
    for (const std::size_t number : used_)
      if (!variables_[number].intact())
        return "written out of bounds of a __shared__ variable of " + std::to_string(variables_[number].bytes) +
               " bytes";
    return std::nullopt;
  }

 private:
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  struct Variable {
    std::vector<Line> lines;
    std::size_t bytes = 0;

    /// The variable, after a line of guard. All lines are one run of bytes.
    std::byte* data() { return reinterpret_cast<std::byte*>(lines.data()) + sizeof(Line); }
    [[nodiscard]] const std::byte* data() const {
      return reinterpret_cast<const std::byte*>(lines.data()) + sizeof(Line);
    }
    [[nodiscard]] std::size_t behind() const { return (lines.size() - 1) * sizeof(Line) - bytes; }
    void begin(std::size_t size) {
      if (lines.empty()) {
        bytes = size;
        lines.resize(2 + (size + sizeof(Line) - 1) / sizeof(Line));
        mark_guard(lines[0].bytes, sizeof(Line));
        mark_guard(data() + bytes, behind());
      }
      fill_unwritten(data(), bytes);
    }
    [[nodiscard]] bool intact() const {
      return is_intact(lines[0].bytes, sizeof(Line)) && is_intact(data() + bytes, behind());
    }
  };

  std::vector<Variable> variables_;
  std::vector<std::size_t> used_;  ///< by this block
};

}  // namespace stepcast::emulator
