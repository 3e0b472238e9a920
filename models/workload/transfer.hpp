// Derives one device's profile from another device's measurement and the two datasheets.
//
// A kernel's efficiency carries over to the new device; the device's rates do not. The datasheets give the factors of
// the rates:
//
//     peak' = peak · peak_to/peak_from,   bandwidth' = bandwidth · bandwidth_to/bandwidth_from,   launch' = launch · clock_from/clock_to
//
// A layer's measured time scales with its roofline on the two devices, t' = t · roofline'(work)/roofline(work).
//
// A streaming kernel that draws the share s of the bandwidth is bound by the memory, or by its own instructions:
//
//     t' = t · (w·β^-4 + (1 - w)·π^-4)^(1/4),   w = min(1, (s/0.95)^4)
//
// for the part of its time that grows with its bytes. Here β is the ratio of the bandwidths, and π that of processors
// times clock, or β where a datasheet lacks one of the two. The share 0.95 is that of PyTorch's sums on an
// H200, and the bend of 4 is the roofline's. An H100 has its processors and 0.7 of its bandwidth: kernels with a share
// of 0.9 took 1.4 times as long there, those of 0.7 took 1.2 times, and those of 0.4 took 1.0 times
// (calibrate/measured/, docs/device-profiles.md). A codec's time of an element scales with (β·π)^(-1/2): PyTorch's 16
// compressors took 1.0 to 1.8 times as long there to encode, 1.18 times in the median.
//
// The bound of a kernel is modelled, not known. So the band of every layer and kernel is widened.
// It covers times that scale with the bandwidth alone, with the peak alone or as above, and a layer's
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

/// A model's fixed times, shares and band on another device. Shares of the bandwidth change for sums, batch norms,
/// poolings and embeddings. A pooling's share of the peak changes so that its operations go with processors and clock, and
/// halves of norms so that their blocks go with the clock. `cached_k` stays: no cache's size is known.
/// @pre `from` has the rates that the model refers to, and both have a peak of its type
void move_rates(KernelModel& model, const DeviceProfile& from, const DeviceProfile& to);

}  // namespace stepcast
