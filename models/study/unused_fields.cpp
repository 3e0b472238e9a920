#include "models/study/unused_fields.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/describe/json.hpp"
#include "models/scenario/holds_default.hpp"

namespace stepcast {
namespace {

/// The value at `pointer`, or null. The pointer's names need no unescaping.
const Json* find(const Document& document, std::string_view pointer) {
  const Json* value = &document.json;
  while (!pointer.empty()) {
    const std::size_t end = std::min(pointer.find('/', 1), pointer.size());
    if (!value->is_object()) return nullptr;
    const auto found = value->find(pointer.substr(1, end - 1));
    if (found == value->end()) return nullptr;
    const bool taken_out = value == &document.json && document.workload && found.key() == "workload";
    value = taken_out ? document.workload.get() : &*found;
    pointer.remove_prefix(end);
  }
  return value;
}

/// Tells whether a document has a value. Successive pointers are often of one object, which is looked up once.
class Presence {
 public:
  explicit Presence(const Document& document) : document_(document), object_(&document.json) {}

  bool has(std::string_view pointer) {
    const std::size_t name = pointer.rfind('/');
    if (object_pointer_ != pointer.substr(0, name)) {
      object_pointer_ = pointer.substr(0, name);
      object_ = find(document_, object_pointer_);
    }
    return object_ && object_->is_object() && object_->contains(pointer.substr(name + 1));
  }

 private:
  const Document& document_;
  std::string_view object_pointer_;  ///< the document itself at first
  const Json* object_;               ///< null if the document has none there
};

/// The place where the value is written. If the value is a whole file, the place of the reference to it.
Fault written_at(const Document& document, std::string_view pointer) {
  const auto locate = [&](std::string_view what) {
    return document.origins.locate({"", std::string(what), "", "", ""});
  };
  Fault at = locate(pointer);
  if (!at.pointer.empty()) return at;
  const std::size_t name = pointer.rfind('/');
  at = locate(pointer.substr(0, name));
  at.pointer += pointer.substr(name);
  return at;
}

/// " as /variants/1/set has it" for a value inside a set of changes, otherwise "".
std::string written_in(std::string_view place) {
  constexpr std::string_view kSet = "/set";
  for (const std::string_view changes : {"/variants", "/baseline", "/run/phases"})
    if (is_at_or_below(place, changes))
      return fmt::format(" as {} has it", place.substr(0, place.find(kSet) + kSet.size()));
  return "";
}

}  // namespace

void UnusedFields::begin(std::vector<Coordinate> coordinates) {
  coordinates_ = std::move(coordinates);
  seen_.clear();
}

void UnusedFields::see(const Document& document, const Scenario& scenario) {
  if (look_ == LookForUnused::no) return;
  const auto fields = sometimes_fields();
  Presence presence(document);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const SometimesField& field = fields[i];
    if (!presence.has(field.pointer)) continue;
    const Fault at = written_at(document, field.pointer);
    if (at.file != file_ && at.file != document.origins.file_of("") && !at.file.starts_with("--")) continue;
    Sighting sighting{{i, at.file, at.pointer}, field.why(scenario)};
    sighting.is_axis = std::any_of(coordinates_.begin(), coordinates_.end(),
                                   [&](const Coordinate& c) { return c.axis == field.pointer; });
    // All values of an axis count as one, so their list indices are removed.
    if (auto& place = std::get<2>(sighting.written); sighting.is_axis && !place.ends_with(field.pointer))
      place.erase(std::min(place.rfind('/'), place.size()));
    sighting.is_news =
        !sighting.why.empty() && (field.only_as_axis ? sighting.is_axis : !holds_default(scenario, field.pointer));
    seen_.push_back(std::move(sighting));
  }
}

void UnusedFields::keep(std::size_t point) {
  for (Sighting& sighting : seen_) {
    Found& found = found_[std::move(sighting.written)];
    found.has_effect |= sighting.why.empty();
    found.is_axis |= sighting.is_axis;
    if (found.has_effect) found.points.clear();
    if (found.has_effect || !sighting.is_news) continue;
    if (found.points.empty() || found.points.back() != point) found.points.push_back(point);
    if (std::find(found.why.begin(), found.why.end(), sighting.why) == found.why.end())
      found.why.push_back(std::move(sighting.why));
  }
  seen_.clear();
}

void UnusedFields::add_notes(Study& study) const {
  for (const auto& [written, found] : found_) {
    const auto& [field, file, place] = written;
    if (found.points.empty()) continue;
    const std::string no_effect = fmt::format("{}{} has no effect: {}", sometimes_fields()[field].pointer,
                                              written_in(place), fmt::join(found.why, ", or "));
    for (const std::size_t point : found.points) study.points[point].notes.push_back(no_effect);
    if (found.is_axis) study.notes.push_back(fmt::format("an axis changes nothing: {}", no_effect));
  }
}

}  // namespace stepcast
