// Tests of the emulator itself: it computes the same as a device, and it reports errors.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include <cooperative_groups.h>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cublas_v2.h>

#include "tests/emulator/fiber_sanitizer.hpp"
#include "tests/emulator/runtime.hpp"
#include "tests/support/catch.hpp"

using namespace stepcast::emulator;

namespace {

constexpr int kThreads = 256;
constexpr std::array kOrders = {Order::first_to_last, Order::last_to_first, Order::shuffled};

/// Numbers on the device.
template <class T>
class Numbers {
 public:
  explicit Numbers(std::size_t count) : count_(count) {
    REQUIRE(cudaMalloc(reinterpret_cast<void**>(&data_), count * sizeof(T)) == cudaSuccess);
  }
  ~Numbers() { cudaFree(data_); }
  Numbers(const Numbers&) = delete;
  Numbers& operator=(const Numbers&) = delete;
  operator T*() const { return data_; }
  [[nodiscard]] std::vector<T> read() const {
    std::vector<T> host(count_);
    REQUIRE(cudaMemcpy(host.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost) == cudaSuccess);
    return host;
  }

 private:
  std::size_t count_;
  T* data_ = nullptr;
};

/// The error of the last launch; empty if there is none.
std::string told() {
  return cudaPeekAtLastError() == cudaSuccess ? std::string() : (cudaGetLastError(), cudaGetErrorString(cudaSuccess));
}

/// The error output of a launch in a process of its own.
template <class Launch>
std::string told_by_process(const Launch& launch) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    watch_faults();  // instead of Catch2
    launch();
    std::fputs(told().c_str(), stderr);
    _exit(1);
  }
  close(ends[1]);
  std::string text;
  char part[256];
  for (ssize_t size = 0; (size = read(ends[0], part, sizeof part)) > 0;)
    text.append(part, static_cast<std::size_t>(size));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(status != 0);
  return text;
}

__global__ void exchange(int* sums, int* ups, int* downs, int* seconds, unsigned* ballots) {
  const int i = static_cast<int>(threadIdx.x);
  int sum = i % 32;
  for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(0xffffffffU, sum, lanes);
  sums[i] = sum;
  ups[i] = __shfl_up_sync(0xffffffffU, i, 2);
  downs[i] = __shfl_down_sync(0xffffffffU, i, 2);
  seconds[i] = __shfl_sync(0xffffffffU, i, 1);
  ballots[i] = __ballot_sync(0xffffffffU, i % 3 == 0);
}

/// Each half of a warp by itself.
__global__ void exchange_halves(int* first) {
  const int i = static_cast<int>(threadIdx.x);
  if (i < 16) first[i] = __shfl_sync(0x0000ffffU, 100 + i, 3);
  else first[i] = __shfl_sync(0xffff0000U, 100 + i, 20);
}

/// Each thread takes what its right neighbour wrote.
template <bool kBarrier>
__global__ void take_from_neighbour(int* taken) {
  __shared__ int numbers[kThreads];
  const unsigned i = threadIdx.x;
  numbers[i] = static_cast<int>(i);
  if (kBarrier) __syncthreads();
  taken[i] = numbers[(i + 1) % kThreads];
}

__global__ void diverge(int* out) {
  if (threadIdx.x < 100) __syncthreads();
  out[threadIdx.x] = 1;
}
__global__ void part_ways(int* out) {
  if (threadIdx.x < 100) __syncthreads();
  else __syncthreads();
  out[threadIdx.x] = 1;
}
__global__ void leave_early(int* out) {
  if (threadIdx.x == 37) return;
  out[threadIdx.x] = __shfl_xor_sync(0xffffffffU, 1, 1);
}

__global__ void number(int* out, int count, int shift) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) out[i + shift] = i;
}

__global__ void overrun(int* out) {
  __shared__ int numbers[40];
  int* number = numbers + threadIdx.x;  // UndefinedBehaviorSanitizer does not know its bounds
  *number = static_cast<int>(threadIdx.x);
  out[threadIdx.x] = *number;
}

__global__ void read_uninitialized(unsigned* out, const unsigned* scratch) {
  __shared__ unsigned number;
  out[0] = number;
  out[1] = scratch[0];
  number = 0;
}

