// stepcast fit: finds constants that measured rows determine, and tests them on the rows left.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/describe/json.hpp"
#include "models/scenario/library.hpp"
#include "models/scenario/part_json.hpp"
#include "models/study/suite.hpp"
#include "models/validation/fit.hpp"
#include "models/validation/row_selection.hpp"
#include "models/validation/validation_writers.hpp"
#include "program/options.hpp"
#include "program/streams.hpp"
#include "sim/answer/field.hpp"
#include "sim/program/command.hpp"
#include "sim/program/output.hpp"
#include "sim/program/study_options.hpp"
#include "sim/program/suite_files.hpp"
#include "sim/program/training.hpp"
#include "sim/replay/processes.hpp"
#include "sim/replay/simulator.hpp"

namespace stepcast {
namespace {

struct FitOptions {
  std::vector<std::string> suites;
  std::vector<std::string> constants, train, sets;
  std::string leave_out, part, json;
  int jobs = available_cores();
};

/// The fields that texts of --constant name.
std::vector<Field> constant_fields(const std::vector<std::string>& constants) {
  constexpr const char* kOption = "--constant";
  std::vector<Field> fields;
  for (const std::string& text : constants) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || !text.starts_with('/'))
      throw UsageError(kOption, fmt::format("\"{}\" is not /json/pointer=FROM..TO, such as {}", text,
                                            "/stack/backward_slowdown=1..2"));
    const std::string pointer = text.substr(0, equals);
    if (std::any_of(fields.begin(), fields.end(), [&](const Field& other) { return other.pointer == pointer; }))
      throw UsageError(kOption, fmt::format("{} twice; give each field one range", pointer));
    fields.push_back(
        read_option(kOption, [&] { return field_at(pointer, std::string_view(text).substr(equals + 1)); }));
    if (fields.back().range.is_discrete())
      throw UsageError(kOption, fmt::format("{} takes values in steps, and a fit needs all values between two ends; "
                                            "stepcast solve tries each step",
                                            pointer));
  }
  return fields;
}

/// "781.6ps/B": as people write it if that reads back to the same value, otherwise exactly.
std::string setting_text(const AxisRange& range, double value) {
  std::string text = human_value(range, value);
  std::erase(text, ' ');
  const auto read = read_written(text);
  return read && read->value == value ? text : coordinate_text(range, value);
}

/// "/stack/host_cost=1ns/B" for each field.
std::vector<std::string> settings(const std::vector<Field>& fields, const std::vector<double>& values) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < fields.size(); ++i)
    all.push_back(fmt::format("{}={}", fields[i].pointer, setting_text(fields[i].range, values[i])));
  return all;
}

/// The part that a file of --write holds: all constants are in it.
std::string part_to_write(const std::vector<Field>& fields) {
  const auto part_of = [](const Field& field) { return field.pointer.substr(1, field.pointer.find('/', 1) - 1); };
  const std::string part = part_of(fields.front());
  for (const Field& field : fields)
    if (part_of(field) != part || (part != "stack" && part != "cluster"))
      throw UsageError("--write",
                       fmt::format("writes a stack or a cluster, and {} is in {}; fit the constants of one part",
                                   field.pointer, part_of(field)));
  return part;
}

std::string interval_text(const AxisRange& range, const FittedConstant& one, std::size_t rows, std::size_t constants) {
  if (one.low) return fmt::format("95 %: {} to {}", human_value(range, *one.low), human_value(range, *one.high));
  return rows <= constants ? "met exactly: no row is left to tell how well" : "these rows do not determine it";
}

/// The stack or cluster of the first trained row, with the constants and where they are from.
/// @param name    of the part
/// @param spread  of rows left out in turn; 0: not known
Json written_part(const Training& training, const std::string& part, const std::string& name, double spread,
                  const std::vector<double>& values, const Fit& fit, const std::string& rows) {
  const std::vector<Suite> suites = training.suites_at(values);
  const std::vector<Validation> found = training.at(values);
  for (std::size_t s = 0; s < suites.size(); ++s)
    for (std::size_t r = 0; r < found[s].rows.size(); ++r) {
      if (!training.is_trained(found[s], found[s].rows[r])) continue;
      Cluster cluster = suites[s].study.points[suites[s].measurements[r].point].scenario.cluster;
      if (part == "cluster") return write_value(cluster, QuantityText::brief);
      cluster.stack.name = name;
      cluster.stack.spread = spread;
      cluster.stack.description = fmt::format("Fitted by stepcast fit to {}", rows);
      std::vector<ConstantOrigin> origins = cluster.stack.origins.value_or({});
      for (std::size_t i = 0; i < values.size(); ++i) {
        const Field& field = training.fields()[i];
        const std::string constant = field.pointer.substr(std::string_view("/stack/").size());
        std::erase_if(origins, [&](const ConstantOrigin& one) { return one.constant == constant; });
        origins.push_back(
            {constant, Evidence::fitted,
             fmt::format("{}; {}", rows, interval_text(field.range, fit.constants[i], fit.rows, values.size()))});
      }
      cluster.stack.origins = std::move(origins);
      return write_value(cluster.stack, QuantityText::brief);
    }
  return {};
}

