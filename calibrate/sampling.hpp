// How one piece of work is sampled: warm-up until times no longer drift, then cold samples, then warm ones, never
// mixed. Samples during which the clock had dropped are left out. The Work decides what is timed and by which clock,
// so these rules can be tested without a GPU.
#pragma once

#include <functional>
#include <vector>

#include "calibrate/statistics.hpp"

namespace stepcast::calibrate {

struct Sample {
  double seconds = 0;
  double clock = 0;  ///< Hz of the processor's clock meanwhile; 0: not known
};

/// Something prepared that can be run and timed any number of times.
class Work {
 public:
  virtual ~Work() = default;
  /// One run that finds nothing of its data in the cache.
  virtual Sample cold() = 0;
  /// So many runs back to back, each timed.
  virtual std::vector<Sample> warm(int runs) = 0;
};

struct SamplingRules {
  StoppingRule stop;
  double time_limit = 10;           ///< s of cold samples and again of warm ones; then the least samples are enough
  int window = 10;                  ///< runs of which a trend is judged
  int most_windows = 20;            ///< windows of warm-up
  double least_clock_share = 0.95;  ///< share of the fast clock, see keep_at_clock
  double most_discarded = 0.5;      ///< share of the samples taken; beyond it, the clock is not fit for measuring
};

/// Whether times no longer drift. The line through them changes over the window by less than 2 % of the mean, or by
/// less than twice its standard error.
bool is_steady(const std::vector<double>& window);

struct Kept {
  std::vector<double> seconds;
  double clock = 0;  ///< median of the kept samples' clocks, Hz; 0: not known
  int discarded = 0;
};

/// The samples whose clock is at least `share` of the fast clock, the 90 % quantile of this series. Drops in the
/// middle of a series are thrown out. A device that holds a lower clock under this load all the time, as under
/// large matrix products, is measured as it runs. Samples without a clock are kept.
Kept keep_at_clock(const std::vector<Sample>& samples, double share);

struct Series {
  std::vector<double> seconds;
  double clock = 0;
  int discarded = 0;
  bool settled = false;  ///< the stopping rule was met; otherwise the time limit ended it
};

struct SampledWork {
  Series cold, warm;
  bool steady = false;  ///< the warm-up ended because times no longer drifted
};

/// Tells the seconds since some start, and whether to give up.
struct Surroundings {
  std::function<double()> now;
  std::function<bool()> is_interrupted;
};

/// Seconds of the wall clock from this call on.
Surroundings surroundings_from_now(std::function<bool()> is_interrupted);

/// @throws Interrupted; UnsteadyClock where more than `most_discarded` of the samples had to be left out, in three
/// series
SampledWork sample(Work& work, const SamplingRules& rules, const Surroundings& surroundings);

}  // namespace stepcast::calibrate
