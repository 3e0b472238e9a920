// Packing of codes into bytes: choices of the methods in the survey's implementation (GRACE).
#pragma once

#include "models/describe/describe.hpp"

namespace stepcast {

enum class Packing { ideal, grace };

template <>
struct Choices<Packing> {
  static constexpr std::array table = {
      Choice<Packing>{
          "ideal", Packing::ideal,
          "codes packed bit by bit; gathered codes are decoded and added by one kernel, lists of elements by one for each message"},
      Choice<Packing>{
          "grace", Packing::grace,
          "like the survey's implementation (a sign costs a byte, its index widths), which decodes each message "
          "densely before adding it"},
  };
};

/// GRACE (sands-lab/grace, commit fd3a7f42) has three versions with different widths.
enum class Framework { tensorflow, torch, dist };

template <>
struct Choices<Framework> {
  static constexpr std::array table = {
      Choice<Framework>{"tensorflow", Framework::tensorflow, "grace_dl/tensorflow: 4-byte indices (the recorded runs)"},
      Choice<Framework>{"torch", Framework::torch, "grace_dl/torch on Horovod: 8-byte indices"},
      Choice<Framework>{"dist", Framework::dist, "grace_dl/dist on torch.distributed: 4-byte indices, QSGD in buckets"},
  };
};

// Fields that many methods share, described once.
template <class V, class X>
void describe_packing(V& v, X& x) {
  v.optional("packing", x.packing, "how codes become bytes");
}
template <class V, class X>
void describe_framework(V& v, X& x) {
  v.optional("framework", x.framework, "packing grace: which of GRACE's three implementations");
}
template <class V, class X>
void describe_feedback(V& v, X& x) {
  v.optional("error_feedback", x.error_feedback, "add the lost part to the next step's gradient");
}
template <class V, class X>
void describe_ratio(V& v, X& x) {
  v.optional("ratio", x.ratio, "share of a tensor's elements that is kept: k = max(1, floor(ratio·d))",
             Limits{0.0, true, 1.0});
}

}  // namespace stepcast
