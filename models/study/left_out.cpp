#include "models/study/left_out.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace stepcast {

void LeftOut::add(Fault fault, std::string pointer) {
  ++points_;
  const auto known = std::find_if(rules_.begin(), rules_.end(), [&](const Rule& rule) {
    return rule.pointer == pointer && rule.first.allowed == fault.allowed;
  });
  if (known != rules_.end()) ++known->points;
  else rules_.push_back({std::move(fault), std::move(pointer), 1});
}

std::vector<Fault> LeftOut::faults() const {
  std::vector<Fault> faults;
  for (const Rule& rule : rules_) faults.push_back(rule.first);
  return faults;
}

std::vector<std::string> LeftOut::notes(std::size_t of) const {
  constexpr std::size_t kNamed = 5;
  std::vector<Rule> rules = rules_;
  std::stable_sort(rules.begin(), rules.end(), [](const Rule& a, const Rule& b) { return a.points > b.points; });
  std::vector<std::string> notes;
  std::size_t named = 0;
  for (std::size_t i = 0; i < std::min(rules.size(), kNamed); ++i) {
    const auto& [first, pointer, points] = rules[i];
    notes.push_back(fmt::format("{} of {} points left out{}: {}", points, of, points > 1 ? ", the first for" : "",
                                to_string(first)));
    named += points;
  }
  if (named < points_)
    notes.push_back(
        fmt::format("{} of {} points left out for {} other reasons", points_ - named, of, rules.size() - kNamed));
  return notes;
}

}  // namespace stepcast
