// What SimGrid says of a platform file, as far as it decides whether a scenario can be answered. Models do not know
// SimGrid: whoever reads a study may pass a function that asks it.
#pragma once

#include <functional>
#include <string>

namespace stepcast {

struct PlatformFacts {
  /// Why no scenario can use the file, as a clause after its name: "whose link \"l\" has a bandwidth of 0 B/s". Empty
  /// where some scenario can.
  std::string fault;
  std::string allowed;  ///< instead of the fault
  long hosts = 0;
  /// So many of the first hosts, in the workers' order, have routes to each other; as far as routes were tried.
  long connected = 0;
  std::string missing;  ///< no route from "a" to "b": what the host after them lacks
};

/// @param file  an existing file
using PlatformInspector = std::function<PlatformFacts(const std::string& file)>;

}  // namespace stepcast
