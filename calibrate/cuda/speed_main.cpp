// Measures the kernels' speed on this device, as ratios taken in one run:
//
//     streaming kernels    least bytes to move over their time, over the rate of a copy on the device    at least 80 %
//     top-k's selection    its time over that of reading the tensor once at the copy's rate              at most 3
//     factorized layers    time of the two products that they need, by cuBLAS alone, over theirs;        at least 90 %
//                          convolutions by each path: im2col, and cuDNN if built in
//
//     stepcast_kernel_speed [ELEMENTS]     of the compressors' tensors, by default 2^26
//
// It is a benchmark, not a test: a missed aim has exit code 0. Without a GPU, the code is that of kernels::skip().
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "calibrate/calibration_error.hpp"
#include "calibrate/cuda/device_timer.hpp"
#include "calibrate/measured_device.hpp"
#include "calibrate/profile_of_samples.hpp"
#include "kernels/cuda/fill.hpp"
#include "kernels/cuda/gemm.hpp"
#include "kernels/cuda/kernel_check.hpp"
#include "kernels/layers.hpp"
#include "kernels/products.hpp"

namespace {

using namespace stepcast;
using namespace stepcast::calibrate;
using kernels::Precision;

constexpr double kStreamingAim = 0.8, kCopiesAim = 3, kProductsAim = 0.9;
constexpr std::uint64_t kSeed = 3;

/// Kernels of which no rate is asked: they address memory at random, sort, or compute more than they move.
bool is_streaming(const Subject& subject) {
  constexpr std::array kOthers = {
      "scatter",        "gather",        "radix",          "random-indices",       "sample",       "select-compact",
      "quantile-edges", "segment-means", "matrix-product", "reconstruct-subtract", "gram-schmidt", "svd"};
  const bool selects = subject.name == "compensate-encode-remember/top-k";
  return !selects && subject.repeats == 1 && std::none_of(kOthers.begin(), kOthers.end(), [&](const char* other) {
    return subject.role.starts_with(other);
  });
}

double seconds_of(Work& work) {
  SamplingRules rules;
  rules.time_limit = 1;
  return median(sample(work, rules, surroundings_from_now([] { return false; })).cold.seconds);
}

/// measure(), of which the device's memory or a library may be incapable: the others are measured.
template <class Measure>
void or_left_out(const std::string& name, const Measure& measure) {
  const auto say = [&](const std::exception& error) { fmt::print("{:<44} left out: {}\n", name, error.what()); };
  try {
    measure();
  } catch (const CalibrationError& error) {
    say(error);
  } catch (const kernels::LibraryError& error) {
    say(error);
  } catch (const kernels::CudaError& error) {
    if (error.code() != cudaErrorMemoryAllocation) throw;
    cudaGetLastError();  // not to be taken for the next kernel's
    say(error);
  }
}

/// Prints a line for each kernel, and counts.
class Table {
 public:
  void add(const std::string& name, double seconds, double bytes, const std::string& ratio,
           std::optional<bool> reached) {
    if (reached) ++(*reached ? reached_ : missed_);
    fmt::print("{:<44} {:>10.1f} us {:>9.4g} GB/s  {:>28}  {}\n", name, 1e6 * seconds, bytes / seconds / 1e9, ratio,
               !reached   ? ""
               : *reached ? "reached"
                          : "MISSED");
    std::fflush(stdout);
  }
  void end() const { fmt::print("{} of {} reach their aim\n", reached_, reached_ + missed_); }

