// The descriptor of a kernel: its name, the buffers it reads and writes, and its CPU reference.
//
//     for (const Kernel& kernel : compressor_kernels())
//       time(kernel.launch..., n) -> launch + kernel.bytes(n)/bandwidth
//
// One list, compressor_kernels(), serves the tests, the harness of calibrate/ and the simulator. The simulator goes by
// `role`: it is the name of a CodecKernel of models/compressor/, whose price comes from the measurements of calibrate/.
// The CUDA launches stand in kernels/cuda/launch.hpp under the same names.
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

/// How a buffer is filled before a call.
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
  kept,             ///< the layer's own, by name: labels, data that one part leaves for another, unread data
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
  /// Largest allowed deviation from the reference, the sum of these terms. If all are 0, results agree bit by bit. NaN
  /// equals NaN.
  /// - `tolerance` of the buffer's largest finite entry (or of `size`): for sums, which the GPU adds in another order.
  /// - `entry_tolerance` of the entry itself: for functions and roundings.
  /// - `absolute_tolerance`.
  /// - The element's least denormal, since rounding is absolute there.
  double tolerance = 0;
  double entry_tolerance = 0;
  double absolute_tolerance = 0;
  /// The bound of Fill::below. Also the bound of prepared whole numbers, if they only have to be below it.
  std::int64_t below = 0;
  /// Root mean square of an entry on standard normal input, where it is known. `tolerance` refers to no smaller scale.
  /// Otherwise a result of few entries, all small by chance, would have a tolerance that no rounding can meet.
  double size = 0;
  /// The result is a sum of size² inputs, or of size² products of inputs. On Input::whole it is exact in any order.
  bool product = false;
  Role role = Role::none;
};

struct Kernel {
  std::string role;    ///< as models/compressor/ calls it
  std::string method;  ///< the compressor's kind, or another word that tells it from others of that role
  std::vector<std::int64_t> parameters;
  std::function<std::vector<Buffer>(std::int64_t n)> buffers;
  std::function<double(std::int64_t n)> bytes;  ///< least bytes to move: inputs once, outputs once, per sweep
  /// Operations as models/compressor/codec_plan.hpp counts them, per sweep.
  std::function<double(std::int64_t n)> flops;
  std::function<void(const Call&)> reference;
  /// Runs after all buffers are filled; it may also change buffers of Fill::values.
  std::function<void(const Call&)> prepare{};
  int repeats = 1;  ///< sweeps of one call; a CodecKernel describes one
  /// Largest n that is worth a check or a timing: the SVD of a large matrix takes minutes.
  std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  /// Describes the error in `got`. It replaces the buffers' tolerances where the entries are not determined one by one
  /// (singular vectors have either sign).
  std::function<std::optional<std::string>(const Call& expected, const Call& got)> compare{};
  /// Replaces `prepare` before a timing if `prepare` draws rare cases for the checks. It prepares buffers as normal
  /// input gives them.
  std::function<void(const Call&)> prepare_timed{};
  /// Takes milliseconds where others take microseconds: timed at fewer sizes, and for less long.
  bool slow = false;

  [[nodiscard]] std::string name() const { return role + "/" + method; }
  /// The name and the parameters: "batch_norm-forward/fp32 [64, 112, 112]".
  [[nodiscard]] std::string described() const;
};

/// Every kernel of the compressors.
std::vector<Kernel> compressor_kernels();

/// @throws std::invalid_argument for a name that is not in the list
Kernel find_kernel(const std::string& name);

}  // namespace stepcast::kernels
