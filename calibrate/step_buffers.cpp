#include "calibrate/step_buffers.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace stepcast::calibrate {
namespace {

using kernels::Buffer;
using kernels::Fill;
using kernels::Role;

std::size_t bytes_of(const Buffer& buffer) { return static_cast<std::size_t>(buffer.count) * size_of(buffer.element); }
bool is_read(const Buffer& buffer) { return buffer.fill != Fill::zero; }
bool is_alike(const Buffer& a, const Buffer& b) { return a.element == b.element && a.count == b.count; }

/// A value that one or several kernels name: the same bytes from the first call to the last that touches it.
struct Value {
  Buffer buffer;  ///< as its first call describes it
  std::int64_t n = 0;
  std::size_t first = 0, last = 0;
};

/// Maps each buffer of each call to its value.
class Values {
 public:
  explicit Values(const StepToMeasure& step) : step_(step), layers_(step.layers.size()), calls_(calls_of(step)) {
    for (at_ = 0; at_ < calls_.size(); ++at_) {
      StepCall& call = calls_[at_];
      if (call.layer == StepCall::kUpdate) connect_update(call);
      else connect(call);
    }
  }

  std::vector<StepCall> calls() && { return std::move(calls_); }  ///< their slots are values
  [[nodiscard]] const std::vector<Value>& all() const { return all_; }

 private:
  using Key = std::pair<Role, std::string>;
  struct LayerValues {
    std::map<Key, std::size_t> named;  ///< inputs, weights and kept values
    std::vector<std::size_t> inputs;   ///< in the forward part's order
    std::optional<std::size_t> output, output_gradient;
    std::vector<std::size_t> weight_gradients;  ///< not yet taken by an update
  };

  std::size_t add(const Buffer& buffer) {
    all_.push_back({buffer, calls_[at_].n, at_, at_});
    return all_.size() - 1;
  }

  /// The latest of `values` that is alike and none of `taken`.
  [[nodiscard]] std::optional<std::size_t> latest(const std::vector<std::size_t>& values, const Buffer& buffer,
                                                  const std::vector<std::size_t>& taken = {}) const {
    const auto found = std::find_if(values.rbegin(), values.rend(), [&](std::size_t value) {
      return is_alike(all_[value].buffer, buffer) && std::find(taken.begin(), taken.end(), value) == taken.end();
    });
    if (found == values.rend()) return {};
    return *found;
  }

  std::size_t input(LayerValues& layer, const Buffer& buffer) {
    const Key key{buffer.role, buffer.name};
    if (const auto known = layer.named.find(key); known != layer.named.end()) return known->second;
    const auto found = latest(outputs_, buffer, layer.inputs);
    const std::size_t value = found ? *found : add(buffer);
    layer.named[key] = value;
    layer.inputs.push_back(value);
    return value;
  }

  std::size_t output_gradient(LayerValues& layer, const Buffer& buffer) {
    if (layer.output_gradient) return *layer.output_gradient;
    const auto given = layer.output ? gradient_of_.find(*layer.output) : gradient_of_.end();
    std::optional<std::size_t> found;
    if (given != gradient_of_.end() && is_alike(all_[given->second].buffer, buffer)) found = given->second;
    if (!found) found = latest(input_gradients_, buffer);
    layer.output_gradient = found ? *found : add(buffer);
    return *layer.output_gradient;
  }

  std::size_t value_of(LayerValues& layer, const Buffer& buffer, std::size_t& input_gradients) {
    switch (buffer.role) {
      case Role::input: return input(layer, buffer);
      case Role::output:
        if (!layer.output) outputs_.push_back(*(layer.output = add(buffer)));
        return *layer.output;
      case Role::output_gradient: return output_gradient(layer, buffer);
      case Role::input_gradient: {
        const std::size_t value = add(buffer);
        if (input_gradients < layer.inputs.size()) gradient_of_[layer.inputs[input_gradients]] = value;
        ++input_gradients;
        input_gradients_.push_back(value);
        return value;
      }
      case Role::weight_gradient: layer.weight_gradients.push_back(add(buffer)); return layer.weight_gradients.back();
      case Role::weight:
      case Role::kept:
      case Role::none: break;
    }
    const Key key{buffer.role, buffer.name};
    const auto known = layer.named.find(key);
    return known != layer.named.end() ? known->second : layer.named[key] = add(buffer);
  }

  void connect(StepCall& call) {
    std::size_t input_gradients = 0;
    for (const Buffer& buffer : call.kernel->buffers(call.n))
      touch(call, buffer.count == 0 ? StepCall::kNothing : value_of(layers_[call.layer], buffer, input_gradients));
  }

