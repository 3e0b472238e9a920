#include "models/scenario/workload_rules.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/workload/check_shapes.hpp"

namespace stepcast {
namespace {

class WorkloadChecker {
 public:
  explicit WorkloadChecker(std::vector<Fault>& faults) : faults_(faults) {}

  void shapes(const WorkloadTable& w) {
    if (!w.gradients.empty()) {
      if (w.transformer)
        fault("/workload/gradients", "gradients beside a transformer",
              "exactly one of layers, gradients and transformer", "remove them: they follow from the transformer");
      else fault("/workload/gradients", "gradients beside layers", "layers alone");
    }
    const std::string remedy = remedy_of_total(w, "/workload");
    if (w.forward)
      fault("/workload/forward", "a total beside shapes", "no total: times follow from the profile", remedy);
    if (w.backward)
      fault("/workload/backward", "a total beside shapes", "no total: times follow from the profile", remedy);
    if (!w.profile)
      fault("/workload/profile",
            w.transformer ? "nothing, and a transformer gives shapes" : "nothing, and layers give shapes",
            "a device profile, inline or by name",
            "name the GPUs: --gpu v100, or \"gpu\" in the cluster; or give {\"from\": \"" + w.name +
                "\", \"profile\": \"v100\"}");
    if (w.timed_batch)
      fault("/workload/timed_batch", "a batch beside shapes", "null: times follow the batch", "remove it");
    if (w.timed_dtype)
      fault("/workload/timed_dtype", "a dtype beside shapes", "null: times follow the dtype", "remove it");
    check_shapes(w, "/workload", faults_);
  }

  void times(const WorkloadTable& w) {
    if (w.variant) fault("/workload/variant", "a variant of layers without shapes", "null: only shapes have variants");
    if (w.profile)
      fault("/workload/profile", "a profile for layers without shapes", "null: the table gives its own times");
    if (w.measured)
      fault("/workload/measured", "measured times of the whole network for layers without shapes",
            "null: the table gives its own times");
    if (w.compute_dtype)
      fault("/workload/compute_dtype", fmt::format("{} beside times", name_of(*w.compute_dtype)),
            "null: the table gives its own times",
            "leave it out, or take a table with shapes, such as resnet50, and a profile");
    if (w.recomputation != Recomputation::none)
      fault("/workload/recomputation", fmt::format("{} beside times", name_of(w.recomputation)),
            "none: the table gives its own times",
            "leave it out, or take a table with shapes, such as resnet50, and a profile");
    if (w.layers.empty() == w.gradients.empty()) {
      if (w.layers.empty())
        fault("/workload", "neither layers nor gradients nor a transformer", "exactly one of them",
              "for totals, write \"gradients\": [{\"name\": \"all\", \"elements\": 25557032}], or better one entry for "
              "each tensor");
      else fault("/workload", "both layers and gradients", "exactly one of the two");
      return;
    }
    check_tensors(w.gradients, "/workload/gradients");
    for (std::size_t l = 0; l < w.layers.size(); ++l)
      check_tensors(w.layers[l].gradients, fmt::format("/workload/layers/{}/gradients", l));
    std::int64_t elements = 0;
    std::size_t gaps = 0;
    const auto count = [&](const GradientTensor& g) {
      elements += g.elements;
      gaps += g.gap.has_value();
    };
    for (const Layer& layer : w.layers)
      for (const GradientTensor& g : layer.gradients) count(g);
    for (const GradientTensor& g : w.gradients) count(g);
    if (elements == 0) fault("/workload/layers", "no gradient tensor in any layer", "at least one");
    if (w.parameters && *w.parameters != elements)
      fault("/workload/parameters", fmt::format("{}, but the table holds {}", *w.parameters, elements),
            "the sum of all elements", "correct the claim or the table");
    if (!w.layers.empty()) {
      if (w.forward)
        fault("/workload/forward", "a total beside layers", "no total: layers carry their own times", "remove it");
      if (w.backward)
        fault("/workload/backward", "a total beside layers", "no total: layers carry their own times", "remove it");
      if (gaps > 0)
        fault("/workload/layers", "gradients with a gap inside layers", "gaps only in /workload/gradients",
              "give the layer's backward time instead");
      return;
    }
    if (!w.forward) fault("/workload/forward", "nothing", "the forward time, beside gradients", "add it");
    if (gaps > 0 && gaps < w.gradients.size())
      fault("/workload/gradients", fmt::format("a gap on {} of {} gradients", gaps, w.gradients.size()),
            "a gap on all of them or on none");
    if (gaps > 0 && w.backward)
      fault("/workload/backward", "a total beside gaps", "gaps or a total, not both", "remove one of them");
    if (gaps == 0 && !w.backward)
      fault("/workload/backward", "nothing", "the backward time, or a gap on every gradient", "add it");
  }

 private:
  void fault(std::string pointer, std::string found, std::string allowed, std::string remedy = "") {
    faults_.push_back({"", std::move(pointer), std::move(found), std::move(allowed), std::move(remedy)});
  }

  void check_tensors(const std::vector<GradientTensor>& tensors, const std::string& pointer) {
    std::set<std::string_view> names;
    for (std::size_t i = 0; i < tensors.size() && faults_.size() < kMaxFaults; ++i) {
      const std::string at = fmt::format("{}/{}", pointer, i);
      if (!names.insert(tensors[i].name).second)
        fault(at + "/name", fmt::format("\"{}\" a second time", shorten(tensors[i].name)),
              "a different name for each tensor of a list", "remove one of the two, or rename it");
      check_dims(tensors[i], at);
    }
  }

  void check_dims(const GradientTensor& tensor, const std::string& pointer) {
    if (tensor.dims.empty()) return;
    double product = 1;
    for (const std::int64_t n : tensor.dims) product *= static_cast<double>(n);
    const bool whole = std::all_of(tensor.dims.begin(), tensor.dims.end(), [](std::int64_t n) { return n > 0; });
    if (!whole || product != static_cast<double>(tensor.elements))
      fault(pointer + "/dims", fmt::format("[{}]", fmt::join(tensor.dims, ", ")),
            fmt::format("dimensions whose product is {}, its elements", tensor.elements));
  }

  std::vector<Fault>& faults_;
};

}  // namespace

void check_workload(const WorkloadTable& table, std::vector<Fault>& faults) {
  const bool any_shape =
      std::any_of(table.layers.begin(), table.layers.end(), [](const Layer& layer) { return layer.shape.has_value(); });
  if (any_shape || table.transformer) WorkloadChecker(faults).shapes(table);
  else WorkloadChecker(faults).times(table);
}

}  // namespace stepcast
