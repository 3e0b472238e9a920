// The file of raw samples beside a profile, PROFILE.samples.jsonl. Its first line describes the machine and the
// measurement. Every subject, size and process start has a line, appended as it is measured. A calibration that ends
// early for any reason therefore continues from there.
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <nlohmann/json.hpp>

namespace stepcast::calibrate {

/// The file format's version. Version 1 had no repeats; its device/launch was one kernel between the events.
inline constexpr int kSamplesVersion = 2;

/// Samples of one subject at one size in one process start. Times are those of one run of the kernel, and contain their share of the
/// events' own time.
struct Record {
  std::string name, role, method;
  std::int64_t size = 0;
  int start = 0;
  double bytes = 0, flops = 0;
  std::vector<double> cold, warm;  ///< s
  double clock = 0;                ///< Hz, median during the cold samples; 0: not known
  int discarded = 0;               ///< cold samples left out
  bool steady = false, settled = false;
  double repeats = 1;  ///< runs of the kernel in a sample
};

nlohmann::ordered_json to_json(const Record& record);
/// @throws nlohmann::json::exception
Record record_of(const nlohmann::ordered_json& json);

class SampleFile {
 public:
  /// Continues the file at `path`, or begins it with `header`. A last line without its end, as a full disk leaves it,
  /// is dropped.
  /// @throws CalibrationError if it cannot be written, is no samples file, or its header differs from this one in more
  /// than "date". Then it holds another device's or program's samples
  SampleFile(std::filesystem::path path, const nlohmann::ordered_json& header);
  ~SampleFile();
  SampleFile(const SampleFile&) = delete;
  SampleFile& operator=(const SampleFile&) = delete;

  [[nodiscard]] bool has(const std::string& name, std::int64_t size, int start) const {
    return keys_.count({name, size, start}) > 0;
  }
  [[nodiscard]] std::size_t count() const { return keys_.size(); }
  /// @throws CalibrationError where it cannot be written to its end; the earlier content is kept
  void append(const Record& record);

 private:
  void write_line(const std::string& line);
  std::filesystem::path path_;
  std::set<std::tuple<std::string, std::int64_t, int>> keys_;
  std::FILE* file_ = nullptr;
};

struct Samples {
  nlohmann::ordered_json header;
  std::vector<Record> records;
};

/// None where there is no such file.
/// @throws CalibrationError naming file and line
std::optional<Samples> read_samples(const std::filesystem::path& path);

}  // namespace stepcast::calibrate
