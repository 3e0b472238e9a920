// Traces of PyTorch's profiler: one that torch 2.15 wrote on a CPU, and one with GPU streams written by hand from the
// format.
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "models/describe/fault.hpp"
#include "models/describe/json.hpp"
#include "models/workload/profiler_trace.hpp"
#include "tests/support/catch.hpp"

using namespace stepcast;

namespace {

/// Events of a trace in microseconds, as Kineto writes them.
struct Trace {
  Json events = Json::array();

  void add(const std::string& category, const std::string& name, double begin, double end, Json args = Json::object()) {
    events.push_back(
        {{"ph", "X"}, {"cat", category}, {"name", name}, {"ts", begin}, {"dur", end - begin}, {"args", args}});
  }
  /// A kernel that the CPU launches at `launched`.
  void kernel(double launched, int stream, double begin, double end, const std::string& name = "gemm") {
    const int correlation = static_cast<int>(events.size()) + 1;
    add("cuda_runtime", "cudaLaunchKernel", launched, launched + 1, {{"correlation", correlation}});
    add("kernel", name, begin, end, {{"correlation", correlation}, {"stream", stream}});
  }
  void accumulate(double begin, double end, const std::vector<int>& dims, const std::string& type = "float") {
    add("cpu_op", "torch::autograd::AccumulateGrad", begin, end,
        {{"Input Dims", Json({dims})}, {"Input type", Json({type})}});
  }
  [[nodiscard]] Json json() const {
    return {{"deviceProperties", Json::array({Json{{"name", "NVIDIA Made-Up"}}})}, {"traceEvents", events}};
  }
};

/// One step on stream 7; a collective beside it on stream 20.
Trace gpu_step() {
  Trace trace;
  trace.add("user_annotation", "ProfilerStep#5", 0, 130);
  trace.add("user_annotation", "Optimizer.zero_grad#AdamW.zero_grad", 1, 4);
  trace.kernel(2, 7, 90, 95);  // zero_grad, before forward
  trace.add("cpu_op", "aten::linear", 8, 30);
  trace.kernel(10, 7, 100, 200);  // forward
  trace.kernel(20, 7, 200, 300);
  trace.add("cpu_op", "autograd::engine::evaluate_function: AddmmBackward0", 50, 56);
  trace.kernel(52, 7, 300, 420);
  trace.accumulate(56, 58, {10, 4});
  trace.add("cpu_op", "autograd::engine::evaluate_function: ConvolutionBackward0", 60, 90);
  trace.kernel(62, 7, 420, 500);
  trace.kernel(64, 7, 510, 600);  // the stream is idle for 10 us
  trace.kernel(66, 20, 430, 800, "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  trace.accumulate(70, 72, {4});
  trace.kernel(80, 7, 600, 650);  // backward after the last gradient
  trace.add("user_annotation", "Optimizer.step#AdamW.step", 100, 120);
  trace.kernel(105, 7, 660, 700);
  return trace;
}

double us(Seconds time) { return std::round(time.si() * 1e9) / 1e3; }

std::string fault_of(const Json& trace, int step = 0) {
  try {
    read_profiler_trace(trace, "t.json", step);
  } catch (const ScenarioError& error) {
    return error.what();
  }
  return "accepted";
}
bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a GPU's step: times of its compute stream by the phase that launched each kernel") {
  const TracedStep step = read_profiler_trace(gpu_step().json(), "t.json");
  CHECK(us(step.forward) == 200);   // 100 to 300
  CHECK(us(step.backward) == 350);  // 300 to 650
  CHECK(us(step.update) == 55);     // 650 to 700, and 5 us of zero_grad
  CHECK(us(step.tail) == 50);       // 600 to 650
  REQUIRE(step.gradients.size() == 2);
  CHECK(us(step.gradients[0].gap) == 120);  // 300 to 420: the last kernel launched before 58 us
  CHECK(us(step.gradients[1].gap) == 180);  // 420 to 600
  CHECK(step.gradients[0].name == "1 AddmmBackward0");
  CHECK(step.gradients[1].name == "2 ConvolutionBackward0");
  CHECK(step.gradients[0].elements() == 40);
  CHECK(step.gradients[1].dims == std::vector<std::int64_t>{4});
  CHECK(step.device == "NVIDIA Made-Up");
  CHECK(step.optimizer == "AdamW");
  CHECK(step.collectives == 1);
  CHECK(step.dtype == Dtype::fp32);
}

TEST_CASE("the step of median length is taken, unless another is asked for") {
  Trace trace = gpu_step();
  for (const double shift : {1000.0, 3000.0}) {  // slower by 100 us, and by 50 us
    const double slower = shift == 1000 ? 100 : 50;
    trace.add("user_annotation", "ProfilerStep#6", shift, shift + 130 + slower);
    trace.kernel(shift + 10, 7, shift + 100, shift + 300 + slower);
    trace.add("cpu_op", "autograd::engine::evaluate_function: AddmmBackward0", shift + 50, shift + 55);
    trace.kernel(shift + 52, 7, shift + 300 + slower, shift + 420 + slower);
    trace.accumulate(shift + 56, shift + 58, {10, 4}, "c10::BFloat16");
  }
  const TracedStep median = read_profiler_trace(trace.json(), "t.json");
  CHECK(median.step == 3);
  CHECK(median.steps == 3);
  CHECK(us(median.forward) == 250);  // 200, and 50 slower
  CHECK(median.dtype == Dtype::bf16);
  CHECK(us(read_profiler_trace(trace.json(), "t.json", 2).forward) == 300);
  CHECK(says(fault_of(trace.json(), 4), "found 3 steps with gradients; allowed: step 1 to 3"));
}

TEST_CASE("a trace that torch wrote on a CPU") {
  std::ifstream file(STEPCAST_TEST_DATA "/traces/torch-2.15-cpu.json");
  const Json trace = Json::parse(file);
  const TracedStep step = read_profiler_trace(trace, "t.json");
  CHECK(step.device == "CPU");
  CHECK(step.optimizer == "SGD");
  CHECK(step.steps == 2);
  // Linear(32, 16), ReLU, Linear(16, 4): in backward the last layer's bias comes first.
  std::vector<std::vector<std::int64_t>> dims;
  for (const TracedGradient& one : step.gradients) dims.push_back(one.dims);
  CHECK(dims == std::vector<std::vector<std::int64_t>>{{4}, {4, 16}, {16}, {16, 32}});
  // Forward, backward and update make up the time from the first operation to the end of the last.
  double first = 1e300, last = 0, begin = 0, end = 0;
  int number = 0;
  for (const Json& event : trace["traceEvents"])
    if (event.value("name", "").starts_with("ProfilerStep#") && event.value("cat", "") == "user_annotation" &&
        ++number == step.step) {
      begin = event["ts"];
      end = begin + event["dur"].get<double>();
    }
  for (const Json& event : trace["traceEvents"]) {
    if (event.value("cat", "") != "cpu_op" || event["ts"] < begin || event["ts"] >= end) continue;
    first = std::min(first, event["ts"].get<double>());
    last = std::max(last, event["ts"].get<double>() + event["dur"].get<double>());
  }
  CHECK(us(step.forward + step.backward + step.update) == Approx(last - first).epsilon(0.01));
  Seconds gaps = step.tail;
  for (const TracedGradient& one : step.gradients) gaps += one.gap;
  CHECK(us(gaps) == Approx(us(step.backward)).epsilon(1e-6));
}

TEST_CASE("other files are refused with the way to record a trace") {
  CHECK(says(fault_of(Json::array()), "a list of events, as PyTorch without Kineto writes"));
  CHECK(says(fault_of(Json::object()), "no \"traceEvents\""));
  CHECK(says(fault_of({{"traceEvents", Json::array()}}), "record_shapes=True"));
  CHECK(says(fault_of({{"traceEvents", {1, "x", nullptr, Json::object()}}}), "no step with gradients"));
  Trace trace;
  trace.add("cpu_op", "aten::linear", 0, 10);
  trace.add("cpu_op", "autograd::engine::evaluate_function: AddmmBackward0", 20, 30);
  trace.add("cpu_op", "torch::autograd::AccumulateGrad", 25, 28);
  CHECK(says(fault_of(trace.json()), "gradients without their shapes"));
  trace.events.erase(2);
  trace.accumulate(25, 28, {3}, "double");
  CHECK(says(fault_of(trace.json()), "gradients of the type double"));
}
