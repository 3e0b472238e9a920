#include "sim/program/scenario_words.hpp"

#include <string_view>

#include "models/describe/json.hpp"

namespace stepcast {
namespace {

/// The parts between commas; a JSON value is one part.
std::vector<std::string> parts_of(const std::string& text) {
  if (text.empty() || std::string_view("{[\"").find(text.front()) != std::string_view::npos) return {text};
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == ',') parts.emplace_back();
    else parts.back() += c;
  }
  return parts;
}

Override read_word(const ScenarioWord& word, const std::string& text) {
  Json values = Json::array();
  try {
    for (const std::string& part : parts_of(text)) {
      if (part.empty()) throw UsageError(word.option, "an empty value; give " + word.unit);
      values.push_back(parse_override(word.pointer + "=" + part).value);
    }
  } catch (const ScenarioError& error) {
    throw UsageError(word.option, error.what());
  }
  return {word.pointer, values.size() == 1 ? values.front() : values, word.option, word.pointer};
}

}  // namespace

const std::vector<ScenarioWord>& scenario_words() {
  static const std::vector<ScenarioWord> kWords = {
      {"--workload", "/workload", "NAME,...", "what is trained: resnet50-v100, or bert-base with --gpu or --cluster"},
      {"--batch", "/workload/batch", "N,...", "samples of a worker and step"},
      {"--dtype", "/workload/dtype", "NAME,...", "numbers that kernels compute in: fp32, fp16, bf16, tf32"},
      {"--cluster", "/cluster", "NAME,...", "machines by name: dgx-h100"},
      {"--gpu", "/cluster/gpu", "PROFILE,...", "the device whose speed layers have: a100"},
      {"--workers", "/cluster/workers", "N,...", "workers, one GPU each"},
      {"--link", "/cluster/link/bandwidth", "RATE,...", "bandwidth of a link: 10Gbps"},
      {"--latency", "/cluster/link/latency", "TIME,...", "latency of a link: 25us"},
      {"--stack", "/stack", "NAME,...", "the software: horovod-mpi-tcp"},
      {"--strategy", "/strategy", "KIND,...", "how gradients are exchanged: all-reduce, sharded, pipelined"},
      {"--compressor", "/compressor", "KIND,...", "how gradients are compressed: none, fp16, powersgd"}};
  return kWords;
}

void add_words(Command& command, WordTexts& texts) {
  texts.resize(scenario_words().size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const ScenarioWord& word = scenario_words()[i];
    command.add_option(word.option, texts[i], word.meaning).type_name(word.unit);
  }
}

bool is_given(const WordTexts& texts, const std::string& option) {
  for (std::size_t i = 0; i < texts.size(); ++i)
    if (scenario_words()[i].option == option && !texts[i].empty()) return true;
  return false;
}

std::vector<Override> overrides_of_words(const WordTexts& texts) {
  std::vector<Override> changes;
  for (std::size_t i = 0; i < texts.size(); ++i)
    if (!texts[i].empty()) changes.push_back(read_word(scenario_words()[i], texts[i]));
  return changes;
}

}  // namespace stepcast
