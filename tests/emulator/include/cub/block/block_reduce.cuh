// Like CUB's warp reductions: thread 0 reads the storage up to the end, without a barrier after it. The others' results
// are undefined.
#pragma once

#include "tests/emulator/device_builtins.hpp"

namespace cub {

template <class T, int kThreads>
class BlockReduce {
 public:
  struct TempStorage {
    T values[kThreads];
  };
  explicit BlockReduce(TempStorage& storage) : storage_(storage) {}

  template <class Op>
  T Reduce(T value, Op op) {
    storage_.values[threadIdx.x] = value;
    __syncthreads();
    T all;
    stepcast::emulator::fill_unwritten(&all, sizeof all);
    if (threadIdx.x != 0) return all;
    all = storage_.values[0];
    for (int i = 1; i < kThreads; ++i) all = op(all, storage_.values[i]);
    return all;
  }
  T Sum(T value) {
    return Reduce(value, [](T a, T b) { return a + b; });
  }

 private:
  TempStorage& storage_;
};

}  // namespace cub
