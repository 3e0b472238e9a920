#include "models/workload/earlier_outputs.hpp"

namespace stepcast {

void EarlierOutputs::add(std::size_t layer, double elements) {
  by_size_[elements].push_back(layer);
  newest_ = {layer, elements};
}

std::vector<std::optional<std::size_t>> EarlierOutputs::find(const std::vector<double>& inputs) const {
  double sum = 0;
  for (const double elements : inputs) sum += elements;
  if (newest_ && inputs.size() > 1 && newest_->elements == sum) return {newest_->layer};
  std::vector<std::optional<std::size_t>> found;
  std::map<double, std::size_t> taken;
  for (const double elements : inputs) {
    const auto same = by_size_.find(elements);
    const std::size_t before = taken[elements]++;
    found.push_back(same != by_size_.end() && before < same->second.size()
                        ? std::optional(same->second[same->second.size() - 1 - before])
                        : std::nullopt);
  }
  return found;
}

}  // namespace stepcast
