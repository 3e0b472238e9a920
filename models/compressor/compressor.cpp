#include "models/compressor/compressor.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "models/compressor/codec_kernels.hpp"

namespace stepcast {
namespace {

using enum CompressorClass;

constexpr CompressorEntry kCompressors[] = {
    {"none", none, "4d", "4d", ""},
    {"ratio", none, "4d/c", "", ""},
    {"fp16", quantization, "2d", "2d", "GRACE fp16.py"},
    {"8-bit", quantization, "d + 4", "d + 4", "Dettmers 2016, arXiv 1511.04561; GRACE u8bit.py"},
    {"1-bit", quantization, "ceil(d/8) + 8", "d + 8", "Seide et al. 2014, Interspeech; GRACE onebit.py"},
    {"signsgd", quantization, "ceil(d/8)", "d", "Bernstein et al. 2018, arXiv 1802.04434; GRACE signsgd.py"},
    {"signum", quantization, "ceil(d/8)", "d", "Bernstein et al. 2019, arXiv 1810.05291; GRACE signum.py"},
    {"ef-signsgd", quantization, "ceil(d/8) + 4", "d + 4",
     "Karimireddy et al. 2019, arXiv 1901.09847; GRACE efsignsgd.py"},
    {"qsgd", quantization, "ceil(d·ceil(lg(2s+1))/8) + 4·ceil(d/b)",
     "(s < 128 ? 1 : 2)·d + 4·ceil(d/b); b = d but in dist", "Alistarh et al. 2017, arXiv 1610.02132; GRACE qsgd.py"},
    {"terngrad", quantization, "ceil(d/4) + 4", "d + 4", "Wen et al. 2017, arXiv 1705.07878; GRACE terngrad.py"},
    {"natural", quantization, "ceil(9d/8); with 7 exponent bits d", "d",
     "Horváth et al. 2019, arXiv 1905.10988; GRACE natural.py"},
    {"inceptionn", quantization, "4·n32 + 2·n16 + n8 + ceil(d/4)", "4·n32 + 2·n16 + n8 + floor(d/4) + 1",
     "Li et al. 2018, MICRO; GRACE inceptionn.py"},
    {"random-k", sparsification, "4k, k = max(1, floor(ratio·d))", "4k",
     "Stich et al. 2018, arXiv 1809.07599; GRACE randomk.py"},
    {"top-k", sparsification, "8k, k = max(1, floor(ratio·d))", "8k; torch 12k",
     "Aji and Heafield 2017, arXiv 1704.05021; GRACE topk.py"},
    {"threshold", sparsification, "8·nnz, nnz = density·d", "8·nnz; torch 12·nnz",
     "Dutta et al. 2020, arXiv 1911.08250; GRACE threshold.py"},
    {"dgc", sparsification, "8·nnz, nnz = selected·k", "8·nnz; torch and dist 12·nnz",
     "Lin et al. 2018, arXiv 1712.01887; GRACE dgc.py"},
    {"wangni", sparsification, "8·nnz, nnz = density·d", "", "Wangni et al. 2018, arXiv 1710.09854"},
    {"adaptive", hybrid, "4·(3 + nnz), nnz = selected·ratio·d", "4·(3 + nnz)",
     "Dryden et al. 2016, MLHPC; GRACE adaq.py"},
    {"sketchml", hybrid, "ceil(d·ceil(lg q)/8) + 4q", "(q < 256 ? 1 : 2)·d + 4q",
     "Jiang et al. 2018, SIGMOD; GRACE sketch.py"},
    {"3lc", hybrid, "ceil(ceil(d/5)/gain) + 4", "", "Lim et al. 2019, arXiv 1802.07389"},
    {"qsparse-local-sgd", hybrid, "4k + ceil(k·ceil(lg(2s+1))/8) + 4, one step in H", "",
     "Basu et al. 2019, arXiv 1906.02367"},
    {"powersgd", low_rank, "4rn, then 4rm, r = min(rank, n, m); 1-D: 4d", "4rn, then 4rm; 1-D: 4d",
     "Vogels et al. 2019, arXiv 1905.13727; GRACE powersgd.py"},
    {"atomo", low_rank, "4s(n + m + 1), s = min(rank, n, m); 1-D: 4d", "", "Wang et al. 2018, arXiv 1806.04090"},
    {"gradiveq", low_rank, "4·dimension·ceil(d/slice), if less than 4d", "", "Yu et al. 2018, arXiv 1811.03617"},
    {"formula", none, "the sum of its messages", "", ""},
};
static_assert(std::size(kCompressors) == std::variant_size_v<Compressor>, "one line for every compressor");

/// Checks each field of a described part against the limits in its description.
struct LimitChecker {
  std::vector<CompressorFault>& faults;

