#include "calibrate/event_overhead.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "calibrate/calibration_error.hpp"

namespace stepcast::calibrate {

EventOverhead event_overhead(double single, double chain, double n) {
  if (chain <= single)
    throw CalibrationError(fmt::format(
        "between two events, one empty kernel takes {:.4g} us and {:.0f} of them {:.4g} us, so a launch would cost nothing; end other work on the device, and measure anew with --fresh",
        1e6 * single, n, 1e6 * chain));
  const double events = std::max(0.0, (n * single - chain) / (n - 1));
  return {events, (chain - events) / n};
}

std::vector<Record> without_events(std::vector<Record> records, const EventOverhead& overhead) {
  for (Record& record : records) {
    const double events = overhead.events / record.repeats, launch = overhead.launch / record.repeats;
    for (std::vector<double>* series : {&record.cold, &record.warm})
      for (double& seconds : *series) seconds = std::max(seconds - events, std::min(seconds, launch));
  }
  return records;
}

}  // namespace stepcast::calibrate
