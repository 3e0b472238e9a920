// Derives one device's profile from another device's measurement and the two datasheets.
//
// A kernel's efficiency carries over to the new device; the device's rates do not. The datasheets give the factors of
// the rates:
//
//     peak' = peak · peak_to/peak_from,   bandwidth' = bandwidth · bandwidth_to/bandwidth_from,   launch' = launch · clock_from/clock_to
//
// A layer's measured time scales with its roofline on the two devices, t' = t · roofline'(work)/roofline(work).
//
// The bound of a kernel is modelled, not known. So the band of every layer and kernel is widened.
// It covers times that scale with the bandwidth alone or with the peak alone, and a layer's
// launches that scale with the clock or not. This covers a wrong bound. It does not cover another
// library's algorithms, cache sizes or clocks under load. The roofline's own spread is widened in
// the same way, by bandwidth against peak. The device's own rates keep their band.
#pragma once

#include <stdexcept>

#include "models/part/profile.hpp"

namespace stepcast {

/// The reason why a profile cannot be transferred.
class TransferError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The profile of device `to`, called `name`. All entries but assumed ones are marked as transferred. Types without a
/// peak in a datasheet are left out with their layers. Without both clocks, a kernel's fixed time stays.
/// @throws TransferError when `measured` has no measured entry, or none of its types is in both datasheets
DeviceProfile transfer(const DeviceProfile& measured, const DeviceProfile& from, const DeviceProfile& to,
                       const std::string& name);

}  // namespace stepcast
