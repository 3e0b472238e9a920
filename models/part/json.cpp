#include "models/part/json.hpp"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>
#include <set>

#include <fmt/format.h>

namespace stepcast {
namespace {

/// Follows the parser through the document to know the pointer of what it reports, and to see keys twice.
class Watch {
 public:
  explicit Watch(std::string file) : file_(std::move(file)) {}

  bool operator()(int /*depth*/, Json::parse_event_t event, Json& parsed) {
    using Event = Json::parse_event_t;
    switch (event) {
      case Event::object_start:
      case Event::array_start:
        begin_value();
        levels_.push_back({event == Event::array_start, {}, 0, {}});
        if (static_cast<int>(levels_.size()) > kMaxDepth)
          refuse(pointer(levels_.size() - 1), fmt::format("nesting deeper than {} levels", kMaxDepth), fmt::format("at most {} levels", kMaxDepth));
        break;
      case Event::object_end:
      case Event::array_end:
        levels_.pop_back();
        break;
      case Event::key: {
        Level& level = levels_.back();
        level.key = parsed.get<std::string>();
        if (level.key.size() > kMaxKeyBytes)
          refuse(pointer(levels_.size() - 1), fmt::format("a key of {} bytes", level.key.size()), fmt::format("keys of at most {} bytes", kMaxKeyBytes));
        if (level.keys.size() >= kMaxKeys)
          refuse(pointer(levels_.size() - 1), fmt::format("an object of more than {} keys", kMaxKeys), fmt::format("at most {} keys", kMaxKeys));
        if (!level.keys.insert(level.key).second && faults_.size() < kMaxFaults)
          faults_.push_back({file_, pointer(levels_.size()), "the key a second time", "each key once", "remove one of the two"});
        break;
      }
      case Event::value:
        begin_value();
        break;
    }
    return true;
  }

  [[nodiscard]] std::vector<Fault> faults() && { return std::move(faults_); }

  /// Where the parser stopped: the last key seen, or the list element that was about to come.
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

  void begin_value() {
    if (!levels_.empty() && levels_.back().is_array) ++levels_.back().next_index;
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

/// nlohmann's message without its "[json.exception.parse_error.101] " tag.
std::string without_tag(const char* what) {
  const std::string text(what);
  const auto end = text.find("] ");
  return end == std::string::npos ? text : text.substr(end + 2);
}

Fault too_large(const std::string& file) {
  return {file, "", fmt::format("more than {} MiB", kMaxFileBytes >> 20), fmt::format("at most {} MiB", kMaxFileBytes >> 20),
          "a scenario is a few kilobytes: is this the right file?"};
}

}  // namespace

Json parse_json(std::string_view text, const std::string& file) {
  if (text.size() > kMaxFileBytes) throw ScenarioError({too_large(file)});
  Watch watch(file);
  try {
    Json document = Json::parse(text.begin(), text.end(), std::ref(watch));
    auto faults = std::move(watch).faults();
    if (!faults.empty()) throw ScenarioError(std::move(faults));
    return document;
  } catch (const Json::exception& error) {
    throw ScenarioError({{file, watch.here(), "malformed JSON (" + shorten(without_tag(error.what()), 300) + ")", "one JSON document", {}}});
  }
}

Json read_json(const std::filesystem::path& path) {
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
    if (!error && size > kMaxFileBytes) throw ScenarioError({too_large(name)});
  }
  std::istream& in = path == "-" ? std::cin : file;
  char chunk[65536];
  while (in.read(chunk, sizeof chunk) || in.gcount() > 0) {
    text.append(chunk, static_cast<std::size_t>(in.gcount()));
    if (text.size() > kMaxFileBytes) throw ScenarioError({too_large(name)});
  }
  return parse_json(text, name);
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

std::string describe_value(const Json& value) {
  if (value.is_object()) return value.empty() ? "an empty object" : "an object";
  if (value.is_array()) return value.empty() ? "an empty list" : fmt::format("a list of {}", value.size());
  return shorten(value.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace stepcast
