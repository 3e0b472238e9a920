// What is wrong with a scenario, and the exception that carries every fault at once.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace stepcast {

/// One fault: where it is, what was found there, what is allowed, and the remedy where one is known.
struct Fault {
  std::string file;  ///< file the value came from ("--set" for an override)
  /// JSON pointer inside that file, or "line 3, column 7" of what is no JSON; "" is the whole document.
  std::string pointer;
  std::string found;
  std::string allowed;
  std::string remedy;  ///< may be empty

  bool operator==(const Fault&) const = default;
};

/// A study reports no more faults than this: a file of a million wrong values is one mistake.
inline constexpr std::size_t kMaxFaults = 1000;

/// "file: /pointer: found X; allowed: Y; remedy"
std::string to_string(const Fault& fault);

/// At most `bytes` of the text, never half a UTF-8 character, "..." where some was left out.
std::string shorten(std::string_view text, std::size_t bytes = 80);

/// The scenario cannot be used. Holds all faults that were found, in document order.
class ScenarioError : public std::runtime_error {
 public:
  explicit ScenarioError(std::vector<Fault> faults);
  [[nodiscard]] const std::vector<Fault>& faults() const { return faults_; }

 private:
  std::vector<Fault> faults_;
};

/// The question makes sense but this model cannot answer it (an asynchronous server by equations, say).
class ModelError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The candidate nearest to `name` by edit distance, or else the only one that begins so; "" when none is near enough
/// to be meant.
std::string nearest(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace stepcast
