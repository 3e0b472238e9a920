#include <fmt/format.h>

#include "calibrate/link/benchmark.hpp"
#include "models/describe/fault.hpp"

namespace stepcast::calibrate {

BadInput::BadInput(const std::string& file, int line, const std::string& found, const std::string& allowed,
                   const std::string& remedy)
    : std::runtime_error(fmt::format("{}{}: found {}; allowed: {}{}{}", file, line > 0 ? fmt::format(":{}", line) : "",
                                     shorten(found, 120), allowed, remedy.empty() ? "" : "; ", remedy)) {}

}  // namespace stepcast::calibrate