/// Each block adds up what all of them wrote before.
__global__ void add_up_blocks(int* parts, int* sums) {
  __shared__ int mine;
  if (threadIdx.x == 0) mine = parts[blockIdx.x] = 1 << blockIdx.x;
  cooperative_groups::this_grid().sync();
  int sum = 0;
  for (unsigned i = 0; i < gridDim.x; ++i) sum += parts[i];
  sums[blockIdx.x * blockDim.x + threadIdx.x] = 1000 * mine + sum;
}

__global__ void scan_and_reduce(int* before, int* all, int* largest) {
  __shared__ typename cub::BlockScan<int, kThreads>::TempStorage scan;
  __shared__ typename cub::BlockReduce<int, kThreads>::TempStorage reduce;
  const int i = static_cast<int>(threadIdx.x);
  cub::BlockScan<int, kThreads>(scan).ExclusiveSum(i, before[i], all[i]);
  const int most =
      cub::BlockReduce<int, kThreads>(reduce).Reduce(i * 37 % 101, [](int a, int b) { return a > b ? a : b; });
  if (i == 0) *largest = most;
}

__global__ void keep_index(uint3* threads, uint3* blocks) {
  const unsigned i = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z),
                 block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  threads[block * blockDim.x * blockDim.y * blockDim.z + i] = threadIdx;
  blocks[block] = blockIdx;
}

}  // namespace

TEST_CASE("lanes exchange values and votes") {
  for (const Order order : kOrders) {
    set_order(order);
    const Numbers<int> sums(64), ups(64), downs(64), seconds(64);
    const Numbers<unsigned> ballots(64);
    exchange<<<1, 64, 0, nullptr>>>(sums, ups, downs, seconds, ballots);
    CHECK(told().empty());
    for (std::size_t i = 0; i < 64; ++i) {
      const int thread = static_cast<int>(i), lane = thread % 32;
      CHECK(sums.read()[i] == 31 * 32 / 2);
      CHECK(ups.read()[i] == (lane < 2 ? thread : thread - 2));
      CHECK(downs.read()[i] == (lane > 29 ? thread : thread + 2));
      CHECK(seconds.read()[i] == thread - lane + 1);
      // Multiples of 3 below 32 are lanes 0, 3, ..., 30; from 32 on 33 is lane 1, so lanes 1, 4, ..., 31.
      CHECK(ballots.read()[i] == (i < 32 ? 0x49249249U : 0x92492492U));
    }
    const Numbers<int> first(32);
    exchange_halves<<<1, 32>>>(first);
    CHECK(told().empty());
    for (std::size_t i = 0; i < 32; ++i) CHECK(first.read()[i] == (i < 16 ? 103 : 120));
  }
  set_order(Order::first_to_last);
}

TEST_CASE("a missing barrier changes the result in some order") {
  int right_without = 0;
  for (const Order order : kOrders) {
    set_order(order);
    std::vector<int> neighbours(kThreads);
    for (int i = 0; i < kThreads; ++i) neighbours[i] = (i + 1) % kThreads;
    const Numbers<int> with(kThreads), without(kThreads);
    take_from_neighbour<true><<<1, kThreads>>>(with);
    take_from_neighbour<false><<<1, kThreads>>>(without);
    CHECK(told().empty());
    CHECK(with.read() == neighbours);
    right_without += without.read() == neighbours ? 1 : 0;
  }
  // From the last thread on each neighbour has written before, but that of the last thread, which is the first one.
  CHECK(right_without == 0);
  set_order(Order::first_to_last);
}

TEST_CASE("a thread that waits for ever is reported, with the place") {
  const Numbers<int> out(kThreads);
  diverge<<<1, kThreads>>>(out);
  std::string wrong = told();
  CHECK_THAT(wrong, ContainsSubstring("diverge of ") && ContainsSubstring("emulator_test.cu:"));
  CHECK_THAT(wrong, ContainsSubstring("thread (0, 0, 0) waits for its block at ") &&
                        ContainsSubstring("thread (100, 0, 0) has ended"));
  part_ways<<<1, kThreads>>>(out);
  CHECK_THAT(told(), ContainsSubstring("barriers that differ"));
  leave_early<<<1, kThreads>>>(out);
  CHECK_THAT(told(), ContainsSubstring("thread (32, 0, 0) waits for lanes of its warp at ") &&
                         ContainsSubstring("thread (37, 0, 0) has ended"));
  leave_early<<<1, 33>>>(out);
  CHECK_THAT(told(), ContainsSubstring("lane 1 does not exist"));
  add_up_blocks<<<2, 32>>>(out, out);
  CHECK_THAT(told(), ContainsSubstring("not cooperative"));
  // And the next launch is as if nothing had been.
  take_from_neighbour<true><<<1, kThreads>>>(out);
  CHECK(told().empty());
  CHECK(out.read()[kThreads - 1] == 0);
}

