#include "sim/replay/processes.hpp"

#include <csignal>
#include <stdexcept>

#include <unistd.h>

#include "tests/support/catch.hpp"

using namespace stepcast;

TEST_CASE("results come back in order, whatever the number of jobs") {
  for (const int jobs : {1, 2, 7}) {
    const auto results = run_in_processes(20, jobs, [](std::size_t i) { return Json(i * i); });
    REQUIRE(results.size() == 20);
    for (std::size_t i = 0; i < results.size(); ++i) {
      CHECK(results[i].error.empty());
      CHECK(results[i].value == i * i);
    }
  }
}

TEST_CASE("each piece of work has a process of its own") {
  const auto results = run_in_processes(3, 2, [](std::size_t) { return Json(static_cast<long>(::getpid())); });
  CHECK(results[0].value != results[1].value);
  CHECK(results[0].value != static_cast<long>(::getpid()));
}

TEST_CASE("answers larger than a pipe's buffer arrive whole") {
  const auto results = run_in_processes(2, 2, [](std::size_t) { return Json(std::string(1 << 20, 'x')); });
  CHECK(results[1].value.get<std::string>().size() == 1 << 20);
}

TEST_CASE("exceptions, signals and silent ends are errors of their own piece only") {
  const auto results = run_in_processes(4, 2, [](std::size_t i) -> Json {
    if (i == 1) throw std::runtime_error("no such platform");
    if (i == 2) std::raise(SIGKILL);
    if (i == 3) ::_exit(9);
    return 42;
  });
  CHECK(results[0].value == 42);
  CHECK(results[1].error == "no such platform");
  CHECK_THAT(results[2].error, ContainsSubstring("signal 9"));
  CHECK_THAT(results[3].error, ContainsSubstring("status 9"));
}
