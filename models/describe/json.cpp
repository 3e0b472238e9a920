#include "models/describe/json.hpp"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>
#include <set>

#include <fmt/format.h>

#include "models/describe/json_value.hpp"

namespace stepcast {
namespace {

constexpr bool kIgnoresComments = true;  // as people write them, // and /* */

/// A first walk over the document. It records the JSON pointer of a parser error and finds duplicate keys. It is
/// separate from the parser: the parser's own callback scans a whole list at the end of each object in it.
class Watch : public Json::json_sax_t {
 public:
  explicit Watch(std::string file) : file_(std::move(file)) {}

  bool null() override { return value(); }
  bool boolean(bool) override { return value(); }
  bool number_integer(Json::number_integer_t) override { return value(); }
  bool number_unsigned(Json::number_unsigned_t) override { return value(); }
  bool number_float(Json::number_float_t, const std::string&) override { return value(); }
  bool string(std::string&) override { return value(); }
  bool binary(Json::binary_t&) override { return value(); }
  bool start_object(std::size_t) override { return start(false); }
  bool start_array(std::size_t) override { return start(true); }
  bool end_object() override { return end(); }
  bool end_array() override { return end(); }
  /// The parser itself reports the error.
  bool parse_error(std::size_t, const std::string&, const Json::exception&) override { return false; }

  bool key(std::string& key) override {
    Level& level = levels_.back();
    level.key = key;
    if (level.key.size() > kMaxKeyBytes)
      refuse(pointer(levels_.size() - 1), fmt::format("a key of {} bytes", level.key.size()),
             fmt::format("keys of at most {} bytes", kMaxKeyBytes));
    if (level.keys.size() >= kMaxKeys)
      refuse(pointer(levels_.size() - 1), fmt::format("an object of more than {} keys", kMaxKeys),
             fmt::format("at most {} keys", kMaxKeys));
    if (!level.keys.insert(level.key).second && faults_.size() < kMaxFaults)
      faults_.push_back(
          {file_, pointer(levels_.size()), "the key a second time", "each key once", "remove one of the two"});
    return true;
  }

  [[nodiscard]] std::vector<Fault> faults() && { return std::move(faults_); }

  /// The place where the parser stops: the last key, or the next list element.
  [[nodiscard]] std::string here() const {
    if (levels_.empty()) return "";
    const std::string outside = pointer(levels_.size() - 1);
    const Level& level = levels_.back();
    if (level.is_array) return pointer_to(outside, level.next_index);
    return level.keys.empty() ? outside : pointer_to(outside, level.key);
  }

 private:
  struct Level {
    bool is_array;
    std::string key;
    std::size_t next_index;
    std::set<std::string> keys;
  };

  [[noreturn]] void refuse(std::string where, std::string found, std::string allowed) const {
    throw ScenarioError({{file_, std::move(where), std::move(found), std::move(allowed), {}}});
  }

  bool value() {
    if (!levels_.empty() && levels_.back().is_array) ++levels_.back().next_index;
    return true;
  }
  bool start(bool is_array) {
    value();
    levels_.push_back({is_array, {}, 0, {}});
    if (static_cast<int>(levels_.size()) > kMaxDepth)
      refuse(pointer(levels_.size() - 1), fmt::format("nesting deeper than {} levels", kMaxDepth),
             fmt::format("at most {} levels", kMaxDepth));
    return true;
  }
  bool end() {
    levels_.pop_back();
    return true;
  }

  [[nodiscard]] std::string pointer(std::size_t depth) const {
    std::string text;
    for (std::size_t i = 0; i < depth; ++i)
      text = levels_[i].is_array ? pointer_to(text, levels_[i].next_index - 1) : pointer_to(text, levels_[i].key);
    return shorten(text, 400);
  }

