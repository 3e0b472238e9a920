#include "models/fabric/partition.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "models/fabric/fingerprint.hpp"

namespace stepcast {
namespace {

class Refinement {
 public:
  explicit Refinement(const LabelledGraph& graph)
      : graph_(graph), class_of_(graph.nodes()), seen_(graph.nodes()), is_touched_(graph.nodes(), 0) {
    list_neighbours();
    std::unordered_map<int, int> number;
    for (std::size_t v = 0; v < graph.nodes(); ++v) {
      class_of_[v] = number.try_emplace(graph.colours()[v], static_cast<int>(number.size())).first->second;
      const auto cls = static_cast<std::size_t>(class_of_[v]);
      if (cls == size_.size()) {
        size_.push_back(0);
        members_.emplace_back();
      }
      ++size_[cls];
      members_[cls].push_back(static_cast<std::uint32_t>(v));
    }
  }

  Partition run() {
    std::vector<std::uint32_t> renamed(graph_.nodes());
    std::iota(renamed.begin(), renamed.end(), 0U);
    while (!renamed.empty()) {
      touch_neighbours(renamed);
      renamed = split_touched();
    }
    return numbered();
  }

 private:
  struct Arc {
    std::uint32_t to;
    std::uint32_t seen_from_there;
  };

  void list_neighbours() {
    first_arc_.assign(graph_.nodes() + 1, 0);
    for (const auto& e : graph_.edges()) {
      ++first_arc_[e.a + 1];
      ++first_arc_[e.b + 1];
    }
    std::partial_sum(first_arc_.begin(), first_arc_.end(), first_arc_.begin());
    arcs_.resize(graph_.edges().size() * 2);
    std::vector<std::size_t> next(first_arc_.begin(), first_arc_.end() - 1);
    for (const auto& e : graph_.edges()) {
      arcs_[next[e.a]++] = {e.b, e.seen_from_b};
      arcs_[next[e.b]++] = {e.a, e.seen_from_a};
    }
  }

  /// Shows the new names of renamed nodes to their neighbours. Nodes of one class had seen the same names before, so
  /// only the new names can distinguish them.
  void touch_neighbours(const std::vector<std::uint32_t>& renamed) {
    for (const std::uint32_t v : renamed)
      for (std::size_t i = first_arc_[v]; i < first_arc_[v + 1]; ++i) {
        const Arc& arc = arcs_[i];
        if (!is_touched_[arc.to]) {
          is_touched_[arc.to] = 1;
          touched_.push_back(arc.to);
        }
        seen_[arc.to].add(static_cast<std::uint64_t>(class_of_[v]), arc.seen_from_there);
      }
  }

  /// Splits every class by the names that its nodes have seen. Returns the renamed nodes.
  std::vector<std::uint32_t> split_touched() {
    std::sort(touched_.begin(), touched_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::tie(class_of_[a], seen_[a], a) < std::tie(class_of_[b], seen_[b], b);
    });
    std::vector<std::uint32_t> renamed;
    for (std::size_t begin = 0; begin < touched_.size();) {
      const int cls = class_of_[touched_[begin]];
      parts_.clear();
      std::size_t end = begin;
      while (end < touched_.size() && class_of_[touched_[end]] == cls) {
        const std::size_t part = end;
        while (end < touched_.size() && class_of_[touched_[end]] == cls &&
               seen_[touched_[end]] == seen_[touched_[part]])
          ++end;
        parts_.push_back({part, end});
      }
      rename(cls, static_cast<std::size_t>(size_[cls]) - (end - begin), renamed);
      begin = end;
    }
    for (const std::uint32_t v : touched_) {
      is_touched_[v] = 0;
      seen_[v] = {};
    }
    touched_.clear();
    return renamed;
  }

  /// Gives a new name to every part of a class except the largest.
  /// @param untouched  number of nodes in the class without new names: a separate part
  void rename(int cls, std::size_t untouched, std::vector<std::uint32_t>& renamed) {
    const auto length = [](const auto& part) { return part.second - part.first; };
    const auto largest = std::max_element(parts_.begin(), parts_.end(),
                                          [&](const auto& a, const auto& b) { return length(a) < length(b); });
    std::vector<std::uint32_t>& members = members_[cls];
    if (untouched < length(*largest)) {
      std::vector<std::uint32_t> rest;
      for (const std::uint32_t v : members)
        if (class_of_[v] == cls && !is_touched_[v]) rest.push_back(v);
      members.assign(touched_.begin() + static_cast<std::ptrdiff_t>(largest->first),
                     touched_.begin() + static_cast<std::ptrdiff_t>(largest->second));
      parts_.erase(largest);
      if (!rest.empty()) add_class(cls, std::move(rest), renamed);
    }
    for (const auto& [begin, end] : parts_)
      add_class(
          cls,
          {touched_.begin() + static_cast<std::ptrdiff_t>(begin), touched_.begin() + static_cast<std::ptrdiff_t>(end)},
          renamed);
  }

  void add_class(int from, std::vector<std::uint32_t> members, std::vector<std::uint32_t>& renamed) {
    for (const std::uint32_t v : members) class_of_[v] = static_cast<int>(size_.size());
    renamed.insert(renamed.end(), members.begin(), members.end());
    size_[from] -= static_cast<int>(members.size());
    size_.push_back(static_cast<int>(members.size()));
    members_.push_back(std::move(members));
  }

  Partition numbered() const {
    Partition partition;
    partition.class_of.resize(class_of_.size());
    std::vector<int> number(size_.size(), -1);
    for (std::size_t v = 0; v < class_of_.size(); ++v) {
      int& n = number[class_of_[v]];
      if (n < 0) {
        n = static_cast<int>(partition.size.size());
        partition.size.push_back(0);
        partition.first.push_back(v);
      }
      ++partition.size[n];
      partition.class_of[v] = n;
    }
    return partition;
  }

  const LabelledGraph& graph_;
  std::vector<std::size_t> first_arc_;
  std::vector<Arc> arcs_;
  std::vector<int> class_of_;
  std::vector<int> size_;
  std::vector<std::vector<std::uint32_t>> members_;  ///< by class; may contain nodes that have left it
  std::vector<Fingerprint> seen_;
  std::vector<char> is_touched_;
  std::vector<std::uint32_t> touched_;
  std::vector<std::pair<std::size_t, std::size_t>> parts_;
};

}  // namespace

Partition refine(const LabelledGraph& graph) { return Refinement(graph).run(); }

}  // namespace stepcast
