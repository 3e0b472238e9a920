#include "calibrate/import/kernel_fit.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <map>
#include <numbers>
#include <optional>
#include <random>

#include <Eigen/Dense>
#include <fmt/format.h>
#include <unsupported/Eigen/NonLinearOptimization>
#include <unsupported/Eigen/NumericalDiff>

#include "calibrate/import/shape_factors.hpp"
#include "calibrate/statistics.hpp"

namespace stepcast::calibrate {
namespace {

constexpr double kLinearBeyond = 0.1;  ///< deviations of the logarithm
constexpr int kMostEvaluations = 400;
constexpr std::size_t kMostSamples = 3000;   ///< for the constants; the factors by shape take all
constexpr std::size_t kSamplesEach = 4;      ///< for each constant; the rest stay at their start
constexpr std::size_t kNormSamplesEach = 2;  ///< of a norm: few, many, short and wide rows tell its constants apart
constexpr double kTelling = 1.25;            ///< times as long at half the rate
constexpr double kNotable = 1.1;             ///< slowdown
constexpr double kFittedShare = 0.7;
constexpr int kFolds = 5;

/// One constant of a model: where it may lie, where the search begins, and how it is set.
struct Constant {
  double least, most, start;
  std::function<void(KernelModel&, double)> set;
};

/// The constants of a kind, those first that matter most.
std::vector<Constant> constants_of(KernelKind kind) {
  const bool tiles = kind == KernelKind::product || kind == KernelKind::convolution;
  const bool computes = kind == KernelKind::product || kind == KernelKind::convolution ||
                        kind == KernelKind::attention || kind == KernelKind::recurrent;
  // A norm that reads once what is counted twice reaches 1.5.
  std::vector<Constant> all = {
      {1e-8, 3e-4, 4e-6, [](KernelModel& model, double value) { model.launch = Seconds(value); }},
      {tiles ? 0.3 : 0.02, computes ? 1 : 1.6, 0.8,
       [](KernelModel& model, double value) { model.memory_share = value; }}};
  if (kind == KernelKind::batch_norm || kind == KernelKind::norm)
    all.push_back({0.01, 5000, 100, [](KernelModel& model, double value) { model.half_m = value; }});
  if (kind == KernelKind::norm) {
    all.push_back({0.01, 5000, 100, [](KernelModel& model, double value) { model.half_k = value; }});
    all.push_back({1, 1e5, 4000, [](KernelModel& model, double value) { model.cached_k = value; }});
  }
  // A thread compares or adds each element of its window: far fewer operations than the peak of products.
  if (kind == KernelKind::pool) {
    all.push_back({1e-6, 1.2, 0.002, [](KernelModel& model, double value) { model.share = value; }});
    all.push_back({1, 16, 3, [](KernelModel& model, double value) { model.bend = value; }});
  }
  if (!computes) return all;
  // Winograd's algorithm may save more than the profile's gain says.
  all.insert(all.begin(), {0.02, 1.2, 0.8, [](KernelModel& model, double value) { model.share = value; }});
  all.push_back({1, 16, 3, [](KernelModel& model, double value) { model.bend = value; }});
  if (kind == KernelKind::attention) {
    all.insert(all.begin() + 1, {0.01, 5000, 50, [](KernelModel& model, double value) { model.half_m = value; }});
    all.push_back({0.01, 500, 10, [](KernelModel& model, double value) { model.half_k = value; }});
  } else if (kind != KernelKind::recurrent) {
    all.push_back({0.5, 200, 20, [](KernelModel& model, double value) { model.tiling->half_tile = value; }});
    all.push_back({1e-9, 2e-5, 1e-6, [](KernelModel& model, double value) { model.tiling->wave = Seconds(value); }});
    all.push_back({0.01, 1, 0.3, [](KernelModel& model, double value) { model.tiling->tail = value; }});
    all.push_back({1e-7, 5e-5, 2e-6, [](KernelModel& model, double value) { model.tiling->split = Seconds(value); }});
  }
  return all;
}

using Samples = std::vector<const KernelSample*>;
/// A fit to samples of a table of so many. The table's size sets the number of constants, so that folds have those of
/// the model that they judge.
using Fit = std::function<KernelModel(const Samples&, std::size_t)>;

/// Residuals over unbounded angles: a constant is at its least for 0 and at its most for π, by (1 - cos)/2 of its
/// logarithm's range.
struct OverAngles {
  using Scalar = double;
  using InputType = Eigen::VectorXd;
  using ValueType = Eigen::VectorXd;
  using JacobianType = Eigen::MatrixXd;
  enum { InputsAtCompileTime = Eigen::Dynamic, ValuesAtCompileTime = Eigen::Dynamic };

