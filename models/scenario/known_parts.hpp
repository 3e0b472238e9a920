// Parts of documents that were read before. Most points of a study differ in few parts.
#pragma once

#include <cstddef>
#include <list>
#include <tuple>
#include <type_traits>
#include <utility>

#include "models/describe/json.hpp"
#include "models/scenario/scenario.hpp"

namespace stepcast {

/// Values with the JSON that they were read from without faults. The most recent ones are kept.
template <class T>
class ReadValues {
 public:
  /// The value of equal JSON; null if there is none. It stays valid until the next keep().
  const T* find(const Json& json) {
    for (auto one = known_.begin(); one != known_.end(); ++one) {
      if (one->first != json) continue;
      known_.splice(known_.begin(), known_, one);
      return &known_.front().second;
    }
    return nullptr;
  }
  void keep(const Json& json, const T& value) {
    known_.emplace_front(json, value);
    if (known_.size() > kMost) known_.pop_back();
  }

 private:
  static constexpr std::size_t kMost = 32;
  std::list<std::pair<Json, T>> known_;  ///< the most recent first
};

/// By type: the parts that many points share. None has a JsonValue, which could tell equal numbers apart.
struct KnownParts {
  std::tuple<ReadValues<Cluster>, ReadValues<Stack>, ReadValues<Strategy>, ReadValues<Compressor>,
             ReadValues<CodecSettings>, ReadValues<Evaluation>>
      all;

  template <class T>
  static constexpr bool has =
      std::is_same_v<T, Cluster> || std::is_same_v<T, Stack> || std::is_same_v<T, Strategy> ||
      std::is_same_v<T, Compressor> || std::is_same_v<T, CodecSettings> || std::is_same_v<T, Evaluation>;
  template <class T>
  ReadValues<T>& of() {
    return std::get<ReadValues<T>>(all);
  }
};

}  // namespace stepcast
