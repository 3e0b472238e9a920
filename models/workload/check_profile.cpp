#include "models/workload/check_profile.hpp"

#include <set>

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
}

}  // namespace stepcast