 private:
  int reached_ = 0, missed_ = 0;
};

void measure_compressors(const std::vector<Subject>& subjects, std::int64_t elements, double copy_rate, Table& table) {
  const auto measure = [&](const Subject& subject) {
    const std::int64_t n = std::min(elements, *std::max_element(subject.sizes.begin(), subject.sizes.end()));
    const double seconds = seconds_of(*subject.prepare(n)) / subject.repeats, bytes = subject.bytes(n),
                 share = bytes / seconds / copy_rate;
    if (subject.name == "select-compact/top-k") {
      const double copies = subject.repeats * seconds * copy_rate / (4.0 * static_cast<double>(n));  // both sweeps
      table.add(subject.name, seconds, bytes, fmt::format("{:.2f} copies (at most {})", copies, kCopiesAim),
                copies <= kCopiesAim);
    } else if (is_streaming(subject)) {
      table.add(subject.name, seconds, bytes,
                fmt::format("{:.1f} % of a copy (at least {:.0f})", 100 * share, 100 * kStreamingAim),
                share >= kStreamingAim);
    } else {
      table.add(subject.name, seconds, bytes, fmt::format("{:.1f} % of a copy", 100 * share), std::nullopt);
    }
  };
  for (const Subject& subject : subjects)
    if (!subject.role.empty())
      or_left_out(subject.name, [&] { measure(subject); });  // without a role: the device's own rates
}

/// C = A·B: m x k by k x n, each in memory as it is or as its transpose.
struct ProductSize {
  std::int64_t m, n, k;
  bool a_transposed, b_transposed;
};

/// A part of a factorized layer, of a convolution by each path, and the products that it needs, in its own layout.
/// For a convolution, these are the products on columns already made, of all images at once.
struct Part {
  std::vector<kernels::Kernel> kernels;
  std::int64_t batch;
  std::array<ProductSize, 2> products;
};

/// Rows are samples: Y = X·Uᵀ·Vᵀ.
std::vector<Part> linear_parts(const kernels::LayerKernels& layer, std::int64_t batch, std::int64_t rows,
                               std::int64_t in, std::int64_t rank, std::int64_t out) {
  return {{{*layer.forward}, batch, {{{rows, rank, in, false, true}, {rows, out, rank, false, true}}}},
          {{*layer.data_gradient}, batch, {{{rows, rank, out, false, false}, {rows, in, rank, false, false}}}},
          {{*layer.weight_gradient}, batch, {{{rank, in, rows, true, false}, {out, rank, rows, true, false}}}}};
}

/// Columns are pixels: Y = V·U·X.
std::vector<Part> conv2d_parts(const kernels::Conv2dShape& shape, Precision precision, std::int64_t batch) {
  const std::int64_t pixels = batch * kernels::output_pixels(shape), taps = kernels::taps(shape), rank = shape.rank,
                     out = shape.out;
  std::vector<Part> parts = {{{}, batch, {{{rank, pixels, taps, false, false}, {out, pixels, rank, false, false}}}},
                             {{}, batch, {{{rank, pixels, out, true, false}, {taps, pixels, rank, true, false}}}},
                             {{}, batch, {{{rank, taps, pixels, false, true}, {out, rank, pixels, false, true}}}}};
  for (const kernels::ConvolutionPath path : kernels::kConvolutionPaths) {
    if (path == kernels::ConvolutionPath::cudnn && !has_cudnn()) continue;
    const kernels::LayerKernels layer = kernels::conv2d_layer(shape, precision, path);
    for (std::size_t i = 0; i < parts.size(); ++i) parts[i].kernels.push_back(*layer.parts()[i]);
  }
  return parts;
}

/// BERT-base's feed-forward layer and three of ResNet-50's convolutions, at a quarter of their ranks.
std::vector<Part> factorized_parts(Precision precision) {
  constexpr std::int64_t batch = 32;
  std::vector<Part> all =
      linear_parts(kernels::linear_layer({.in = 768, .out = 3072, .rows = 128, .rank = 192}, precision), batch,
                   batch * 128, 768, 192, 3072);
  for (const kernels::Conv2dShape& shape : kernels::timed_convolutions())
    for (Part& part : conv2d_parts(shape, precision, batch)) all.push_back(std::move(part));
  return all;
}

double seconds_of_products(const std::shared_ptr<DeviceTimer>& timer, Precision precision,
                           const std::array<ProductSize, 2>& sizes) {
  const kernels::Element element = precision == Precision::bf16 ? kernels::Element::bf16 : kernels::Element::f32;
  const cudaStream_t stream = timer->context().stream();
  std::vector<std::shared_ptr<kernels::DeviceMemory>> memory;
  const auto matrix = [&](std::int64_t elements) {
    const kernels::Buffer buffer{"matrix", element, elements, kernels::Fill::values};
    void* data = memory
                     .emplace_back(std::make_shared<kernels::DeviceMemory>(static_cast<std::size_t>(elements) *
                                                                           kernels::size_of(element)))
                     ->data();
    kernels::fill_on_device(buffer, data, elements, kSeed + memory.size(), stream);
    return data;
  };
  std::vector<kernels::Product> products;
  for (const auto& [m, n, k, a_transposed, b_transposed] : sizes)
    products.push_back({.m = m,
                        .n = n,
                        .k = k,
                        .a = {matrix(m * k), a_transposed ? m : k, a_transposed},
                        .b = {matrix(k * n), b_transposed ? k : n, b_transposed},
                        .c = {matrix(m * n), n}});
  kernels::DeviceCall call{};
  call.stream = stream;
  call.blas = timer->context().blas();
  DeviceWork work(timer, [=] {
    for (const kernels::Product& product : products) kernels::multiply(call, precision, product);
  });
  return seconds_of(work);
}

void measure_factorized(Table& table) {
  const auto timer = std::make_shared<DeviceTimer>();
  const auto measure = [&](const kernels::Kernel& kernel, std::int64_t batch, double products) {
    const auto device = std::make_shared<kernels::DeviceWorkspace>(kernels::find_launch(kernel.name()), kernel, batch,
                                                                   kSeed, timer->context());
    DeviceWork work(timer, [device] { device->run(); });
    const double seconds = seconds_of(work), ratio = products / seconds;
    table.add(kernel.described(), seconds, kernel.bytes(batch),
              fmt::format("products {:.1f} us, {:.1f} % of it (at least {:.0f})", 1e6 * products, 100 * ratio,
                          100 * kProductsAim),
              ratio >= kProductsAim);
  };
  for (const Precision precision : kernels::kPrecisions)
    for (const Part& part : factorized_parts(precision))
      or_left_out(part.kernels.front().described(), [&] {
        const double products = seconds_of_products(timer, precision, part.products);
        for (const kernels::Kernel& kernel : part.kernels)
          or_left_out(kernel.described(), [&] { measure(kernel, part.batch, products); });
      });
}

void measure_all(std::int64_t elements) {
  const std::unique_ptr<Device> device = open_device();
  const std::vector<Subject> subjects =
      device->subjects({.least = 1024, .largest = elements, .count = 2, .seed = kSeed});
  const auto copy =
      std::find_if(subjects.begin(), subjects.end(), [](const Subject& subject) { return subject.name == own::kCopy; });
  const std::int64_t bytes = copy->sizes.front();
  const double rate = copy->bytes(bytes) / seconds_of(*copy->prepare(bytes));
  const MeasuredDevice facts = device->facts();
  fmt::print("{}, CUDA {}; a copy on the device: {:.4g} GB/s read and written; {} elements\n", facts.name,
             facts.toolkit, rate / 1e9, elements);
  Table table;
  measure_compressors(subjects, elements, rate, table);
  measure_factorized(table);
  table.end();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (!has_device()) return kernels::skip();
    measure_all(argc > 1 ? std::stoll(argv[1]) : std::int64_t{1} << 26);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "stepcast_kernel_speed: {}\n", error.what());
    return 1;
  }
}
