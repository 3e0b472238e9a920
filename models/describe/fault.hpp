// The faults of a scenario, and the exception that carries all of them at once.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace stepcast {

/// One fault: its place, the value found, the allowed values, and the remedy where one is known.
struct Fault {
  std::string file;  ///< file that holds the value ("--set" for an override)
  /// JSON pointer inside that file, or "line 3, column 7" if the file is not valid JSON. "" is the whole document.
  std::string pointer;
  std::string found;
  std::string allowed;
  std::string remedy;  ///< may be empty

  bool operator==(const Fault&) const = default;
};

/// The largest number of faults that a study reports: a file with a million wrong values has one mistake.
inline constexpr std::size_t kMaxFaults = 1000;

/// "file: /pointer: found X; allowed: Y; remedy"
std::string to_string(const Fault& fault);

/// The text cut to at most `bytes`. It never splits a UTF-8 character. "..." marks the part left out.
std::string shorten(std::string_view text, std::size_t bytes = 80);

/// The scenario cannot be used. The exception holds all faults, in document order.
class ScenarioError : public std::runtime_error {
 public:
  explicit ScenarioError(std::vector<Fault> faults);
  [[nodiscard]] const std::vector<Fault>& faults() const { return faults_; }

 private:
  std::vector<Fault> faults_;
};

/// The question is valid, but this model cannot answer it (for example an asynchronous server by equations).
class ModelError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The candidate nearest to `name` by edit distance, or else the only candidate that starts with `name`. Returns "" if
/// no candidate is near enough.
std::string nearest(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace stepcast
