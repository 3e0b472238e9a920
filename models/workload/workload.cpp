#include "models/workload/workload.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "models/workload/activation_memory.hpp"
#include "models/workload/blocks.hpp"
#include "models/workload/layer_times.hpp"

namespace stepcast {
namespace {

void add_gradient(Workload& workload, const GradientTensor& tensor, Seconds gap, Seconds forward, Bytes element) {
  const Bytes bytes = element * static_cast<double>(tensor.elements);
  workload.gradients.push_back({tensor.name, tensor.elements, bytes, gap, tensor.dims, forward, {}});
  workload.gradient_bytes += bytes;
  workload.backward += gap;
}

void from_layers(const WorkloadTable& table, Workload& workload) {
  Seconds pending{}, forward{};  // sums over the layers since the last gradient
  for (auto layer = table.layers.rbegin(); layer != table.layers.rend(); ++layer) {
    workload.forward += layer->forward;
    forward += layer->forward;
    pending += layer->backward;
    for (const GradientTensor& tensor : layer->gradients)
      add_gradient(workload, tensor, std::exchange(pending, Seconds{}), std::exchange(forward, Seconds{}),
                   size_of(table.dtype));
  }
  workload.tail = pending;
  workload.backward += pending;
}

void from_gradients(const WorkloadTable& table, Workload& workload) {
  workload.forward = table.forward.value_or(Seconds{});
  double elements = 0;
  for (const GradientTensor& tensor : table.gradients) elements += static_cast<double>(tensor.elements);
  for (const GradientTensor& tensor : table.gradients) {
    const double share = table.backward_spread == BackwardSpread::even
                             ? 1.0 / static_cast<double>(table.gradients.size())
                             : static_cast<double>(tensor.elements) / elements;
    add_gradient(workload, tensor, tensor.gap ? *tensor.gap : *table.backward * share, {}, size_of(table.dtype));
  }
  for (Gradient& gradient : workload.gradients)
    if (workload.backward > Seconds{}) gradient.forward = workload.forward * (gradient.gap / workload.backward);
}

/// @param listed  layers with shapes and gradients, from which the workload was made
void add_layer_kinds(const WorkloadTable& listed, Workload& workload) {
  auto gradient = workload.gradients.begin();
  for (auto layer = listed.layers.rbegin(); layer != listed.layers.rend(); ++layer) {
    const auto kind = std::visit([]<class Shape>(const Shape&) { return Shape::kind; }, *layer->shape);
    for (std::size_t i = 0; i < layer->gradients.size(); ++i) (gradient++)->layer_kind = kind;
  }
}

WorkloadTable without_shapes(WorkloadTable table) {
  for (Layer& layer : table.layers) layer.shape.reset();
  return table;
}

}  // namespace

Workload make_workload(const WorkloadTable& table) {
  if (gives_shapes(table)) {
    const WorkloadTable listed = list_gradients(table);
    Workload workload =
        make_workload(table.profile ? time_layers(listed, *table.profile, table.batch) : without_shapes(listed));
    add_layer_kinds(listed, workload);
    workload.activations = activations_of(listed);
    workload.model_flops = Flops{};
    for (const Layer& layer : listed.layers) *workload.model_flops += model_flops(*layer.shape);
    return workload;
  }
  Workload workload;
  workload.name = table.name;
  workload.batch = table.batch;
  workload.accumulation = table.accumulation;
  workload.dtype = table.dtype;
  workload.update = table.update;
  if (table.layers.empty()) from_gradients(table, workload);
  else from_layers(table, workload);
  for (TensorsByShape seen; const Gradient& gradient : workload.gradients)
    if (seen.insert(&gradient).second) workload.shapes.push_back(gradient.shape());
  return workload;
}

std::vector<Bucket> make_buckets(const Workload& workload, const Exchange& exchange,
                                 const std::function<int(Seconds)>& look) {
  if (exchange.grouping == Grouping::whole_model)
    return {{0, workload.gradients.size(), workload.gradient_bytes, workload.backward}};
  std::vector<Bucket> buckets;
  bool open = false;
  Seconds time{};
  for (std::size_t i = 0; i < workload.gradients.size(); ++i) {
    const Seconds before = time;
    time += workload.gradients[i].gap;
    if (open && look && look(time) > look(before)) open = false;
    if (!open) buckets.push_back({i, i, {}, {}});
    Bucket& bucket = buckets.back();
    bucket.last = i + 1;
    bucket.bytes += workload.gradients[i].bytes;
    bucket.gap += workload.gradients[i].gap;
    if (exchange.grouping == Grouping::bucketed) open = bucket.bytes < exchange.cap_of(buckets.size() - 1);
    if (exchange.grouping == Grouping::per_block)
      open = i + 1 < workload.gradients.size() &&
             block_of(workload.gradients[i].name) == block_of(workload.gradients[i + 1].name);
  }
  return buckets;
}

std::vector<Bucket> make_segments(const Workload& workload, int segments) {
  std::vector<Bucket> buckets;
  const Bytes size = workload.gradient_bytes / segments;
  Bytes ready{};
  std::size_t tensor = 0;
  for (int s = 1; s <= segments; ++s) {
    Bucket bucket{tensor > 0 ? tensor - 1 : 0, tensor, size, {}};
    // Comparing products is exact. The rounding of a quotient could move a cut that falls between tensors.
    while (tensor < workload.gradients.size() && (s == segments || ready * segments < workload.gradient_bytes * s)) {
      ready += workload.gradients[tensor].bytes;
      bucket.gap += workload.gradients[tensor].gap;
      ++tensor;
    }
    bucket.last = std::max(tensor, bucket.first + 1);
    buckets.push_back(bucket);
  }
  return buckets;
}

}  // namespace stepcast
