#include "models/scenario/tensor_compressors.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/scenario/summed_workers.hpp"

namespace stepcast {
namespace {

bool matches_one(const std::vector<std::string>& patterns, const Gradient& tensor) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& pattern) { return matches(pattern, tensor); });
}

}  // namespace

bool matches(const std::string& pattern, const Gradient& tensor) {
  const auto fits = [](const std::string& one, const std::string& text) {
    return fnmatch(one.c_str(), text.c_str(), FNM_EXTMATCH) == 0;
  };
  if (fits(pattern, tensor.name)) return true;
  const std::size_t colon = pattern.find(':');
  return colon != std::string::npos && !tensor.layer_kind.empty() &&
         fits(pattern.substr(0, colon), std::string(tensor.layer_kind)) && fits(pattern.substr(colon + 1), tensor.name);
}

bool matches_any(const std::string& pattern, const Workload& workload) {
  return std::any_of(workload.gradients.begin(), workload.gradients.end(),
                     [&](const Gradient& gradient) { return matches(pattern, gradient); });
}

bool stays_whole(const CodecSettings& codec, const Gradient& tensor) {
  if (tensor.elements < codec.min_elements || (codec.whole_vectors && tensor.dims.size() == 1)) return true;
  return codec.whole && matches_one(*codec.whole, tensor);
}

bool may_leave_whole(const CodecSettings& codec) {
  return codec.min_elements > 0 || codec.whole_vectors || codec.whole;
}

std::span<const OtherCompressor> others_of(const Scenario& scenario) {
  return scenario.other_compressors ? std::span(*scenario.other_compressors) : std::span<const OtherCompressor>{};
}

std::string other_compressor_pointer(std::size_t i) { return fmt::format("/other_compressors/{}/compressor", i); }

std::vector<const Compressor*> compressors_of(const Scenario& scenario) {
  std::vector<const Compressor*> all{&scenario.compressor};
  for (const OtherCompressor& other : others_of(scenario)) all.push_back(&other.compressor);
  return all;
}

std::vector<const Compressor*> all_compressors_of(const Scenario& scenario) {
  std::vector<const Compressor*> all;
  if (sends_compressed(scenario)) all = compressors_of(scenario);
  if (compresses_inside(scenario)) all.push_back(&scenario.inner_compressor);
  return all;
}

std::optional<std::size_t> compressor_of(const CodecSettings& codec, std::span<const OtherCompressor> others,
                                         const Gradient& tensor) {
  if (stays_whole(codec, tensor)) return {};
  for (std::size_t i = 0; i < others.size(); ++i)
    if (matches_one(others[i].tensors, tensor)) return i + 1;
  return 0;
}

bool any_has(const Scenario& scenario, bool (*has)(const CompressorTraits&)) {
  const Dtype dtype = scenario.workload ? scenario.workload->dtype : Dtype::fp32;
  const std::vector<const Compressor*> all = compressors_of(scenario);
  return std::any_of(all.begin(), all.end(), [&](const Compressor* one) { return has(traits_of(*one, dtype)); });
}

bool is_changed_by_parts(const Scenario& scenario) {
  const std::vector<const Compressor*> all = all_compressors_of(scenario);
  return std::any_of(all.begin(), all.end(), [](const Compressor* one) {
    return !std::holds_alternative<NoCompressor>(*one) && !std::holds_alternative<RatioCompressor>(*one) &&
           !std::holds_alternative<Fp16>(*one);
  });
}

std::string compressor_text(const Scenario& scenario) {
  std::vector<std::string_view> kinds;
  for (const Compressor* one : compressors_of(scenario))
    if (std::find(kinds.begin(), kinds.end(), name_of(*one)) == kinds.end()) kinds.push_back(name_of(*one));
  return fmt::format("{}", fmt::join(kinds, "+"));
}

TensorCount count_tensors(const Scenario& scenario, const Workload& workload, std::optional<std::size_t> index) {
  TensorCount count;
  for (const Gradient& gradient : workload.gradients)
    if (compressor_of(scenario.codec, others_of(scenario), gradient) == index) {
      ++count.tensors;
      count.bytes += gradient.bytes;
    }
  return count;
}

}  // namespace stepcast
