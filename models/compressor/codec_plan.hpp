// The work of a compressor on one gradient tensor in one worker. It has the kernels that encode the tensor,
// the messages, and the kernels that decode the received messages. A plan depends on the tensor's shape alone. A
// strategy can place the messages on a cluster, and a device profile can price the kernels.
//
//     compensate → stage 1: encode, messages → stage 2: ... → decode → update of the residual
//
// Symbols in this folder: d elements of e bytes each, n x m matrix view, p workers, k = max(1, floor(ratio·d)) kept
// elements. The optimizer's update divides the sum by p.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/part/profile.hpp"
#include "models/unit/quantity.hpp"
#include "models/workload/kernel_rates.hpp"

namespace stepcast {

/// One kernel of a codec, run `repeats` times.
///
/// Bytes are the minimum for a fused kernel: each input is read once and each output written once. Gathers and scatters
/// count the elements that they touch. Each arithmetic, comparison or bit operation on an element is one operation; a
/// random number is kRandomFlops. Operations matter only for matrix products.
struct CodecKernel {
  std::string kernel;  ///< name by which a device profile may have a measured rate
  Bytes read{};
  Bytes written{};
  Flops flops{};
  double repeats = 1;
  Seconds fixed{};  ///< above 0: the time is known; launch and rates do not apply
  Seconds start{};  ///< the same, for a time that a share of the data leaves as it is

  [[nodiscard]] Seconds known() const { return fixed + start; }
};

inline constexpr double kRandomFlops = 10;

/// Adds kernels at the end.
void append(std::vector<CodecKernel>& to, const std::vector<CodecKernel>& from);

/// The collective that may carry a message.
enum class Primitive {
  all_reduce,         ///< the collective sums the messages of all workers
  all_gather,         ///< every worker gets every worker's message; all have the same size
  all_gather_unequal  ///< as all_gather, but sizes differ between workers and are exchanged first
};

/// One message of one worker. An all-gather of p such messages has n = p·bytes in the notation of models/collective.
struct Payload {
  std::string what;  ///< what it contains, such as "signs"; messages of one name join those of other tensors
  Primitive primitive = Primitive::all_reduce;
  Bytes bytes{};          ///< all_reduce: no fewer than the sum of all messages has, which fills the same buffer
  Bytes size_exchange{};  ///< all_gather_unequal: bytes of the sizes, which are gathered first
  Bytes narrower{};       ///< a server or a neighbour gets so many bytes less
  Bytes sum{};            ///< of all messages, as servers send it back; 0: as large as one, or no message if gathered

  [[nodiscard]] Bytes pushed() const { return bytes - narrower; }
};

/// Messages that may share one collective, after `encode`. The next stage needs their result.
struct Stage {
  std::vector<CodecKernel> encode;
  std::vector<Payload> messages;
};

/// Converts messages to dense values. Summed messages are decoded once. For p > 1 gathered messages, one kernel may
/// read all of them (`together`). Otherwise they are decoded one by one. The first is written and each further one is
/// added, so the sum is read and written p times.
struct Decode {
  std::vector<CodecKernel> first;
  std::vector<CodecKernel> further;   ///< for each of the other p-1 messages; empty unless decoding repeats per peer
  std::vector<CodecKernel> together;  ///< instead of both: with p messages, it reads and computes p times these values
  std::vector<CodecKernel> vote;      ///< once, if several messages were added: the sign of their sum
  std::vector<CodecKernel> finish;    ///< once, after the last message (SignSGD's majority)
};

struct CodecPlan {
  std::vector<CodecKernel> prepare;  ///< once per gradient, not when a sum is encoded again: SIGNUM's momentum
  std::vector<CodecKernel>
      compensate;  ///< error feedback before encoding: adds the residual or the momentum correction
  std::vector<Stage> stages;
  Decode decode;
  std::vector<CodecKernel>
      remember;            ///< error feedback after encoding: decodes the worker's own message, writes the residual
  int kept = 0;            ///< copies of the gradient that a worker keeps for the next step: 1 is the residual
  bool votes = false;      ///< the result of `together` for p messages is the message of their sum (packed signs)
  bool recodable = false;  ///< a hop of a ring may decode, sum and encode a slice again at the same size
  std::string assumed;     ///< the assumption about the data in the payload; empty: the payload is exact

  /// Whether AllReduce may carry all messages.
  [[nodiscard]] bool summable() const;
};

/// Bytes of all messages of one worker, without the exchange of sizes.
Bytes payload(const CodecPlan& plan);
/// Bytes of the sizes that one worker sends before its messages, where these differ between workers.
Bytes size_exchange(const CodecPlan& plan);
/// Bytes of a stage's messages to a server or a neighbour, which no collective sums.
Bytes pushed(const Stage& stage);
/// Bytes of their sum as a server sends it back, as it is; 0 if it cannot.
Bytes answer(const Stage& stage);
/// Kernels before the messages, in order: preparation of the gradient, error feedback, then each stage's kernels.
std::vector<CodecKernel> encode_kernels(const CodecPlan& plan);
/// Kernels after the messages of p workers arrive.
std::vector<CodecKernel> decode_kernels(const CodecPlan& plan, int p);
/// Decoding and adding the messages of p workers, at a receiver that sends none itself.
std::vector<CodecKernel> sum_kernels(const CodecPlan& plan, int p);
/// The same, followed by encoding of the sum, with its own error feedback.
std::vector<CodecKernel> recode_kernels(const CodecPlan& plan, int p);

/// The rates of a device for one method's codec: one set for all kernels, and others for measured kernels.
struct CodecRates {
  KernelRates all;
  std::map<std::string, KernelRates, std::less<>> measured;
  double slowdown = 1;                ///< factor on every kernel, beyond its launch
  std::optional<CodecEntry> codec{};  ///< an implementation's times of the method, in place of its kernels
};

/// Sum over kernels of repeats · (t(0, 0) + slowdown · (t(read + written, flops) - t(0, 0))): launches take the same time
/// in slow code. Without knots, each kernel is a roofline,
/// launch + max(bytes/bandwidth, flops/peak). Fixed times stay unchanged.
Seconds price(const std::vector<CodecKernel>& kernels, const CodecRates& rates);

}  // namespace stepcast
