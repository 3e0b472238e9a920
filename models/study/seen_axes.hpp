// The axes of a study, as they are found.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "models/study/study.hpp"

namespace stepcast {

class SeenAxes {
 public:
  /// Records a value, wanted or not.
  void see(const std::string& axis, const std::string& value);

  /// Sets the study's axes, and names them in its points. An axis has the last name of its pointer, or the whole
  /// pointer if two axes would have one name.
  /// @param all  whether axes count that no point has
  void name_axes(Study& study, bool all) const;

 private:
  struct Seen {
    std::string pointer;
    std::vector<std::string> values;
    std::set<std::string> known;  ///< the values
  };
  std::vector<Seen> seen_;
};

}  // namespace stepcast
