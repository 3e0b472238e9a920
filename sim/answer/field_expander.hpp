// Reads the points of a study at values of one field.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/study/expansion.hpp"
#include "models/study/study.hpp"
#include "sim/answer/field.hpp"

namespace stepcast {

/// Whether points keep their baselines, of which their speedup is.
enum class Baselines { dropped, kept };

/// The point without the parts of the study that a search along a field does not ask.
StudyPoint searched(StudyPoint point, Baselines baselines);

/// Reads points of a study at other values of a field, each from its own document, which it keeps.
class FieldExpander {
 public:
  /// @param file  the study's
  FieldExpander(Field field, std::string file);

  /// The point at these values, without coordinates and notes.
  /// @param which  the point's number, by which its document is kept
  /// @throws ScenarioError for an impossible value
  std::vector<StudyPoint> at(std::size_t which, const StudyPoint& point, const std::vector<double>& values);
  /// The same. Nothing if a value is impossible, or if the field is a workload's, whose points share no document.
  std::optional<std::vector<StudyPoint>> if_sound(std::size_t which, const StudyPoint& point,
                                                  const std::vector<double>& values);
  /// Lets the same point at another value hold the known one's tables, if they are equal: graphs are kept by them.
  void share_tables(const StudyPoint& known, StudyPoint& other);

 private:
  /// The point as a document. Documents share a workload without the field.
  [[nodiscard]] Document document_of(const StudyPoint& point);
  /// The same for a field outside the workload, kept for the next request.
  [[nodiscard]] const Document& kept_document_of(std::size_t which, const StudyPoint& point);

  Field field_;
  std::string file_;
  Expander expander_;
  std::map<double, Override> overrides_;                                                   ///< by value
  std::map<std::shared_ptr<const WorkloadTable>, std::shared_ptr<const Json>> workloads_;  ///< as documents
  /// Tables read from these documents, and the equal ones that points hold instead.
  std::map<std::shared_ptr<const WorkloadTable>, std::shared_ptr<const WorkloadTable>> tables_;
  static constexpr std::size_t kMostDocuments = 512;  ///< limits the memory
  std::map<std::size_t, Document> documents_;         ///< by point
};

/// The study at all values of a grid, from the same study at the grid's first value and at its last. The values between
/// are read from the points' own documents, which takes a third of the time.
/// @returns nothing where only the whole study tells all: where it has notes, points that stand at some values only, or
/// faults
std::optional<Study> study_between(Study first, Study last, const Field& field, const std::vector<double>& grid,
                                   const std::string& file, Baselines baselines);

}  // namespace stepcast
