#include "models/study/document_changes.hpp"

#include <algorithm>
#include <utility>

#include "models/describe/json.hpp"
#include "models/scenario/references.hpp"

namespace stepcast {
namespace {

/// True for "/cluster/protocols/0/name", but not for "/cluster/0".
bool counts_below_part(const std::string& pointer) {
  const auto tokens = tokens_of(pointer).value_or(std::vector<std::string>{});
  return tokens.size() > 2 &&
         std::any_of(tokens.begin() + 2, tokens.end(), [](const std::string& token) { return is_index(token); });
}

/// Refuses changes of fields that a variant, baseline or phase cannot have otherwise.
/// @param pointer  of the object with the change
/// @param at       the place of the change
void refuse(const std::string& pointer, const std::string& target, const Fault& at) {
  const bool of_phase = is_at_or_below(pointer, "/run");
  if (of_phase && (is_at_or_below(target, "/run") || is_at_or_below(target, "/cluster/workers")))
    throw ScenarioError({{at.file, at.pointer, "a change of " + target + " in a phase",
                          "the JSON pointer of another field: workers and run are the same in all phases", ""}});
  if (of_phase)
    for (const char* of_study : {"/name", "/description", "/baseline", "/output", "/impossible"})
      if (is_at_or_below(target, of_study))
        throw ScenarioError({{at.file, at.pointer, "a change of " + target + " in a phase",
                              "the JSON pointer of a field that a phase can change", "set it for the whole scenario"}});
  if (is_at_or_below(target, "/from"))
    throw ScenarioError({{at.file, at.pointer, "a change of the scenario that this one is laid over",
                          "the JSON pointer of another field", "write \"from\" at the top, or --set /from=NAME"}});
  if (is_at_or_below(target, "/variants"))
    throw ScenarioError({{at.file, at.pointer, "a change of the variants", "the JSON pointer of another field", ""}});
}

}  // namespace

void DocumentChanges::apply(const std::vector<Override>& overrides, Document& document) {
  const auto is_base = [](const Override& change) { return change.pointer == "/from"; };
  for (const Override& change : overrides)
    if (is_base(change)) faults_.attempt([&] { stepcast::apply(change, document); });
  std::vector<Fault> faults;
  resolve_scenario(document, files_, faults);
  faults_.add(faults);
  for (const Override& change : overrides) {
    if (is_base(change)) continue;
    // List indices refer to content in the files of parts, so resolve these first.
    if (counts_below_part(change.pointer)) resolve(document);
    faults_.attempt([&] { stepcast::apply(change, document); });
  }
}

void DocumentChanges::apply_set(const Json& set, const std::string& pointer, Document& document) {
  if (!set.is_object()) return;
  const Origins written = document.origins;
  for (const auto& [target, value] : set.items()) {
    const Fault at = written.locate({"", pointer_to(pointer, target), "", "", ""});
    faults_.attempt([&, &target = target, &value = value] {
      refuse(pointer, target, at);
      stepcast::apply({target, value, at.file, at.pointer}, document);
    });
  }
  resolve(document);
}

void DocumentChanges::apply_below(const Variant& variant, const std::string& place,
                                  const std::vector<Override>& overrides, Document& document) {
  faults_.changed_after.clear();
  for (const Override& change : overrides) {
    if (!variant.set->is_object()) return;
    Json own = Json::object();  // the variant's own settings there have priority
    for (const auto& [target, value] : variant.set->items())
      if (is_at_or_below(target, change.pointer)) own[target] = value;
    if (own.contains(change.pointer)) continue;
    for (const auto& [target, value] : variant.set->items()) {
      if (change.pointer == target || !is_at_or_below(change.pointer, target)) continue;
      faults_.attempt([&] { stepcast::apply(change, document); });
      apply_set(own, place, document);
      faults_.changed_after.push_back(
          {change.pointer, variant.name, pointer_to(place, target) + change.pointer.substr(target.size())});
      break;
    }
  }
  if (!faults_.changed_after.empty()) resolve(document);
}

void DocumentChanges::resolve(Document& document) {
  std::vector<Fault> faults;
  resolve_references(document, files_, faults);
  faults_.add(faults);
}

void DocumentChanges::take_out_workload(Document& document) {
  const auto found = document.json.find("workload");
  if (found == document.json.end() || !found->is_object()) return;
  auto& shared = taken_out_[found->dump() + document.origins.file_of("/workload/profile") + "\n" +
                            document.origins.file_of("/workload/measured/profile")];
  if (!shared) shared = std::make_shared<const Json>(std::move(*found));
  document.workload = shared;
  *found = nullptr;
}

Document with_value(const Document& document, const std::string& axis, std::size_t i, const Json& value) {
  Document copy = document;
  copy.json[Json::json_pointer(axis)] = value;
  copy.origins.move(pointer_to(axis, i), axis);
  return copy;
}

void give_up(Document& document, const std::string& pointer) {
  document.json[Json::json_pointer(pointer)] = nullptr;
  document.given_up.push_back(pointer);
}

}  // namespace stepcast