  /// The gradient is one of its layer's of as many elements; where the table cuts them otherwise, its own.
  void connect_update(StepCall& call) {
    while (tensor_ == step_.table.layers[updated_].gradients.size()) {
      ++updated_;
      tensor_ = 0;
    }
    ++tensor_;
    std::vector<std::size_t>& gradients = layers_[updated_].weight_gradients;
    for (const Buffer& buffer : call.kernel->buffers(call.n)) {
      const auto found = buffer.role == Role::weight_gradient ? latest(gradients, buffer) : std::nullopt;
      if (found) gradients.erase(std::find(gradients.begin(), gradients.end(), *found));
      touch(call, found ? *found : add(buffer));
    }
  }

  void touch(StepCall& call, std::size_t value) {
    if (value != StepCall::kNothing) all_[value].last = at_;
    call.slots.push_back(value);
  }

  const StepToMeasure& step_;
  std::vector<LayerValues> layers_;
  std::vector<StepCall> calls_;
  std::vector<Value> all_;
  std::size_t at_ = 0;                                  ///< the call that is being connected
  std::size_t updated_ = 0, tensor_ = 0;                ///< layer, and tensor of it, whose update comes next
  std::vector<std::size_t> outputs_, input_gradients_;  ///< in the order in which they are written
  std::map<std::size_t, std::size_t> gradient_of_;      ///< from a value that layers took to its first gradient
};

/// Memory for values that come and go.
class Slots {
 public:
  std::size_t add_filled(const Value& value) {
    all_.push_back({bytes_of(value.buffer), value.buffer, value.n});
    return all_.size() - 1;
  }
  /// The smallest free slot that is large enough; else the largest one, made larger; else a new one.
  std::size_t take(std::size_t bytes) {
    std::optional<std::size_t> best;
    for (const std::size_t one : free_) {
      const std::size_t has = all_[one].bytes, most = best ? all_[*best].bytes : 0;
      if (!best || (has >= bytes ? most < bytes || has < most : most < bytes && has > most)) best = one;
    }
    if (!best) {
      all_.push_back({bytes});
      return all_.size() - 1;
    }
    free_.erase(std::find(free_.begin(), free_.end(), *best));
    all_[*best].bytes = std::max(all_[*best].bytes, bytes);
    return *best;
  }
  void give_back(std::size_t slot) { free_.push_back(slot); }
  std::vector<Slot> all() && { return std::move(all_); }

 private:
  std::vector<Slot> all_;
  std::vector<std::size_t> free_;
};

}  // namespace

std::size_t StepBuffers::bytes() const {
  std::size_t sum = 0;
  for (const Slot& slot : slots) sum += slot.bytes;
  return sum;
}

std::vector<StepCall> calls_of(const StepToMeasure& step) {
  std::vector<StepCall> calls;
  const auto add = [&](const std::optional<kernels::Kernel>& kernel, std::size_t layer) {
    if (kernel) calls.push_back({&*kernel, step.table.batch, layer, {}});
  };
  for (std::size_t i = 0; i < step.layers.size(); ++i) add(step.layers[i].forward, i);
  for (std::size_t i = step.layers.size(); i-- > 0;) {
    if (i > 0) add(step.layers[i].data_gradient, i);
    add(step.layers[i].weight_gradient, i);
  }
  for (const std::int64_t elements : step.tensors) calls.push_back({&step.update, elements, StepCall::kUpdate, {}});
  return calls;
}

StepBuffers plan_buffers(const StepToMeasure& step) {
  Values values(step);
  const std::vector<Value>& all = values.all();
  std::vector<std::size_t> slot_of(all.size());
  Slots slots;
  std::vector<std::vector<std::size_t>> begins, ends;
  for (std::size_t i = 0; i < all.size(); ++i) {
    // If its first kernel reads it, the value existed before the step: it stays for the next step.
    if (is_read(all[i].buffer)) {
      slot_of[i] = slots.add_filled(all[i]);
      continue;
    }
    begins.resize(std::max(begins.size(), all[i].last + 1));
    ends.resize(begins.size());
    begins[all[i].first].push_back(i);
    ends[all[i].last].push_back(i);
  }
  for (std::size_t at = 0; at < begins.size(); ++at) {
    for (const std::size_t value : begins[at]) slot_of[value] = slots.take(bytes_of(all[value].buffer));
    for (const std::size_t value : ends[at]) slots.give_back(slot_of[value]);
  }
  StepBuffers plan{std::move(values).calls(), std::move(slots).all()};
  for (StepCall& call : plan.calls)
    for (std::size_t& slot : call.slots)
      if (slot != StepCall::kNothing) slot = slot_of[slot];
  return plan;
}

}  // namespace stepcast::calibrate
