#include "models/study/point_faults.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "models/describe/json.hpp"

namespace stepcast {
namespace {

/// Converts a fault's pointer to the original file and pointer. A workload shared by name has its own file. A fault
/// with a file is already located: it is a profile's.
Fault locate(const Document& document, Fault fault) {
  constexpr std::string_view workload = "/workload";
  if (!fault.file.empty()) return fault;
  if (!document.workload_file || !is_at_or_below(fault.pointer, workload))
    return document.origins.locate(std::move(fault));
  fault.file = document.workload_file->string();
  fault.pointer.erase(0, workload.size());
  return fault;
}

/// Names the list's value under a change: with another value, the change may be valid.
void tell_value(const Document& document, Fault& fault) {
  for (const Document::Spread& spread : document.spread)
    if (fault.file == spread.file && is_at_or_below(fault.pointer, spread.place))
      fault.found += fmt::format(" (with {} {})", spread.list, describe_value(spread.value));
}

}  // namespace

void PointFaults::add(const std::vector<Fault>& faults) {
  for (const Fault& fault : faults) {
    const auto own = whose_.find(to_string(fault));
    if (own != whose_.end()) {
      auto [shared, is_first] = sharing_.try_emplace(own->second.first, fault, std::set<std::string>{});
      shared->second.second.insert(own->second.second);
      if (!is_first) continue;
    }
    if (faults_.size() < kMaxFaults && std::find(faults_.begin(), faults_.end(), fault) == faults_.end())
      faults_.push_back(fault);
  }
}

void PointFaults::add(const Document& document, const std::string& pointer, std::string found, std::string allowed,
                      std::string remedy) {
  add({document.origins.locate({"", pointer, std::move(found), std::move(allowed), std::move(remedy)})});
}

std::vector<Fault> PointFaults::located(const Document& document, std::vector<Fault> faults) {
  std::erase_if(faults, [&](const Fault& fault) {
    return fault.file.empty() &&
           std::any_of(document.given_up.begin(), document.given_up.end(),
                       [&](const std::string& pointer) { return is_at_or_below(fault.pointer, pointer); });
  });
  for (Fault& fault : faults) {
    fault = locate(document, std::move(fault));
    const Fault bare = fault;
    if (fault.file == "--set") tell_variant(fault);
    tell_value(document, fault);
    if (fault.found.size() > bare.found.size())
      whose_[to_string(fault)] = {to_string(bare), fault.found.substr(bare.found.size())};
  }
  return faults;
}

/// Names the variant under a changed value: with another variant, the value may be valid.
void PointFaults::tell_variant(Fault& fault) const {
  for (const auto& [pointer, variant, place] : changed_after) {
    if (!is_at_or_below(pointer, fault.pointer) && !is_at_or_below(fault.pointer, pointer)) continue;
    fault.found += fmt::format(" (over fields of variant {})", describe_value(variant));
    if (fault.remedy.empty())
      fault.remedy = fmt::format("its pointer here is {}; set that in the variants that have it", place);
    return;
  }
}

std::vector<Fault> PointFaults::told() const {
  std::vector<Fault> faults = faults_;
  for (const auto& [text, shared] : sharing_) {
    const auto first = std::find(faults.begin(), faults.end(), shared.first);
    if (first == faults.end() || shared.second.size() < 2) continue;
    first->found.pop_back();  // ")"
    first->found += fmt::format(", the first of {})", shared.second.size());
  }
  return faults;
}

}  // namespace stepcast
