// Shared: an optional value whose copies hold one object.
#include <memory>
#include <string>
#include <utility>

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

TEST_CASE("a shared value lives as long as one of its copies") {
  const auto alive = std::make_shared<int>(0);
  using Held = std::shared_ptr<int>;
  Shared<Held> first{Held(alive)};
  CHECK(alive.use_count() == 2);
  {
    Shared<Held> second = first, third = std::move(second);
    CHECK_FALSE(second);  // NOLINT(bugprone-use-after-move): moved from is nothing
    first = third;
    const Shared<Held>& itself = first;
    first = itself;
    third.reset();
    CHECK(alive.use_count() == 2);
    first = Shared<Held>();
  }
  CHECK(alive.use_count() == 1);
  CHECK(sizeof(first) == sizeof(void*));
}

TEST_CASE("a million points of a study fit into 1 GiB, without their coordinates") {
  CHECK(sizeof(stepcast::StudyPoint) <= 1073);
}
