#include "models/scenario/scenario_axes.hpp"

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

}  // namespace

std::vector<std::string> scenario_axes(const Json& document) {
  if (!document.is_object()) return {};
  ScenarioAxes axes(document);
  ScenarioFields probe;
  ScenarioFields::describe(axes, probe);
  return std::move(axes).axes();
}

}  // namespace stepcast