  template <class T>
  void required(const char* name, T& value, const char*, Limits limits = {}) {
    if constexpr (IsOptional<T>::value) {
      if (value) required(name, *value, "", limits);
    } else if constexpr (IsQuantity<T>::value) {
      number(name, value.si(), limits);
    } else if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
      number(name, static_cast<double>(value), limits);
    }
  }
  template <class T>
  void optional(const char* name, T& value, const char* meaning, Limits limits = {}) {
    required(name, value, meaning, limits);
  }
  void number(const char* name, double value, const Limits& limits) {
    if (!admits(limits, value)) faults.push_back({name, fmt::format("{}", value), "a number " + to_string(limits)});
  }
};

/// Checks the rules between fields, and between fields and tensors.
struct RuleChecker {
  std::span<const Tensor> tensors;
  int workers;
  std::vector<CompressorFault>& faults;

  void operator()(const auto&) const {}
  void operator()(const Qsgd& x) const {
    if (x.bucket && x.packing == Packing::grace && x.framework != Framework::dist)
      faults.push_back(
          {"bucket", fmt::format("{} with packing grace and framework {}", *x.bucket, stepcast::name_of(x.framework)),
           "null, since there is one norm per tensor there; or framework dist, or packing ideal"});
  }
  void operator()(const Threshold& x) const {
    if (x.threshold && *x.threshold != Threshold::kRecordedAt && x.density == Threshold::kRecordedDensity)
      faults.push_back({"density", fmt::format("{}, recorded at a threshold of {}", x.density, Threshold::kRecordedAt),
                        fmt::format("the density at {}, found or assumed", *x.threshold)});
  }
  void operator()(const Natural& x) const {
    if (x.exponent_bits == 8 && x.packing == Packing::grace)
      faults.push_back({"exponent_bits", "8 with packing grace", "null or 7, which GRACE sends; or packing ideal"});
  }
  void operator()(const Inceptionn& x) const {
    if (const double sum = x.share_32 + x.share_16 + x.share_8; sum > 1)
      faults.push_back({"share_8", fmt::format("{}, so that shares add up to {}", x.share_8, sum),
                        "shares that add up to at most 1"});
  }
  void operator()(const GradiVeq& x) const {
    if (x.dimension >= x.slice)
      faults.push_back({"dimension", fmt::format("{}", x.dimension), fmt::format("less than slice ({})", x.slice)});
  }
  void operator()(const PowerSgd& x) const { rank(x.rank); }
  void operator()(const Atomo& x) const { rank(x.rank); }
  void operator()(const FormulaCompressor& x) const {
    std::vector<CompressorFault> found = check_method(x);
    for (const Tensor& tensor : tensors)
      if (found.empty() && tensor.elements() > 0) found = check_formulas(x, tensor, workers);
    faults.insert(faults.end(), found.begin(), found.end());
  }

