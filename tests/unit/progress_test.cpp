// The text of a progress bar: how many are done, and the time left.
#include "program/progress.hpp"

#include "tests/support/catch.hpp"

using namespace stepcast;

TEST_CASE("the time left follows from those done since the start") {
  // 30 points in 10 s after 20 that were there: 3 a second, and 50 are left: 16.7 s, which is 17 s.
  CHECK(progress_text(50, 100, 20, 10, "points") == "50 of 100 points, 17 s left");
  // 1 in 100 s, 99 left: 9900 s = 2 h 45 min.
  CHECK(progress_text(1, 100, 0, 100, "points") == "1 of 100 points, 2 h 45 min left");
  // 10 in 5 s, 970 to go: 485 s.
  CHECK(progress_text(30, 1000, 20, 5, "measurements") == "30 of 1000 measurements, 8 min 5 s left");
  CHECK(progress_text(20, 100, 20, 10, "points") == "20 of 100 points");
  CHECK(progress_text(100, 100, 0, 10, "points") == "100 of 100 points");
}
