#include "models/study/variants.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/describe/reader.hpp"

namespace stepcast {
namespace {

/// A variant's effect on an override: whether it sets the same field, or a part of it, and to another value.
struct Undone {
  std::string by;  ///< the variant's first pointer that does so; empty: none does
  bool other_value = false;
};
Undone undone(const Override& change, const Json& set) {
  if (!set.is_object()) return {};
  for (const auto& [target, value] : set.items()) {
    if (!is_at_or_below(target, change.pointer)) continue;
    try {
      const Json::json_pointer rest(target.substr(change.pointer.size()));
      if (change.value.contains(rest)) return {target, change.value[rest] != value};
    } catch (const Json::exception&) {  // a malformed pointer; applying it reports the fault
    }
  }
  return {};
}

}  // namespace

void check_variants(const std::vector<Variant>& variants, std::vector<Fault>& faults) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    if (!names.insert(variants[i].name).second)
      faults.push_back({"", fmt::format("/variants/{}/name", i), describe_value(variants[i].name) + " a second time",
                        "each name once", ""});
    if (!variants[i].set->is_object())
      faults.push_back({"", fmt::format("/variants/{}/set", i), describe_value(*variants[i].set),
                        "an object of JSON pointers and values", ""});
  }
}

LostOverride find_lost(const Override& change, const std::vector<Variant>& variants) {
  std::size_t setting = 0;
  std::vector<std::string> names;
  std::string place, target;  // those of the first one with another value
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const Undone found = undone(change, *variants[i].set);
    if (found.by.empty()) continue;
    ++setting;
    if (!found.other_value) continue;
    if (names.empty()) {
      place = pointer_to(fmt::format("/variants/{}/set", i), found.by);
      target = found.by;
    }
    names.push_back(describe_value(variants[i].name));
  }
  if (names.empty()) return {};
  if (setting == variants.size())
    return {
        Fault{change.file, change.place,
              fmt::format("{}, but every variant sets {} itself", describe_value(change.value), target),
              "a field that at least one variant does not set",
              fmt::format("change {} and its like, a field below it, or leave the variants out: --set '/variants=[]'",
                          place)},
        {}};
  constexpr std::size_t kNamed = 3;
  const std::size_t named = std::min(names.size(), kNamed);
  return {{},
          fmt::format(
              "{}: {} has no effect in {} of {} variants, which set {} themselves ({}{}); change {} and its like there",
              change.file, change.pointer, names.size(), variants.size(), target,
              fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(named), ", "),
              names.size() > named ? ", ..." : "", place)};
}

}  // namespace stepcast
