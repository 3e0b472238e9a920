// Changes of single fields of a document.
#pragma once

#include <string>

#include "models/scenario/document.hpp"

namespace stepcast {

/// One `--set /json/pointer=value` (or an entry of a variant's "set"): pointer, value and origin.
struct Override {
  std::string pointer;
  Json value;
  std::string file;   ///< for faults
  std::string place;  ///< pointer inside `file`
};

/// Parses "/json/pointer=value". The value is JSON if it parses as JSON, otherwise text. Text may not begin like an
/// object, a list or a quoted text.
/// @throws ScenarioError
Override parse_override(const std::string& text);

/// Writes the value into the document and creates missing objects on the path. A part, profile or variant given by
/// reference becomes {"from": reference} plus the value. A missing strategy becomes the default strategy if that has
/// the field. Below the list of an axis, each of its values gets the change. If the pointer leads into a workload
/// outside the document, the workload returns to it.
/// @throws ScenarioError when the pointer is malformed, empty, or leads through a value that is not an object or list
void apply(const Override& change, Document& document);

}  // namespace stepcast
