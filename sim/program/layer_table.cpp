#include "sim/program/layer_table.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "models/report/footnotes.hpp"
#include "models/scenario/part_json.hpp"
#include "models/unit/format.hpp"
#include "models/workload/activation_memory.hpp"
#include "models/workload/layer_times.hpp"
#include "models/workload/timing_notes.hpp"
#include "models/workload/workload.hpp"

namespace stepcast {
namespace {

struct LayerRow {
  std::string name;
  Json shape;
  std::vector<GradientTensor> gradients;
  std::int64_t parameters = 0;
  double weight_macs = 0, attention_macs = 0;
  Seconds forward{}, backward{};
};

struct Rows {
  std::vector<LayerRow> layers;
  LayerRow total;
  std::size_t tensors = 0;
  Seconds update{};
};

Rows rows_of(const WorkloadTable& table) {
  const WorkloadTable listed = list_gradients(table);
  const WorkloadTable timed = table.profile ? time_layers(table, *table.profile, table.batch) : listed;
  Rows rows;
  rows.update = timed.update;
  for (std::size_t i = 0; i < listed.layers.size(); ++i) {
    const Layer& layer = listed.layers[i];
    LayerRow row{layer.name,
                 write_value(*layer.shape),
                 layer.gradients,
                 0,
                 weight_macs(*layer.shape),
                 attention_macs(*layer.shape),
                 timed.layers[i].forward,
                 timed.layers[i].backward};
    for (const GradientTensor& tensor : layer.gradients) row.parameters += tensor.elements;
    rows.tensors += layer.gradients.size();
    rows.total.parameters += row.parameters;
    rows.total.weight_macs += row.weight_macs;
    rows.total.attention_macs += row.attention_macs;
    rows.total.forward += row.forward;
    rows.total.backward += row.backward;
    rows.layers.push_back(std::move(row));
  }
  return rows;
}

/// "1,234,567"
std::string grouped(double count) {
  std::string text = fmt::format("{:.0f}", count);
  for (auto i = static_cast<std::ptrdiff_t>(text.size()) - 3; i > 0; i -= 3) text.insert(i, 1, ',');
  return text;
}

/// The shape's fields other than defaults: "in 64, out 256, kernel 3x3, input 56x56".
std::string shape_text(const Json& shape) {
  std::string text;
  for (const auto& [key, value] : shape.items()) {
    const bool usual = value.is_null() || (key == "stride" && value == 1) || (key == "groups" && value == 1) ||
                       (key == "padding" && value == Json::array({0, 0})) || value == false ||
                       (value == true && (key == "scale" || key == "exchanged"));
    if (key == "kind" || usual) continue;
    text += text.empty() ? "" : ", ";
    if (value == true) text += key;
    else if (value.is_array()) text += fmt::format("{} {}x{}", key, value[0].dump(), value[1].dump());
    else text += fmt::format("{} {}", key, value.is_string() ? value.get<std::string>() : value.dump());
  }
  return text;
}

std::int64_t integer(double count) { return static_cast<std::int64_t>(count); }

std::string variant_name(const WorkloadTable& table) {
  if (!table.variant) return "vanilla";
  return table.variant->name.empty() ? "a variant of its own" : table.variant->name;
}

}  // namespace

std::string layer_table_text(const WorkloadTable& table) {
  const Rows rows = rows_of(table);
  const bool times = table.profile.has_value();
  std::vector<std::array<std::string, 7>> cells{
      {"layer", "kind", "parameters", "MACs", "forward", "backward", "shape"}};
  for (const LayerRow& row : rows.layers) {
    const double macs = row.weight_macs + row.attention_macs;
    cells.push_back({row.name, row.shape["kind"].get<std::string>(),
                     row.parameters ? grouped(static_cast<double>(row.parameters)) : "", macs > 0 ? grouped(macs) : "",
                     human_text(row.forward), human_text(row.backward), shape_text(row.shape)});
  }
  cells.push_back({"total", "", grouped(static_cast<double>(rows.total.parameters)),
                   grouped(rows.total.weight_macs + rows.total.attention_macs), human_text(rows.total.forward),
                   human_text(rows.total.backward), ""});

  std::array<std::size_t, 6> width{};
  for (const auto& line : cells)
    for (std::size_t i = 0; i < width.size(); ++i) width[i] = std::max(width[i], line[i].size());
  std::string text = fmt::format("{} ({}): {}\n{}\nMACs of one {}", table.name, variant_name(table), table.description,
                                 table.source, table.sample);
  text += times ? fmt::format("; times of a pass of {} on {}{}\n\n", table.batch, table.profile->name,
                              compute_dtype_of(table) != table.dtype
                                  ? fmt::format(", operands in {}{}", name_of(compute_dtype_of(table)),
                                                casts(table) ? " by autocast" : "")
                                  : "")
                : "\n\n";
  for (const auto& line : cells) {
    std::string row = fmt::format("{:<{}}  {:<{}}  {:>{}}  {:>{}}", line[0], width[0], line[1], width[1], line[2],
                                  width[2], line[3], width[3]);
    if (times) row += fmt::format("  {:>{}}  {:>{}}", line[4], width[4], line[5], width[5]);
    if (!line[6].empty()) row += "  " + line[6];
    text += row.erase(row.find_last_not_of(' ') + 1) + "\n";
  }
  text +=
      fmt::format("\n{} parameters in {} gradient tensors, {} of gradients ({})\n",
                  grouped(static_cast<double>(rows.total.parameters)), rows.tensors,
                  human_text(size_of(table.dtype) * static_cast<double>(rows.total.parameters)), name_of(table.dtype));
  text += fmt::format("{} multiply-accumulates with weights", grouped(rows.total.weight_macs));
  text += rows.total.attention_macs > 0 ? fmt::format(", {} of attention's own\n", grouped(rows.total.attention_macs))
                                        : "\n";
  text += fmt::format("{} of activations kept for backward of a pass of {}{}\n",
                      human_text(activations_of(list_gradients(table))), table.batch,
                      table.recomputation == Recomputation::none ? "" : ", blocks computed again");
  if (times)
    text += fmt::format("forward {}, backward {}, update {} ({})\n", human_text(rows.total.forward),
                        human_text(rows.total.backward), human_text(rows.update), name_of(table.optimizer));
  text += note_lines(timing_notes(table));
  return text;
}

Json layer_table_json(const WorkloadTable& table) {
  const Rows rows = rows_of(table);
  const bool times = table.profile.has_value();
  Json json{{"name", table.name},
            {"variant", variant_name(table)},
            {"description", table.description},
            {"source", table.source},
            {"batch", table.batch},
            {"sample", table.sample},
            {"dtype", name_of(table.dtype)},
            {"optimizer", name_of(table.optimizer)}};
  if (compute_dtype_of(table) != table.dtype) json["compute_dtype"] = name_of(compute_dtype_of(table));
  if (casts(table)) json["autocast"] = true;
  Json variants = Json::array({"vanilla"});
  for (const WorkloadVariant& variant : table.variants) variants.push_back(variant.name);
  json["variants"] = variants;
  if (times) json["profile"] = table.profile->name;
  json["totals"] =
      Json{{"parameters", rows.total.parameters},
           {"gradient_tensors", rows.tensors},
           {"gradient_bytes", exact_text(size_of(table.dtype) * static_cast<double>(rows.total.parameters))},
           {"weight_macs", integer(rows.total.weight_macs)},
           {"attention_macs", integer(rows.total.attention_macs)}};
  json["totals"]["activation_bytes"] = exact_text(activations_of(list_gradients(table)));
  if (times) {
    json["totals"]["forward"] = exact_text(rows.total.forward);
    json["totals"]["backward"] = exact_text(rows.total.backward);
    json["totals"]["update"] = exact_text(rows.update);
  }
  for (const LayerRow& row : rows.layers) {
    Json layer{{"name", row.name},
               {"shape", row.shape},
               {"parameters", row.parameters},
               {"weight_macs", integer(row.weight_macs)},
               {"attention_macs", integer(row.attention_macs)}};
    if (times) {
      layer["forward"] = exact_text(row.forward);
      layer["backward"] = exact_text(row.backward);
    }
    layer["gradients"] = Json::array();
    for (const GradientTensor& tensor : row.gradients)
      layer["gradients"].push_back(Json{{"name", tensor.name}, {"dims", tensor.dims}, {"elements", tensor.elements}});
    json["layers"].push_back(std::move(layer));
  }
  if (times) json["notes"] = texts_of(timing_notes(table));
  return json;
}

}  // namespace stepcast
