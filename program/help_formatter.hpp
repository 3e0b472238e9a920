// The text of --help, within 80 columns.
#pragma once

#include <memory>

namespace CLI {
class FormatterBase;
}  // namespace CLI

namespace stepcast {

/// Options with their values' names on the left and their meaning on the right, wrapped. Examples that are too long go
/// on in the next line behind a backslash, so that a shell takes them as they stand.
std::shared_ptr<CLI::FormatterBase> help_formatter();

}  // namespace stepcast
