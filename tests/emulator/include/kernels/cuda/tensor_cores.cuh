// kernels/cuda/tensor_cores.cuh on the host, by the layouts that it says. Sums of a product are rounded once.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/code/bfloat.hpp"
#include "tests/emulator/grid.hpp"

namespace stepcast::kernels {

namespace emulated_cores {

constexpr std::uint32_t kWarp = 0xffffffffU;

/// read(rows) once all lanes have named theirs; nobody goes on, and writes there, before all have read.
template <class Read>
void with_rows(const void* row, emulator::Place where, const Read& read) {
  if (reinterpret_cast<std::uintptr_t>(row) % 16 != 0)
    emulator::fail("a row of a matrix that is not aligned to 16 bytes");
  read(emulator::meet_lanes(kWarp, reinterpret_cast<std::uintptr_t>(row), where));
  emulator::meet_lanes(kWarp, 0, where);
}

struct Words {
  const std::uint32_t *a, *b;
};

/// sums += A·B of kDepth terms. a_at(lane's words, row, k), with the lane that has them from lane_of(row % 8, k).
template <unsigned kDepth, class Factor>
void multiply(float (&sums)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2], emulator::Place where,
              const Factor& factor) {
  const Words mine{a, b};
  const emulator::Lanes& lanes = emulator::meet_lanes(kWarp, reinterpret_cast<std::uintptr_t>(&mine), where);
  // Thread t of a group has kDepth / 8 neighbours of each half of the depth.
  constexpr unsigned kHalf = kDepth / 2, kEach = kDepth / 8;
  const auto words_of = [&](unsigned group, unsigned k) -> const Words& {
    return *reinterpret_cast<const Words*>(lanes[4 * group + k % kHalf / kEach]);
  };
  const unsigned group = emulator::lane() / 4, thread = emulator::lane() % 4;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned row = group + i / 2 * 8, column = 2 * thread + i % 2;
    double sum = static_cast<double>(sums[i]);
    for (unsigned k = 0; k < kDepth; ++k)
      sum += factor(words_of(row % 8, k).a[row / 8 + k / kHalf * 2], k % kEach) *
             factor(words_of(column, k).b[k / kHalf], k % kEach);
    sums[i] = static_cast<float>(sum);
  }
  emulator::meet_lanes(kWarp, 0, where);
}

}  // namespace emulated_cores

inline void load_matrices(std::uint32_t (&words)[4], const void* row, emulator::Place where = emulator::Place::here()) {
  const unsigned group = emulator::lane() / 4, thread = emulator::lane() % 4;
  emulated_cores::with_rows(row, where, [&](const emulator::Lanes& rows) {
    for (unsigned matrix = 0; matrix < 4; ++matrix)
      std::memcpy(&words[matrix], reinterpret_cast<const std::uint32_t*>(rows[8 * matrix + group]) + thread, 4);
  });
}

inline void load_transposed(std::uint32_t (&words)[4], const void* row,
                            emulator::Place where = emulator::Place::here()) {
  const unsigned group = emulator::lane() / 4, thread = emulator::lane() % 4;
  emulated_cores::with_rows(row, where, [&](const emulator::Lanes& rows) {
    const auto element = [&](unsigned i) {
      std::uint16_t bits = 0;
      std::memcpy(&bits, reinterpret_cast<const std::uint16_t*>(rows[i]) + group, 2);
      return std::uint32_t{bits};
    };
    for (unsigned matrix = 0; matrix < 4; ++matrix)
      words[matrix] = element(8 * matrix + 2 * thread) | element(8 * matrix + 2 * thread + 1) << 16;
  });
}

inline void multiply_bf16(float (&sums)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
                          emulator::Place where = emulator::Place::here()) {
  emulated_cores::multiply<16>(sums, a, b, where, [](std::uint32_t word, unsigned half) {
    return static_cast<double>(float_of_bfloat(static_cast<std::uint16_t>(word >> 16 * half)));
  });
}

inline void multiply_tf32(float (&sums)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
                          emulator::Place where = emulator::Place::here()) {
  emulated_cores::multiply<8>(sums, a, b, where, [](std::uint32_t word, unsigned) {
    return static_cast<double>(float_of(word & 0xffffe000U));
  });
}

}  // namespace stepcast::kernels
