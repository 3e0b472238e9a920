#include "models/workload/check_shapes.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "models/unit/format.hpp"
#include "models/workload/check_profile.hpp"
#include "models/workload/factorize.hpp"
#include "models/workload/layer_times.hpp"
#include "models/workload/transformer_layers.hpp"
#include "models/workload/variant.hpp"

namespace stepcast {
namespace {

/// Above this limit, sums of counts are not exact in a double.
constexpr double kMaxCount = 9007199254740992.0;
constexpr Count kMaxExtent = 100000;

std::string text_of(const Extent& extent) {
  std::string text;
  for (const Count n : extent) text += fmt::format("{}{}", text.empty() ? "" : ", ", n);
  return "[" + text + "]";
}

class ShapeChecker {
 public:
  ShapeChecker(const WorkloadTable& table, std::string root, std::vector<Fault>& faults)
      : table_(table), root_(std::move(root)), faults_(faults), before_(faults.size()) {}

  void run() {
    types();
    if (table_.transformer) transformer();
    else check_layers();
    if (faults_.size() > before_) return;  // the later checks add up shapes, so they need valid ones
    totals();
    for (std::size_t i = 0; i < table_.variants.size(); ++i)
      variant(table_.variants[i], fmt::format("{}/variants/{}", root_, i));
    if (table_.variant) variant(*table_.variant, root_ + "/variant");
    if (table_.profile)
      profile(*table_.profile, root_ + "/profile", compute_dtype_of(table_),
              root_ + (table_.compute_dtype && !table_.mixed_by_default ? "/compute_dtype" : "/dtype"));
    if (table_.profile && casts(table_)) wide_peak(*table_.profile);
    if (const auto& measured = table_.measured) {
      const std::string at = root_ + "/measured";
      if (!measured->forward && !measured->backward && !measured->update)
        fault(at, "no time", "at least one of forward, backward and update");
      const bool no_update = measured->update && *measured->update == Seconds{};  // no optimizer
      if (measured->update.has_value() != measured->optimizer.has_value() && !no_update)
        fault(at + (measured->update ? "/optimizer" : "/update"), "nothing",
              measured->update ? "the optimizer that the update is of" : "the time of an update by that optimizer");
      if (table_.transformer)
        fault(at, "times of the whole beside a transformer, whose sizes they would be of", "null",
              "give layers, or set the profile's compute_efficiency, which "
              "`stepcast solve --along /workload/profile/compute_efficiency/value=0.1..1 --for step=...` finds");
      profile(measured->profile, at + "/profile", measured->dtype, at + "/dtype");
      if (table_.autocast && size_of(measured->dtype) < size_of(table_.dtype)) wide_peak(measured->profile);
    }
  }

 private:
  void fault(std::string pointer, std::string found, std::string allowed, std::string remedy = "") {
    faults_.push_back({"", std::move(pointer), std::move(found), std::move(allowed), std::move(remedy)});
  }

  void types() {
    if (table_.compute_dtype && size_of(*table_.compute_dtype) > size_of(table_.dtype))
      fault(root_ + "/compute_dtype",
            fmt::format("{} beside a dtype of {}", name_of(*table_.compute_dtype), name_of(table_.dtype)),
            "a type at most as wide as dtype", "exchange them, or leave compute_dtype out");
    if (table_.update != Seconds{})
      fault(root_ + "/update", "a time beside shapes", "no time: it follows from optimizer and profile",
            remedy_of_total(table_, root_));
  }

  void transformer() {
    check_transformer(*table_.transformer, root_ + "/transformer", faults_);
    if (!table_.layers.empty())
      fault(root_ + "/layers", "layers beside a transformer", "exactly one of layers, gradients and transformer",
            "remove them: they follow from the transformer");
    if (faults_.size() == before_) expanded_ = layers_of(*table_.transformer);
  }

  [[nodiscard]] const std::vector<Layer>& layers() const { return table_.transformer ? expanded_ : table_.layers; }

