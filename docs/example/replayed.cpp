// The table that `stepcast run --evaluator both` prints: replayed SCENARIO
#include <cstdio>

#include "models/describe/fault.hpp"
#include "models/report/table.hpp"
#include "models/study/expansion.hpp"
#include "sim/answer/answer_study.hpp"

int main(int argc, char** argv) try {
  const stepcast::Override both{"/evaluation/evaluator", "both", "this program", ""};
  const stepcast::Study study = stepcast::load_study(argc > 1 ? argv[1] : "first.json", {both}, SCENARIOS);
  std::fputs(to_table(stepcast::answer_study(study, 1)).c_str(), stdout);
} catch (const stepcast::ScenarioError& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
