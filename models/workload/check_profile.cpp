#include "models/workload/check_profile.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "models/unit/format.hpp"

namespace stepcast {
namespace {

void check_knots(const KernelEntry& kernel, const std::string& pointer, std::vector<Fault>& faults) {
  RateKnot from{{}, kernel.launch};
  for (std::size_t i = 0; i < kernel.knots.size(); ++i) {
    const RateKnot& knot = kernel.knots[i];
    const std::string here = fmt::format("{}/knots/{}", pointer, i);
    if (knot.bytes <= from.bytes)
      faults.push_back({"", here + "/bytes", exact_text(knot.bytes),
                        "more than " + exact_text(from.bytes) + ", the knot before",
                        "list knots in order of bytes, each once"});
    if (knot.time < from.time)
      faults.push_back(
          {"", here + "/time", exact_text(knot.time),
           "at least " + exact_text(from.time) + (i == 0 ? ", the launch" : ", the time of the knot before"),
           "more bytes take no less time"});
    from = knot;
  }
}

void check_factors(const ShapeFactors& factors, const std::string& pointer, std::vector<Fault>& faults) {
  const std::pair<const char*, const std::vector<double>*> axes[] = {
      {"m", &factors.m}, {"n", &factors.n}, {"k", &factors.k}};
  for (const auto& [name, knots] : axes)
    if (knots->empty() || std::adjacent_find(knots->begin(), knots->end(), std::greater_equal<>()) != knots->end())
      faults.push_back({"", fmt::format("{}/{}", pointer, name), fmt::format("{} knots", knots->size()),
                        "at least one knot, each larger than the one before", "list the knots in order, each once"});
  const std::size_t expected = factors.m.size() * factors.n.size() * factors.k.size();
  if (factors.factors.size() != expected)
    faults.push_back({"", pointer + "/factors", fmt::format("{} factors", factors.factors.size()),
                      fmt::format("{}, one for each knot of m, n and k", expected), "add or remove factors"});
}

void check_misaligned(const KernelModel& model, const std::string& pointer, std::vector<Fault>& faults) {
  Bytes before{};
  for (std::size_t i = 0; i < model.misaligned.size(); ++i) {
    const Bytes alignment = model.misaligned[i].alignment;
    const std::string here = fmt::format("{}/{}/alignment", pointer, i);
    if (alignment != 2_B && alignment != 4_B && alignment != 8_B)
      faults.push_back({"", here, exact_text(alignment), "2B, 4B or 8B",
                        "give the largest power of two that divides the rows' lengths"});
    else if (alignment <= before)
      faults.push_back({"", here, exact_text(alignment), "more than " + exact_text(before) + ", the alignment before",
                        "list alignments in order, each once"});
    before = alignment;
  }
  if (!model.misaligned.empty() && model.kind != KernelKind::product)
    faults.push_back({"", pointer, fmt::format("slowdowns of {}", name_of(model.kind)), "slowdowns of products alone",
                      "remove them: other kinds have no alignment"});
}

void check_models(const DeviceProfile& profile, const std::string& pointer, std::vector<Fault>& faults) {
  std::set<std::tuple<KernelKind, Dtype, std::optional<KernelPass>>> seen;
  for (std::size_t i = 0; i < profile.kernel_models.size(); ++i) {
    const KernelModel& model = profile.kernel_models[i];
    const std::string here = fmt::format("{}/kernel_models/{}", pointer, i);
    if (!seen.insert({model.kind, model.dtype, model.pass}).second)
      faults.push_back({"", here, fmt::format("{} in {} a second time", name_of(model.kind), name_of(model.dtype)),
                        "one model for each kind, type and pass", "remove one of them"});
    if (!find_peak(profile, model.dtype))
      faults.push_back({"", here + "/dtype", std::string(name_of(model.dtype)), "a type that `peaks` has",
                        "add its peak: the model's share refers to it"});
    if (model.tiling && !profile.processors)
      faults.push_back({"", here + "/tiling", "a tiling, but no processors", "a profile with `processors`",
                        "add their number: tiles are spread over them"});
    if (model.factors) check_factors(*model.factors, here + "/factors", faults);
    check_misaligned(model, here + "/misaligned", faults);
  }
}

}  // namespace

void check_rates(const DeviceProfile& profile, const std::string& pointer, std::vector<Fault>& faults) {
  std::set<Dtype> types;
  for (std::size_t i = 0; i < profile.peaks.size(); ++i)
    if (const Dtype dtype = profile.peaks[i].dtype; !types.insert(dtype).second)
      faults.push_back({"", fmt::format("{}/peaks/{}/dtype", pointer, i),
                        fmt::format("{} a second time", name_of(dtype)), "one peak for each type",
                        "remove one of them"});
  std::set<std::string> names;
  for (std::size_t i = 0; i < profile.kernels.size(); ++i) {
    const KernelEntry& kernel = profile.kernels[i];
    const std::string here = fmt::format("{}/kernels/{}", pointer, i);
    if (!names.insert(kernel.name).second)
      faults.push_back({"", here + "/name", "\"" + kernel.name + "\" a second time", "one entry for each kernel",
                        "remove one of them"});
    check_knots(kernel, here, faults);
  }
  check_models(profile, pointer, faults);
}

}  // namespace stepcast
