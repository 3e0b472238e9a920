// Compressors and tensors for tests.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/compressor/compressor.hpp"
#include "models/part/profile.hpp"
#include "models/describe/reader.hpp"
#include "tests/reader/shipped.hpp"
#include "tests/support/property.hpp"

namespace stepcast::test {

/// Every built-in method with its defaults.
inline std::vector<Compressor> all_compressors() {
  std::vector<Compressor> all;
  for_each_part(static_cast<const Compressor*>(nullptr), [&]<class Part>(std::in_place_type_t<Part>) {
    if constexpr (!std::is_same_v<Part, FormulaCompressor>) all.emplace_back(Part{});
  });
  return all;
}

/// The compressor of a JSON object.
/// @throws std::invalid_argument
inline Compressor read_compressor(const Json& json) {
  Compressor compressor;
  std::vector<Fault> faults;
  read_value(json, "", compressor, any, faults);
  for (const Fault& fault : faults) throw std::invalid_argument(to_string(fault));
  return compressor;
}

/// The shipped methods of formulas, with their defaults.
inline std::vector<Compressor> shipped_formulas() {
  std::vector<Compressor> all;
  for (const auto& file : shipped("compressors")) {
    Json json = read_json(file);
    json.erase("$schema");
    all.push_back(read_compressor(json));
  }
  return all;
}

inline std::string kind_of(const Compressor& compressor) {
  return std::string(std::visit([]<class X>(const X&) { return X::kind; }, compressor));
}

/// The same compressor with another packing; itself where GRACE does not have the method.
inline Compressor with_packing(Compressor compressor, Packing packing, Framework framework = Framework::tensorflow) {
  std::visit(
      [&](auto& x) {
        if constexpr (requires { x.packing; }) x.packing = packing;
        if constexpr (requires { x.framework; }) x.framework = framework;
      },
      compressor);
  return compressor;
}

inline double payload_bytes(const Compressor& compressor, const Tensor& tensor) {
  return payload(make_plan(compressor, tensor)).si();
}

/// Tensor by tensor, as the survey exchanges them.
inline double payload_bytes(const Compressor& compressor, const std::vector<Tensor>& tensors) {
  double sum = 0;
  for (const Tensor& tensor : tensors) sum += payload_bytes(compressor, tensor);
  return sum;
}

/// A device that reaches its rates, in fp32.
inline DeviceProfile device_of(Seconds launch, BytesPerSecond bandwidth, FlopsPerSecond peak) {
  DeviceProfile profile;
  profile.name = "test";
  profile.peaks = {{Dtype::fp32, peak, Evidence::assumed, ""}};
  profile.memory_bandwidth.value = bandwidth;
  profile.launch_overhead.value = launch;
  return profile;
}

/// In a property: one to four dimensions of 1 to 40.
inline Tensor random_tensor() {
  Tensor tensor;
  for (int dimensions = integer_between(1, 4); dimensions > 0; --dimensions)
    tensor.shape.push_back(integer_between(1, 40));
  return tensor;
}

}  // namespace stepcast::test
