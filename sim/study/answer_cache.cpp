#include "sim/study/answer_cache.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string>

#include <fmt/format.h>
#include <sqlite3.h>

#include "sim/study/forecast_json.hpp"

namespace stepcast {
namespace {

/// "scast" and a number that rises when the table's shape changes.
constexpr int kApplication = 0x73637374;
constexpr int kShape = 2;

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
  sqlite3_busy_timeout(database, 60000);  // milliseconds to wait for other sweeps
  const auto number = [&](const char* sql) {
    const Statement statement = prepare(sql);
    if (sqlite3_step(statement.get()) != SQLITE_ROW) fail();
    return sqlite3_column_int(statement.get(), 0);
  };
  const int application = number("PRAGMA application_id"), shape = number("PRAGMA user_version");
  const bool is_new = application == 0 && shape == 0 && number("SELECT count(*) FROM sqlite_master") == 0;
  if (!is_new && (application != kApplication || shape != kShape))
    throw std::runtime_error(fmt::format("{} is no cache of this stepcast; give another file with --cache, or delete it", file_.string()));
  execute("PRAGMA journal_mode = WAL");
  execute("PRAGMA synchronous = NORMAL");
  execute("CREATE TABLE IF NOT EXISTS answers (key BLOB PRIMARY KEY, forecast TEXT NOT NULL) WITHOUT ROWID");
  if (is_new) execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplication, kShape).c_str());
  find_ = prepare("SELECT forecast FROM answers WHERE key = ?1");
  put_ = prepare("INSERT OR REPLACE INTO answers VALUES (?1, ?2)");
}

std::optional<StepForecast> AnswerCache::find(const Digest& key) {
  sqlite3_stmt* const s = find_.get();
  std::optional<StepForecast> found;
  sqlite3_bind_blob(s, 1, key.data(), static_cast<int>(key.size()), SQLITE_STATIC);
  const int result = sqlite3_step(s);
  if (result == SQLITE_ROW) {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(s, 0));
    try {
      found = unpack_forecast(Json::parse(text, text + sqlite3_column_bytes(s, 0)));
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
  const int result = sqlite3_step(s);
  sqlite3_reset(s);
  if (result != SQLITE_DONE) fail();
}

void AnswerCache::fail() const {
  throw std::runtime_error(fmt::format("the cache {}: {}; give another file with --cache, or none with --no-cache", file_.string(),
                                       database_ ? sqlite3_errmsg(database_.get()) : "out of memory"));
}

void AnswerCache::execute(const char* sql) {
  if (sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail();
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
  const std::filesystem::path folder = cache && cache[0] == '/' ? std::filesystem::path(cache) : std::filesystem::path(home ? home : "/") / ".cache";
  return folder / "stepcast" / fmt::format("answers-{}.sqlite", kShape);  // programs of other shapes have their own
}

}  // namespace stepcast
