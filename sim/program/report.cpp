// stepcast report: one page of a study, with its answer, pictures, tables and assumptions.
#include <memory>

#include "models/describe/json.hpp"
#include "models/report/writers.hpp"
#include "program/options.hpp"
#include "program/streams.hpp"
#include "sim/answer/answer_study.hpp"
#include "sim/program/command.hpp"
#include "sim/program/manifest.hpp"
#include "sim/program/output.hpp"
#include "sim/program/point_progress.hpp"
#include "sim/program/slow_kernels.hpp"
#include "sim/program/study_options.hpp"
#include "sim/program/verdict.hpp"
#include "sim/replay/processes.hpp"

namespace stepcast {
namespace {

struct PageOptions {
  StudyOptions study;
  std::string output;
  int jobs = available_cores();
};

int make_page(const PageOptions& options, const Invocation& invocation) {
  if (!options.output.ends_with(".html")) throw UsageError("--output", options.output + " must end in .html");
  const Study study = load(options.study);
  print_notes(options.study, study);
  check_outputs({options.study.file}, {options.output});
  Report report = answer_study(study, options.jobs, shown_progress());
  add_slow_kernels(options.study, study, options.jobs, report);
  make_with_script("make_page.py", report_document(report, make_manifest(study, invocation.arguments)), options.output);
  tell("stepcast: wrote {}\n", options.output);
  return judge_report(source_of(options.study), study, report);
}

}  // namespace

void add_report(Command& program, Invocation& invocation) {
  Command command = program.add_subcommand("report", "Make a page of a study: answer, pictures, tables, assumptions");
  auto options = std::make_shared<PageOptions>();
  add_scenario(command, options->study, "study", "scenario or study (JSON); - is standard input");
  add_sets(command, options->study);
  add_points(command, options->study);
  add_evaluation(command, options->study);
  command.add_option("-o,--output", options->output, "the page (.html), which needs no other file and no network")
      .required()
      .type_name("PATH");
  add_jobs(command, options->jobs);
  command.footer("Example: stepcast report quickstart -o quickstart.html");
  command.callback([options, &invocation] { invocation.exit_code = make_page(*options, invocation); });
}

}  // namespace stepcast