  void rank(int rank) const {
    std::int64_t largest = 0;
    for (const Tensor& tensor : tensors)
      if (tensor.is_matrix() && tensor.elements() > 0)
        largest = std::max(largest, std::min(tensor.rows(), tensor.columns()));
    if (largest > 0 && rank > largest)
      faults.push_back(
          {"rank", fmt::format("{}", rank), fmt::format("at most {}, the largest min(n, m) of all matrices", largest)});
  }
};

/// Adds a tensor's plan to a group's, stage by stage. Messages with one stage and primitive become one message.
void merge(CodecPlan& group, const CodecPlan& plan) {
  append(group.prepare, plan.prepare);
  append(group.compensate, plan.compensate);
  append(group.remember, plan.remember);
  group.kept = std::max(group.kept, plan.kept);
  append(group.decode.first, plan.decode.first);
  append(group.decode.further, plan.decode.further);
  append(group.decode.together, plan.decode.together);
  append(group.decode.finish, plan.decode.finish);
  if (group.assumed.empty()) group.assumed = plan.assumed;
  if (group.stages.size() < plan.stages.size()) group.stages.resize(plan.stages.size());
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    append(group.stages[s].encode, plan.stages[s].encode);
    for (const Payload& message : plan.stages[s].messages) {
      auto& messages = group.stages[s].messages;
      const auto same = std::find_if(messages.begin(), messages.end(), [&](const Payload& m) {
        return m.what == message.what && m.primitive == message.primitive;
      });
      if (same == messages.end()) {
        messages.push_back(message);
      } else {
        same->bytes += message.bytes;
        same->size_exchange += message.size_exchange;
        same->narrower += message.narrower;
        same->sum += message.sum;
      }
    }
  }
}

CompressorTraits traits_of_formulas(const MethodFormulas& method) {
  // A slice of a matrix is no matrix.
  const auto is_summed = [](const FormulaMessage& message) { return message.carried == Carried::summed; };
  const bool gathers =
      method.stages.size() == 1 && method.view == TensorView::flat &&
      std::none_of(method.stages.front().messages.begin(), method.stages.front().messages.end(), is_summed);
  const auto goes_back = [](const FormulaMessage& message) {
    return message.carried == Carried::summed || message.sum != Formula("0");
  };
  const bool answers = std::all_of(method.stages.begin(), method.stages.end(), [&](const FormulaStage& stage) {
    return std::all_of(stage.messages.begin(), stage.messages.end(), goes_back);
  });
  return {all_carried(method, Carried::summed), method.recodable, gathers, method.stages.size(), false, answers};
}

/// The formulas of a method that is described by some; null for built-in methods.
const MethodFormulas* formulas_of(const Compressor& compressor) {
  const auto* own = std::get_if<FormulaCompressor>(&compressor);
  return own ? &own->formulas() : nullptr;
}

}  // namespace

std::span<const CompressorEntry> compressors() { return kCompressors; }

const CompressorEntry& find_compressor(std::string_view kind) {
  for (const CompressorEntry& entry : kCompressors)
    if (entry.kind == kind) return entry;
  throw std::invalid_argument(fmt::format("no compressor \"{}\"", kind));
}

std::string_view name_of(const Compressor& compressor) {
  const MethodFormulas* method = formulas_of(compressor);
  return method ? std::string_view(method->name) : compressors()[compressor.index()].kind;
}

CompressorClass class_of(const Compressor& compressor) {
  const MethodFormulas* method = formulas_of(compressor);
  return method ? method->of : compressors()[compressor.index()].of;
}

bool compresses_tensors(const Compressor& compressor) {
  return !std::holds_alternative<NoCompressor>(compressor) && !std::holds_alternative<RatioCompressor>(compressor);
}

bool works_on_matrices(const Compressor& compressor) {
  const MethodFormulas* method = formulas_of(compressor);
  return method ? method->view == TensorView::matrix
                : std::holds_alternative<PowerSgd>(compressor) || std::holds_alternative<Atomo>(compressor);
}