  void check_layers() {
    std::set<std::string> names;
    for (std::size_t i = 0; i < table_.layers.size(); ++i) {
      const Layer& layer = table_.layers[i];
      const std::string at = fmt::format("{}/layers/{}", root_, i);
      if (!names.insert(layer.name).second)
        fault(at + "/name", fmt::format("\"{}\" a second time", layer.name), "a different name for each layer");
      if (!layer.shape) {
        fault(at, "a layer without shape among layers with shapes", "shapes for all layers, or times for all");
        continue;
      }
      if (layer.forward != Seconds{} || layer.backward != Seconds{})
        fault(at, "times beside a shape", "either times or a shape", "remove the times: they follow from the profile");
      if (!layer.gradients.empty())
        fault(at + "/gradients", "gradients beside a shape", "no list: they follow from the shape", "remove it");
      std::visit([&](const auto& shape) { check(shape, at + "/shape"); }, *layer.shape);
    }
  }

  bool extent(const Extent& extent, Count least, const std::string& pointer) {
    const bool sound = extent.size() == 2 && std::all_of(extent.begin(), extent.end(),
                                                         [&](Count n) { return n >= least && n <= kMaxExtent; });
    if (!sound)
      fault(pointer, text_of(extent), fmt::format("[height, width], two integers from {} to {}", least, kMaxExtent));
    return sound;
  }

  void window(const Extent& input, const Extent& kernel, const Extent& padding, const std::string& at) {
    const bool sound[] = {extent(input, 1, at + "/input"), extent(kernel, 1, at + "/kernel"),
                          extent(padding, 0, at + "/padding")};
    if (!(sound[0] && sound[1] && sound[2])) return;
    for (std::size_t i = 0; i < 2; ++i)
      if (input[i] + 2 * padding[i] < kernel[i]) {
        fault(at + "/kernel", text_of(kernel),
              fmt::format("at most the padded input, {}",
                          text_of({input[0] + 2 * padding[0], input[1] + 2 * padding[1]})));
        return;
      }
  }

  void check(const Conv2d& x, const std::string& at) {
    window(x.input, x.kernel, x.padding, at);
    if (x.in % x.groups != 0 || x.out % x.groups != 0)
      fault(at + "/groups", fmt::format("{} groups of {} input and {} output channels", x.groups, x.in, x.out),
            "a divisor of both");
  }
  void check(const ConvTranspose2d& x, const std::string& at) {
    extent(x.input, 1, at + "/input");
    extent(x.kernel, 1, at + "/kernel");
  }
  void check(const Pool& x, const std::string& at) { window(x.input, x.kernel, x.padding, at); }
  void check(const BatchNorm& x, const std::string& at) { extent(x.input, 1, at + "/input"); }
  void check(const LayerNorm& x, const std::string& at) {
    if (x.composed && x.bias)
      fault(at + "/composed", "a norm with biases", "false: such norms are one kernel",
            "leave composed out, or give \"bias\": false");
  }
  void check(const Activation& x, const std::string& at) {
    if (x.composed && x.function != ActivationFunction::gelu)
      fault(at + "/composed", fmt::format("true for {}", name_of(x.function)), "false: such a function is one kernel",
            "leave composed out");
  }
  void check(const Attention& x, const std::string& at) {
    if (x.d % x.heads != 0)
      fault(at + "/heads", fmt::format("{} heads of width {} together", x.heads, x.d), "a divisor of the width");
    if (x.kv_heads && x.heads % *x.kv_heads != 0)
      fault(at + "/kv_heads", fmt::format("{} heads of keys and values for {} heads", *x.kv_heads, x.heads),
            "a divisor of heads", "null stands for as many");
    if (x.fused && x.causal && x.memory && *x.memory != x.sequence)
      fault(at + "/causal", fmt::format("{} query and {} key positions", x.sequence, *x.memory),
            "as many of both, because half of the scores are left out", "leave memory or causal out");
  }
  void check(const Lstm& x, const std::string& at) {
    if (x.input_rank && *x.input_rank > std::min(x.input, x.hidden))
      fault(at + "/input_rank", fmt::format("{}", *x.input_rank),
            fmt::format("at most {}, the smaller side", std::min(x.input, x.hidden)));
    if (x.hidden_rank && *x.hidden_rank > x.hidden)
      fault(at + "/hidden_rank", fmt::format("{}", *x.hidden_rank), fmt::format("at most {}", x.hidden));
  }
  template <class Other>
  void check(const Other&, const std::string&) {}

