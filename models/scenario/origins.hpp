// The files and places that a merged document's values come from.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/describe/fault.hpp"

namespace stepcast {

/// Returns true if `pointer` is `ancestor` or below it.
bool is_at_or_below(std::string_view pointer, std::string_view ancestor);

/// The origins of the parts of a merged document.
class Origins {
 public:
  explicit Origins(std::string file) : places_{{"", std::move(file), ""}} {}

  /// Records that `pointer` and all values below it come from `place` in `file`.
  void add(std::string pointer, std::string file, std::string place);
  /// Records the origins that `others` has for `pointer` and the places below it.
  void add(const std::string& pointer, const Origins& others);
  /// Records that the value at `from` moved to `to`.
  void move(const std::string& from, const std::string& to);
  /// Converts a fault's pointer in the merged document to its original file and pointer.
  [[nodiscard]] Fault locate(Fault fault) const;
  /// The file that contains the value at `pointer`.
  [[nodiscard]] std::string file_of(std::string_view pointer) const;

  /// From `pointer` downwards, values come from `place` in `file`.
  struct Place {
    std::string pointer, file, place;
  };
  /// The changes below `pointer` from other sources than the author of the list around it.
  [[nodiscard]] std::vector<Place> changes_below(std::string_view pointer, std::string_view list) const;

 private:
  [[nodiscard]] const Place& place_of(std::string_view pointer) const;
  std::vector<Place> places_;
};

}  // namespace stepcast
