// The memory of a whole step. Laws for every network are tested by a run through its kernels, with slots that remember
// their last writer. A chain is derived by hand. The last test compares the memory with one buffer for each tensor.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <random>
#include <set>

#include "models/describe/json.hpp"
#include "calibrate/step_buffers.hpp"
#include "kernels/code/bfloat.hpp"
#include "models/describe/json.hpp"
#include "models/scenario/library.hpp"
#include "models/scenario/workload_document.hpp"
#include "tests/support/catch.hpp"

using namespace stepcast;
using namespace stepcast::calibrate;
using kernels::Buffer;
using kernels::Fill;
using kernels::Role;

namespace {

StepToMeasure step_of(const std::string& workload, const std::string& variant, const std::string& dtype, int batch) {
  return calibrate::step_of(
      load_workload(default_library() / "workloads" / (workload + ".json"),
                    {{"variant", variant}, {"dtype", dtype}, {"compute_dtype", dtype}, {"batch", batch}},
                    default_library()),
      ConvolutionPath::im2col);
}

std::size_t bytes_of(const Buffer& buffer) { return static_cast<std::size_t>(buffer.count) * size_of(buffer.element); }
bool is_read(const Buffer& buffer) { return buffer.fill != Fill::zero; }

/// The last writer of a slot.
struct Written {
  std::size_t call = 0;
  std::size_t layer = StepCall::kUpdate;
  Buffer buffer;
  bool filled = false;
};

/// The content that a step found where it read: by call and buffer.
using Reads = std::map<std::pair<std::size_t, std::size_t>, Written>;

/// Runs a step with these slots. Every tensor that is read was filled or written before, by a buffer of that type and
/// at least that size. Filled tensors survive until the next step. No kernel writes into a slot that holds another of
/// its buffers.
Reads go_through(const StepBuffers& plan) {
  std::map<std::size_t, Written> slots;
  for (std::size_t i = 0; i < plan.slots.size(); ++i)
    if (plan.slots[i].fill) slots[i] = {0, StepCall::kUpdate, *plan.slots[i].fill, true};
  Reads reads;
  for (std::size_t at = 0; at < plan.calls.size(); ++at) {
    const StepCall& call = plan.calls[at];
    const std::vector<Buffer> buffers = call.kernel->buffers(call.n);
    REQUIRE(buffers.size() == call.slots.size());
    std::multiset<std::size_t> touched(call.slots.begin(), call.slots.end());
    for (std::size_t b = 0; b < buffers.size(); ++b) {
      INFO("call " << at << ", " << call.kernel->described() << ", " << buffers[b].name);
      const std::size_t slot = call.slots[b];
      REQUIRE((slot == StepCall::kNothing) == (buffers[b].count == 0));
      if (slot == StepCall::kNothing) continue;
      REQUIRE(slot < plan.slots.size());
      REQUIRE(bytes_of(buffers[b]) <= plan.slots[slot].bytes);
      if (is_read(buffers[b])) {
        REQUIRE(slots.count(slot) == 1);
        const Written& found = slots[slot];
        REQUIRE(found.buffer.element == buffers[b].element);
        // An LSTM's outputs begin with the state before them, and its backward part reads them without the last.
        REQUIRE((found.buffer.count == buffers[b].count ||
                 (buffers[b].role == Role::output && found.buffer.count > buffers[b].count)));
        reads[{at, b}] = found;
      }
      if (buffers[b].written) REQUIRE(touched.count(slot) == 1);
    }
    for (std::size_t b = 0; b < buffers.size(); ++b) {
      if (!buffers[b].written || buffers[b].count == 0) continue;
      const bool was_filled = plan.slots[call.slots[b]].fill.has_value();
      INFO("call " << at << ", " << call.kernel->described() << ", " << buffers[b].name);
      REQUIRE(was_filled == is_read(buffers[b]));
      slots[call.slots[b]] = {at, call.layer, buffers[b], was_filled};
    }
  }
  return reads;
}

/// Whether a part of the layer leaves something of that name for another.
bool writes_kept(const StepBuffers& plan, std::size_t layer, const std::string& name) {
  return std::any_of(plan.calls.begin(), plan.calls.end(), [&](const StepCall& call) {
    const std::vector<Buffer> buffers = call.kernel->buffers(call.n);
    return call.layer == layer && std::any_of(buffers.begin(), buffers.end(), [&](const Buffer& buffer) {
             return buffer.role == Role::kept && buffer.written && name == buffer.name;
           });
  });
}

/// Each read finds the content that the buffer's role names.
void check_roles(const StepBuffers& plan, const Reads& reads) {
  std::map<std::pair<std::size_t, std::string>, Written> inputs;
  for (const auto& read : reads) {
    const auto& place = read.first;
    const Written& written = read.second;
    const StepCall& call = plan.calls[place.first];
    const Buffer buffer = call.kernel->buffers(call.n)[place.second];
    INFO(call.kernel->described() << ", " << buffer.name << ", read from " << written.buffer.name << " of layer "
                                  << written.layer);
    const bool own = written.layer == call.layer && written.buffer.role == buffer.role;
    const bool begins = written.layer == StepCall::kUpdate && written.filled &&
                        buffer.written;  // an LSTM's state before the first step
    switch (buffer.role) {
      case Role::input: {
        REQUIRE((written.filled || (written.buffer.role == Role::output && written.layer < call.layer)));
        // The backward parts read the same buffers as the forward part: no kernel has overwritten them since.
        const auto [first, is_new] = inputs.insert({{call.layer, buffer.name}, written});
        REQUIRE((is_new || (first->second.filled == written.filled && first->second.call == written.call)));
        break;
      }
      case Role::output: REQUIRE((own || begins)); break;
      // Otherwise only buffers that no part of the layer writes are filled: labels, indices, input from outside.
      case Role::kept:
        REQUIRE(((own && std::string(written.buffer.name) == buffer.name) || begins ||
                 (written.filled && !writes_kept(plan, call.layer, buffer.name))));
        break;
      case Role::weight: REQUIRE(written.filled); break;
      case Role::output_gradient:
        REQUIRE((written.filled || (written.buffer.role == Role::input_gradient && written.layer > call.layer)));
        break;
      case Role::weight_gradient: REQUIRE((written.filled || written.buffer.role == Role::weight_gradient)); break;
      case Role::input_gradient:
      case Role::none: REQUIRE(call.layer == StepCall::kUpdate); break;
    }
  }
}

std::size_t apart(const StepBuffers& plan) {
  std::size_t sum = 0;
  for (const StepCall& call : plan.calls)
    for (const Buffer& buffer : call.kernel->buffers(call.n)) sum += bytes_of(buffer);
  return sum;
}

/// Shares of the reads in a role that find data written by the step.
double share_chained(const StepBuffers& plan, const Reads& reads, Role role) {
  double all = 0, chained = 0;
  for (const auto& [place, written] : reads) {
    const StepCall& call = plan.calls[place.first];
    if (call.kernel->buffers(call.n)[place.second].role != role) continue;
    ++all;
    chained += written.filled ? 0 : 1;
  }
  return all > 0 ? chained / all : 1;
}

}  // namespace