TEST_CASE("accesses out of bounds are reported") {
  const auto with_shift = [](int shift) {
    return told_by_process([=] {
      const Numbers<int> out(100);
      number<<<1, 100>>>(out, 100, shift);
    });
  };
  // 400 bytes end 112 bytes before a guard page, since the next multiple of 256 is 512. One element behind meets the
  // pattern, 28 meet the page. In front, the pattern reaches down to the page's begin.
  const char* const address = "AddressSanitizer";
  CHECK_THAT(with_shift(1), ContainsSubstring(kSanitized ? address : "written behind a buffer of 400 bytes"));
  CHECK_THAT(with_shift(-1), ContainsSubstring(kSanitized ? address : "written before a buffer of 400 bytes"));
  CHECK_THAT(with_shift(29), ContainsSubstring(kSanitized ? address : "number of void (") &&
                                 ContainsSubstring(kSanitized ? address : "block (0, 0, 0), thread (99, 0, 0)"));
  CHECK_THAT(told_by_process([] {
               const Numbers<int> out(64);
               overrun<<<1, 41>>>(out);
             }),
             ContainsSubstring(kSanitized ? address : "__shared__ variable of 160 bytes"));

  CHECK_THAT(told_by_process([] {
               const Numbers<float> c(3);
               const float one = 1, none = 0;
               cublasSgemm(nullptr, CUBLAS_OP_N, CUBLAS_OP_N, 4, 1, 1, &one, std::array<float, 4>{}.data(), 4, &one, 1,
                           &none, c, 4);
             }),
             ContainsSubstring(kSanitized ? address : "a matrix product: written behind a buffer of 12 bytes"));

  const Numbers<int> out(100);
  number<<<1, 100>>>(out, 100, 0);
  CHECK(told().empty());
  CHECK(cudaMemsetAsync(out + 50, 0, 201, nullptr) == cudaErrorInvalidValue);
  CHECK_FALSE(told().empty());
  CHECK(cudaMemsetAsync(out + 50, 0, 200, nullptr) == cudaSuccess);
}

TEST_CASE("memory is not zero before its first use") {
  for (const Order order : kOrders) {
    set_order(order);
    const unsigned patterns[] = {0xffffffffU, 0x7f7f7f7fU, 1};
    const unsigned pattern = patterns[static_cast<int>(order)];
    const Numbers<unsigned> out(2), scratch(1);
    read_uninitialized<<<3, 1>>>(out, scratch);  // also of blocks after the first
    CHECK(out.read() == std::vector<unsigned>{pattern, pattern});
  }
  set_order(Order::first_to_last);
}

TEST_CASE("blocks of a cooperative grid wait for each other") {
  for (const Order order : kOrders) {
    set_order(order);
    const Numbers<int> parts(4), sums(4 * 32);
    int *to_parts = parts, *to_sums = sums;
    void* arguments[] = {&to_parts, &to_sums};
    CHECK(cudaLaunchCooperativeKernel(add_up_blocks, dim3(4), dim3(32), arguments, 0, nullptr) == cudaSuccess);
    // 1 + 2 + 4 + 8, and each block's shared number is its own.
    for (std::size_t i = 0; i < 4 * 32; ++i) CHECK(sums.read()[i] == 1000 * (1 << i / 32) + 15);
    CHECK(cudaLaunchCooperativeKernel(add_up_blocks, dim3(5), dim3(32), arguments, 0, nullptr) ==
          cudaErrorCooperativeLaunchTooLarge);
    CHECK_FALSE(told().empty());
  }
  set_order(Order::first_to_last);
}

