#include "sim/program/document.hpp"

#include "models/describe/json.hpp"
#include "models/report/answer_sentence.hpp"
#include "models/report/writers.hpp"
#include "sim/program/manifest.hpp"

namespace stepcast {

Json whole_document(const Study& study, const Report& report, const Invocation& invocation) {
  Json document = report_document(report, make_manifest(study, invocation.arguments));
  document["answer"] = answer_sentence(study, report);
  return document;
}

}  // namespace stepcast
