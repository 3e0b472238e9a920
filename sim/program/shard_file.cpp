#include "sim/program/shard_file.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/describe/json.hpp"
#include "models/report/axis_columns.hpp"
#include "sim/program/bad_input.hpp"

namespace stepcast {
namespace {

constexpr int kShardVersion = 3;
constexpr std::size_t kMostShards = 1000000;

/// The columns of a report with these names. The first `axes` are axes, and the last is "error". None if no report has
/// them. An axis replaces the column of its name: "workers" alone does not tell which of the two it is.
std::vector<Metric> columns_named(const std::vector<std::string>& names, std::size_t axes) {
  if (axes >= names.size()) return {};
  Report report;
  report.axes.assign(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(axes));
  report.axis_units = axis_units_in(names, axes);
  std::vector<Metric> columns = report_columns(report);
  const bool same = std::equal(columns.begin(), columns.end(), names.begin(), std::prev(names.end()),
                               [](const Metric& column, const std::string& name) { return column.name == name; });
  return same ? columns : std::vector<Metric>{};
}

}  // namespace

Shard parse_shard(const std::string& text) {
  Shard shard;
  const char* const end = text.data() + text.size();
  const auto [slash, bad_index] = std::from_chars(text.data(), end, shard.index);
  if (bad_index == std::errc{} && slash != end && *slash == '/') {
    const auto [rest, bad_count] = std::from_chars(slash + 1, end, shard.count);
    if (bad_count == std::errc{} && rest == end && shard.index < shard.count && shard.count <= kMostShards)
      return shard;
  }
  throw std::invalid_argument(
      fmt::format("found \"{}\"; allowed: i/n with i from 0 to n-1, such as 0/16 to 15/16", text));
}

std::string to_line(const ShardHeader& h) {
  return Json{{"stepcast_shard", kShardVersion},
              {"study", h.study},
              {"program", h.program},
              {"shard", h.shard.index},
              {"of", h.shard.count},
              {"points", h.points},
              {"axes", h.axes},
              {"columns", h.columns}}
             .dump() +
         "\n";
}

ShardReader::ShardReader(const std::string& file) : file_(file), stream_(file, std::ios::binary) {
  std::string line;
  if (!stream_ || !std::getline(stream_, line)) fail("cannot be read, or is empty");
  try {
    const Json json = Json::parse(line);
    if (json.at("stepcast_shard") != kShardVersion) fail("is a shard of another stepcast");
    header_ = {json.at("study").get<std::string>(),
               json.at("program").get<std::string>(),
               {json.at("shard").get<std::size_t>(), json.at("of").get<std::size_t>()},
               json.at("points").get<std::size_t>(),
               json.at("axes").get<std::size_t>(),
               json.at("columns").get<std::vector<std::string>>()};
  } catch (const Json::exception&) {
    fail("is no shard (stepcast sweep --shard i/n writes them)");
  }
  if (header_.shard.index >= header_.shard.count) fail("is no shard: its number is beyond their count");
  columns_ = columns_named(header_.columns, header_.axes);
}

Row ShardReader::next(std::size_t point) {
  std::string line;
  if (!std::getline(stream_, line)) fail(fmt::format("ends before point {}; run its sweep again", point));
  NumberedRow numbered;
  try {
    numbered = parse_numbered_row(line);
  } catch (const std::runtime_error& error) {
    fail(fmt::format("has {} in place of point {}", error.what(), point));
  }
  if (numbered.number != point) fail(fmt::format("has point {} in place of point {}", numbered.number, point));
  if (numbered.row.size() != header_.columns.size())
    fail(fmt::format("has {} cells for point {}, not {}", numbered.row.size(), point, header_.columns.size()));
  for (std::size_t i = 0; i < columns_.size(); ++i)
    if (!holds(columns_[i].unit->kind, numbered.row[i]))
      fail(fmt::format("has {} as {} of point {}, a value that the column cannot have; run its sweep again",
                       shorten(json_of(numbered.row[i]).dump()), columns_[i].name, point));
  return std::move(numbered.row);
}

void ShardReader::expect_end() {
  if (stream_.peek() != std::ifstream::traits_type::eof()) fail("has more rows than it should");
}

void ShardReader::fail(const std::string& why) const { throw BadInput(fmt::format("{} {}", file_, why)); }

void arrange(std::vector<ShardReader>& shards) {
  const ShardHeader& first = shards.front().header();
  for (const ShardReader& shard : shards) {
    const ShardHeader& h = shard.header();
    const auto differ = [&](const char* what) {
      return BadInput(fmt::format("{} and {} are shards of different {}", shards.front().file(), shard.file(), what));
    };
    if (h.program != first.program) throw differ(fmt::format("programs ({} and {})", first.program, h.program).c_str());
    if (h.study != first.study || h.points != first.points || h.columns != first.columns) throw differ("studies");
    if (h.shard.count != first.shard.count)
      throw differ(fmt::format("divisions (of {} and of {})", first.shard.count, h.shard.count).c_str());
  }
  std::sort(shards.begin(), shards.end(),
            [](const ShardReader& a, const ShardReader& b) { return a.header().shard.index < b.header().shard.index; });
  std::vector<std::size_t> missing;
  std::size_t next = 0;
  const std::size_t count = shards.front().header().shard.count;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    const std::size_t index = shards[i].header().shard.index;
    if (i > 0 && index == shards[i - 1].header().shard.index)
      throw BadInput(
          fmt::format("{} and {} are both shard {}/{}", shards[i - 1].file(), shards[i].file(), index, count));
    for (; next < index; ++next) missing.push_back(next);
    ++next;
  }
  for (; next < count; ++next) missing.push_back(next);
  if (!missing.empty())
    throw BadInput(fmt::format("{} shards, of which these are missing: {}", count, fmt::join(missing, ", ")));
}

}  // namespace stepcast