  void totals() {
    const std::string place = root_ + (table_.transformer ? "/transformer" : "/layers");
    double elements = 0;
    for (const Layer& layer : layers()) {
      for (const GradientTensor& tensor : gradients_of(layer)) elements += static_cast<double>(tensor.elements);
      if (weight_macs(*layer.shape) <= kMaxCount) continue;
      fault(place, fmt::format("more than 2^53 multiply-accumulates in \"{}\"", layer.name), "fewer");
      if (table_.transformer) return;  // all blocks are equal, so one fault is enough
    }
    if (elements > kMaxCount) fault(place, "more than 2^53 parameters", "fewer");
    else if (elements == 0) fault(place, "no gradient tensor in any layer", "at least one");
    else if (table_.parameters && static_cast<double>(*table_.parameters) != elements)
      fault(root_ + "/parameters", fmt::format("{}, but the layers hold {:.0f}", *table_.parameters, elements),
            "the sum of all gradient tensors' elements",
            table_.transformer ? "correct the claim or the transformer's sizes" : "correct the claim or the layers");
  }

  /// @param field  of the variant, and of a transformer
  /// @param change  changes a layer's shape if it is one of `kinds`, and returns whether it is
  template <class Change>
  void changes_layers(const std::string& at, const char* field, const char* kinds, const Change& change) {
    const std::string place = at + "/" + field, allowed = fmt::format("true for a table with {}", kinds);
    if (table_.transformer)
      return fault(place, "true beside a transformer", allowed, fmt::format("set the transformer's own {}", field));
    bool any = false;
    for (std::size_t i = 0; i < layers().size(); ++i) {
      LayerShape shape = *layers()[i].shape;
      if (!change(shape)) continue;
      any = true;
      std::visit([&](const auto& changed) { check(changed, fmt::format("{}/layers/{}/shape", root_, i)); }, shape);
    }
    if (!any) fault(place, fmt::format("true, and no layer has {}", kinds), allowed, "leave it out");
  }

  void variant(const WorkloadVariant& variant, const std::string& at) {
    if (variant.fused_attention)
      changes_layers(at, "fused_attention", "attention", [](LayerShape& shape) {
        auto* attention = std::get_if<Attention>(&shape);
        if (attention) attention->fused = true;
        return attention != nullptr;
      });
    if (variant.composed) changes_layers(at, "composed", "GELUs, norms without bias or rotary positions", compose);
    if (!variant.factorize) return;
    const Factorize& rule = *variant.factorize;
    if (!rule.from.empty()) known(rule.from, at + "/factorize/from");
    for (std::size_t i = 0; i < rule.keep.size(); ++i) known(rule.keep[i], fmt::format("{}/factorize/keep/{}", at, i));
    for (std::size_t i = 0; i < rule.stride_last.size(); ++i)
      known(rule.stride_last[i], fmt::format("{}/factorize/stride_last/{}", at, i));
  }

  void known(const std::string& prefix, const std::string& pointer) {
    std::vector<std::string> names;
    for (const Layer& layer : layers()) {
      if (covers(prefix, layer.name)) return;
      names.push_back(layer.name);
    }
    const std::string near = nearest(prefix, names);
    fault(pointer, fmt::format("\"{}\"", prefix), "a layer's name, or its beginning up to a dot",
          near.empty() ? "" : fmt::format("did you mean \"{}\"?", near));
  }

