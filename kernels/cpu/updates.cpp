// Updates of n parameters (kernels/code/updates.hpp has the mathematics). They read gradient, weight and state, and
// write weight and state; for bf16 gradients also a copy of the weight. Bytes and operations are counted as in
// models/workload/layer_work.cpp. A NaN or infinity concerns its own parameter only.
#include "kernels/code/updates.hpp"

#include "kernels/cpu/typed.hpp"

namespace stepcast::kernels {
namespace {

constexpr std::int64_t kAdamStep = 10;

/// gradient, weight, state ..., copy; update(call, i) of an element.
template <class T>
Kernel update(const char* role, std::vector<std::int64_t> parameters, std::vector<Buffer> (*states)(std::int64_t),
              int count, void (*each)(const Call&)) {
  const double copy = sizeof(T) == 4 ? 0 : sizeof(T);
  return {role,
          kMethod<T>,
          std::move(parameters),
          [=](std::int64_t n) {
            std::vector<Buffer> all{as(Role::weight_gradient, input<T>("gradient", n)),
                                    {"weight", Element::f32, n, Fill::values, true}};
            for (Buffer& state : states(n)) all.push_back(state);
            if (copy > 0) all.push_back(result<T>("copy", n, 0));
            return all;
          },
          [=](std::int64_t n) { return (sizeof(T) + 8.0 * (1 + count) + copy) * static_cast<double>(n); },
          [=](std::int64_t n) { return (2.0 + 4 * count) * static_cast<double>(n); },
          each};
}

template <class T>
void keep_copy(const Call& c, int at, std::int64_t i) {
  if constexpr (sizeof(T) != 4) c.at<T>(at)[i] = narrowed<T>(c.at<float>(1)[i]);
}

}  // namespace

Kernel sgd_update(Precision precision) {
  return of_precision(precision, []<class T>() {
    return update<T>(
        "sgd-update", {}, [](std::int64_t) { return std::vector<Buffer>{}; }, 0,
        [](const Call& c) {
          for (std::int64_t i = 0; i < c.n; ++i) {
            sgd(widened(c.at<T>(0)[i]), c.at<float>(1)[i]);
            keep_copy<T>(c, 2, i);
          }
        });
  });
}

Kernel sgd_momentum_update(Precision precision) {
  return of_precision(precision, []<class T>() {
    return update<T>(
        "sgd_momentum-update", {},
        [](std::int64_t n) {
          return std::vector<Buffer>{{"momentum", Element::f32, n, Fill::values, true}};
        },
        1,
        [](const Call& c) {
          for (std::int64_t i = 0; i < c.n; ++i) {
            sgd_momentum(widened(c.at<T>(0)[i]), c.at<float>(1)[i], c.at<float>(2)[i]);
            keep_copy<T>(c, 3, i);
          }
        });
  });
}

Kernel adam_update(Precision precision) {
  return of_precision(precision, []<class T>() {
    // The second moment is a mean of squares: never below zero.
    return update<T>(
        "adam-update", {kAdamStep},
        [](std::int64_t n) {
          return std::vector<Buffer>{{"first", Element::f32, n, Fill::values, true},
                                     {"second", Element::f32, n, Fill::scale, true}};
        },
        2,
        [](const Call& c) {
          const AdamBias bias = adam_bias(c.parameters[0]);
          for (std::int64_t i = 0; i < c.n; ++i) {
            adam(widened(c.at<T>(0)[i]), c.at<float>(1)[i], c.at<float>(2)[i], c.at<float>(3)[i], bias);
            keep_copy<T>(c, 4, i);
          }
        });
  });
}

}  // namespace stepcast::kernels
