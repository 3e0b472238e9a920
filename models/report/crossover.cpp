#include "models/report/crossover.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/part/fault.hpp"
#include "models/report/rows.hpp"
#include "models/report/text_table.hpp"

namespace stepcast {
namespace {

struct WorthText {
  Worth worth;
  const char* title;  ///< what is compared
  const char* name;   ///< in JSON
};
constexpr WorthText kWorths[] = {
    {Worth::throughput, "throughput", "throughput_samples_per_s"},
    {Worth::step_time, "step time", "steps_per_s"},
    {Worth::run_time, "time of the whole run", "runs_per_s"},
    {Worth::time_to_target, "time to the run's target", "runs_to_target_per_s"},
};

const WorthText& text_of(Worth worth) {
  return *std::find_if(std::begin(kWorths), std::end(kWorths), [&](const WorthText& one) { return one.worth == worth; });
}

/// "up to 2.31 Gb/s", "2.31 Gb/s to 25 Gb/s", "from 25 Gb/s", "always"; of a whole number alone "4".
std::string stretch_text(const AxisRange& range, const Stretch& one) {
  const bool from_start = one.from <= range.from, to_end = one.to >= range.to;
  if (from_start && to_end) return "always";
  if (one.from == one.to) return human_value(range, one.from);
  if (from_start) return "up to " + human_value(range, one.to);
  if (to_end) return "from " + human_value(range, one.from);
  return fmt::format("{} to {}", human_value(range, one.from), human_value(range, one.to));
}

std::string stretches_text(const AxisRange& range, const std::vector<Stretch>& all, const char* none) {
  std::vector<std::string> texts;
  for (const Stretch& one : all) texts.push_back(stretch_text(range, one));
  return texts.empty() ? none : fmt::format("{}", fmt::join(texts, ", "));
}

/// "1x" of equals only.
std::string speedup_text(double speedup) {
  std::string text = fmt::format("{:.4g}", speedup);
  for (int digits = 5; text == "1" && speedup != 1.0 && digits < 11; ++digits) text = fmt::format("{:.{}g}", speedup, digits);
  return text + "x";
}

/// How far apart neighbours of the grid are: "1.33 times", or a difference.
std::string grid_step_text(const Crossovers& c) {
  const double steps = static_cast<double>(c.grid - 1);
  if (c.range.from > 0) return fmt::format("{:.3g} times", std::pow(c.range.to / c.range.from, 1 / steps));
  return human_value({0, 1, false, c.range.unit}, c.range.to / steps);
}

bool grid_is_complete(const Crossovers& c) { return c.range.whole && c.range.to - c.range.from < static_cast<double>(c.grid); }

std::string headline(const Crossovers& c) {
  std::string text = fmt::format("{}: {} by the {}, along {} from {} to {}\n", c.name, text_of(c.worth).title, c.replayed ? "replay" : "equations", c.axis, human_value(c.range, c.range.from), human_value(c.range, c.range.to));
  text += fmt::format("compared with {}\n", label(c.arrangement.alternatives[c.reference]));
  text += "pays: where it is faster than that; most: its largest speedup over that; fastest: where it is, of equals the first\n";
  if (grid_is_complete(c)) return text + "every value was evaluated\n";
  return text + fmt::format("changes are {}; two of them between neighbours of the {} values looked at first, {}\napart, are not seen: --grid N looks at more\n",
                            c.range.whole ? "exact" : fmt::format("found to {:g} of the value", kCrossoverWidth), c.grid, grid_step_text(c));
}

}  // namespace

Worth choose_worth(const std::vector<PointReport>& points) {
  const auto all = [&](auto&& has) { return std::all_of(points.begin(), points.end(), has); };
  if (all([](const PointReport& p) { return p.run && p.run->to_target; })) return Worth::time_to_target;
  if (all([](const PointReport& p) { return p.run.has_value(); })) return Worth::run_time;
  return all([](const PointReport& p) { return p.samples_per_second > 0; }) ? Worth::throughput : Worth::step_time;
}

double worth_of(Worth worth, const PointReport& point) {
  switch (worth) {
    case Worth::throughput: return point.samples_per_second;
    case Worth::step_time: return 1 / point.answers.shown().step.si();
    case Worth::run_time: return 1 / point.run->time.si();
    case Worth::time_to_target: return point.run->to_target ? 1 / point.run->to_target->si() : 0.0;
  }
  return 0.0;
}

std::string to_text(const Crossovers& c) {
  TextTable table(c.arrangement.situation_axes.size() + c.arrangement.alternative_axes.size() + 1, 1);
  std::vector<std::string> head(c.arrangement.situation_axes);
  head.insert(head.end(), c.arrangement.alternative_axes.begin(), c.arrangement.alternative_axes.end());
  head.insert(head.end(), {"pays", "most", "", "fastest"});
  table.add(head);
  for (const SituationCrossovers& situation : c.situations)
    for (std::size_t i = 0; i < situation.alternatives.size(); ++i) {
      const bool is_reference = situation.alternatives[i] == c.reference;
      std::vector<std::string> row;
      for (const std::string& axis : c.arrangement.situation_axes) row.push_back(value_on(situation.coordinates, axis));
      for (const std::string& axis : c.arrangement.alternative_axes) row.push_back(value_on(c.arrangement.alternatives[situation.alternatives[i]], axis));
      const CrossoverSearch::Most most = situation.search.most(i);
      row.push_back(is_reference ? "is the reference" : stretches_text(c.range, situation.search.pays(i), "never"));
      row.push_back(is_reference ? "" : speedup_text(most.speedup));
      row.push_back(is_reference ? "" : "at " + human_value(c.range, most.value));
      row.push_back(stretches_text(c.range, situation.search.fastest(i), "-"));
      table.add(row);
    }
  std::string text = headline(c) + "\n" + table.text();
  for (const std::string& note : c.notes) text += fmt::format("note: {}\n", note);
  return text;
}

std::string to_csv(const Crossovers& c) {
  std::vector<std::string> names(c.arrangement.situation_axes);
  names.insert(names.end(), c.arrangement.alternative_axes.begin(), c.arrangement.alternative_axes.end());
  const std::string unit(c.range.unit ? c.range.unit->suffix : "");
  names.insert(names.end(), {"holds", c.axis + "_from" + unit, c.axis + "_to" + unit, "speedup_at_from", "speedup_at_to"});
  std::string text = csv_header(names);
  const auto value = [&](double x) { return c.range.whole ? Cell(static_cast<std::int64_t>(x)) : Cell(x); };
  for (const SituationCrossovers& situation : c.situations)
    for (std::size_t i = 0; i < situation.alternatives.size(); ++i) {
      Row row;
      for (const std::string& axis : c.arrangement.situation_axes) row.emplace_back(value_on(situation.coordinates, axis));
      for (const std::string& axis : c.arrangement.alternative_axes) row.emplace_back(value_on(c.arrangement.alternatives[situation.alternatives[i]], axis));
      const auto add = [&](const char* what, const std::vector<Stretch>& all) {
        for (const Stretch& one : all) {
          Row whole(row);
          for (Cell cell : {Cell(std::string(what)), value(one.from), value(one.to), Cell(one.speedup_from), Cell(one.speedup_to)}) whole.push_back(std::move(cell));
          text += csv_row(whole);
        }
      };
      add("pays", situation.search.pays(i));
      add("fastest", situation.search.fastest(i));
    }
  return text;
}

Json crossover_document(const Crossovers& c, const Json& manifest) {
  const auto coordinates = [](const std::vector<Coordinate>& all) {
    Json json = Json::object();
    for (const Coordinate& one : all) json[one.axis] = one.value;
    return json;
  };
  const auto value = [&](double x) { return c.range.whole ? Json(static_cast<std::int64_t>(x)) : Json(x); };
  const auto stretches = [&](const std::vector<Stretch>& all) {
    Json json = Json::array();
    for (const Stretch& one : all) json.push_back({{"from", value(one.from)}, {"to", value(one.to)}, {"speedup_at_from", one.speedup_from}, {"speedup_at_to", one.speedup_to}});
    return json;
  };
  Json json = Json::object();
  json["schema_version"] = kCrossoverSchemaVersion;
  json["name"] = c.name;
  json["worth"] = text_of(c.worth).name;
  json["evaluator"] = c.replayed ? "replay" : "equations";
  json["along"] = {{"axis", c.axis}, {"pointer", c.pointer}, {"from", value(c.range.from)}, {"to", value(c.range.to)}, {"si_unit", c.range.unit ? Json(c.range.unit->suffix.substr(1)) : Json()}, {"grid", c.grid}};
  json["reference"] = coordinates(c.arrangement.alternatives[c.reference]);
  json["situations"] = Json::array();
  for (const SituationCrossovers& situation : c.situations) {
    Json alternatives = Json::array();
    for (std::size_t i = 0; i < situation.alternatives.size(); ++i) {
      const CrossoverSearch::Most most = situation.search.most(i);
      Json worths = Json::array();
      for (const auto& [x, worth] : situation.search.worths(i)) worths.push_back(Json::array({value(x), worth}));
      alternatives.push_back({{"coordinates", coordinates(c.arrangement.alternatives[situation.alternatives[i]])}, {"pays", stretches(situation.search.pays(i))}, {"fastest", stretches(situation.search.fastest(i))},
                              {"most", {{"speedup", most.speedup}, {"at", value(most.value)}}}, {"worths", std::move(worths)}});
    }
    json["situations"].push_back({{"coordinates", coordinates(situation.coordinates)}, {"alternatives", std::move(alternatives)}});
  }
  json["notes"] = c.notes;
  json["manifest"] = manifest;
  return json;
}

}  // namespace stepcast
