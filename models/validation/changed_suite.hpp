// A suite with fields of its study changed: what its errors would be if something were otherwise than it assumes.
#pragma once

#include <filesystem>
#include <vector>

#include "models/scenario/override.hpp"
#include "models/study/suite.hpp"

namespace stepcast {

/// Changes the study as overrides do (load_study), at the measured points whose scenarios have the field; the other
/// points stay as they are. What one changed has its own notes beside those of the study. Measurements whose points are
/// impossible so are left out, with a note, where the study says "impossible": "leave-out" or a change does.
/// @throws ScenarioError that says at which measurement a change does not fit: where it is wrong, where it leaves a
/// measurement without its point, where no measurement has the field, and where none is left
Suite changed_suite(Suite suite, const std::vector<Override>& changes, const std::filesystem::path& library,
                    const PlatformInspector& inspect = {});

}  // namespace stepcast
