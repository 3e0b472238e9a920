#include "program/about_itself.hpp"

#include "program/streams.hpp"

namespace stepcast {

bool answered_about_itself(const CLI::App& app, const std::vector<std::string>& arguments, const AboutProgram& about) {
  if (arguments.empty()) return false;
  if (arguments.front() == "__man") {
    print_result(man_page(app, about.version, about.sections));
    return true;
  }
  if (arguments.front() != "__complete") return false;
  print_result(completion_text(complete(app, {arguments.begin() + 1, arguments.end()}, about.known)));
  return true;
}

}  // namespace stepcast