Json constants_json(const std::vector<Field>& fields, const Fit& fit) {
  Json list = Json::array();
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const AxisRange& range = fields[i].range;
    const FittedConstant& one = fit.constants[i];
    const auto optional = [&](const std::optional<double>& value) {
      return value ? Json(field_value(range, *value)) : Json();
    };
    list.push_back({{"pointer", fields[i].pointer},
                    {"from", field_value(range, range.from)},
                    {"to", field_value(range, range.to)},
                    {"value", field_value(range, one.value)},
                    {"low", optional(one.low)},
                    {"high", optional(one.high)},
                    {"moves", one.moves}});
  }
  return list;
}

/// "13 of 41 rows of grace-upper-bound (workers=2,4)"
std::string rows_text(const std::vector<Validation>& validations, std::size_t trained,
                      const std::vector<std::string>& train) {
  std::size_t rows = 0;
  std::vector<std::string> names;
  for (const Validation& one : validations) {
    rows += one.rows.size();
    names.push_back(one.name);
  }
  return fmt::format("{} of {} rows of {}{}", trained, rows, fmt::join(names, ", "),
                     train.empty() ? "" : fmt::format(" ({})", fmt::join(train, "; ")));
}

std::string constants_text(const std::vector<Field>& fields, const Fit& fit) {
  std::string text;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const FittedConstant& one = fit.constants[i];
    text += fmt::format("  {} = {} ({}{})\n", fields[i].pointer, human_value(fields[i].range, one.value),
                        interval_text(fields[i].range, one, fit.rows, fields.size()),
                        one.at_end ? "; an end of the range: a wider one may fit better" : "");
  }
  return text;
}

/// Adds a line for each suite, if there are several.
void add_suites(const std::vector<Validation>& validations, std::vector<NamedSummary>& all) {
  if (validations.size() < 2) return;
  for (const Validation& one : validations)
    all.push_back({"  " + one.name, one.summary, describe_point(one.rows[one.summary.worst].coordinates)});
}

/// Trained rows and the others, before and after the fit; the others after it also by suite.
std::vector<NamedSummary> errors_of(const Training& training, const std::vector<Validation>& before,
                                    const std::vector<Validation>& after) {
  std::vector<NamedSummary> all;
  for (const bool trained : {true, false})
    for (const bool fitted : {false, true}) {
      const std::vector<Validation> part = training.part(fitted ? after : before, trained);
      if (part.empty()) continue;
      all.push_back({fmt::format("{}, {}", trained ? "trained" : "left to test", fitted ? "fitted" : "before"),
                     summary_of_all(part), ""});
      if (!trained && fitted) add_suites(part, all);
    }
  return all;
}

/// Leaves each value of an axis out in turn, and forecasts its rows by the constants fitted to the others.
struct LeftOut {
  std::string text;                  ///< the constants of each turn
  std::vector<NamedSummary> errors;  ///< of the rows, each when it was left out, beside those before any fit
  double spread = 0;                 ///< root mean square of ln(forecast/measured) of these rows
};

/// Adds the parts' rows to those of the suites of the same name.
void append(const std::vector<Validation>& parts, std::vector<Validation>& all) {
  for (const Validation& part : parts) {
    const auto same =
        std::find_if(all.begin(), all.end(), [&](const Validation& one) { return one.name == part.name; });
    if (same == all.end()) all.push_back(part);
    else same->rows.insert(same->rows.end(), part.rows.begin(), part.rows.end());
  }
}

LeftOut leave_out(const Training& all, const std::string& axis, const std::vector<Validation>& before) {
  LeftOut out;
  out.text = fmt::format("\neach value of {} left out in turn, forecast by constants fitted to the others:\n", axis);
  std::vector<Validation> unfitted, forecast;  // the same rows
  for (const std::string& value : all.values_on(axis, before)) {
    Training others = all;
    others.train({axis, {value}, true});
    Fitted turn;
    try {
      turn = fitted(others, before);
    } catch (const UsageError& undetermined) {
      out.text += fmt::format("  without {}: no forecast of its rows; {}\n", value, undetermined.what());
      continue;
    } catch (const ScenarioError& impossible) {
      out.text += fmt::format("  without {}: no forecast of its rows; {}\n", value, impossible.what());
      continue;
    }
    out.text += fmt::format("  without {}: {}\n", value, fmt::join(settings(all.fields(), turn.values), " "));
    Training own = all;
    own.train({axis, {value}, false});
    append(own.part(before, true), unfitted);
    append(own.part(own.at(turn.values), true), forecast);
  }
  for (std::vector<Validation>* list : {&unfitted, &forecast})
    for (Validation& one : *list) one.summary = summary_of(one.rows, one.alternatives);
  std::vector<double> residuals;
  for (const Validation& one : forecast)
    for (const ValidationRow& row : one.rows) residuals.push_back(std::log1p(row.error()));
  for (const double r : residuals) out.spread += r * r / static_cast<double>(residuals.size());
  out.spread = std::sqrt(out.spread);
  out.errors = {{"before", summary_of_all(unfitted), ""}, {"left out", summary_of_all(forecast), ""}};
  add_suites(forecast, out.errors);
  out.text += summaries_text(out.errors);
  return out;
}

