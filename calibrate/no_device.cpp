// A build without CUDA.
#include <stdexcept>

#include "calibrate/measured_device.hpp"

namespace stepcast::calibrate {

bool has_device() { return false; }
bool has_cudnn() { return false; }
std::unique_ptr<Device> open_device() { throw std::logic_error("built without CUDA"); }

}  // namespace stepcast::calibrate