TEST_CASE("a step's memory: reads follow writes, data is kept while it is needed, and buffers are shared") {
  struct Case {
    const char *workload, *variant;
    double most;     ///< bytes of all buffers apart
    double chained;  ///< at least of the inputs, and of the gradients of outputs
  };
  // A buffer is handed on if it has a partner of its size. A network's input is not, nor a flattened, cut or joined
  // tensor.
  for (const Case& one :
       {Case{"resnet50", "vanilla", 0.35, 0.97}, Case{"resnet50", "pufferfish", 0.35, 0.97},
        Case{"vgg19-bn-cifar10", "vanilla", 0.5, 0.97}, Case{"vgg19-bn-cifar10", "pufferfish", 0.4, 0.97},
        Case{"lstm-ptb", "vanilla", 0.5, 0.97}, Case{"lstm-wikitext2", "pufferfish", 0.6, 0.97},
        Case{"transformer-multi30k", "vanilla", 0.6, 0.97}, Case{"bert-base", "vanilla", 0.4, 0.97},
        Case{"inception-v3", "vanilla", 0.25, 0.97}, Case{"unet-tiny", "vanilla", 0.25, 0.9},
        Case{"densenet40-k12-cifar10", "vanilla", 0.25, 0.8}, Case{"ncf-ml20m", "vanilla", 0.95, 0.7}})
    for (const char* dtype : {"fp32", "tf32", "bf16"})
      for (const int batch : {1, 20}) {
        const StepToMeasure step = step_of(one.workload, one.variant, dtype, batch);
        const StepBuffers plan = plan_buffers(step);
        INFO(one.workload << " " << one.variant << " " << dtype << ", batch " << batch);
        const Reads reads = go_through(plan);
        check_roles(plan, reads);
        const double share = static_cast<double>(plan.bytes()) / static_cast<double>(apart(plan)),
                     inputs = share_chained(plan, reads, Role::input),
                     gradients = share_chained(plan, reads, Role::output_gradient);
        CHECK(share <= 1);
        if (batch == 20) CHECK(share < one.most);
        CHECK(inputs >= one.chained);
        CHECK(gradients >= one.chained);
      }
}

