// Notes below a table: each once, and of many that differ in numbers alone the first.
#include <set>
#include <string>
#include <vector>

#include "models/describe/json.hpp"
#include "models/report/footnotes.hpp"
#include "tests/support/catch.hpp"

using namespace stepcast;

TEST_CASE("notes are said once, in their order") {
  CHECK(note_lines({"b", "a", "b"}) == "note: b\nnote: a\n");
  CHECK(note_lines(Notes{}).empty());
}

TEST_CASE("digits of names are no numbers") {
  CHECK(without_numbers("12.5 % of resnet50 in 3 passes") == " % of resnet50 in  passes");
  CHECK(without_numbers("llama-2-7b, fp16") == "llama-2-7b, fp16");
}

TEST_CASE("of more than three notes that differ in numbers alone, only the first is shown") {
  CHECK(note_lines({"2 of 3", "2 of 3.5", "4 of 3"}) == "note: 2 of 3\nnote: 2 of 3.5\nnote: 4 of 3\n");
  CHECK(note_lines({"2 of 3", "other", "3 of 3", "4 of 3", "2 of 3", "5 of 3.1"}) ==
        "note: 2 of 3 (and 3 notes more that differ in numbers alone)\nnote: other\n");
}

TEST_CASE("each note has a code of its own, in small letters, which JSON shows beside the text") {
  std::set<std::string> codes;
  for (const auto& choice : Choices<NoteCode>::table) {
    const std::string code(name_of(choice.value));
    INFO(code);
    CHECK(code == choice.name);  // the first of this value
    CHECK(codes.insert(code).second);
    CHECK(code.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == std::string::npos);
    CHECK_FALSE(choice.meaning.empty());
  }
  CHECK(coded({{NoteCode::not_steady, "more steps"}}) ==
        Json::parse(R"([{"code": "not-steady", "text": "more steps"}])"));
}
