#include "calibrate/import/kernel_table.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "calibrate/link/text.hpp"
#include "calibrate/statistics.hpp"
#include "models/describe/fault.hpp"
#include "models/scenario/part_json.hpp"
#include "models/workload/check_shapes.hpp"

namespace stepcast::calibrate {
namespace {

constexpr std::array<const char*, 7> kColumns = {"device", "dtype", "layer", "pass", "batch", "shape", "time"};
enum Column { device, dtype, layer, pass, batch, shape, time };

/// Fields of a shape that vary within a family.
const std::set<std::string> kWithinFamily = {"rows", "sequence", "memory", "steps"};
constexpr const char* kBackward = "backward";

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream stream(line);
  for (std::string cell; std::getline(stream, cell, ',');) {
    const auto begin = cell.find_first_not_of(" \t\r"), end = cell.find_last_not_of(" \t\r");
    cells.push_back(begin == std::string::npos ? "" : cell.substr(begin, end - begin + 1));
  }
  if (line.ends_with(',')) cells.emplace_back();
  return cells;
}

/// "3" as a number, "3x5" as a list, "true" as such, anything else as text, which the reader refuses where it is wrong.
Json json_of(const std::string& value) {
  if (value == "true" || value == "false") return value == "true";
  if (const auto number = parse_number(value)) return *number;
  const auto cross = value.find('x');
  const auto first = parse_number(value.substr(0, cross));
  const auto second = cross == std::string::npos ? std::nullopt : parse_number(value.substr(cross + 1));
  if (first && second) return Json::array({*first, *second});
  return value;
}

std::string family_of(const std::string& layer_kind, const std::string& shape_text, const std::string& batch_text) {
  std::string family;
  for (const std::string& word : words_of(shape_text))
    if (!kWithinFamily.contains(word.substr(0, word.find('=')))) family += " " + word;
  return layer_kind + (family.empty() ? " " + shape_text + " " + batch_text : family);
}

class TableReader {
 public:
  explicit TableReader(std::string file) : file_(std::move(file)) {}

  KernelTable read(const std::string& text) {
    std::istringstream stream(text);
    bool has_header = false;
    for (std::string line; std::getline(stream, line) && faults_.size() < kMaxFaults;) {
      ++line_;
      if (line.find_first_not_of(" \t\r") == std::string::npos || line.starts_with('#')) continue;
      if (!has_header) {
        has_header = true;
        read_header(cells_of(line));
        if (!faults_.empty()) break;
      } else {
        read_row(cells_of(line));
      }
    }
    if (!has_header) fault("an empty table", fmt::format("a line with the columns {}", fmt::join(kColumns, ",")), "");
    if (has_header && faults_.empty() && times_.empty()) fault("no rows", "a row for each kernel", "");
    if (!faults_.empty()) throw ScenarioError(faults_);
    return merged();
  }

 private:
  void fault(const std::string& found, const std::string& allowed, const std::string& remedy) {
    faults_.push_back({file_, fmt::format("line {}", line_), found, allowed, remedy});
  }

  void read_header(const std::vector<std::string>& names) {
    for (std::size_t i = 0; i < kColumns.size(); ++i) {
      const auto at = std::find(names.begin(), names.end(), kColumns[i]);
      if (at == names.end())
        fault(fmt::format("no column \"{}\"", kColumns[i]), fmt::format("the columns {}", fmt::join(kColumns, ",")),
              "name them in the first line");
      columns_[i] = static_cast<std::size_t>(at - names.begin());
    }
    width_ = names.size();
  }

