// Shell completion: the words that may come next on a command line.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "program/options.hpp"

namespace stepcast {

/// A word that may come next, and its meaning in a few words.
struct Completion {
  std::string word, meaning;
};

/// The completions that fit at one place.
struct Completions {
  std::vector<Completion> words;
  bool files = false;  ///< names of files fit as well
};

/// A place on a command line whose value a program knows better than its options' checks.
struct TypedPlace {
  std::string command;             ///< the subcommand, such as "run"
  std::string option;              ///< "--set", or the name of an argument: "scenario"
  std::string partial;             ///< the typed beginning of the value
  std::vector<std::string> words;  ///< all words before it, without the program's name
};
using KnownValues = std::function<Completions(const TypedPlace&)>;

/// @param words  those behind the program's name; the last one is to be completed, and may be empty
/// @returns the completions that begin with the last word
Completions complete(const CLI::App& app, const std::vector<std::string>& words, const KnownValues& known);

/// As the scripts in completions/ read it: "files" or "words", then a line for each: word, tab, meaning.
std::string completion_text(const Completions& completions);

}  // namespace stepcast
