// Translates the names that other tools use for the things in a scenario.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stepcast {

/// The stepcast name of a thing.
struct NameHere {
  std::string name;   ///< "" if stepcast has no such thing
  std::string field;  ///< a field that belongs to it, as JSON: "\"stage\": \"parameters\""; without a name, the advice
  bool is_spelling = false;  ///< the word is the same name in another spelling
};

/// Translates `word` into one of `names`. A name matches if it differs only in case, "-", "_" and spaces; otherwise the
/// table of other tools' words decides. Returns nothing if neither finds a match.
std::optional<NameHere> name_here(std::string_view word, const std::vector<std::string>& names);

/// A suggestion for the unknown key `word`, given the known `keys`: its name here, or else the key with the most
/// similar spelling. Returns "" if no key is similar.
std::string key_meant(std::string_view word, const std::vector<std::string>& keys);

/// The meaning of `word` here, for a message: "that is "width" or "ratio" here", or the advice for what stepcast does not
/// have. Returns "" for a word that no other tool has.
std::string words_here(std::string_view word);

/// The part, as JSON, that `word` seems to mean among these kinds, by name_here or else by similar spelling. Returns ""
/// if no kind is similar.
std::string part_meant(std::string_view word, const std::vector<std::string>& kinds);

/// The same where a kind's name alone stands for the part: "\"all-reduce\"".
std::string kind_meant(std::string_view word, const std::vector<std::string>& kinds);

}  // namespace stepcast
