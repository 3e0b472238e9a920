// The suites that words on the command line name.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace stepcast {

/// The files of suites, by shipped name or as paths; without words, all shipped suites.
/// @throws BadInput for an unknown name, with the names to choose from; UsageError without any shipped suite
std::vector<std::filesystem::path> suite_files(const std::vector<std::string>& words);

}  // namespace stepcast
