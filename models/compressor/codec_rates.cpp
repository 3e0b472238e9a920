#include "models/compressor/codec_rates.hpp"

#include <fmt/format.h>

namespace stepcast {
namespace {

/// The method whose kernels a method runs.
std::string_view owner_of_kernels(std::string_view method) {
  if (method == "signum") return "signsgd";
  if (method == "qsparse-local-sgd") return "qsgd";
  return method;
}

}  // namespace

CodecRates codec_rates(const DeviceProfile& profile, std::string_view method) {
  CodecRates rates{device_rates(profile), {}};
  const std::string own = fmt::format("/{}", owner_of_kernels(method));
  for (const KernelEntry& kernel : profile.kernels) rates.measured[kernel.name] = rates_of(kernel, rates.all);
  for (const KernelEntry& kernel : profile.kernels)
    if (kernel.name.ends_with(own))
      rates.measured[kernel.name.substr(0, kernel.name.size() - own.size())] = rates_of(kernel, rates.all);
  if (const CodecEntry* codec = find_codec(profile, method)) rates.codec = *codec;
  return rates;
}

const KernelEntry* find_codec_kernel(const DeviceProfile& profile, std::string_view kernel, std::string_view method) {
  const KernelEntry* own = find_kernel(profile, fmt::format("{}/{}", kernel, owner_of_kernels(method)));
  return own ? own : find_kernel(profile, kernel);
}

std::optional<Evidence> evidence_of_codec(const DeviceProfile& profile, const Compressor& compressor) {
  std::vector<CodecKernel> kernels;
  if (std::holds_alternative<FormulaCompressor>(compressor)) {
    kernels = {{"decode"}};  // its own kernels have the rates of the device, or costs of their own
  } else {
    const CodecPlan plan = make_plan(of_any_rate(compressor), Tensor{{64, 64}});
    kernels = encode_kernels(plan);
    append(kernels, decode_kernels(plan, 2));
  }
  Evidence weakest = Evidence::measured;
  for (const CodecKernel& kernel : kernels) {
    if (kernel.known() > Seconds{}) continue;
    const KernelEntry* entry = find_codec_kernel(profile, kernel.kernel, name_of(compressor));
    if (entry == nullptr || entry->evidence == Evidence::assumed) return {};
    if (entry->evidence != Evidence::measured) weakest = Evidence::transferred;
  }
  return weakest;
}

}  // namespace stepcast
