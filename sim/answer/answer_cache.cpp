#include "sim/answer/answer_cache.hpp"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <sqlite3.h>

#include "models/describe/json.hpp"
#include "sim/answer/forecast_json.hpp"

namespace stepcast {
namespace {

/// "scast" and a number that increases with changes of the table's shape.
constexpr int kApplication = 0x73637374;
constexpr int kShape = 3;
/// Milliseconds to wait for other sweeps.
constexpr int kPatience = 60000;

/// A row's checksum includes the key, so an answer that was moved to another key is also found wrong.
Digest checksum_of(const Digest& key, std::string_view forecast) {
  return digest_of(to_string(key) + std::string(forecast));
}

}  // namespace

void AnswerCache::Close::operator()(sqlite3* database) const { sqlite3_close(database); }
void AnswerCache::Close::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

AnswerCache::AnswerCache(const std::filesystem::path& file) : file_(file) {
  std::error_code error;
  if (!file.parent_path().empty()) std::filesystem::create_directories(file.parent_path(), error);
  sqlite3* database = nullptr;
  const int opened = sqlite3_open_v2(file.c_str(), &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  database_.reset(database);
  if (opened != SQLITE_OK) fail();
  sqlite3_busy_timeout(database, kPatience);
  if (!is_ours()) make();
  use_log();
  execute("PRAGMA synchronous = NORMAL");
  find_ = prepare("SELECT forecast, checksum FROM answers WHERE key = ?1");
  put_ = prepare("INSERT OR REPLACE INTO answers VALUES (?1, ?2, ?3)");
}

bool AnswerCache::is_ours() {
  return number("PRAGMA application_id") == kApplication && number("PRAGMA user_version") == kShape;
}

/// If several programs open a new file at once, one makes it and the others wait until it is complete.
/// @throws std::runtime_error when the file holds something else
void AnswerCache::make() {
  execute("BEGIN IMMEDIATE");  // the destructor of the connection ends it if this throws
  if (!is_ours()) {
    if (number("PRAGMA application_id") != 0 || number("PRAGMA user_version") != 0 ||
        number("SELECT count(*) FROM sqlite_master") != 0)
      throw std::runtime_error(
          fmt::format("{} is no cache of this stepcast; give another file with --cache, or delete it", file_.string()));
    execute(
        "CREATE TABLE answers (key BLOB PRIMARY KEY, forecast TEXT NOT NULL, checksum BLOB NOT NULL) WITHOUT ROWID");
    execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplication, kShape).c_str());
  }
  execute("COMMIT");
}

/// Writes go to a log, so they do not wait for readers. A change to this mode needs the file alone. It fails at once if
/// others open the file at that moment, whatever the busy timeout.
void AnswerCache::use_log() {
  for (int waited = 0;; waited += sqlite3_sleep(5)) {
    const int result = sqlite3_exec(database_.get(), "PRAGMA journal_mode = WAL", nullptr, nullptr, nullptr);
    if (result == SQLITE_OK) return;
    if (result != SQLITE_BUSY || waited >= kPatience) fail();
  }
}

std::optional<StepForecast> AnswerCache::find(const Digest& key) {
  sqlite3_stmt* const s = find_.get();
  std::optional<StepForecast> found;
  sqlite3_bind_blob(s, 1, key.data(), static_cast<int>(key.size()), SQLITE_STATIC);
  const int result = sqlite3_step(s);
  if (result == SQLITE_ROW) {
    const std::string_view text(reinterpret_cast<const char*>(sqlite3_column_text(s, 0)),
                                static_cast<std::size_t>(sqlite3_column_bytes(s, 0)));
    const Digest checksum = checksum_of(key, text);
    if (sqlite3_column_bytes(s, 1) != static_cast<int>(checksum.size()) ||
        !std::equal(checksum.begin(), checksum.end(), static_cast<const unsigned char*>(sqlite3_column_blob(s, 1)))) {
      sqlite3_reset(s);
      throw std::runtime_error(
          fmt::format("the cache {} holds an answer that was altered after it was written; delete it", file_.string()));
    }
    try {
      found = unpack_forecast(Json::parse(text));
    } catch (const Json::exception&) {
      sqlite3_reset(s);
      throw std::runtime_error(fmt::format("the cache {} is damaged; delete it", file_.string()));
    }
  }
  sqlite3_reset(s);
  if (result != SQLITE_ROW && result != SQLITE_DONE) fail();
  return found;
}

void AnswerCache::put(const Digest& key, const StepForecast& forecast) {
  sqlite3_stmt* const s = put_.get();
  const std::string text = pack(forecast).dump();
  sqlite3_bind_blob(s, 1, key.data(), static_cast<int>(key.size()), SQLITE_STATIC);
  sqlite3_bind_text(s, 2, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
  const Digest checksum = checksum_of(key, text);
  sqlite3_bind_blob(s, 3, checksum.data(), static_cast<int>(checksum.size()), SQLITE_STATIC);
  const int result = sqlite3_step(s);
  sqlite3_reset(s);
  if (result != SQLITE_DONE) fail();
}

void AnswerCache::fail() const {
  throw std::runtime_error(fmt::format("the cache {}: {}; give another file with --cache, or none with --no-cache",
                                       file_.string(), database_ ? sqlite3_errmsg(database_.get()) : "out of memory"));
}

void AnswerCache::execute(const char* sql) {
  if (sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail();
}

int AnswerCache::number(const char* sql) {
  const Statement statement = prepare(sql);
  if (sqlite3_step(statement.get()) != SQLITE_ROW) fail();
  return sqlite3_column_int(statement.get(), 0);
}

AnswerCache::Statement AnswerCache::prepare(const char* sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database_.get(), sql, -1, &statement, nullptr) != SQLITE_OK) fail();
  return Statement(statement);
}

std::filesystem::path default_cache_file() {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  const char* const home = std::getenv("HOME");
  // The XDG rule: a folder that is not absolute does not count.
  const std::filesystem::path folder =
      cache && cache[0] == '/' ? std::filesystem::path(cache) : std::filesystem::path(home ? home : "/") / ".cache";
  // Programs with another shape use another file.
  return folder / "stepcast" / fmt::format("answers-{}.sqlite", kShape);
}

}  // namespace stepcast
