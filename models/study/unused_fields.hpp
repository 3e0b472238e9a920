// Finds values in a study's document that have no effect at any point (without_effect.hpp).
//
// A value is identified by its place: the document, an option and each variant may all
// write one field. It has no effect if none of its points uses it. So a field that some
// of the variants, or some values of another axis, use is not reported. Neither are
// default values, nor the content of a part's file, which also serves other scenarios.
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

enum class LookForUnused { yes, no };

class UnusedFields {
 public:
  /// @param file  the file of the study
  /// @param look  whether it looks; otherwise it finds nothing
  explicit UnusedFields(std::string file, LookForUnused look = LookForUnused::yes)
      : file_(std::move(file)), look_(look) {}

  /// Starts a point with these coordinates, with axes given
  /// by their pointers. The next calls of see() belong to it.
  void begin(std::vector<Coordinate> coordinates);
  /// @param document  source of `scenario`: the point's own document, its baseline's or a phase's
  void see(const Document& document, const Scenario& scenario);
  /// Records the point as number `point` of the study. Points that are not kept do not count.
  void keep(std::size_t point);

  /// Adds a note to each point that has a value without effect,
  /// and a note to the study for each axis of such values.
  void add_notes(Study& study) const;

 private:
  /// The field's index in sometimes_fields(), the file, and the place in it.
  using Written = std::tuple<std::size_t, std::string, std::string>;
  struct Sighting {
    Written written;
    std::string why;
    bool is_axis = false, is_news = false;
  };
  struct Found {
    bool has_effect = false, is_axis = false;
    std::vector<std::string> why;     ///< each reason once
    std::vector<std::size_t> points;  ///< points with a note, in order
  };

  std::string file_;
  LookForUnused look_;
  std::vector<Coordinate> coordinates_;
  std::vector<Sighting> seen_;  ///< the current point's
  std::map<Written, Found> found_;
};

}  // namespace stepcast