  const std::vector<Constant>* constants;
  const Samples* samples;
  const DevicePeaks* device;
  KernelModel start;

  [[nodiscard]] int inputs() const { return static_cast<int>(constants->size()); }
  [[nodiscard]] int values() const { return static_cast<int>(samples->size()); }

  [[nodiscard]] KernelModel model_at(const Eigen::VectorXd& angles) const {
    KernelModel model = start;
    for (std::size_t i = 0; i < constants->size(); ++i) {
      const Constant& one = (*constants)[i];
      const double along = (1 - std::cos(angles(static_cast<Eigen::Index>(i)))) / 2;
      one.set(model, one.least * std::pow(one.most / one.least, along));
    }
    return model;
  }

  int operator()(const Eigen::VectorXd& angles, Eigen::VectorXd& residuals) const {
    const KernelModel model = model_at(angles);
    for (std::size_t i = 0; i < samples->size(); ++i) {
      const KernelSample& sample = *(*samples)[i];
      const double deviation = std::log(kernel_time(model, sample.kernel, *device) / sample.time);
      const double scaled = deviation / kLinearBeyond;
      residuals(static_cast<Eigen::Index>(i)) =
          std::copysign(kLinearBeyond * std::sqrt(2 * (std::sqrt(1 + scaled * scaled) - 1)), deviation);
    }
    return 0;
  }
};

double rounded(double value) { return std::strtod(fmt::format("{:.3e}", value).c_str(), nullptr); }

KernelModel rounded(KernelModel model) {
  const auto share = [](double& value) { value = rounded(value); };
  const auto time = [](Seconds& value) { value = Seconds(rounded(value.si())); };
  time(model.launch);
  for (double* one : {&model.share, &model.memory_share, &model.bend}) share(*one);
  if (model.half_m) share(*model.half_m);
  if (model.half_k) share(*model.half_k);
  if (model.cached_k) share(*model.cached_k);
  if (model.tiling) {
    share(model.tiling->half_tile);
    share(model.tiling->tail);
    time(model.tiling->wave);
    time(model.tiling->split);
  }
  for (Misaligned& one : model.misaligned) share(one.slowdown);
  return model;
}

/// The first constants of a kind, as many as so many samples determine.
std::size_t fitted_constants(KernelKind kind, std::size_t samples) {
  const std::size_t each = kind == KernelKind::norm ? kNormSamplesEach : kSamplesEach;
  return std::min(constants_of(kind).size(), std::max<std::size_t>(2, samples / each));
}

/// `begin` with these constants as they fit the samples best.
KernelModel search_constants(const KernelModel& begin, const std::vector<Constant>& constants, const Samples& samples,
                             const DevicePeaks& device) {
  Samples some;  // evenly spread over the samples
  for (std::size_t i = 0; i < std::min(samples.size(), kMostSamples); ++i)
    some.push_back(samples[i * samples.size() / std::min(samples.size(), kMostSamples)]);
  const OverAngles residuals{&constants, &some, &device, begin};
  Eigen::NumericalDiff<OverAngles> with_slopes(residuals, 1e-6);
  Eigen::LevenbergMarquardt<Eigen::NumericalDiff<OverAngles>> search(with_slopes);
  search.parameters.maxfev = Eigen::Index{kMostEvaluations} * residuals.inputs();
  Eigen::VectorXd angles(residuals.inputs());
  for (std::size_t i = 0; i < constants.size(); ++i) {
    const Constant& one = constants[i];
    const double along = std::log(one.start / one.least) / std::log(one.most / one.least);
    angles(static_cast<Eigen::Index>(i)) = std::acos(1 - 2 * along);
  }
  search.minimize(angles);
  return rounded(residuals.model_at(angles));
}

KernelModel fit_constants(const KernelModel& start, const Samples& samples, std::size_t table,
                          const DevicePeaks& device) {
  KernelModel begin = start;
  std::vector<Constant> constants = constants_of(start.kind);
  for (const Constant& one : constants) one.set(begin, one.start);
  constants.resize(std::min(fitted_constants(start.kind, table), samples.size()));
  return search_constants(begin, constants, samples, device);
}

/// Whether a misaligned product at half the rate would take notably longer: it is bound by arithmetic.
bool tells_slowdown(const KernelModel& model, const KernelSample& sample, const DevicePeaks& device) {
  KernelModel slow = model;
  slow.misaligned = {{row_alignment(*sample.kernel.shape, model.dtype), 2}};
  return kernel_time(slow, sample.kernel, device) > kTelling * kernel_time(model, sample.kernel, device);
}

/// A model of aligned products with the slowdowns of others. An alignment has none if few samples tell it.
KernelModel with_slowdowns(KernelModel model, const Samples& misaligned, const DevicePeaks& device) {
  std::map<Bytes, Samples> telling;
  for (const KernelSample* sample : misaligned)
    if (tells_slowdown(model, *sample, device))
      telling[row_alignment(*sample->kernel.shape, model.dtype)].push_back(sample);
  std::vector<Constant> constants;
  Samples used;
  for (const auto& [alignment, samples] : telling) {
    if (samples.size() < kSamplesEach) continue;
    used.insert(used.end(), samples.begin(), samples.end());
    model.misaligned.push_back({alignment, 1});
    constants.push_back({1, 30, 2, [i = constants.size()](KernelModel& fitted, double value) {
                           fitted.misaligned[i].slowdown = value;
                         }});
  }
  return constants.empty() ? model : search_constants(model, constants, used, device);
}

std::optional<ShapeFactors> factors_for(const KernelModel& model, const Samples& samples, const DevicePeaks& device) {
  std::vector<ShapeRatio> ratios;
  for (const KernelSample* sample : samples) {
    const Seconds launches = model.launch * sample->kernel.work.kernels;
    // The launch has no factor.
    const double ratio = (sample->time - launches) / (kernel_time(model, sample->kernel, device) - launches);
    if (sample->kernel.shape && ratio > 0.01 && ratio < 100) ratios.push_back({*sample->kernel.shape, ratio});
  }
  return fit_shape_factors(ratios);
}

KernelModel fit_all(const KernelModel& start, const Samples& samples, std::size_t table, const DevicePeaks& device) {
  KernelModel model = fit_constants(start, samples, table, device);
  if (model.tiling) model.factors = factors_for(model, samples, device);
  return model;
}

/// Ratios of modelled to measured times, beside the measured ones.
using Judged = std::vector<std::pair<double, Seconds>>;

void judge(const KernelModel& model, const Samples& held_out, const DevicePeaks& device, Judged& judged) {
  for (const KernelSample* sample : held_out)
    if (sample->judges) judged.emplace_back(kernel_time(model, sample->kernel, device) / sample->time, sample->time);
}

FitErrors errors_of(const Judged& judged, Seconds least, std::size_t fitted) {
  std::vector<double> errors;
  for (const auto& [ratio, time] : judged)
    if (time >= least) errors.push_back(std::abs(ratio - 1));
  if (errors.empty()) return {};
  return {rounded(median(errors)), rounded(quantile(errors, 0.9)), rounded(quantile(errors, 1)),
          static_cast<int>(fitted), static_cast<int>(errors.size())};
}

HeldOut summary_of(const Judged& judged, std::size_t fitted) {
  std::vector<double> ratios;
  for (const auto& [ratio, time] : judged) ratios.push_back(ratio);
  return {errors_of(judged, {}, fitted), errors_of(judged, kLong, fitted), rounded(median(ratios) - 1)};
}

/// A number for each family, in random order.
std::map<std::string, std::size_t> numbered(const Samples& samples, std::uint64_t seed) {
  std::map<std::string, std::size_t> numbers;
  for (const KernelSample* sample : samples) numbers.emplace(sample->family, 0);
  std::vector<std::size_t> order(numbers.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::mt19937_64 random(seed);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
  std::size_t next = 0;
  for (auto& [family, number] : numbers) number = order[next++];
  return numbers;
}

/// The samples, those of families with `held` apart.
std::pair<Samples, Samples> parted(const Samples& samples, const std::map<std::string, std::size_t>& numbers,
                                   const std::function<bool(std::size_t)>& held) {
  Samples fitted, held_out;
  for (const KernelSample* sample : samples) (held(numbers.at(sample->family)) ? held_out : fitted).push_back(sample);
  return {std::move(fitted), std::move(held_out)};
}

/// Each of five parts of the families is held out once.
void judge_in_folds(const Samples& samples, const Fit& fit, const DevicePeaks& device, std::uint64_t seed,
                    Judged& judged) {
  const std::map<std::string, std::size_t> numbers = numbered(samples, seed);
  for (int fold = 0; fold < kFolds; ++fold) {
    const auto [fitted, held_out] =
        parted(samples, numbers, [&](std::size_t number) { return static_cast<int>(number % kFolds) == fold; });
    if (!held_out.empty() && !fitted.empty()) judge(fit(fitted, samples.size()), held_out, device, judged);
  }
}

/// A model, how it judges samples that it did not see, and those that it rests on.
struct Fitted {
  KernelModel model;
  Judged judged;
  Samples behind;
  std::size_t for_constants;  ///< samples that the constants may rest on
};

Fitted fit_and_judge(const Samples& samples, const Fit& fit, const DevicePeaks& device, std::uint64_t seed) {
  Fitted result{{}, {}, samples, samples.size()};
  const auto judging = std::count_if(samples.begin(), samples.end(), [](const auto* sample) { return sample->judges; });
  if (static_cast<std::size_t>(judging) < kManySamples) {
    judge_in_folds(samples, fit, device, seed, result.judged);
    result.model = fit(samples, samples.size());
    return result;
  }
  const std::map<std::string, std::size_t> numbers = numbered(samples, seed);
  // At least one family is held out.
  const double fitted_families = std::floor(kFittedShare * static_cast<double>(numbers.size()));
  auto [fitted, held_out] =
      parted(samples, numbers, [&](std::size_t number) { return static_cast<double>(number) >= fitted_families; });
  result.model = fit(fitted, fitted.size());
  judge(result.model, held_out, device, result.judged);
  result.behind = std::move(fitted);
  return result;
}

/// Products of odd sizes have no part in the constants, but give the slowdown of each alignment. Where they tell none, where
/// none is notable, or where few products are aligned, all are fitted alike.
Fitted fit_by_alignment(const Samples& samples, const Fit& fit, const DevicePeaks& device, Dtype dtype,
                        std::uint64_t seed) {
  Samples aligned, misaligned;
  for (const KernelSample* sample : samples)
    (is_aligned(*sample->kernel.shape, dtype) ? aligned : misaligned).push_back(sample);
  if (misaligned.empty() || aligned.size() < kLeastSamples || numbered(aligned, seed).size() < 2)
    return fit_and_judge(samples, fit, device, seed);
  Fitted result = fit_and_judge(aligned, fit, device, seed);
  const Fit slow = [&, even = result.model](const Samples& some, std::size_t) {
    return with_slowdowns(even, some, device);
  };
  result.model = slow(misaligned, misaligned.size());
  std::vector<Misaligned>& told = result.model.misaligned;
  if (std::none_of(told.begin(), told.end(), [](const Misaligned& one) { return one.slowdown >= kNotable; })) {
    for (Misaligned& one : told) one.slowdown = 1;
    Fitted alike = fit_and_judge(samples, fit, device, seed);
    alike.model.misaligned = std::move(told);
    return alike;
  }
  judge_in_folds(misaligned, slow, device, seed, result.judged);
  result.behind.insert(result.behind.end(), misaligned.begin(), misaligned.end());
  return result;
}

void set_ranges(KernelModel& model, const Samples& samples) {
  model.flops = FlopsRange{Flops(std::numeric_limits<double>::infinity()), Flops(0)};
  model.bytes = BytesRange{Bytes(std::numeric_limits<double>::infinity()), Bytes(0)};
  for (const KernelSample* sample : samples) {
    const Flops flops = sample->kernel.work.flops / sample->kernel.work.kernels;
    const Bytes bytes = sample->kernel.work.bytes / sample->kernel.work.kernels;
    model.flops = FlopsRange{std::min(model.flops->min, flops), std::max(model.flops->max, flops)};
    model.bytes = BytesRange{std::min(model.bytes->min, bytes), std::max(model.bytes->max, bytes)};
  }
}

}  // namespace

FittedModel fit_kernel_model(KernelKind kind, Dtype dtype, const std::vector<KernelSample>& samples,
                             const DevicePeaks& device, std::uint64_t seed) {
  KernelModel start;
  start.kind = kind;
  start.dtype = dtype;
  if (kind == KernelKind::product || kind == KernelKind::convolution) start.tiling = Tiling{};
  Samples all;
  for (const KernelSample& sample : samples) all.push_back(&sample);
  const Fit fit = [&](const Samples& some, std::size_t table) { return fit_all(start, some, table, device); };
  const Fitted fitted = kind == KernelKind::product ? fit_by_alignment(all, fit, device, dtype, seed)
                                                    : fit_and_judge(all, fit, device, seed);
  FittedModel result;
  result.model = fitted.model;
  set_ranges(result.model, fitted.behind);
  result.held_out = summary_of(fitted.judged, fitted.behind.size());
  result.model.errors = result.held_out.all;
  result.assumed = static_cast<int>(constants_of(kind).size() - fitted_constants(kind, fitted.for_constants));
  std::vector<double> factors;
  for (const auto& [ratio, time] : fitted.judged) factors.push_back(std::max(ratio, 1 / ratio) - 1);
  result.model.spread = rounded(quantile(factors, 0.9));
  return result;
}

}  // namespace stepcast::calibrate
