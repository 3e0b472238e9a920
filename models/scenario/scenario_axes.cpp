#include "models/scenario/scenario_axes.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "models/describe/axes.hpp"
#include "models/scenario/fields.hpp"

namespace stepcast {
namespace {

/// Visitor of ScenarioFields: like AxisFinder, but it unwraps parts.
class ScenarioAxes {
 public:
  explicit ScenarioAxes(const Json& object) : inner_(object, "") {}
  template <class T>
  void required(const char* name, T& x, const char* meaning, Limits limits = {}) {
    optional(name, x, meaning, limits);
  }
  template <class T>
  void optional(const char* name, T& x, const char* meaning, Limits = {}) {
    if constexpr (kIsPart<T>) inner_.optional(name, x.value, meaning);
    else if constexpr (std::is_same_v<T, std::optional<Part<WorkloadTable>>>) {
      WorkloadTable table;
      inner_.optional(name, table, meaning);
    } else if constexpr (!kOfStudy<T>) inner_.optional(name, x, meaning);
  }
  [[nodiscard]] std::vector<std::string> axes() && { return std::move(inner_).axes(); }

 private:
  detail::AxisFinder inner_;
};

/// Whether there is a list anywhere in the value.
bool has_lists(const Json& value) {
  if (!value.is_object()) return value.is_array();
  return std::any_of(value.begin(), value.end(), has_lists);
}

}  // namespace

std::vector<std::string> scenario_axes(const Json& document) {
  if (!document.is_object() || !has_lists(document)) return {};  // as most points of a study
  ScenarioAxes axes(document);
  ScenarioFields probe;
  ScenarioFields::describe(axes, probe);
  return std::move(axes).axes();
}

}  // namespace stepcast
