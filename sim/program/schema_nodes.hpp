// Nodes of a JSON Schema, as completion and `stepcast show` read it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "models/describe/json_fwd.hpp"

namespace stepcast {

using SchemaNodes = std::vector<const Json*>;

/// The alternatives of a schema: references followed, choices one by one. Beside other alternatives a list is an axis,
/// and left out.
/// @param definitions  of the whole schema, to which references lead
SchemaNodes alternatives_of(const Json& schema, const Json& definitions);

/// The fields of an object, each with its schema; the object's own "$schema" and "from" are left out.
std::vector<std::pair<std::string, const Json*>> fields_of(const Json& node);

/// The fixed values of a node, each with its meaning: a constant, the choices of an enumeration, true and false.
std::vector<std::pair<std::string, std::string>> values_of(const Json& node);

/// A value as a command line has it: texts without quotes.
std::string plain_text(const Json& value);

}  // namespace stepcast