double rank_of(const Compressor& compressor, const Tensor& tensor) {
  const auto rank = std::visit(
      []<class X>(const X& x) {
        if constexpr (requires { x.rank; }) return x.rank;
        else return 1;
      },
      compressor);
  if (!tensor.is_matrix()) return 1;
  return static_cast<double>(std::min<std::int64_t>({rank, tensor.rows(), tensor.columns()}));
}

CodecPlan make_plan(const Compressor& compressor, const Tensor& tensor, int workers) {
  return std::visit(
      [&]<class X>(const X& x) {
        if constexpr (std::is_same_v<X, FormulaCompressor>) return plan(x, tensor, workers);
        else return plan(x, tensor);
      },
      compressor);
}

CodecPlan make_plan(const Compressor& compressor, std::span<const Tensor> group, int workers) {
  if (group.size() == 1) return make_plan(compressor, group.front(), workers);
  if (works_on_matrices(compressor)) {
    CodecPlan fused;
    for (const Tensor& tensor : group) merge(fused, make_plan(compressor, tensor, workers));
    return fused;
  }
  return make_plan(compressor, flattened(group), workers);
}

Compressor of_any_rate(Compressor compressor) {
  std::visit(
      [](auto& x) {
        if constexpr (requires { x.min_rate; }) x.min_rate = 0;
      },
      compressor);
  return compressor;
}

CompressorTraits traits_of(const Compressor& compressor, Dtype dtype) {
  // A formula need not hold for a tensor that is made up.
  if (const auto* own = std::get_if<FormulaCompressor>(&compressor)) return traits_of_formulas(own->formulas());
  const CodecPlan plan = make_plan(of_any_rate(compressor), Tensor{{64, 64}, dtype});
  const std::vector<Payload>& messages = plan.stages.front().messages;
  // A slice of a matrix is no matrix.
  const bool gathers = plan.stages.size() == 1 && !works_on_matrices(compressor) &&
                       std::none_of(messages.begin(), messages.end(),
                                    [](const Payload& one) { return one.primitive == Primitive::all_reduce; });
  return {plan.summable(), plan.recodable, gathers, plan.stages.size(), plan.votes, plan.summable()};
}

bool is_cut_in_parts(const Compressor& compressor, const CompressorTraits& traits) {
  return traits.one_gathered_message || (traits.summable && traits.stages == 1 && !works_on_matrices(compressor));
}

std::vector<CodecKernel> hop_kernels(const CodecPlan& plan, const Tensor& slice) {
  if (!plan.recodable) throw std::invalid_argument("a method whose sums cannot be encoded again inside a collective");
  std::vector<CodecKernel> kernels = plan.decode.further;
  if (kernels.empty()) {  // even summable codes become dense here
    kernels = plan.decode.first;
    kernels.push_back(sweep("add", 2.0 * slice.dense(), slice.dense(), slice, 1));
  }
  append(kernels, plan.stages.front().encode);
  return kernels;
}

std::string to_string(const CompressorFault& fault) {
  return fmt::format("{} is {}, allowed is {}", fault.field.empty() ? "a tensor" : fault.field, fault.found,
                     fault.allowed);
}

std::vector<CompressorFault> check(const Compressor& compressor, std::span<const Tensor> tensors, int workers) {
  std::vector<CompressorFault> faults;
  std::visit(
      [&]<class X>(X x) {
        LimitChecker limits{faults};
        X::describe(limits, x);
      },
      compressor);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto& shape = tensors[i].shape;
    if (shape.empty() || std::any_of(shape.begin(), shape.end(), [](std::int64_t n) { return n < 1; }))
      faults.push_back({"", fmt::format("tensor {} of shape [{}]", i, fmt::join(shape, ", ")),
                        "one or more dimensions, each of at least 1"});
  }
  std::visit(RuleChecker{tensors, workers, faults}, compressor);
  return faults;
}

}  // namespace stepcast