int run(const FitOptions& options, const Invocation& invocation) {
  const std::vector<Field> fields = constant_fields(options.constants);
  const std::string part = options.part.empty() ? "" : part_to_write(fields);
  if (options.part == "-") throw UsageError("--write", "- is no file: a stack is named like its file");
  const std::vector<std::filesystem::path> files = suite_files(options.suites);
  check_outputs({files.begin(), files.end()}, {options.part, options.json});
  std::vector<Suite> suites;
  for (const auto& file : files) suites.push_back(load_suite(file, default_library(), inspect_platform));
  Training training(std::move(suites), overrides_of(options.sets), fields, options.jobs);
  require_equations(training.suites_at({}));
  const std::vector<Validation> before = training.at({});
  for (const std::string& text : options.train)
    training.train(read_option("--train", [&] { return parse_row_condition(text, before); }));
  const std::size_t rows = training.residuals(before).size();
  if (rows == 0)
    throw UsageError("--train", "no row is left: those that a suite's own constants were fitted to train nothing");

  const auto [fit, values] = fitted(training, before);
  const std::vector<Validation> after = training.at(values);

  const std::string trained = rows_text(before, rows, options.train);
  std::string text = fmt::format("fitted to {}, by least squares of ln(forecast/measured) at {} values tried:\n{}\n",
                                 trained, fit.tried, constants_text(fields, fit));
  const std::vector<NamedSummary> errors = errors_of(training, before, after);
  text += summaries_text(errors);
  text += fmt::format("to use it: --set {}\n", fmt::join(settings(fields, values), " --set "));
  std::optional<LeftOut> left_out;
  if (!options.leave_out.empty()) text += (left_out = leave_out(training, options.leave_out, before))->text;
  if (!options.part.empty()) {
    write_output(options.part,
                 json_text(written_part(training, part, std::filesystem::path(options.part).stem().string(),
                                        left_out ? left_out->spread : 0.0, values, fit, trained)));
    text += fmt::format("wrote the {} {}\n", part, options.part);
  }
  if (options.json != "-") write_output("-", text);
  if (!options.json.empty()) {
    Json document{{"command", invocation.arguments},
                  {"rows", trained},
                  {"trained", fit.rows},
                  {"values_tried", fit.tried},
                  {"rms", fit.rms},
                  {"spread", fit.spread},
                  {"constants", constants_json(fields, fit)}};
    for (const NamedSummary& one : errors) document["errors"].push_back(to_json(one));
    if (left_out)
      for (const NamedSummary& one : left_out->errors) document["left_out"].push_back(to_json(one));
    write_output(options.json, json_text(document));
  }
  return kOk;
}

}  // namespace

void add_fit(Command& program, Invocation& invocation) {
  Command command = program.add_subcommand(
      "fit", "Find constants that measured rows of suites determine, and test them on the rows left");
  auto options = std::make_shared<FitOptions>();
  command.add_option("suite", options->suites, "suites: names that `stepcast list suites` prints, or files (.json)")
      .required();
  command
      .add_option("--constant", options->constants,
                  "a field to fit and the ends between which it is looked for (repeatable)")
      .type_name("POINTER=FROM..TO")
      .one_value_a_time()
      .required();
  command
      .add_option("--train", options->train,
                  "the rows to fit to, by an axis of the suites or by \"suite\" (repeatable: all must hold); without "
                  "it all rows, and none is left to test")
      .type_name("AXIS[!]=VALUE,...")
      .one_value_a_time();
  command
      .add_option(
          "--leave-out", options->leave_out,
          "leave each value of this axis (or each \"suite\") out in turn, and show how well the others foretell it")
      .type_name("AXIS");
  add_sets(command, options->sets,
           "change a field of the suites' scenarios that have it first: /json/pointer=value (repeatable)");
  command.add_option("--write", options->part, "write the fitted stack or cluster as a file for scenarios")
      .type_name("PATH");
  command.add_option("--json", options->json, "write JSON; - is standard output, instead of the text")
      .type_name("PATH");
  add_jobs(command, options->jobs);
  command.footer(
      "Example: stepcast fit lambda-v100 --constant /stack/backward_slowdown=1..2 --leave-out workload --write stack.json");
  command.callback([options, &invocation] { invocation.exit_code = run(*options, invocation); });
}

}  // namespace stepcast
