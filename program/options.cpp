#include "program/options.hpp"

#include <CLI/CLI.hpp>

namespace stepcast {

Option& Option::type_name(const std::string& name) {
  option_->type_name(name);
  return *this;
}

Option& Option::required() {
  option_->required();
  return *this;
}

Option& Option::one_of(const std::vector<std::string>& values) {
  option_->check(CLI::IsMember(values));
  return *this;
}

Option& Option::one_of_any_case(const std::vector<std::string>& values) {
  option_->transform(CLI::IsMember(values, CLI::ignore_case));
  return *this;
}

Option& Option::between(std::int64_t least, std::int64_t most) {
  option_->check(CLI::Range(least, most));
  return *this;
}

Option& Option::check(const std::function<std::string(const std::string& text)>& fault_of) {
  option_->check(fault_of);
  return *this;
}

Option& Option::needs(const Option& other) {
  option_->needs(other.option_);
  return *this;
}

Option& Option::excludes(const Option& other) {
  option_->excludes(other.option_);
  return *this;
}

Option& Option::split_at_commas() {
  option_->delimiter(',');
  return *this;
}

Option& Option::one_value_a_time() {
  option_->allow_extra_args(false);
  return *this;
}

Option& Option::count_of_words(int least, int most) {
  option_->expected(least, most);
  return *this;
}

Option& Option::show_default() {
  option_->capture_default_str();
  return *this;
}

Option& Option::hidden() {
  option_->group("");
  return *this;
}

bool Option::is_given() const { return option_->count() > 0; }

Command Command::add_subcommand(const std::string& name, const std::string& meaning) {
  return Command(app_->add_subcommand(name, meaning));
}

Option Command::add_option(const std::string& names, std::string& target, const std::string& meaning) {
  return Option(app_->add_option(names, target, meaning));
}

Option Command::add_option(const std::string& names, std::vector<std::string>& target, const std::string& meaning) {
  return Option(app_->add_option(names, target, meaning));
}

Option Command::add_option(const std::string& names, std::vector<int>& target, const std::string& meaning) {
  return Option(app_->add_option(names, target, meaning));
}

Option Command::add_option(const std::string& names, int& target, const std::string& meaning) {
  return Option(app_->add_option(names, target, meaning));
}

Option Command::add_option(const std::string& names, std::int64_t& target, const std::string& meaning) {
  return Option(app_->add_option(names, target, meaning));
}

Option Command::add_option(const std::string& names, double& target, const std::string& meaning) {
  return Option(app_->add_option(names, target, meaning));
}

Option Command::add_option(const std::string& names, std::optional<int>& target, const std::string& meaning) {
  return Option(app_->add_option(names, target, meaning));
}

Option Command::add_option(const std::string& names, std::optional<std::size_t>& target, const std::string& meaning) {
  return Option(app_->add_option(names, target, meaning));
}

Option Command::add_option(const std::string& names, std::optional<double>& target, const std::string& meaning) {
  return Option(app_->add_option(names, target, meaning));
}

Option Command::add_flag(const std::string& names, bool& target, const std::string& meaning) {
  return Option(app_->add_flag(names, target, meaning));
}

void Command::footer(const std::string& text) { app_->footer(text); }

void Command::callback(const std::function<void()>& run) { app_->callback(run); }

}  // namespace stepcast
