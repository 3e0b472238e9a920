// Prices as a step graph's builder asks for them, with a record of its questions.
#pragma once

#include <vector>

#include "models/price/cluster_prices.hpp"

namespace stepcast {

/// The questions about prices that a builder asked. It sees the cluster's link through its prices alone, so the graph is
/// the same on any other link with the same answers.
class PriceQuestions {
 public:
  /// Whether these prices give the builder's answers.
  /// @pre they belong to a cluster that differs from the builder's in its link only
  [[nodiscard]] bool have_same_answers(const ClusterPrices& prices) const;
  /// Whether any other link may give the same answers.
  [[nodiscard]] bool may_recur() const { return !times_; }

 private:
  friend class AskedPrices;
  struct Decision {
    Operation operation;
    CollectiveChoice choice;
    Bytes bytes;
    Communicators among;
    CollectiveCall answer;
  };
  std::vector<Decision> decisions_;
  bool times_ = false;  ///< times were asked, which hardly any other link has
};

/// The prices of one build.
class AskedPrices {
 public:
  /// @pre `prices` outlive this
  explicit AskedPrices(const ClusterPrices& prices) : prices_(prices) {}

  /// ClusterPrices::decide, which often gives the same call on all links.
  [[nodiscard]] CollectiveCall decide(Operation operation, const CollectiveChoice& choice, Bytes bytes,
                                      const Communicators& among = {});
  /// For the times of exchanges. A graph that depends on them belongs to this link only.
  [[nodiscard]] const ClusterPrices& for_times() {
    questions_.times_ = true;
    return prices_;
  }
  [[nodiscard]] const PriceQuestions& questions() const { return questions_; }

 private:
  const ClusterPrices& prices_;
  PriceQuestions questions_;
};

}  // namespace stepcast
