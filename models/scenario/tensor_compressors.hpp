// The compressor of each tensor.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/scenario/scenario.hpp"
#include "models/workload/workload.hpp"

namespace stepcast {

/// Whether a tensor matches a pattern: by its name, or by KIND:NAME of its layer's kind and its name. * stands for any
/// characters, ? for one, !(a|b) for all but a and b.
bool matches(const std::string& pattern, const Gradient& tensor);
/// Whether it matches the name of any of the workload's tensors.
bool matches_any(const std::string& pattern, const Workload& workload);

/// Whether the codec leaves this tensor as it is: by its elements, its dimensions or its name.
bool stays_whole(const CodecSettings& codec, const Gradient& tensor);

/// Whether the codec may leave any tensor as it is.
bool may_leave_whole(const CodecSettings& codec);

/// The scenario's other compressors; empty without any.
std::span<const OtherCompressor> others_of(const Scenario& scenario);
/// The place of the i-th other compressor in the document.
std::string other_compressor_pointer(std::size_t i);

/// The scenario's compressor, then the others.
std::vector<const Compressor*> compressors_of(const Scenario& scenario);
/// Those whose messages are sent, and the inner compressor, if it compresses.
std::vector<const Compressor*> all_compressors_of(const Scenario& scenario);

/// A tensor's place in that list. The first of `others` with a pattern for its name has it, otherwise the scenario's
/// compressor. None: the codec leaves it as it is.
std::optional<std::size_t> compressor_of(const CodecSettings& codec, std::span<const OtherCompressor> others,
                                         const Gradient& tensor);

/// Whether any of compressors_of() has these properties.
bool any_has(const Scenario& scenario, bool (*has)(const CompressorTraits&));
/// Properties for any_has().
inline bool is_summed(const CompressorTraits& traits) { return traits.summable; }
inline bool is_gathered(const CompressorTraits& traits) { return !traits.summable; }
/// Its messages may be summed in parts instead of gathered.
inline bool has_parts(const CompressorTraits& traits) { return traits.one_gathered_message; }
/// Carrier all-to-all encodes sums of its messages again, which is another training. The votes of signs are signs.
inline bool is_recoded(const CompressorTraits& traits) { return traits.one_gathered_message && !traits.votes; }

/// Whether other values may be sent if a tensor is compressed in parts: fp16 and ratio see one element at a time.
bool is_changed_by_parts(const Scenario& scenario);

/// The kinds, each once: "powersgd+top-k".
std::string compressor_text(const Scenario& scenario);

/// A number of tensors, and their bytes.
struct TensorCount {
  int tensors = 0;
  Bytes bytes{};
};
/// The tensors that a compressor has, or none: those that stay whole.
/// @param index  its place in compressors_of(scenario)
TensorCount count_tensors(const Scenario& scenario, const Workload& workload, std::optional<std::size_t> index);

}  // namespace stepcast
