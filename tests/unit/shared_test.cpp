// Shared: an optional value whose copies hold one object.
#include <string>

#include "models/describe/shared.hpp"
#include "models/study/study.hpp"
#include "tests/support/catch.hpp"

using stepcast::Shared;

TEST_CASE("copies of a shared value hold one object, equal values need not") {
  const Shared<std::string> none, one(std::string("a")), copy = one, other(std::string("a"));
  CHECK_FALSE(none);
  CHECK(none.value_or("b") == "b");
  CHECK(&*one == &*copy);
  CHECK(&*one != &*other);
  CHECK(one == other);
  CHECK_FALSE(one == none);
}

TEST_CASE("a million points of a study fit into 1 GiB, without their coordinates") {
  CHECK(sizeof(stepcast::StudyPoint) <= 1073);
}
