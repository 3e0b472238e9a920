#include "models/report/rows.hpp"

#include <cmath>
#include <iterator>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/describe/json.hpp"

namespace stepcast {

static void to_json(Json& json, const PhaseCell& phase) {
  json = {{"name", phase.name},
          {"epochs", phase.epochs},
          {"steps_per_epoch", phase.steps_per_epoch},
          {"step_time_s", phase.step_time_s},
          {"before_s", phase.before_s},
          {"time_s", phase.time_s}};
}

static void from_json(const Json& json, PhaseCell& phase) {
  phase = {json.at("name").get<std::string>(),
           json.at("epochs").get<std::int64_t>(),
           json.at("steps_per_epoch").get<std::int64_t>(),
           json.at("step_time_s").get<double>(),
           json.at("before_s").get<double>(),
           json.at("time_s").get<double>()};
}

namespace {

std::string text_of(const PhaseCell& phase) {
  return fmt::format("{}: {} x {} x {} s{}", phase.name, phase.epochs, phase.steps_per_epoch, phase.step_time_s,
                     phase.before_s > 0 ? fmt::format(" + {} s", phase.before_s) : "");
}

struct CsvAppender {
  std::string& text;

  void operator()(std::monostate) const {}
  void operator()(bool value) const { text += value ? "true" : "false"; }
  void operator()(std::int64_t value) const { fmt::format_to(std::back_inserter(text), "{}", value); }
  void operator()(double value) const {
    if (std::isfinite(value)) fmt::format_to(std::back_inserter(text), "{}", value);
  }
  void operator()(const std::string& value) const {
    if (value.find_first_of(",\"\n\r") == std::string::npos) {
      text += value;
      return;
    }
    text += '"';
    for (const char c : value) text.append(c == '"' ? 2 : 1, c);
    text += '"';
  }
  void operator()(const std::vector<std::string>& values) const { (*this)(fmt::format("{}", fmt::join(values, "; "))); }
  void operator()(const std::vector<PhaseCell>& phases) const {
    std::vector<std::string> texts;
    for (const PhaseCell& phase : phases) texts.push_back(text_of(phase));
    (*this)(texts);
  }
};

struct JsonAppender {
  std::string& text;

  void operator()(std::monostate) const { text += "null"; }
  void operator()(bool value) const { text += value ? "true" : "false"; }
  void operator()(std::int64_t value) const { fmt::format_to(std::back_inserter(text), "{}", value); }
  void operator()(double value) const {
    if (!std::isfinite(value)) {
      text += "null";
      return;
    }
    const std::size_t from = text.size();
    fmt::format_to(std::back_inserter(text), "{}", value);
    if (text.find_first_of(".e", from) == std::string::npos) text += ".0";
  }
  void operator()(const std::string& value) const { text += Json(value).dump(); }
  void operator()(const auto& list) const { text += Json(list).dump(); }
};

Cell cell_of(const Json& json) {
  if (json.is_null()) return {};
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number()) return json.get<double>();
  if (json.is_array() && !json.empty() && json.front().is_object()) return json.get<std::vector<PhaseCell>>();
  if (json.is_array()) return json.get<std::vector<std::string>>();
  return json.get<std::string>();
}

struct CellJson {
  Json operator()(std::monostate) const { return nullptr; }
  Json operator()(const auto& value) const { return value; }
};

}  // namespace

bool holds(CellKind kind, const Cell& cell) {
  if (std::holds_alternative<std::monostate>(cell)) return true;
  switch (kind) {
    case CellKind::truth: return std::holds_alternative<bool>(cell);
    case CellKind::count: return std::holds_alternative<std::int64_t>(cell);
    case CellKind::number: return std::holds_alternative<double>(cell) || std::holds_alternative<std::int64_t>(cell);
    case CellKind::text: return std::holds_alternative<std::string>(cell);
    case CellKind::value: return holds(CellKind::number, cell) || holds(CellKind::text, cell);
    case CellKind::texts: return std::holds_alternative<std::vector<std::string>>(cell);
    case CellKind::phases: return std::holds_alternative<std::vector<PhaseCell>>(cell);
  }
  return false;
}

Json json_of(const Cell& cell) { return std::visit(CellJson{}, cell); }

std::string csv_row(const Row& row) {
  std::string text;
  text.reserve(16 * row.size());
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (i > 0) text += ',';
    std::visit(CsvAppender{text}, row[i]);
  }
  text += '\n';
  return text;
}

std::string csv_header(const std::vector<std::string>& names) { return csv_row(Row(names.begin(), names.end())); }

std::string json_row(const std::vector<std::string>& names, const Row& row) {
  std::string text;
  text.reserve(36 * row.size());
  for (std::size_t i = 0; i < row.size(); ++i) {
    text += i == 0 ? "{" : ",";
    text += Json(names[i]).dump();
    text += ':';
    std::visit(JsonAppender{text}, row[i]);
  }
  text += "}\n";
  return text;
}

std::string numbered_row(std::size_t number, const Row& row) {
  std::string text = fmt::format("[{},[", number);
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (i > 0) text += ',';
    std::visit(JsonAppender{text}, row[i]);
  }
  text += "]]\n";
  return text;
}

NumberedRow parse_numbered_row(std::string_view line) {
  try {
    const Json json = Json::parse(line);
    NumberedRow numbered{json.at(0).get<std::size_t>(), {}};
    for (const Json& cell : json.at(1)) numbered.row.push_back(cell_of(cell));
    return numbered;
  } catch (const Json::exception&) {
    throw std::runtime_error("no row of a shard");
  }
}

}  // namespace stepcast
