#include "calibrate/sample_file.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

#include <fmt/format.h>

#include "calibrate/calibration_error.hpp"

namespace stepcast::calibrate {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

/// None where there is no such file.
std::optional<std::string> text_of(const fs::path& path) {
  std::error_code error;  // a file that cannot be looked at counts as absent
  if (!fs::is_regular_file(path, error)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  if (!file) throw CalibrationError(fmt::format("{} cannot be read: {}", path.string(), std::strerror(errno)));
  return std::string{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// A text up to its last newline.
std::string whole_lines(std::string text) {
  text.resize(text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1);
  return text;
}

Samples parse(const std::string& text, const fs::path& path) {
  Samples samples;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    try {
      const Json json = Json::parse(line);
      if (number == 1) samples.header = json;
      else samples.records.push_back(record_of(json));
    } catch (const nlohmann::json::exception& error) {
      throw CalibrationError(
          fmt::format("{}:{}: found \"{}\", which is no line of samples ({}); move the file away to measure anew",
                      path.string(), number, line.substr(0, 40), error.what()));
    }
    if (number == 1 && (!samples.header.is_object() || samples.header.value("format", "") != "stepcast-samples"))
      throw CalibrationError(fmt::format(
          "{}:1: found \"{}\"; allowed: the header of a samples file; choose another output or move the file away",
          path.string(), line.substr(0, 40)));
    if (number == 1 && samples.header.value("version", 0) != kSamplesVersion)
      throw CalibrationError(fmt::format(
          "{}:1: found samples of version {}; allowed: {}. Older ones lack the samples that give the events' share of "
          "a time: write to another path, or begin anew with --fresh",
          path.string(), samples.header.value("version", 0), kSamplesVersion));
  }
  return samples;
}

/// "device/name: found X, here Y" of the first difference.
std::string first_difference(const Json& found, const Json& here, const std::string& at = "") {
  if (found.is_object() && here.is_object()) {
    for (const auto& [key, value] : here.items()) {
      if (key == "date") continue;
      const std::string place = at.empty() ? key : at + "/" + key;
      if (!found.contains(key)) return fmt::format("{}: found nothing, here {}", place, value.dump());
      if (const std::string inner = first_difference(found[key], value, place); !inner.empty()) return inner;
    }
    return "";
  }
  return found == here ? "" : fmt::format("{}: found {}, here {}", at, found.dump(), here.dump());
}

}  // namespace

Json to_json(const Record& r) {
  return {{"name", r.name},      {"role", r.role},           {"method", r.method}, {"size", r.size},
          {"start", r.start},    {"repeats", r.repeats},     {"bytes", r.bytes},   {"flops", r.flops},
          {"clock_hz", r.clock}, {"discarded", r.discarded}, {"steady", r.steady}, {"settled", r.settled},
          {"cold_s", r.cold},    {"warm_s", r.warm}};
}

Record record_of(const Json& json) {
  Record r;
  json.at("name").get_to(r.name);
  json.at("role").get_to(r.role);
  json.at("method").get_to(r.method);
  json.at("size").get_to(r.size);
  json.at("start").get_to(r.start);
  json.at("repeats").get_to(r.repeats);
  json.at("bytes").get_to(r.bytes);
  json.at("flops").get_to(r.flops);
  json.at("clock_hz").get_to(r.clock);
  json.at("discarded").get_to(r.discarded);
  json.at("steady").get_to(r.steady);
  json.at("settled").get_to(r.settled);
  json.at("cold_s").get_to(r.cold);
  json.at("warm_s").get_to(r.warm);
  return r;
}

SampleFile::SampleFile(fs::path path, const Json& header) : path_(std::move(path)) {
  const auto stored = text_of(path_);
  const std::string kept = stored ? whole_lines(*stored) : "";
  if (!kept.empty()) {
    const Samples samples = parse(kept, path_);
    if (const std::string difference = first_difference(samples.header, header); !difference.empty())
      throw CalibrationError(fmt::format(
          "{} holds samples taken otherwise: {}. They are not mixed: write to another path, or begin anew with --fresh",
          path_.string(), difference));
    for (const Record& record : samples.records) keys_.insert({record.name, record.size, record.start});
  }
  if (!kept.empty() && kept.size() < stored->size()) fs::resize_file(path_, kept.size());
  file_ = std::fopen(path_.c_str(), kept.empty() ? "wb" : "ab");
  if (file_ == nullptr)
    throw CalibrationError(
        fmt::format("{} cannot be written: {}; choose another output", path_.string(), std::strerror(errno)));
  if (kept.empty()) write_line(header.dump());
}

SampleFile::~SampleFile() {
  if (file_ != nullptr) static_cast<void>(std::fclose(file_));
}

void SampleFile::write_line(const std::string& line) {
  const std::string text = line + '\n';
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size() || std::fflush(file_) != 0)
    throw CalibrationError(fmt::format(
        "{} cannot be written completely: {}; it has the measurements so far: make room and run the same command again",
        path_.string(), std::strerror(errno)));
}

void SampleFile::append(const Record& record) {
  write_line(to_json(record).dump());
  keys_.insert({record.name, record.size, record.start});
}

std::optional<Samples> read_samples(const fs::path& path) {
  const auto text = text_of(path);
  if (!text) return std::nullopt;
  return parse(whole_lines(*text), path);
}

}  // namespace stepcast::calibrate
