// A program's standard streams: preparation at the start, and messages to people.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace stepcast {

/// To be called first in main. Closed descriptors among 0 to 2 are taken, so that no file gets one of them. Reading
/// from 0 and writing to 1 then fail, and messages to 2 vanish. A file beyond `ulimit -f` is a failed write from then
/// on (EFBIG) and no signal, here and in the program's children.
void prepare_streams();

/// A message on standard error. If it cannot be written it is lost, and nothing else happens: messages never change
/// the program's results.
void tell(std::string_view text);
template <class First, class... Others>
void tell(fmt::format_string<First, Others...> format, First&& first, Others&&... others) {
  tell(std::string_view(fmt::format(format, std::forward<First>(first), std::forward<Others>(others)...)));
}

/// A part of the program's result on standard output; finish_output() says whether all of it arrived.
void print_result(std::string_view text);

/// The reason why standard output lacks a part of the printed text, such as "No space left on device"; "" if it has
/// all.
std::string finish_output();

}  // namespace stepcast
