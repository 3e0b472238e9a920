// A table gives the order of its layers, but not their inputs. They are guessed from the outputs before them.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

namespace stepcast {

/// The outputs of the layers so far, indexed by their number of elements.
class EarlierOutputs {
 public:
  void add(std::size_t layer, double elements);

  /// The layers whose outputs these inputs are: for each input, the nearest output of its size. Empty means the sample
  /// itself. Inputs may be parts of one output, such as the product for q, k and v.
  [[nodiscard]] std::vector<std::optional<std::size_t>> find(const std::vector<double>& inputs) const;

 private:
  struct Newest {
    std::size_t layer;
    double elements;
  };
  std::map<double, std::vector<std::size_t>> by_size_;
  std::optional<Newest> newest_;
};

}  // namespace stepcast
