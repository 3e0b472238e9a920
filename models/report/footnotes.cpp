#include "models/report/footnotes.hpp"

#include <cctype>
#include <map>
#include <set>

#include <fmt/format.h>

namespace stepcast {

std::string without_numbers(const std::string& note) {
  std::string text;
  bool in_number = false, in_word = false;  // digits inside a name, as in resnet50 or llama-2-7b, are no number
  for (const char c : note) {
    const bool digit = c >= '0' && c <= '9';
    in_number = (digit && !in_word) || (in_number && c == '.');
    in_word = !in_number && (digit || std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_');
    if (!in_number) text += c;
  }
  return text;
}

std::string note_lines(const std::vector<std::string>& notes) {
  constexpr std::size_t kMostAlike = 3;
  std::set<std::string> seen;
  std::vector<std::string> once;
  std::map<std::string, std::size_t> alike;
  for (const std::string& note : notes)
    if (seen.insert(note).second) {
      once.push_back(note);
      ++alike[without_numbers(note)];
    }
  std::string text;
  for (const std::string& note : once) {
    std::size_t& count = alike[without_numbers(note)];
    if (count == 0) continue;  // the first of its kind reported it
    const bool many = count > kMostAlike;
    text += fmt::format("note: {}{}\n", note,
                        many ? fmt::format(" (and {} notes more that differ in numbers alone)", count - 1) : "");
    if (many) count = 0;
  }
  return text;
}

}  // namespace stepcast
