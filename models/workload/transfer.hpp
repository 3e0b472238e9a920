// One device's profile from another's measurement and the two datasheets.
//
// What a kernel reaches of its device carries over, its device's rates do not: rates are multiplied by what the
// datasheets say,
//
//     peak' = peak · peak_to/peak_from,   bandwidth' = bandwidth · bandwidth_to/bandwidth_from,   launch' = launch · clock_from/clock_to
//
// and a layer's measured time by its roofline's ratio between the two, t' = t · roofline'(work)/roofline(work).
//
// Which of the rates bounds a kernel is not known, only modelled. So the band of every layer and kernel is widened to
// reach what its time would be if it went with the bandwidth alone, or with the peak alone, a layer's launches with the
// clock or not: that covers a wrong bound, but not another library's algorithms, cache sizes or clocks under load. The
// roofline's own spread is widened likewise, by bandwidth against peak. The device's own rates keep the band that they
// had.
#pragma once

#include <stdexcept>

#include "models/part/profile.hpp"

namespace stepcast {

/// Why a profile cannot be transferred.
class TransferError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The profile of device `to`, called `name`; what was not assumed is marked transferred. Types for which a datasheet
/// has no peak are left out, with their layers. Without both clocks a kernel's fixed time stays.
/// @throws TransferError when `measured` has no measured entry, or no type of it is in both datasheets
DeviceProfile transfer(const DeviceProfile& measured, const DeviceProfile& from, const DeviceProfile& to,
                       const std::string& name);

}  // namespace stepcast
