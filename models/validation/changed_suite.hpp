// A suite with changed fields of its study. Its errors show the effect of another assumption.
#pragma once

#include <filesystem>
#include <vector>

#include "models/scenario/override.hpp"
#include "models/study/suite.hpp"

namespace stepcast {

/// Changes the study by overrides (load_study), at the measured points whose scenarios have the field. The other points
/// stay unchanged. Changed points add their own notes to those of the study.
///
/// A measurement may lose its point because the change makes it impossible. It is left out with a note if the study, or
/// a change, says "impossible": "leave-out".
///
/// @throws ScenarioError naming the measurement, if a change is wrong there or leaves the measurement without its
/// point. Also if no measurement has the field, or none is left
Suite changed_suite(Suite suite, const std::vector<Override>& changes, const std::filesystem::path& library,
                    const PlatformInspector& inspect = {});

}  // namespace stepcast