  std::string file_;
  std::vector<Level> levels_;
  std::vector<Fault> faults_;
};

/// nlohmann's message without its "[json.exception.parse_error.101] " tag and without its position.
std::string without_tag(const char* what) {
  std::string text(what);
  if (const auto tag = text.find("] "); tag != std::string::npos) text.erase(0, tag + 2);
  if (const auto place = text.find(": "); text.starts_with("parse error at") && place != std::string::npos)
    text.erase(0, place + 2);
  return text;
}

/// The text in printable form: valid UTF-8, without control characters or surrounding spaces.
std::string readable(std::string_view text) {
  auto shown = Json::parse(Json(text).dump(-1, ' ', false, Json::error_handler_t::replace)).get<std::string>();
  std::replace_if(
      shown.begin(), shown.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  const auto first = shown.find_first_not_of(' ');
  return first == std::string::npos ? "" : shown.substr(first, shown.find_last_not_of(' ') - first + 1);
}

/// Builds the fault for text that is not JSON. The parser stops after `read` bytes; the last one is the unexpected
/// byte. After a trailing comma, that byte is the closing bracket.
Fault malformed(std::string_view text, std::size_t read, const std::string& file, const char* what) {
  constexpr std::string_view kSpaces = " \t\r\n";
  std::size_t at = std::min(read > 0 ? read - 1 : 0, text.size());
  if (at == text.size()) at = text.find_last_not_of(kSpaces) + 1;  // npos + 1 is 0
  std::string remedy;
  if (const auto before = text.substr(0, at).find_last_not_of(kSpaces); before != std::string_view::npos &&
                                                                        text[before] == ',' && at < text.size() &&
                                                                        (text[at] == '}' || text[at] == ']')) {
    remedy = fmt::format("remove the comma before the \"{}\"", text[at]);
    at = before;
  }
  const std::size_t begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
  const std::string_view line = text.substr(begin, std::min(text.find('\n', begin), text.size()) - begin);
  const auto number = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(begin), '\n');
  // Show only the neighbourhood of the error in a long line.
  constexpr std::size_t kShown = 72;
  const std::size_t column = at - begin, from = line.size() > kShown && column > kShown / 2 ? column - kShown / 2 : 0;
  const std::string shown = readable(line.substr(from, kShown));
  return {file, fmt::format("line {}, column {}", number, column + 1),
          fmt::format("malformed JSON ({}){}", shorten(without_tag(what), 300),
                      shown.empty() ? ""
                                    : fmt::format(" in {}{}{}", from > 0 ? "..." : "", shown,
                                                  from + kShown < line.size() ? "..." : "")),
          "one JSON document", remedy};
}

Fault too_large(const std::string& file, std::size_t most_bytes) {
  const bool is_scenario = most_bytes == kMaxFileBytes;
  return {file, "", fmt::format("more than {} MiB", most_bytes >> 20), fmt::format("at most {} MiB", most_bytes >> 20),
          is_scenario ? "a scenario is a few kilobytes: is this the right file?" : ""};
}

}  // namespace

Json parse_json(std::string_view text, const std::string& file, std::size_t most_bytes) {
  if (text.size() > most_bytes) throw ScenarioError({too_large(file, most_bytes)});
  Watch watch(file);
  Json document;
  try {
    Json::sax_parse(text.begin(), text.end(), &watch, nlohmann::detail::input_format_t::json, true, kIgnoresComments);
    document = Json::parse(text.begin(), text.end(), nullptr, true, kIgnoresComments);
  } catch (const Json::parse_error& error) {
    throw ScenarioError({malformed(text, error.byte, file, error.what())});
  } catch (const Json::exception& error) {
    throw ScenarioError({{file,
                          watch.here(),
                          "malformed JSON (" + shorten(without_tag(error.what()), 300) + ")",
                          "one JSON document",
                          {}}});
  }
  // The parser stops at a NUL byte and ignores the text after it.
  if (const auto nul = text.find('\0'); nul != std::string_view::npos)
    throw ScenarioError({malformed(text, nul + 1, file, "a NUL byte")});
  auto faults = std::move(watch).faults();
  if (!faults.empty()) throw ScenarioError(std::move(faults));
  return document;
}

Json read_json(const std::filesystem::path& path, std::size_t most_bytes) {
  const std::string name = path == "-" ? "standard input" : path.string();
  std::string text;
  std::ifstream file;
  if (path != "-") {
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) throw ScenarioError({{name, "", "a folder", "a JSON file", {}}});
    file.open(path, std::ios::binary);
    if (!file)
      throw ScenarioError({{name, "", "no such file, or it cannot be read", "a readable JSON file",
                            "check the path; paths inside a scenario are relative to the file that names them"}});
    const auto size = std::filesystem::file_size(path, error);
    if (!error && size > most_bytes) throw ScenarioError({too_large(name, most_bytes)});
  }
  std::istream& in = path == "-" ? std::cin : file;
  char chunk[65536];
  while (in.read(chunk, sizeof chunk) || in.gcount() > 0) {
    text.append(chunk, static_cast<std::size_t>(in.gcount()));
    if (text.size() > most_bytes) throw ScenarioError({too_large(name, most_bytes)});
  }
  return parse_json(text, name, most_bytes);
}

std::string text_at(const Json& object, const char* field) {
  const auto found = object.find(field);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::string pointer_to(std::string_view parent, std::string_view key) {
  std::string text(parent);
  text += '/';
  for (const char c : key) {
    if (c == '~') text += "~0";
    else if (c == '/') text += "~1";
    else text += c;
  }
  return text;
}

std::string pointer_to(std::string_view parent, std::size_t index) { return fmt::format("{}/{}", parent, index); }

std::optional<std::vector<std::string>> tokens_of(const std::string& pointer) {
  std::vector<std::string> tokens;
  try {
    for (Json::json_pointer rest(pointer); !rest.empty(); rest.pop_back()) tokens.push_back(rest.back());
  } catch (const Json::parse_error&) {
    return {};
  }
  std::reverse(tokens.begin(), tokens.end());
  return tokens;
}

bool is_utf8(const std::string& text) {
  try {
    static_cast<void>(Json(text).dump());
    return true;
  } catch (const Json::exception&) {
    return false;
  }
}

bool is_index(std::string_view token) {
  return !token.empty() && token.size() < 7 && (token.size() == 1 || token.front() != '0') &&
         std::all_of(token.begin(), token.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string describe_value(const Json& value) {
  if (value.is_object()) return value.empty() ? "an empty object" : "an object";
  if (value.is_array()) return value.empty() ? "an empty list" : fmt::format("a list of {}", value.size());
  return shorten(value.dump(-1, ' ', false, Json::error_handler_t::replace));
}

JsonValue::JsonValue() : JsonValue(Json::object()) {}
JsonValue::JsonValue(Json value) : value_(std::make_shared<const Json>(std::move(value))) {}
bool JsonValue::operator==(const JsonValue& other) const { return value_ == other.value_ || *value_ == *other.value_; }

}  // namespace stepcast
