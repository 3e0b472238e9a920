// The descriptor of a kernel: its name, the buffers it reads and writes, and its CPU reference.
//
//     for (const Kernel& kernel : compressor_kernels())
//       time(kernel.launch..., n) -> launch + kernel.bytes(n)/bandwidth
//
// One list, compressor_kernels(), serves the tests, the harness of calibrate/ and, by `pass`, the simulator: a CodecKernel of
// models/compressor/ of that name is priced by what calibrate/ measured. The CUDA launches stand in
// kernels/cuda/launch.hpp under the same names.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "kernels/call.hpp"

namespace stepcast::kernels {

enum class Element { f32, f16, bf16, u8, u32, u64 };

constexpr std::size_t size_of(Element element) {
  switch (element) {
    case Element::f16:
    case Element::bf16: return 2;
    case Element::u8: return 1;
    case Element::u64: return 8;
    case Element::f32:
    case Element::u32: break;
  }
  return 4;
}

/// With what a buffer is filled before a call.
enum class Fill {
  zero,      ///< outputs
  values,    ///< elements of a gradient: the input under test; f32 or bf16
  scale,     ///< one or more positive numbers
  code,      ///< any bits: decoders are total
  index,     ///< distinct numbers below n
  below,     ///< any numbers below the buffer's `below`
  prepared,  ///< by the descriptor's `prepare`, from the buffers before it
};

/// The role of a buffer in its layer: it tells which buffers of other parts, layers or updates are the same in a step.
enum class Role {
  none,             ///< belongs to no layer
  input,            ///< output of the layer before; by name the same in all parts
  weight,           ///< by name the same in all parts
  output,           ///< one a layer, also where the backward parts read it (an LSTM's without its last step)
  kept,             ///< the layer's own, by name: labels, what a part leaves for another, what nobody reads
  output_gradient,  ///< one a layer
  input_gradient,   ///< one for each input, in their order
  weight_gradient,  ///< one for each weight, in their order
};

struct Buffer {
  const char* name;
  Element element;
  std::int64_t count;
  Fill fill = Fill::zero;
  bool written = false;
  /// Largest deviation from the reference: `tolerance` of its largest finite entry (or `size`), as for sums, which the
  /// GPU adds in another order than the CPU, `entry_tolerance` of the entry itself, as for functions and roundings, and
  /// `absolute_tolerance`; where any is given also the element's least denormal, since there rounding is absolute.
  /// All 0: bit by bit. NaN is equal to NaN.
  double tolerance = 0;
  double entry_tolerance = 0;
  double absolute_tolerance = 0;
  /// Fill::below; also what whole numbers that are prepared are below, where that is all that matters.
  std::int64_t below = 0;
  /// Root mean square of an entry on standard normal input, where it is known: the scale of `tolerance` is no less, or
  /// a result of few entries, all of them small by chance, would be held to what no rounding allows.
  double size = 0;
  /// A sum of size² products of inputs, or of inputs: exact, in whatever order, on Input::whole.
  bool product = false;
  Role role = Role::none;
};

struct Kernel {
  std::string pass;    ///< as models/compressor/ calls it
  std::string method;  ///< compressor's kind, or what tells it from others of that pass
  std::vector<std::int64_t> parameters;
  std::function<std::vector<Buffer>(std::int64_t n)> buffers;
  std::function<double(std::int64_t n)> bytes;  ///< least bytes to move: inputs once, outputs once, per sweep
  /// Operations as models/compressor/codec_plan.hpp counts them, per sweep.
  std::function<double(std::int64_t n)> flops;
  std::function<void(const Call&)> reference;
  /// After all buffers are filled; may also change those filled with values.
  std::function<void(const Call&)> prepare{};
  int repeats = 1;  ///< sweeps of one call; a CodecKernel describes one
  /// Largest n that is worth a check or a timing: the SVD of a large matrix takes minutes.
  std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  /// Describes the error in `got`. It replaces the buffers' tolerances where the entries are not determined one by one
  /// (singular vectors have either sign).
  std::function<std::optional<std::string>(const Call& expected, const Call& got)> compare{};
  /// Replaces `prepare` before a timing, where `prepare` draws rare cases for the checks: gives those of normal input.
  std::function<void(const Call&)> prepare_timed{};
  /// Takes milliseconds where others take microseconds: timed at fewer sizes, and for less long.
  bool slow = false;

  [[nodiscard]] std::string name() const { return pass + "/" + method; }
  /// The name and the parameters: "batch_norm-forward/fp32 [64, 112, 112]".
  [[nodiscard]] std::string described() const;
};

/// Every kernel of the compressors.
std::vector<Kernel> compressor_kernels();

/// @throws std::invalid_argument for a name that is not in the list
Kernel find_kernel(const std::string& name);

}  // namespace stepcast::kernels
