#include "program/terminal.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <utility>

#include <sys/ioctl.h>
#include <unistd.h>

namespace stepcast {
namespace {

/// Escape sequences (ECMA-48, select graphic rendition) by how a line begins.
constexpr std::pair<std::string_view, std::string_view> kStyles[] = {
    {"note: ", "\033[2m"}, {"! ", "\033[33m"}, {"failed: ", "\033[31m"}, {"left out to fit", "\033[2m"}};
constexpr std::string_view kBold = "\033[1m", kPlain = "\033[0m";

std::string_view style_of(std::string_view line, bool is_first) {
  if (is_first) return kBold;
  for (const auto& [beginning, style] : kStyles)
    if (line.starts_with(beginning)) return style;
  return "";
}

}  // namespace

std::size_t terminal_width() {
  if (::isatty(STDOUT_FILENO) == 0) return 0;
  if (const char* columns = std::getenv("COLUMNS")) {
    const std::string_view text = columns;
    std::size_t width = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), width).ec == std::errc{} && width > 0) return width;
  }
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

bool shows_colours() {
  const char* terminal = std::getenv("TERM");
  const char* refused = std::getenv("NO_COLOR");
  return ::isatty(STDOUT_FILENO) != 0 && !(refused && *refused) && terminal && std::string_view(terminal) != "dumb";
}

std::string with_colours(std::string_view text) {
  std::string styled;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin), style = style_of(line, begin == 0);
    styled += style;
    styled += line;
    if (!style.empty()) styled += kPlain;
    if (end < text.size()) styled += '\n';
    begin = end + 1;
  }
  return styled;
}

}  // namespace stepcast
