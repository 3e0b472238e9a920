// As CUB's scans of warps: the storage is read up to the end by all threads, without a barrier after it.
#pragma once

#include "tests/emulator/device_builtins.hpp"

namespace cub {

enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_WARP_SCANS };

template <class T, int kThreads, BlockScanAlgorithm = BLOCK_SCAN_RAKING>
class BlockScan {
 public:
  struct TempStorage {
    T values[kThreads];
  };
  explicit BlockScan(TempStorage& storage) : storage_(storage) {}

  template <class Op>
  void ExclusiveScan(T value, T& before, T initial, Op op) {
    storage_.values[threadIdx.x] = value;
    __syncthreads();
    before = initial;
    for (unsigned i = 0; i < threadIdx.x; ++i) before = op(before, storage_.values[i]);
  }
  void ExclusiveSum(T value, T& before) {
    ExclusiveScan(value, before, T{}, [](T a, T b) { return a + b; });
  }
  void ExclusiveSum(T value, T& before, T& all) {
    ExclusiveSum(value, before);
    all = before;
    for (unsigned i = threadIdx.x; i < kThreads; ++i) all += storage_.values[i];
  }
  template <int kItems>
  void ExclusiveSum(T (&values)[kItems], T (&before)[kItems], T& all) {
    T sum{}, place{};
    for (const T value : values) sum += value;
    ExclusiveSum(sum, place, all);
    for (int i = 0; i < kItems; ++i) {
      const T value = values[i];
      before[i] = place;
      place += value;
    }
  }

 private:
  TempStorage& storage_;
};

}  // namespace cub
