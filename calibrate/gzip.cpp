#include "calibrate/gzip.hpp"

#include <stdexcept>

#include <zlib.h>

namespace stepcast::calibrate {
namespace {

constexpr int kGzipWindow = 15 + 16;  ///< zlib's largest window, with gzip's header

}  // namespace

bool has_gzip() { return true; }

std::string gzip(const std::string& text) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("zlib cannot start");
  std::string data(deflateBound(&stream, static_cast<uLong>(text.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(data.data());
  stream.avail_out = static_cast<uInt>(data.size());
  const int code = deflate(&stream, Z_FINISH);
  data.resize(stream.total_out);
  deflateEnd(&stream);
  if (code != Z_STREAM_END) throw std::runtime_error("zlib cannot compress");
  return data;
}

std::optional<std::string> gunzip(const std::string& data) {
  z_stream stream{};
  if (inflateInit2(&stream, kGzipWindow) != Z_OK) throw std::runtime_error("zlib cannot start");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
  stream.avail_in = static_cast<uInt>(data.size());
  std::string text;
  std::string part(std::size_t{1} << 16, '\0');
  int code = Z_OK;
  while (code == Z_OK) {
    stream.next_out = reinterpret_cast<Bytef*>(part.data());
    stream.avail_out = static_cast<uInt>(part.size());
    code = inflate(&stream, Z_NO_FLUSH);
    text.append(part, 0, part.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  if (code != Z_STREAM_END) return std::nullopt;
  return text;
}

}  // namespace stepcast::calibrate
