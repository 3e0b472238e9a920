#include "kernels/workspace.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <sstream>

#include "kernels/code/bfloat.hpp"
#include "kernels/code/half.hpp"
#include "kernels/code/permutation.hpp"

namespace stepcast::kernels {
namespace {

/// @param denormal  deviation of denormal input
/// @param present   share of whole numbers that are not 0
void fill_values(float* x, std::int64_t n, Input input, float denormal, double present, std::mt19937_64& random) {
  if (input == Input::zeros) return;
  if (input == Input::whole) {
    std::bernoulli_distribution is_present(present);
    for (std::int64_t i = 0; i < n; ++i) x[i] = !is_present(random) ? 0.0F : random() % 2 == 0 ? 1.0F : -1.0F;
    return;
  }
  std::normal_distribution<float> normal;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr float special[] = {std::numeric_limits<float>::quiet_NaN(), infinity, -infinity, 0.0F, -0.0F};
  for (std::int64_t i = 0; i < n; ++i) {
    x[i] = normal(random);
    if (input == Input::denormals) x[i] *= denormal;
    if (input == Input::non_finite && random() % 8 == 0) x[i] = special[random() % 5];
  }
}

template <class T>
T value_at(const void* data, std::int64_t i) {
  return static_cast<const T*>(data)[i];
}

double number(Element element, const void* data, std::int64_t i) {
  switch (element) {
    case Element::f32: return static_cast<double>(value_at<float>(data, i));
    case Element::f16: return static_cast<double>(float_of_half(value_at<std::uint16_t>(data, i)));
    case Element::bf16: return static_cast<double>(float_of_bfloat(value_at<std::uint16_t>(data, i)));
    case Element::u8: return value_at<std::uint8_t>(data, i);
    case Element::u32: return value_at<std::uint32_t>(data, i);
    case Element::u64: break;
  }
  return static_cast<double>(value_at<std::uint64_t>(data, i));
}

/// Sums of K products of ±1, of which a share q is not 0, deviate by √(Kq). This is kept at 40 or less: 2^8 is 6.4
/// times as much.
double share_present(const std::vector<Buffer>& buffers) {
  double terms = 1;
  for (const Buffer& buffer : buffers)
    if (buffer.product) terms = std::max(terms, buffer.size * buffer.size);
  return std::min(1.0, 1600 / terms);
}

/// The smallest number above zero.
double least(Element element) {
  switch (element) {
    case Element::f32: return 0x1p-149;
    case Element::bf16: return 0x1p-133;
    case Element::f16: return 0x1p-24;
    default: return 0;
  }
}

}  // namespace

const char* name_of(Input input) {
  switch (input) {
    case Input::normal: return "normal";
    case Input::zeros: return "zeros";
    case Input::denormals: return "denormals";
    case Input::whole: return "whole";
    case Input::non_finite: break;
  }
  return "non-finite";
}

Workspace::Workspace(const Kernel& kernel, std::int64_t n, Input input, std::uint64_t seed)
    : n_(n), seed_(seed), parameters_(kernel.parameters), buffers_(kernel.buffers(n)) {
  std::mt19937_64 random(seed);
  const double share = share_present(buffers_);
  for (Buffer& buffer : buffers_) {
    const double present = pointers_.empty() ? 1 : share;
    if (input == Input::whole && buffer.product) {
      buffer.tolerance = buffer.entry_tolerance = 0;
      buffer.absolute_tolerance = 0.5;  // with 0, zeros would be told apart by their sign
    }
    std::vector<std::byte>& bytes =
        storage_.emplace_back(static_cast<std::size_t>(buffer.count) * size_of(buffer.element));
    pointers_.push_back(bytes.data());
    auto* floats = reinterpret_cast<float*>(bytes.data());
    switch (buffer.fill) {
      case Fill::values:
        if (buffer.element == Element::bf16) {
          std::vector<float> wide(buffer.count);
          fill_values(wide.data(), buffer.count, input, 20 * 0x1p-133F, present, random);
          std::transform(wide.begin(), wide.end(), reinterpret_cast<std::uint16_t*>(bytes.data()), bfloat_bits);
        } else {
          fill_values(floats, buffer.count, input, 1000 * 0x1p-149F, present, random);
        }
        break;
      case Fill::scale:
        for (std::int64_t i = 0; i < buffer.count; ++i)
          floats[i] = std::uniform_real_distribution<float>(0.5F, 4.0F)(random);
        break;
      case Fill::code:
        for (std::size_t i = 0; i < bytes.size(); i += 8) {
          const std::uint64_t word = random();
          std::memcpy(bytes.data() + i, &word, std::min<std::size_t>(8, bytes.size() - i));
        }
        break;
      case Fill::index:
        for (std::int64_t i = 0; i < buffer.count; ++i)
          reinterpret_cast<std::uint32_t*>(bytes.data())[i] =
              permuted(static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(n), seed);
        break;
      case Fill::below:
        for (std::int64_t i = 0; i < buffer.count; ++i)
          reinterpret_cast<std::uint32_t*>(bytes.data())[i] =
              static_cast<std::uint32_t>(random() % static_cast<std::uint64_t>(buffer.below));
        break;
      case Fill::zero:
      case Fill::prepared: break;
    }
  }
  if (kernel.prepare) kernel.prepare(call());
}

bool is_exact_on_whole(const Kernel& kernel, std::int64_t n) {
  const std::vector<Buffer> buffers = kernel.buffers(n);
  return std::any_of(buffers.begin(), buffers.end(),
                     [](const Buffer& buffer) { return buffer.product && buffer.count > 0; });
}

std::optional<std::string> difference(const Buffer& buffer, const void* expected, const void* got) {
  const bool exact = buffer.tolerance == 0 && buffer.entry_tolerance == 0 && buffer.absolute_tolerance == 0;
  // Small entries beside large ones come from cancellation: the buffer's largest sets the scale.
  double scale = 0;
  for (std::int64_t i = 0; !exact && i < buffer.count; ++i) {
    const double e = std::abs(number(buffer.element, expected, i));
    if (std::isfinite(e)) scale = std::max(scale, e);
  }
  if (scale > 0) scale = std::max(scale, buffer.size);  // a buffer of zeros has no scale
  const double allowed = buffer.tolerance * scale + buffer.absolute_tolerance + least(buffer.element);
  for (std::int64_t i = 0; i < buffer.count; ++i) {
    const double e = number(buffer.element, expected, i), g = number(buffer.element, got, i);
    if (std::isnan(e) && std::isnan(g)) continue;
    const bool alike =
        exact ? e == g && std::signbit(e) == std::signbit(g)
              : e == g || (std::isfinite(e) && std::abs(e - g) <= allowed + buffer.entry_tolerance * std::abs(e));
    if (alike) continue;
    std::ostringstream text;
    text.precision(9);
    text << buffer.name << "[" << i << "]: expected " << e << ", got " << g << " (allowed deviation "
         << buffer.tolerance << " of the largest and " << buffer.entry_tolerance << " of the entry)";
    return text.str();
  }
  return std::nullopt;
}

}  // namespace stepcast::kernels