TEST_CASE("a chain of three layers, by hand") {
  // Linear 8 to 8, relu, linear 8 to 8, for 2 samples: x -> y1 -> y2 -> y3.
  StepToMeasure step;
  step.table.batch = 2;
  step.layers = {kernels::linear_layer({.in = 8, .out = 8, .rows = 1}, kernels::Precision::fp32),
                 kernels::activation_layer({kernels::ActivationKind::relu, 8}, kernels::Precision::fp32),
                 kernels::linear_layer({.in = 8, .out = 8, .rows = 1}, kernels::Precision::fp32)};
  step.table.layers = {
      {"one", {}, {}, {{"one.weight", 64, {}}}}, {"relu", {}, {}, {}}, {"two", {}, {}, {{"two.weight", 64, {}}}}};
  step.tensors = {64, 64};
  step.update = kernels::sgd_update(kernels::Precision::fp32);
  const StepBuffers plan = plan_buffers(step);
  check_roles(plan, go_through(plan));

  const auto slot = [&](std::size_t call, const std::string& name) {
    const std::vector<Buffer> buffers = plan.calls[call].kernel->buffers(plan.calls[call].n);
    for (std::size_t b = 0; b < buffers.size(); ++b)
      if (buffers[b].name == name) return plan.calls[call].slots[b];
    FAIL(name);
    return StepCall::kNothing;
  };
  enum { forward1, forward_relu, forward2, data2, weight2, data_relu, weight1, update1, update2 };
  REQUIRE(plan.calls.size() == 9);
  CHECK(slot(forward_relu, "x") == slot(forward1, "y"));
  CHECK(slot(forward2, "x") == slot(forward_relu, "y"));
  CHECK(slot(weight2, "x") == slot(forward_relu, "y"));
  CHECK(slot(data_relu, "y") == slot(forward_relu, "y"));  // its gradient is there if y is above zero
  CHECK(slot(data2, "u") == slot(forward2, "u"));
  CHECK(slot(weight2, "dy") == slot(data2, "dy"));
  CHECK(slot(data_relu, "dy") == slot(data2, "dx"));
  CHECK(slot(weight1, "dy") == slot(data_relu, "dx"));
  CHECK(slot(weight1, "x") == slot(forward1, "x"));
  CHECK(slot(update1, "gradient") == slot(weight1, "du"));
  CHECK(slot(update2, "gradient") == slot(weight2, "du"));
  // Nobody needs y1 after relu: y3 takes its place.
  CHECK(slot(forward2, "y") == slot(forward1, "y"));
  CHECK(slot(data2, "dx") == slot(forward2, "y"));  // which nobody reads
  // Filled: x, two weights, y3's gradient, and the two weights of the updates.
  CHECK(std::count_if(plan.slots.begin(), plan.slots.end(), [](const Slot& one) { return one.fill.has_value(); }) == 6);
  // A tensor of activations has 64 B, a weight 256 B. Filled are 2·64 + 4·256. Beside them, one buffer holds y1, y3 and
  // dx2. Others hold y2, relu's dx, and two gradients of weights. The second of these is made when y2 and dx2 are free,
  // and takes one of them, grown to 256.
  CHECK(plan.bytes() == (2 * 64 + 4 * 256) + (2 * 64 + 2 * 256));
}

namespace {

/// The step in its slots by the CPU references, filled as fill_on_device does: values of a deviation of 0.1.
class HostStep {
 public:
  explicit HostStep(StepBuffers plan) : plan_(std::move(plan)) {
    std::mt19937_64 random(5);
    std::normal_distribution<float> normal(0, 0.1F);
    for (const Slot& slot : plan_.slots) {
      std::vector<std::byte>& bytes =
          memory_.emplace_back(slot.bytes, std::byte{0xff});  // NaN, for reads of unwritten memory
      for (std::int64_t i = 0; slot.fill && i < slot.fill->count; ++i) {
        if (slot.fill->fill == Fill::below)
          put(bytes, i, static_cast<std::uint32_t>(random() % static_cast<std::uint64_t>(slot.fill->below)));
        else if (slot.fill->element == kernels::Element::bf16) put(bytes, i, kernels::bfloat_bits(normal(random)));
        else put(bytes, i, slot.fill->fill == Fill::values ? normal(random) : 1 + std::abs(normal(random)));
      }
    }
  }