TEST_CASE("blocks scan and reduce") {
  const Numbers<int> before(kThreads), all(kThreads), largest(1);
  scan_and_reduce<<<1, kThreads>>>(before, all, largest);
  CHECK(told().empty());
  for (std::size_t i = 0; i < kThreads; ++i) {
    CHECK(before.read()[i] == static_cast<int>(i * (i - 1) / 2));
    CHECK(all.read()[i] == 256 * 255 / 2);
  }
  CHECK(largest.read()[0] == 100);  // 37 and 101 are coprime: 101 threads in a row have all remainders
}

TEST_CASE("launches have a device's limits and indices") {
  const Numbers<int> out(2048);
  const auto refuses = [&](dim3 grid, dim3 block) {
    number<<<grid, block>>>(out, 0, 0);
    return cudaGetLastError() == cudaErrorInvalidConfiguration;
  };
  CHECK(refuses(0, 32));
  CHECK(refuses(1, 0));
  CHECK(refuses(1, 1025));
  CHECK(refuses(1, dim3(1, 1, 65)));
  CHECK(refuses(dim3(1, 65536), 1));
  CHECK(refuses(dim3(1, 1, 65536), 1));
  CHECK_FALSE(refuses(dim3(1, 65535), 1));
  CHECK_FALSE(refuses(1, 1024));

  for (const Order order : kOrders) {
    set_order(order);
    const Numbers<uint3> threads(12 * 24), blocks(12);
    keep_index<<<dim3(2, 3, 2), dim3(4, 3, 2)>>>(threads, blocks);
    CHECK(told().empty());
    const std::vector<uint3> found = threads.read(), found_blocks = blocks.read();
    for (unsigned i = 0; i < 12 * 24; ++i)
      CHECK((found[i].x == i % 4 && found[i].y == i / 4 % 3 && found[i].z == i % 24 / 12));
    for (unsigned i = 0; i < 12; ++i)
      CHECK((found_blocks[i].x == i % 2 && found_blocks[i].y == i / 2 % 3 && found_blocks[i].z == i / 6));
  }
  set_order(Order::first_to_last);
}

TEST_CASE("products are those of column-major matrices") {
  // op(A) = (1 2 3; 4 5 6), op(B) = (1 0; 2 1; 0 3). op(A) op(B) = (5 11; 14 23), by columns 5 14 11 23.
  const std::vector<float> a = {1, 4, 2, 5, 3, 6}, a_transposed = {1, 2, 3, 4, 5, 6}, b = {1, 2, 0, 0, 1, 3},
                           b_transposed = {1, 0, 2, 1, 0, 3};
  const float two = 2, ten = 10, one = 1, none = 0;
  for (const bool transposed : {false, true}) {
    std::vector<float> c = {1, 1, -7, 1, 1, -7};  // a pitch of 3: elements between columns stay
    const auto op = transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    CHECK(cublasSgemm(nullptr, op, op, 2, 2, 3, &two, (transposed ? a_transposed : a).data(), transposed ? 3 : 2,
                      (transposed ? b_transposed : b).data(), transposed ? 2 : 3, &ten, c.data(),
                      3) == CUBLAS_STATUS_SUCCESS);
    CHECK(c == std::vector<float>{20, 38, -7, 32, 56, -7});
    CHECK(cublasSgemm(nullptr, op, op, 2, 2, 3, &one, a.data(), 1, b.data(), 3, &none, c.data(), 3) ==
          CUBLAS_STATUS_INVALID_VALUE);
  }
  // 1 + 2^-11 is a tie of 10 bits, which goes away from zero: 1 + 2^-10; fp32 keeps it. With beta 0 C is not read.
  const float x = 1 + 0x1p-11F;
  float c = std::nanf("");
  const auto multiply = [&](cublasComputeType_t compute) {
    return cublasGemmEx(nullptr, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, &x, CUDA_R_32F, 1, &one, CUDA_R_32F, 1, &none,
                        &c, CUDA_R_32F, 1, compute, CUBLAS_GEMM_DEFAULT);
  };
  CHECK(multiply(CUBLAS_COMPUTE_32F_FAST_TF32) == CUBLAS_STATUS_SUCCESS);
  CHECK(c == 1 + 0x1p-10F);
  CHECK(multiply(CUBLAS_COMPUTE_32F) == CUBLAS_STATUS_SUCCESS);
  CHECK(c == x);
}
