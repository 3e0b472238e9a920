#include "models/workload/blocks.hpp"

#include <algorithm>
#include <cmath>

namespace stepcast {

std::string_view block_of(std::string_view name) {
  for (std::size_t begin = 0; begin < name.size();) {
    const std::size_t end = std::min(name.find('.', begin), name.size());
    const std::string_view part = name.substr(begin, end - begin);
    if (!part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos) return name.substr(0, end);
    begin = end + 1;
  }
  return "";
}

std::vector<LayerRange> blocks_of(const std::vector<Layer>& layers) {
  std::vector<LayerRange> blocks;
  for (std::size_t first = 0, last = 0; first < layers.size(); first = last) {
    const std::string_view block = block_of(layers[first].name);
    while (last < layers.size() && block_of(layers[last].name) == block) ++last;
    if (!block.empty() && last - first > 1) blocks.push_back({first, last});
  }
  return blocks;
}

std::vector<LayerRange> recomputed_blocks(const WorkloadTable& listed) {
  if (listed.recomputation == Recomputation::none) return {};
  const std::vector<LayerRange> all = blocks_of(listed.layers);
  // Shares such as 0.1 and 1/3 are not exact in binary.
  const auto until = [&](std::size_t blocks) {
    return std::floor(static_cast<double>(blocks) * listed.recomputed_share * (1 + 1e-12));
  };
  std::vector<LayerRange> again;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (until(i + 1) > until(i)) again.push_back(all[i]);
  return again;
}

}  // namespace stepcast