  /// The largest magnitude that a kernel has written; infinity where one is no number.
  double run() {
    double largest = 0;
    for (const StepCall& call : plan_.calls) {
      std::vector<void*> pointers;
      for (const std::size_t slot : call.slots)
        pointers.push_back(slot == StepCall::kNothing ? nullptr : memory_[slot].data());
      call.kernel->reference({call.n, pointers.data(), call.kernel->parameters.data(), 7});
      const std::vector<Buffer> buffers = call.kernel->buffers(call.n);
      for (std::size_t b = 0; b < buffers.size(); ++b)
        for (std::int64_t i = 0; buffers[b].written && i < buffers[b].count; ++i) {
          if (buffers[b].element == kernels::Element::u8) continue;
          const float x = buffers[b].element == kernels::Element::bf16
                              ? kernels::float_of_bfloat(static_cast<const std::uint16_t*>(pointers[b])[i])
                              : static_cast<const float*>(pointers[b])[i];
          largest = std::isfinite(x) ? std::max(largest, std::abs(static_cast<double>(x))) : INFINITY;
        }
    }
    return largest;
  }

 private:
  template <class T>
  static void put(std::vector<std::byte>& bytes, std::int64_t i, T value) {
    std::memcpy(bytes.data() + i * static_cast<std::int64_t>(sizeof(T)), &value, sizeof(T));
  }
  StepBuffers plan_;
  std::vector<std::vector<std::byte>> memory_;
};

}  // namespace

TEST_CASE("steps in these slots compute with numbers that were written, and stay finite") {
  struct Case {
    const char *workload, *variant, *dtype;
  };
  for (const Case& one : {Case{"resnet20-cifar10", "vanilla", "fp32"}, Case{"resnet20-cifar10", "vanilla", "bf16"},
                          Case{"transformer-multi30k", "pufferfish", "fp32"}}) {
    const StepToMeasure step = step_of(one.workload, one.variant, one.dtype, 1);
    HostStep host(plan_buffers(step));
    INFO(one.workload << " " << one.variant << " " << one.dtype);
    const double first = host.run(), second = host.run();
    CHECK(first > 0);
    CHECK(first < 1e30);
    CHECK(second < 1e30);
  }
}

TEST_CASE("every buffer of a layer has its role") {
  std::vector<kernels::Kernel> all = kernels::layer_kernels();
  for (const kernels::Kernel& kernel : kernels::convolution_kernels(ConvolutionPath::cudnn)) all.push_back(kernel);
  for (const kernels::Kernel& kernel : all) {
    if (kernel.role.ends_with("-update")) continue;
    const bool forward = kernel.role.ends_with("forward");
    for (const Buffer& buffer : kernel.buffers(3)) {
      INFO(kernel.described() << ", " << buffer.name);
      switch (buffer.role) {
        case Role::none: CHECK(buffer.role != Role::none); break;
        case Role::input:
        case Role::weight: CHECK((is_read(buffer) && !buffer.written)); break;
        case Role::output: CHECK(buffer.written == forward); break;
        case Role::kept: break;
        case Role::output_gradient: CHECK((!forward && is_read(buffer) && !buffer.written)); break;
        case Role::input_gradient:
        case Role::weight_gradient: CHECK((!forward && !is_read(buffer) && buffer.written)); break;
      }
    }
  }
  // One output and one gradient of it; a gradient for each input and weight, in their order and of their size.
  for (const char* workload : {"resnet50", "vgg19-bn-cifar10", "lstm-ptb", "lstm-wikitext2", "transformer-multi30k",
                               "bert-base", "unet-tiny", "densenet40-k12-cifar10", "ncf-ml20m", "inception-v3"})
    for (const kernels::LayerKernels& layer : step_of(workload, "vanilla", "bf16", 2).layers) {
      std::map<Role, std::vector<std::int64_t>> forward, backward;
      std::set<std::string> gradients_of_output;
      for (const Buffer& buffer : layer.forward->buffers(2))
        if (buffer.count > 0) forward[buffer.role].push_back(buffer.count);
      for (const std::optional<kernels::Kernel>* part : {&layer.data_gradient, &layer.weight_gradient})
        if (*part)
          for (const Buffer& buffer : (*part)->buffers(2)) {
            if (buffer.count > 0 && (buffer.role == Role::input_gradient || buffer.role == Role::weight_gradient))
              backward[buffer.role].push_back(buffer.count);
            if (buffer.role == Role::output_gradient) gradients_of_output.insert(buffer.name);
          }
      INFO(layer.forward->described());
      CHECK(forward[Role::output].size() == 1);
      CHECK(gradients_of_output.size() <= 1);
      CHECK(forward[Role::weight] == backward[Role::weight_gradient]);
      // A sum's one gradient is that of both terms.
      if (layer.forward->role == "add-forward")
        CHECK(backward[Role::input_gradient] == std::vector<std::int64_t>{forward[Role::input][0]});
      else CHECK(forward[Role::input] == backward[Role::input_gradient]);
    }
}
