#include "models/workload/blocks.hpp"

#include <algorithm>

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

}  // namespace stepcast
