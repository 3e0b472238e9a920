// The part of nvcuda::wmma that the kernels call: products of 16 x 16 tiles by a warp, in tf32 and bf16 with sums in
// fp32. Which lane holds which element of a fragment is left open there, and is another here. More strictly than a
// device, whose results are then undefined, it refuses what is not aligned and operands that are not rounded to tf32.
#pragma once

#include <type_traits>

#include <cuda_bf16.h>

#include "tests/emulator/grid.hpp"
#include "tests/emulator/tf32.hpp"

namespace nvcuda::wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
namespace precision {
struct tf32;
}
enum layout_t { mem_row_major, mem_col_major };

/// Lane l has the elements l·num_elements and on, row by row.
template <class Use, int kM, int kN, int kK, class T, class Layout = void>
struct fragment {
  static_assert(kM == 16 && kN == 16 &&
                    (std::is_same_v<Use, accumulator> || kK == (std::is_same_v<T, precision::tf32> ? 8 : 16)),
                "the shapes that the kernels use");
  using element_type = std::conditional_t<std::is_same_v<T, precision::tf32>, float, T>;
  static constexpr int kRows = std::is_same_v<Use, matrix_b> ? kK : kM,
                       kColumns = std::is_same_v<Use, matrix_a> ? kK : kN;
  static constexpr int num_elements = kRows * kColumns / 32;
  element_type x[num_elements];
};

inline float __float_to_tf32(float x) { return stepcast::emulator::rounded_to_tf32(x); }

template <class Use, int kM, int kN, int kK, class T, class Layout>
void fill_fragment(fragment<Use, kM, kN, kK, T, Layout>& f, std::type_identity_t<T> value) {
  for (auto& x : f.x) x = value;
}

/// visit(element of the lane, its place in memory)
template <class Fragment, class Visit>
void visit_elements(const void* data, unsigned pitch, bool row_by_row, const Visit& visit) {
  if (reinterpret_cast<std::uintptr_t>(data) % 32 != 0 || pitch * sizeof(typename Fragment::element_type) % 16 != 0)
    stepcast::emulator::fail("a fragment in memory that is not aligned to 32 bytes, or its rows not to 16");
  for (int i = 0; i < Fragment::num_elements; ++i) {
    const unsigned e = stepcast::emulator::lane() * Fragment::num_elements + static_cast<unsigned>(i),
                   row = e / Fragment::kColumns, column = e % Fragment::kColumns;
    visit(i, row_by_row ? row * pitch + column : column * pitch + row);
  }
}

template <class Use, int kM, int kN, int kK, class T, class Layout, class Element>
void load_matrix_sync(fragment<Use, kM, kN, kK, T, Layout>& f, const Element* data, unsigned pitch) {
  visit_elements<std::remove_reference_t<decltype(f)>>(data, pitch, std::is_same_v<Layout, row_major>,
                                                       [&](int i, unsigned place) { f.x[i] = data[place]; });
}
template <int kM, int kN, int kK>
void store_matrix_sync(float* data, const fragment<accumulator, kM, kN, kK, float>& f, unsigned pitch,
                       layout_t layout) {
  visit_elements<std::remove_cv_t<std::remove_reference_t<decltype(f)>>>(
      data, pitch, layout == mem_row_major, [&](int i, unsigned place) { data[place] = f.x[i]; });
}

inline double factor(__nv_bfloat16 x) { return static_cast<double>(__bfloat162float(x)); }
inline double factor(float x) {
  if (!stepcast::emulator::is_tf32(x)) stepcast::emulator::fail("an operand that __float_to_tf32 has not rounded");
  return static_cast<double>(x);
}

/// D = A·B + C, rounded once.
template <int kK, class T, class LayoutA, class LayoutB>
void mma_sync(fragment<accumulator, 16, 16, kK, float>& d, const fragment<matrix_a, 16, 16, kK, T, LayoutA>& a,
              const fragment<matrix_b, 16, 16, kK, T, LayoutB>& b, const fragment<accumulator, 16, 16, kK, float>& c,
              stepcast::emulator::Place where = stepcast::emulator::Place::here()) {
  using A = fragment<matrix_a, 16, 16, kK, T, LayoutA>;
  using B = fragment<matrix_b, 16, 16, kK, T, LayoutB>;
  struct Operands {
    const A* a;
    const B* b;
  };
  const Operands mine{&a, &b};
  constexpr unsigned kAll = 0xffffffffU;
  const stepcast::emulator::Lanes& lanes =
      stepcast::emulator::meet_lanes(kAll, reinterpret_cast<std::uintptr_t>(&mine), where);
  const auto operands = [&](unsigned element, int each) -> const Operands& {
    return *reinterpret_cast<const Operands*>(lanes[element / static_cast<unsigned>(each)]);
  };
  for (unsigned i = 0; i < 8; ++i) {
    const unsigned e = stepcast::emulator::lane() * 8 + i, row = e / 16, column = e % 16;
    double sum = static_cast<double>(c.x[i]);
    for (unsigned k = 0; k < kK; ++k) {
      const unsigned of_a = row * kK + k, of_b = k * 16 + column;
      sum += factor(operands(of_a, A::num_elements).a->x[of_a % A::num_elements]) *
             factor(operands(of_b, B::num_elements).b->x[of_b % B::num_elements]);
    }
    d.x[i] = static_cast<float>(sum);
  }
  stepcast::emulator::meet_lanes(kAll, 0, where);  // a lane that went on would change what others read
}

}  // namespace nvcuda::wmma