  void read_row(const std::vector<std::string>& cells) {
    if (cells.size() != width_)
      return fault(fmt::format("{} cells", cells.size()), fmt::format("{}, one a column", width_),
                   "a shape has no commas: separate its fields by spaces");
    const auto cell = [&](Column column) -> const std::string& { return cells[columns_[column]]; };
    const std::size_t faults_before = faults_.size();
    KernelRow row;
    row.device = cell(device);
    row.family = family_of(cell(layer), cell(shape), cell(batch));
    Json object = {{"kind", cell(layer)}};
    for (const std::string& word : words_of(cell(shape))) {
      const auto equals = word.find('=');
      if (equals == std::string::npos)
        fault("\"" + word + "\" in a shape", "field=value", "such as in=1024 out=4096 rows=512");
      else if (object.contains(word.substr(0, equals)))
        fault("\"" + word + "\" in a shape", "each field once, and the kind in column layer", "remove it");
      else object[word.substr(0, equals)] = json_of(word.substr(equals + 1));
    }
    take(Json(cell(dtype)), "dtype", row.dtype);
    take(json_of(cell(batch)), "batch", row.batch, at_least(1));
    take(Json(cell(time)), "time", row.time, positive);
    take(object, "shape", row.shape);
    if (faults_.size() == faults_before) check(row);
    if (faults_.size() == faults_before) read_pass(cell(pass), row);
    if (faults_.size() > faults_before) return;
    const std::string key = fmt::format("{},{},{},{},{},{}", row.device, name_of(row.dtype), cell(layer),
                                        name_of(row.pass), row.batch, cell(shape));
    std::vector<double>& times = times_[key];
    times.push_back(row.time.si());
    if (times.size() == 1) rows_.emplace_back(key, std::move(row));
  }

  template <class T>
  void take(const Json& json, const char* name, T& target, const Limits& limits = {}) {
    std::vector<Fault> found;
    read_value(json, "", target, limits, found);
    for (const Fault& one : found)
      faults_.push_back(
          {file_, fmt::format("line {}, {}{}", line_, name, one.pointer), one.found, one.allowed, one.remedy});
  }

  /// By the rules of a layer table with this layer alone.
  void check(const KernelRow& row) {
    WorkloadTable table;
    table.layers.emplace_back();
    table.layers.front().name = "layer";
    table.layers.front().shape = row.shape;
    std::vector<Fault> found;
    check_shapes(table, "", found);
    for (const Fault& one : found)
      if (one.pointer.find("/shape") != std::string::npos)
        faults_.push_back({file_, fmt::format("line {}, shape", line_), one.found, one.allowed, one.remedy});
  }

  void read_pass(const std::string& name, KernelRow& row) {
    const PassKernels kernels = kernels_of(row.shape, row.batch, row.dtype);
    if (name == kBackward) {
      if (kernels.data_gradient.empty() == kernels.weight_gradient.empty())
        return fault("backward of a layer with two gradients", "data_gradient, weight_gradient",
                     "give a row for each of them");
      row.pass = kernels.data_gradient.empty() ? KernelPass::weight_gradient : KernelPass::data_gradient;
      return;
    }
    take(Json(name), "pass", row.pass);
    if (pass_of(kernels, row.pass).empty())
      fault(fmt::format("{} of a layer without one", name), "a pass in which the layer has a kernel", "");
  }

  KernelTable merged() {
    KernelTable table;
    int repeated = 0;
    double widest = 0;
    for (auto& [key, row] : rows_) {
      const std::vector<double>& times = times_[key];
      row.time = Seconds(median(times));
      const auto [least, most] = std::minmax_element(times.begin(), times.end());
      if (*most > *least) ++repeated;
      widest = std::max(widest, *most / *least - 1);
      table.rows.push_back(std::move(row));
    }
    if (repeated > 0)
      table.doubts.push_back(fmt::format("{}: {} shapes have several times, up to {:.0f} % apart; their median counts",
                                         file_, repeated, 100 * widest));
    return table;
  }

  std::string file_;
  int line_ = 0;
  std::size_t width_ = 0;
  std::array<std::size_t, kColumns.size()> columns_{};
  std::vector<std::pair<std::string, KernelRow>> rows_;
  std::map<std::string, std::vector<double>> times_;
  std::vector<Fault> faults_;
};

}  // namespace

const std::vector<LayerKernel>& pass_of(const PassKernels& kernels, KernelPass pass) {
  switch (pass) {
    case KernelPass::forward: return kernels.forward;
    case KernelPass::data_gradient: return kernels.data_gradient;
    case KernelPass::weight_gradient: return kernels.weight_gradient;
  }
  return kernels.forward;
}

KernelTable parse_kernel_table(const std::string& text, const std::string& file) {
  return TableReader(file).read(text);
}

}  // namespace stepcast::calibrate
