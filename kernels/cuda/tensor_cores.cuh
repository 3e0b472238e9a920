// Tensor cores' instructions, which a whole warp issues (PTX ISA, ldmatrix and mma; compute capability 8.0 and later).
// nvcuda::wmma has the same products, but nvcc 13.0 loads their operands word by word through generic addresses, 32
// loads where 8 to 20 do. tests/emulator/include/ has these functions for the host.
//
// Lane l is in group g = l / 4 as thread t = l % 4. CuTe has the same layouts (NVIDIA/cutlass, include/cute/atom/
// mma_traits_sm80.hpp and copy_traits_sm75.hpp); the emulator is tested against those.
#pragma once

#include <cstdint>

namespace stepcast::kernels {

/// Four matrices of eight rows of 16 bytes in shared memory; lane l names row l % 8 of matrix l / 8.
/// @param words  of each matrix: word t of row g
/// @pre rows are aligned to 16 bytes
__device__ inline void load_matrices(std::uint32_t (&words)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(static_cast<std::uint32_t>(__cvta_generic_to_shared(row)))
               : "memory");
}

/// The same of matrices of 8 x 8 elements of 16 bits, transposed.
/// @param words  of each matrix: elements g of rows 2t (the low half) and 2t + 1
__device__ inline void load_transposed(std::uint32_t (&words)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(static_cast<std::uint32_t>(__cvta_generic_to_shared(row)))
               : "memory");
}

/// sums += A (16 x 16) · B (16 x 8) in bf16, two to a word, the first in the low half.
/// @param sums  C[g][2t], C[g][2t + 1], C[g + 8][2t], C[g + 8][2t + 1]
/// @param a     word t of rows g and g + 8 of A's first 8 columns, then of its last 8
/// @param b     rows 2t and 2t + 1 of B's column g, then 2t + 8 and 2t + 9
__device__ inline void multiply_bf16(float (&sums)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// sums += A (16 x 8) · B (8 x 8) in tf32: of a float its low 13 bits are ignored.
/// @param sums  as above
/// @param a     element t of rows g and g + 8 of A's first 4 columns, then of its last 4
/// @param b     rows t and t + 4 of B's column g
__device__ inline void multiply_tf32(float (&sums)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

}  // namespace stepcast::kernels
