// Which of the values that a study's document writes have no effect at any of its points (without_effect.hpp).
//
// A value is told by where it is written: one field may be written by the document, by an option and by each variant.
// It is said to have no effect where none of the points at which that value stands has a use for it, so that variants
// of which some use a field and others do not are no news, and an axis crossed with another neither. Defaults are no
// news, and neither is what a part's file writes, which serves other scenarios too.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "models/scenario/document.hpp"
#include "models/scenario/without_effect.hpp"
#include "models/study/study.hpp"

namespace stepcast {

class UnusedFields {
 public:
  /// @param file  that the study is read from
  explicit UnusedFields(std::string file) : file_(std::move(file)) {}

  /// From here on it is the scenarios of a point with these coordinates that are seen, its axes given by their
  /// pointers.
  void begin(std::vector<Coordinate> coordinates);
  /// @param document  that `scenario` was read from: the point's own, that of its baseline or of a phase
  void see(const Document& document, const Scenario& scenario);
  /// The point is number `point` of the study; one that is not kept was not seen.
  void keep(std::size_t point);

  /// Adds a note to each point at which a value without effect stands, and one to the study for each axis of such
  /// values.
  void add_notes(Study& study) const;

 private:
  /// Number of the field in sometimes_fields(), file, place in it.
  using Written = std::tuple<std::size_t, std::string, std::string>;
  struct Sighting {
    Written written;
    std::string why;
    bool is_axis = false, is_news = false;
  };
  struct Found {
    bool has_effect = false, is_axis = false;
    std::vector<std::string> why;     ///< each once
    std::vector<std::size_t> points;  ///< at which it would be news, in order
  };

  std::string file_;
  std::vector<Coordinate> coordinates_;
  std::vector<Sighting> seen_;  ///< of the point that began
  std::map<Written, Found> found_;
};

}  // namespace stepcast
