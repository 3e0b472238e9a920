// Reads the points of a study at values of one field.
#pragma once

#include <cstddef>
#include <functional>
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

/// The whole study at values of the field.
using StudyAt = std::function<Study(const std::vector<double>& values)>;

/// Reads points of a study at other values of a field, each from its own document, which it keeps. A point's document
/// has what was derived when the point was read, such as a profile by the GPU. A phase or a baseline that changes the
/// GPU would meet another document there than in the study. Then the whole study is read at these values.
class FieldExpander {
 public:
  /// @param file  the study's
  FieldExpander(Field field, std::string file, StudyAt study_at);

  /// A point and the value that it has on the field's axis. For at(), its coordinates are those on the other axes.
  struct Known {
    std::size_t number;  ///< its document is kept by it
    const StudyPoint& point;
    double value;
  };
  /// The point at these values, as searched() leaves it, without coordinates and notes.
  /// @throws ScenarioError for an impossible value
  std::vector<StudyPoint> at(const Known& known, const std::vector<double>& values, Baselines baselines);
  /// The study at all values of a grid, from the same study at the grid's first value and at its last. The values between
  /// are read from the points' own documents, which takes about half of the time. Baselines that are dropped are not read.
  /// @returns nothing where only the whole study tells all: where it has notes, points that stand at some values only, or
  /// faults
  std::optional<Study> study_between(Study first, Study last, const std::vector<double>& grid, Baselines baselines);

  /// Whether points are read from documents that are kept. Those of a workload's field have none in common.
  [[nodiscard]] bool keeps_documents() const;
  [[nodiscard]] const Field& field() const { return field_; }
  [[nodiscard]] const StudyAt& study_at() const { return study_at_; }
  [[nodiscard]] const std::string& file() const { return file_; }

 private:
  /// The point at these values from its document. Nothing if a value is impossible, if the document does not give the
  /// point itself, or if documents are not kept.
  std::optional<std::vector<StudyPoint>> by_document(const Known& known, const std::vector<double>& values,
                                                     Baselines baselines);
  /// Lets the same point at another value hold the known one's tables, if they are equal: graphs are kept by them.
  void share_tables(const StudyPoint& known, StudyPoint& other);
  /// Whether the point's document gives the point, with its phases and baseline.
  bool gives_point(const Known& known, Baselines baselines);
  /// The point among those of the whole study. Impossible values may be left out.
  [[nodiscard]] std::vector<StudyPoint> of_study(const Known& known, const std::vector<double>& values) const;
  /// The point from a document of its own, read as a study.
  /// @throws ScenarioError for an impossible value
  std::vector<StudyPoint> expanded(const Known& known, const std::vector<double>& values);
  /// The point as a document. Documents share a workload without the field.
  [[nodiscard]] Document document_of(const StudyPoint& point);
  /// The same for a field outside the workload, kept for the next request.
  [[nodiscard]] const Document& kept_document_of(std::size_t which, const StudyPoint& point);

  Field field_;
  std::string file_;
  StudyAt study_at_;
  Expander expander_;
  std::map<double, Override> overrides_;                                                   ///< by value
  std::map<std::shared_ptr<const WorkloadTable>, std::shared_ptr<const Json>> workloads_;  ///< as documents
  /// Tables read from these documents, and the equal ones that points hold instead.
  std::map<std::shared_ptr<const WorkloadTable>, std::shared_ptr<const WorkloadTable>> tables_;
  static constexpr std::size_t kMostDocuments = 512;  ///< limits the memory
  std::map<std::size_t, Document> documents_;         ///< by point
  std::map<std::size_t, bool> gives_point_;           ///< the same, once it is asked
};

}  // namespace stepcast
