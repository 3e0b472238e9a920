// The faults of a study's points, each once and with the place that its author wrote.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "models/describe/fault.hpp"
#include "models/scenario/document.hpp"

namespace stepcast {

/// Collects faults. A fault that several variants or values of a list share names the first one and their number.
class PointFaults {
 public:
  /// An override of a field inside an object that the current variant sets.
  struct ChangedAfter {
    std::string pointer, variant, place;
  };
  std::vector<ChangedAfter> changed_after;

  void add(const std::vector<Fault>& faults);
  void add(const Document& document, const std::string& pointer, std::string found, std::string allowed,
           std::string remedy = "");
  /// Adds the faults that `change` throws.
  template <class F>
  void attempt(F&& change) {
    try {
      change();
    } catch (const ScenarioError& error) {
      add(error.faults());
    }
  }

  /// Converts faults with pointers into the document to their original file and place, and names the variant or value
  /// that they depend on. Drops faults that follow from reported ones.
  std::vector<Fault> located(const Document& document, std::vector<Fault> faults);

  [[nodiscard]] bool empty() const { return faults_.empty(); }
  [[nodiscard]] bool full() const { return faults_.size() >= kMaxFaults; }
  /// All faults so far, with the number of variants or values that share each of them.
  [[nodiscard]] std::vector<Fault> told() const;

 private:
  void tell_variant(Fault& fault) const;

  std::vector<Fault> faults_;
  /// For a fault with a variant or value: its text gives the text without them, and their name.
  std::map<std::string, std::pair<std::string, std::string>> whose_;
  /// For that shorter text: the first such fault, and the names of all its variants or values.
  std::map<std::string, std::pair<Fault, std::set<std::string>>> sharing_;
};

}  // namespace stepcast
