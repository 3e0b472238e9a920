// A cache of replays, in one SQLite file that any number of sweeps may share.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "models/forecast/forecast.hpp"
#include "sim/answer/digest.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace stepcast {

/// A table from the key of a replay (replay_key.hpp) to its forecast. Once put() has returned, the forecast survives
/// any end of the process. A power failure may lose the last answers, never the file. The file may be deleted at any
/// time. Each row has a checksum, so an answer changed by hand or by a fault of the disk is ignored.
class AnswerCache {
 public:
  /// Opens the file; makes it and its folders if necessary.
  /// @throws std::runtime_error naming the file, when it cannot be opened or is something else
  explicit AnswerCache(const std::filesystem::path& file);

  /// @throws std::runtime_error naming the file
  [[nodiscard]] std::optional<StepForecast> find(const Digest& key);
  void put(const Digest& key, const StepForecast& forecast);

 private:
  struct Close {
    void operator()(sqlite3* database) const;
    void operator()(sqlite3_stmt* statement) const;
  };
  using Statement = std::unique_ptr<sqlite3_stmt, Close>;

  bool is_ours();
  void make();
  void use_log();
  [[noreturn]] void fail() const;
  void execute(const char* sql);
  int number(const char* sql);
  Statement prepare(const char* sql);

  std::filesystem::path file_;
  std::unique_ptr<sqlite3, Close> database_;
  Statement find_, put_;
};

/// $XDG_CACHE_HOME/stepcast/answers-N.sqlite, by default under ~/.cache; N is the number of the table's shape.
std::filesystem::path default_cache_file();

}  // namespace stepcast
