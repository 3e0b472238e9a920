#include "models/search/crossover.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "models/describe/json.hpp"
#include "models/report/footnotes.hpp"
#include "models/report/rows.hpp"
#include "models/search/interval_text.hpp"
#include "models/unit/text_table.hpp"

namespace stepcast {
namespace {

/// "1x" for equal scores only.
std::string speedup_text(double speedup) {
  std::string text = fmt::format("{:.4g}", speedup);
  for (int digits = 5; text == "1" && speedup != 1.0 && digits < 11; ++digits)
    text = fmt::format("{:.{}g}", speedup, digits);
  return text + "x";
}

/// The largest speedup over the reference, and its place. Empty if the alternative fits its device nowhere, and so has
/// no score.
std::optional<CrossoverSearch::Most> most_of(const CrossoverSearch& search, std::size_t alternative) {
  const auto scores = search.scores(alternative);
  const bool is_possible = std::any_of(scores.begin(), scores.end(), [](const auto& at) { return at.second > 0; });
  return is_possible ? std::optional(search.most(alternative)) : std::nullopt;
}

bool has_stacks(const Crossovers& c) {
  return std::any_of(c.situations.begin(), c.situations.end(), [](const SituationCrossovers& situation) {
    return std::any_of(situation.stack.begin(), situation.stack.end(),
                       [](const StackShares& one) { return one.most > 0; });
  });
}

/// "3.0 % .. 18.0 %"; "18.0 %" for equal ends
std::string shares_text(const StackShares& shares) {
  const std::string least = tenths(shares.least), most = tenths(shares.most);
  return least == most ? most : fmt::format("{} .. {}", least, most);
}

std::string headline(const Crossovers& c) {
  std::string text = fmt::format("{}: {} by the {}, along {} {}\n", c.name, c.metric->compared.title,
                                 c.replayed ? "replay" : "equations", c.axis, range_text(c.range));
  text += fmt::format("compared with {}\n", label(c.arrangement.alternatives[c.reference]));
  text +=
      "pays: faster than the reference there; most: its largest speedup over the reference; fastest: the fastest of "
      "all there, among equals the first\n";
  if (has_stacks(c))
    text += "stack: its part of the step (copies, operations, negotiation, gathering, slowdown), least to most\n";
  return text + search_text(c.range, c.grid);
}

}  // namespace

std::string to_text(const Crossovers& c) {
  TextTable table(c.arrangement.situation_axes.size() + c.arrangement.alternative_axes.size() + 1, 1);
  std::vector<std::string> head(c.arrangement.situation_axes);
  head.insert(head.end(), c.arrangement.alternative_axes.begin(), c.arrangement.alternative_axes.end());
  head.insert(head.end(), {"pays", "most", "", "fastest"});
  const bool stacks = has_stacks(c);
  if (stacks) head.emplace_back("stack");
  table.add(head);
  for (const SituationCrossovers& situation : c.situations)
    for (std::size_t i = 0; i < situation.alternatives.size(); ++i) {
      const bool is_reference = situation.alternatives[i] == c.reference;
      std::vector<std::string> row;
      for (const std::string& axis : c.arrangement.situation_axes) row.push_back(value_on(situation.coordinates, axis));
      for (const std::string& axis : c.arrangement.alternative_axes)
        row.push_back(value_on(c.arrangement.alternatives[situation.alternatives[i]], axis));
      row.push_back(is_reference ? "is the reference" : intervals_text(c.range, situation.search.pays(i), "never"));
      const auto most = most_of(situation.search, i);
      if (!most) row.insert(row.end(), {"impossible", ""});
      else if (is_reference) row.insert(row.end(), {"", ""});
      // The reference has no score if it does not fit its device.
      else
        row.insert(row.end(), {std::isinf(most->speedup) ? "alone" : speedup_text(most->speedup),
                               "at " + human_value(c.range, most->value)});
      row.push_back(intervals_text(c.range, situation.search.fastest(i), "-"));
      if (stacks) row.push_back(shares_text(situation.stack[i]));
      table.add(row);
    }
  std::string text = headline(c) + "\n" + table.text();
  text += note_lines(c.notes);
  return text;
}

std::string to_csv(const Crossovers& c) {
  std::vector<std::string> names(c.arrangement.situation_axes);
  names.insert(names.end(), c.arrangement.alternative_axes.begin(), c.arrangement.alternative_axes.end());
  const std::string unit(c.range.unit ? c.range.unit->suffix : "");
  names.insert(names.end(),
               {"holds", c.axis + "_from" + unit, c.axis + "_to" + unit, "speedup_at_from", "speedup_at_to"});
  std::string text = csv_header(names);
  for (const SituationCrossovers& situation : c.situations)
    for (std::size_t i = 0; i < situation.alternatives.size(); ++i) {
      Row row;
      for (const std::string& axis : c.arrangement.situation_axes)
        row.emplace_back(value_on(situation.coordinates, axis));
      for (const std::string& axis : c.arrangement.alternative_axes)
        row.emplace_back(value_on(c.arrangement.alternatives[situation.alternatives[i]], axis));
      const auto add = [&](const char* what, const std::vector<FieldInterval>& all) {
        for (const FieldInterval& one : all) {
          Row whole(row);
          for (Cell cell : {Cell(std::string(what)), value_cell(c.range, one.from), value_cell(c.range, one.to),
                            Cell(one.at_from), Cell(one.at_to)})
            whole.push_back(std::move(cell));
          text += csv_row(whole);
        }
      };
      add("pays", situation.search.pays(i));
      add("fastest", situation.search.fastest(i));
    }
  return text;
}

Json crossover_document(const Crossovers& c, const Json& manifest) {
  const auto value = [&](double x) { return value_json(c.range, x); };
  const auto intervals = [&](const std::vector<FieldInterval>& all) {
    Json json = Json::array();
    for (const FieldInterval& one : all)
      json.push_back({{"from", value(one.from)},
                      {"to", value(one.to)},
                      {"speedup_at_from", one.at_from},
                      {"speedup_at_to", one.at_to}});
    return json;
  };
  Json json = Json::object();
  json["schema_version"] = kCrossoverSchemaVersion;
  json["name"] = c.name;
  json["worth"] = std::string(c.metric->compared.score);
  json["evaluator"] = c.replayed ? "replay" : "equations";
  json["along"] = along_json(c.axis, c.pointer, c.range, c.grid);
  json["reference"] = coordinates_json(c.arrangement.alternatives[c.reference]);
  json["situations"] = Json::array();
  for (const SituationCrossovers& situation : c.situations) {
    Json alternatives = Json::array();
    for (std::size_t i = 0; i < situation.alternatives.size(); ++i) {
      const auto most = most_of(situation.search, i);
      Json scores = Json::array();
      for (const auto& [x, score] : situation.search.scores(i)) scores.push_back(Json::array({value(x), score}));
      alternatives.push_back({{"coordinates", coordinates_json(c.arrangement.alternatives[situation.alternatives[i]])},
                              {"pays", intervals(situation.search.pays(i))},
                              {"fastest", intervals(situation.search.fastest(i))},
                              {"most", most ? Json{{"speedup", most->speedup}, {"at", value(most->value)}} : Json()},
                              {"stack_share", {situation.stack[i].least, situation.stack[i].most}},
                              {"worths", std::move(scores)}});
    }
    json["situations"].push_back(
        {{"coordinates", coordinates_json(situation.coordinates)}, {"alternatives", std::move(alternatives)}});
  }
  json["notes"] = coded(c.notes);
  json["manifest"] = manifest;
  return json;
}

}  // namespace stepcast
