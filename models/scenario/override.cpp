#include "models/scenario/override.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/scenario/fields.hpp"
#include "models/scenario/part_json.hpp"
#include "models/scenario/references.hpp"
#include "models/scenario/scenario_axes.hpp"

namespace stepcast {

Override parse_override(const std::string& text) {
  const auto equals = text.find('=');
  const std::string shown = describe_value(text);
  if (equals == std::string::npos || text.front() != '/')
    throw ScenarioError({{"--set", "", shown, "/json/pointer=value, such as /cluster/workers=64", ""}});
  if (!is_utf8(text)) throw ScenarioError({{"--set", "", shown, "UTF-8", ""}});
  const std::string pointer = text.substr(0, equals);
  const std::string value = text.substr(equals + 1);
  Json json;
  try {
    json = parse_json(value, "--set " + pointer);
  } catch (const ScenarioError&) {
    const auto first = value.find_first_not_of(" \t\r\n");
    if (first != std::string::npos && std::string_view("{[\"").find(value[first]) != std::string_view::npos) throw;
    json = value;
  }
  return {pointer, std::move(json), "--set", pointer};
}

namespace {

/// The kind of the default strategy if it has the field; null otherwise.
Json default_strategy_with(const std::string& field) {
  const Json strategy = write_value(ScenarioFields{}.strategy.value);
  return strategy.contains(field) ? Json{{"kind", strategy["kind"]}} : Json();
}

/// The number of bytes of a pointer that a fault shows.
constexpr std::size_t kShownPointer = 400;

/// Writes a change into a document, walking down its pointer.
class Writing {
 public:
  Writing(const Override& change, Document& document) : change_(change), document_(document) {
    if (change.pointer.empty()) throw fault("an empty pointer");
    const auto tokens = tokens_of(change.pointer);
    if (!tokens) throw fault(fmt::format("the malformed pointer \"{}\"", shorten(change.pointer, kShownPointer)));
    tokens_ = *tokens;
    if (tokens_.size() > static_cast<std::size_t>(kMaxDepth))
      throw ScenarioError(
          {{change.file, shorten(change.place, kShownPointer), fmt::format("a pointer of {} levels", tokens_.size()),
            fmt::format("at most {} levels", kMaxDepth), ""}});
  }

  void write() { write(document_.json, "", tokens_, ""); }

 private:
  /// @param here  the pointer of `value`
  /// @param made  the topmost newly created value on the path; empty: none
  void write(Json& value, const std::string& here, std::span<const std::string> tokens, std::string made) {
    if (tokens.empty()) return set(value, here, made);
    const std::string& token = tokens.front();
    if (is_part(here) && is_index(token)) list_files(value, here, document_);
    if (value.is_string() && may_be_reference(here)) value = Json::object({{"from", value}});
    if (is_part(here) && here.starts_with("/workload")) keep_timing(value, token, change_.value);
    if (value.is_array() && is_padded(token))
      throw fault(fmt::format("the index {} in \"{}\"", shorten(token), shorten(change_.pointer, kShownPointer)),
                  "a number without zeros before it (RFC 6901)");
    if (value.is_array() && !is_index(token) && is_axis(here)) {
      document_.spread.push_back({change_.file, change_.place, here});
      for (std::size_t i = 0; i < value.size(); ++i) write(value[i], pointer_to(here, i), tokens, made);
      return;
    }
    const std::string below = pointer_to(here, token);
    if (value.is_null() && made.empty()) made = here;
    if (value.is_null() && here == "/strategy") {
      value = default_strategy_with(token);
      document_.strategy_is_assumed = true;
    }
    if (value.is_object() && !value.contains(token) && made.empty()) made = below;
    if (value.is_array() && is_index(token) && std::stoul(token) < value.size())
      return write(value[std::stoul(token)], below, tokens.subspan(1), std::move(made));
    if (value.is_object() || value.is_null()) return write(value[token], below, tokens.subspan(1), std::move(made));
    throw fault(fmt::format("\"{}\", where {} is {}", shorten(change_.pointer, kShownPointer),
                            here.empty() ? "the document" : here, describe_value(value)));
  }

  void set(Json& value, const std::string& here, const std::string& made) {
    value = change_.value;
    if (here == "/strategy" || here == "/strategy/kind") document_.strategy_is_assumed = false;
    // For --set, the place is the pointer itself, so the place of its beginning is known, too. Objects that an option
    // or a variant's change creates keep the document's origin: the change does not cover their other fields.
    if (const std::string rest = here.substr(made.size()); !made.empty() && change_.place.ends_with(rest))
      document_.origins.add(made, change_.file, change_.place.substr(0, change_.place.size() - rest.size()));
    document_.origins.add(here, change_.file, change_.place);
  }

  [[nodiscard]] bool is_axis(const std::string& pointer) const {
    const auto axes = scenario_axes(document_.json);
    return std::find(axes.begin(), axes.end(), pointer) != axes.end();
  }

  /// Text such as "00", which is not an index.
  static bool is_padded(const std::string& token) {
    return token.size() > 1 && token.front() == '0' && token.find_first_not_of("0123456789") == std::string::npos;
  }

  [[nodiscard]] ScenarioError fault(
      const std::string& found,
      const std::string& allowed = "the JSON pointer of a field, such as /cluster/workers") const {
    return ScenarioError({{change_.file, shorten(change_.place, kShownPointer), found, allowed, ""}});
  }

  const Override& change_;
  Document& document_;
  std::vector<std::string> tokens_;
};

}  // namespace

void apply(const Override& change, Document& document) {
  Writing writing(change, document);
  if (document.workload && is_at_or_below(change.pointer, "/workload")) {
    document.json["workload"] = *document.workload;
    document.workload.reset();
  }
  writing.write();
}

}  // namespace stepcast
