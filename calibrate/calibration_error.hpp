// The errors of a calibration, with the remedy in the text. Programs catch, libraries throw.
#pragma once

#include <stdexcept>

namespace stepcast::calibrate {

class CalibrationError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One subject cannot be measured, others can: the device's memory does not suffice for it, or a library refuses it.
class LeftOut : public CalibrationError {
 public:
  using CalibrationError::CalibrationError;
};

/// The processors' clock dropped in most of one subject's samples.
class UnsteadyClock : public CalibrationError {
 public:
  using CalibrationError::CalibrationError;
};

/// SIGINT or SIGTERM came; the samples file keeps all measurements.
class Interrupted : public CalibrationError {
 public:
  using CalibrationError::CalibrationError;
};

}  // namespace stepcast::calibrate
