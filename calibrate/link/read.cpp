#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>

#include <fmt/format.h>

#include "calibrate/link/benchmark.hpp"

namespace stepcast::calibrate {
namespace {

Benchmark read_any(const std::string& text, const std::string& file, const ReadOptions& options) {
  const auto begin = text.find_first_not_of(" \t\r\n");
  if (begin != std::string::npos && text[begin] == '{') return read_nccl_json(text, file, options);
  if (text.find("# OSU ") != std::string::npos) return read_osu_text(text, file, options);
  if (text.find("busbw") != std::string::npos) return read_nccl_text(text, file, options);
  throw BadInput(
      file, 1,
      begin == std::string::npos ? "an empty file" : "\"" + text.substr(begin, text.find('\n', begin) - begin) + "\"",
      "the text or JSON of nccl-tests, the text of an OSU micro-benchmark",
      "keep the lines that begin with #: they name the columns");
}

}  // namespace

std::string content_of(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    throw BadInput(path.string(), 0, "a folder", "a file that can be read", "");
  std::ifstream file(path, std::ios::binary);
  if (!file) throw BadInput(path.string(), 0, std::strerror(errno), "a file that can be read", "");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

Benchmark read_benchmark(const std::filesystem::path& path, const ReadOptions& options) {
  return parse_benchmark(content_of(path), path.string(), options);
}

Benchmark parse_benchmark(const std::string& text, const std::string& file, const ReadOptions& options) {
  Benchmark benchmark = read_any(text, file, options);
  if (benchmark.kind == Benchmark::Kind::collective)
    std::erase_if(benchmark.rows, [&](const Benchmark::Row& row) {
      return row.bytes < options.min_size || row.bytes > options.max_size;
    });
  std::set<double> sizes;
  for (const Benchmark::Row& row : benchmark.rows) sizes.insert(row.bytes);
  if (sizes.size() < 4)
    throw BadInput(file, 0, fmt::format("{} sizes", sizes.size()), "4 or more",
                   options.min_size > 0 || options.max_size < std::numeric_limits<double>::infinity()
                       ? "between --min-size and --max-size, which leave out the others: widen them"
                       : "measure from a few bytes to hundreds of megabytes (nccl-tests: -b 8 -e 1G -f 2)");
  return benchmark;
}

}  // namespace stepcast::calibrate
