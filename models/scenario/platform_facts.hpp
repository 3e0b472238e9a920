// SimGrid's facts about a platform file that decide whether a scenario can be answered. The models do not depend on
// SimGrid, so the reader of a study may pass a function that asks it.
#pragma once

#include <functional>
#include <string>

namespace stepcast {

struct PlatformFacts {
  /// The reason why no scenario can use the file, as a clause after its name: "whose link \"l\" has a bandwidth of 0
  /// B/s". Empty if some scenario can use it.
  std::string fault;
  std::string allowed;  ///< the allowed values, if there is a fault
  long hosts = 0;
  /// The number of first hosts, in the workers' order, with routes to each other; as far as routes were tried.
  long connected = 0;
  std::string missing;  ///< the missing route of the next host: no route from "a" to "b"
};

/// @param file  an existing file
using PlatformInspector = std::function<PlatformFacts(const std::string& file)>;

}  // namespace stepcast
