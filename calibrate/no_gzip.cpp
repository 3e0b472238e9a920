// Where the build found no zlib.
#include <stdexcept>

#include "calibrate/gzip.hpp"

namespace stepcast::calibrate {

bool has_gzip() { return false; }
std::string gzip(const std::string&) { throw std::logic_error("built without zlib"); }
std::optional<std::string> gunzip(const std::string&) { throw std::logic_error("built without zlib"); }

}  // namespace stepcast::calibrate
