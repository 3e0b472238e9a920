// The mapping from the GPUs of a machine to its NICs.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "models/describe/describe.hpp"

namespace stepcast {

enum class NicOfGpu { in_turn, neighbours };

template <>
struct Choices<NicOfGpu> {
  static constexpr std::array table = {
      Choice<NicOfGpu>{"in-turn", NicOfGpu::in_turn, "GPU l of a machine uses NIC l mod nics"},
      Choice<NicOfGpu>{"neighbours", NicOfGpu::neighbours,
                       "GPU l uses NIC floor(l * nics / gpus_per_node): consecutive GPUs share one"},
  };
};

/// NICs of a machine with `gpus` GPUs. Only the first GPUs may be present.
struct Nics {
  int gpus = 1;
  int count = 1;  ///< at most gpus
  NicOfGpu rule = NicOfGpu::in_turn;

  [[nodiscard]] int of(int gpu) const {
    return rule == NicOfGpu::in_turn ? gpu % count : static_cast<int>(std::int64_t{gpu} * count / gpus);
  }

  /// NICs that the first `present` GPUs use. @pre 1 <= present <= gpus
  [[nodiscard]] int in_use(int present) const {
    return rule == NicOfGpu::in_turn ? std::min(count, present) : of(present - 1) + 1;
  }

  /// The j-th of the first `present` GPUs, in an order that takes their NICs in turn. A NIC gets at most one GPU more
  /// than any NIC that still has GPUs left. The order is
  ///
  ///     in-turn     GPU j
  ///     neighbours  the last GPU of each NIC, then the second to last of each, and so on
  ///
  /// The GPU after a NIC's last one is the next NIC's first. In this order, let the first GPUs each send to their next
  /// GPU. Then each message leaves and enters through a different NIC (collective/multi_ring.cpp).
  /// @pre 0 <= j < present <= gpus
  [[nodiscard]] int gpu_in_turn(int j, int present) const;
};

inline int Nics::gpu_in_turn(int j, int present) const {
  if (rule == NicOfGpu::in_turn) return j;
  const auto first = [this](int nic) {
    return static_cast<int>((std::int64_t{nic} * gpus + count - 1) / count);  // the least l with of(l) >= nic
  };
  const int nics = in_use(present);
  for (int turn = 0;; ++turn)
    for (int nic = 0; nic < nics; ++nic)
      if (const int gpu = std::min(first(nic + 1), present) - 1 - turn; gpu >= first(nic) && j-- == 0) return gpu;
}

}  // namespace stepcast
