// What can go wrong in a calibration, with the remedy in the text. Programs catch, libraries throw.
#pragma once

#include <stdexcept>

namespace stepcast::calibrate {

class CalibrationError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The device's memory does not suffice for one subject.
class OutOfMemory : public CalibrationError {
 public:
  using CalibrationError::CalibrationError;
};

/// SIGINT or SIGTERM came; what was measured is in the samples file.
class Interrupted : public CalibrationError {
 public:
  using CalibrationError::CalibrationError;
};

}  // namespace stepcast::calibrate
