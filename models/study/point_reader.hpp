// Reads a study's points, with their phases and baselines.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/scenario/scenario_reader.hpp"
#include "models/study/document_changes.hpp"
#include "models/study/left_out.hpp"
#include "models/study/point_faults.hpp"
#include "models/study/study.hpp"
#include "models/study/unused_fields.hpp"

namespace stepcast {

class PointReader {
 public:
  /// @param file  the file of the study
  /// @param look  for values without effect
  PointReader(ScenarioReader& reader, DocumentChanges& changes, PointFaults& faults, std::string file,
              LookForUnused look = LookForUnused::yes)
      : reader_(reader), changes_(changes), faults_(faults), unused_(std::move(file), look) {}

  /// The point of a document without axes. Nothing if it is left out, or if the study has faults.
  /// @param number  the number that the point will have in the study
  std::optional<StudyPoint> read(const Document& document, std::vector<Coordinate> coordinates, std::size_t number);

  [[nodiscard]] const LeftOut& left_out() const { return left_out_; }
  [[nodiscard]] const UnusedFields& unused() const { return unused_; }
  /// Points whose parts do not fit together, and which are faults of the study.
  [[nodiscard]] std::size_t refused() const { return refused_; }

 private:
  /// The document with the changes of one place. It is a point of its own: a baseline, or a phase of a run.
  /// @param where  name for faults, such as "the baseline"
  Document changed(const Document& document, const Json& set, const std::string& pointer, const std::string& where);
  /// Omits faults that the point itself has.
  /// @param impossible  collects the faults between this scenario's parts
  Scenario read_changed(const Document& document, const ScenarioReading& own, const std::string& where,
                        std::vector<Fault>& impossible);
  /// Successive points that are compared with one scenario get one object.
  void read_baseline(const Document& document, const ScenarioReading& own, StudyPoint& point,
                     std::vector<Fault>& impossible);
  std::vector<Scenario> read_phases(const Document& document, const ScenarioReading& own, const Scenario& scenario,
                                    std::vector<Fault>& impossible);

  ScenarioReader& reader_;
  DocumentChanges& changes_;
  PointFaults& faults_;
  LeftOut left_out_;
  UnusedFields unused_;
  Shared<std::vector<Scenario>> baselines_;  ///< the last ones that were read
  std::optional<Document> baselines_of_;     ///< the document from which they were read
  std::size_t refused_ = 0;
};

}  // namespace stepcast