  /// Autocast computes norms and sums in the table's dtype.
  void wide_peak(const DeviceProfile& profile) {
    if (find_peak(profile, table_.dtype)) return;
    fault(root_ + "/autocast",
          fmt::format("true, with the device \"{}\", which has no peak for {}", profile.name, name_of(table_.dtype)),
          "a profile with a peak for dtype, in which norms and sums compute", "leave autocast out, or add that peak");
  }

  /// @param at  the profile's JSON pointer
  /// @param dtype  the type that needs a peak; `asked` is the reason
  void profile(const DeviceProfile& profile, const std::string& at, Dtype dtype, const std::string& asked) {
    entries(profile, at);
    ranges(profile, at);
    roofline_spreads(profile, at);
    check_rates(profile, at, faults_);
    std::string types;
    for (const PeakRate& peak : profile.peaks) {
      if (peak.dtype == dtype) return;
      types += fmt::format("{}{}", types.empty() ? "" : ", ", name_of(peak.dtype));
    }
    fault(asked, fmt::format("{} on the device \"{}\"", name_of(dtype), profile.name),
          types.empty() ? "a profile with at least one peak" : types + " (those the profile has a peak for)");
  }

  /// Finds entries with an impossible shape, which never match a layer, and duplicates, of which only one counts.
  void entries(const DeviceProfile& profile, const std::string& root) {
    for (std::size_t i = 0; i < profile.layers.size(); ++i) {
      const LayerEntry& entry = profile.layers[i];
      const std::string at = fmt::format("{}/layers/{}", root, i);
      std::visit([&](const auto& shape) { check(shape, at + "/shape"); }, entry.shape);
      if (!entry.forward && !entry.data_gradient && !entry.weight_gradient)
        fault(at, "an entry without a time", "at least one of forward, data_gradient and weight_gradient");
      if (const LayerEntry* first = find_entry(profile, entry.shape, entry.batch, entry.dtype); first != &entry)
        fault(at, fmt::format("the work, batch and type of layers/{} a second time", first - profile.layers.data()),
              "one entry for each", "remove one of them");
    }
  }

  void ranges(const DeviceProfile& profile, const std::string& root) {
    std::set<Dtype> types;
    for (std::size_t i = 0; i < profile.range.size(); ++i) {
      const FittedRange& range = profile.range[i];
      const std::string at = fmt::format("{}/range/{}", root, i);
      if (!types.insert(range.dtype).second)
        fault(at + "/dtype", fmt::format("{} a second time", name_of(range.dtype)), "one range for each type");
      if (range.flops.min > range.flops.max)
        fault(at + "/flops/min", exact_text(range.flops.min),
              fmt::format("at most max ({})", exact_text(range.flops.max)));
      if (range.bytes.min > range.bytes.max)
        fault(at + "/bytes/min", exact_text(range.bytes.min),
              fmt::format("at most max ({})", exact_text(range.bytes.max)));
    }
  }

  void roofline_spreads(const DeviceProfile& profile, const std::string& root) {
    std::set<Dtype> types;
    for (std::size_t i = 0; i < profile.roofline_spread.size(); ++i)
      if (const Dtype dtype = profile.roofline_spread[i].dtype; !types.insert(dtype).second)
        fault(fmt::format("{}/roofline_spread/{}/dtype", root, i), fmt::format("{} a second time", name_of(dtype)),
              "one spread for each type");
  }

  const WorkloadTable& table_;
  const std::string root_;
  std::vector<Fault>& faults_;
  std::size_t before_;
  std::vector<Layer> expanded_;  ///< the transformer's layers
};

}  // namespace

std::string remedy_of_total(const WorkloadTable& table, const std::string& root) {
  if (table.transformer) return "remove it";
  return "write it in " + root + "/measured, with the batch, dtype and profile that it is for, or remove it";
}

void check_shapes(const WorkloadTable& table, const std::string& root, std::vector<Fault>& faults) {
  ShapeChecker(table, root, faults).run();
}

}  // namespace stepcast
