// Changes of a study's document: overrides, variants, values of axes, baselines and phases.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "models/scenario/fields.hpp"
#include "models/scenario/override.hpp"
#include "models/scenario/part_files.hpp"
#include "models/study/point_faults.hpp"

namespace stepcast {

class DocumentChanges {
 public:
  DocumentChanges(PartFiles& files, PointFaults& faults) : files_(files), faults_(faults) {}

  /// Applies a change of the scenario's base ("/from") first, so that other changes apply to the merged scenario.
  void apply(const std::vector<Override>& overrides, Document& document);
  /// Applies the changes of a variant, baseline or phase at `pointer` and resolves their references.
  void apply_set(const Json& set, const std::string& pointer, Document& document);
  /// If a variant sets a whole object, an override of one of its fields is applied after the variant.
  void apply_below(const Variant& variant, const std::string& place, const std::vector<Override>& overrides,
                   Document& document);
  void resolve(Document& document);
  /// A workload with one value is the same in all further points, and it is most of the document.
  void take_out_workload(Document& document);

 private:
  PartFiles& files_;
  PointFaults& faults_;
  /// The key is the workload's text and the files that profiles are relative to.
  std::map<std::string, std::shared_ptr<const Json>> taken_out_;
};

/// The document with the i-th value of an axis in place of the list.
Document with_value(const Document& document, const std::string& axis, std::size_t i, const Json& value);

/// Empties the value at a reported fault.
void give_up(Document& document, const std::string& pointer);

}  // namespace stepcast
