// What other tools call the things that a scenario names.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stepcast {

/// A thing by its name here.
struct NameHere {
  std::string name;          ///< "" where there is no such thing here
  std::string field;         ///< that belongs to it, as JSON: "\"stage\": \"parameters\""; may be empty
  bool is_spelling = false;  ///< the word is that name, spelt otherwise
};

/// What `word` is called among `names`: the name that is alike but for case, "-", "_" and spaces, or else the one that
/// the table of other tools' words has. Nothing where neither knows it.
std::optional<NameHere> name_here(std::string_view word, const std::vector<std::string>& names);

/// What to say of the unknown key `word` where these are known: what it is called here, or else the key that is spelt
/// much the same; "" where it seems to mean none.
std::string key_meant(std::string_view word, const std::vector<std::string>& keys);

/// The part, as JSON, that `word` seems to mean where one of these kinds is wanted: known by name_here, or else spelt
/// much the same; "" where it seems to mean none.
std::string part_meant(std::string_view word, const std::vector<std::string>& kinds);

}  // namespace stepcast
