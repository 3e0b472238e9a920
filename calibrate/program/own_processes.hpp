// Process starts: the program runs itself once for each, and passes on the wish to stop.
#pragma once

#include <string>
#include <vector>

namespace stepcast::calibrate {

/// From now on SIGINT and SIGTERM only set what stop_requested() says.
void catch_stop_signals();
bool stop_requested();

/// Runs this program with other arguments and waits for it; a wish to stop goes to it as SIGTERM. Returns its exit
/// code.
/// @throws CalibrationError where it cannot be started, or was ended by a signal
int run_self(const std::vector<std::string>& arguments);

}  // namespace stepcast::calibrate
