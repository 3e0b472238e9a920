// What a compressor does with one gradient tensor on one worker: the passes over memory that encode it, the
// messages it becomes, and the passes that decode what comes back. A function of the tensor's shape alone, so
// that a strategy can place the messages on a cluster and a device profile can price the passes.
//
//     compensate → stage 1: encode, messages → stage 2: ... → decode → update of the residual
//
// Symbols everywhere in this folder: d elements of e bytes each, n x m the matrix view, p workers,
// k = max(1, floor(ratio·d)) elements kept. Dividing the sum by p is left to the optimizer update.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "models/unit/quantity.hpp"
#include "models/workload/kernel_rates.hpp"

namespace stepcast {

/// One kernel's sweep over memory, done `repeats` times.
///
/// Bytes are those a fused kernel has to move: every input read once, every output written once, gathers and
/// scatters counted by the elements they touch. Operations count each arithmetic, comparison or bit operation of
/// an element as one, a random number as kRandomFlops; they matter only where matrices are multiplied.
struct Pass {
  std::string kernel;  ///< by which a device profile may know a measured rate
  Bytes read{};
  Bytes written{};
  Flops flops{};
  double repeats = 1;
  Seconds fixed{};  ///< above 0: the time is known and neither launch nor rates apply
};

inline constexpr double kRandomFlops = 10;

/// Which collective may carry a message.
enum class Primitive {
  all_reduce,         ///< messages of all workers are summed on the way
  all_gather,         ///< every worker gets every worker's message; all are of one size
  all_gather_unequal  ///< sizes differ between workers and are exchanged first
};

/// One message of one worker. An all-gather of p such messages has n = p·bytes in the words of models/collective.
struct Payload {
  std::string what;
  Primitive primitive = Primitive::all_reduce;
  Bytes bytes{};
  Bytes size_exchange{};  ///< all_gather_unequal: bytes of the sizes that are gathered first
};

/// Messages that may travel together, after `encode`. The next stage needs their result.
struct Stage {
  std::vector<Pass> encode;
  std::vector<Payload> messages;
};

/// From messages to dense values. What was summed on the way is decoded once. Of p > 1 messages that were all-gathered
/// one kernel reads all, where there is such a kernel; else they are decoded one by one, the first being written and
/// each further one added, which reads and writes the sum p times.
struct Decode {
  std::vector<Pass> first;
  std::vector<Pass> further;   ///< for each of the other p-1 messages; empty unless repeated per peer
  std::vector<Pass> together;  ///< instead of both: with p messages it reads and computes p times what it says here
  std::vector<Pass> finish;    ///< once, after the last (SignSGD's majority)
};

struct CodecPlan {
  std::vector<Pass> prepare;     ///< of a gradient alone, not of a sum that is encoded again: SIGNUM's momentum
  std::vector<Pass> compensate;  ///< error feedback before encoding: adds the residual, or momentum correction
  std::vector<Stage> stages;
  Decode decode;
  std::vector<Pass> remember;  ///< error feedback after encoding: decodes the own message, writes the residual
  bool votes = false;          ///< what `together` makes of p messages is their sum's message (packed signs)
  bool recodable = false;      ///< a hop of a ring may decode, sum and encode a slice again at the same size
  std::string assumed;         ///< what of the payload depends on the data and was assumed; empty: exact

  /// Whether AllReduce may carry every message.
  [[nodiscard]] bool summable() const;
};

/// Bytes of all messages of one worker, the exchange of sizes apart.
Bytes payload(const CodecPlan& plan);
/// Passes before the messages, in order: what prepares the gradient, error feedback's, then each stage's.
std::vector<Pass> encode_passes(const CodecPlan& plan);
/// Passes after the messages of p workers have come.
std::vector<Pass> decode_passes(const CodecPlan& plan, int p);
/// Decoding and adding the messages of p workers, for somebody who sent none himself.
std::vector<Pass> sum_passes(const CodecPlan& plan, int p);
/// The same, and encoding their sum, with error feedback of its own.
std::vector<Pass> recode_passes(const CodecPlan& plan, int p);

/// A device for codecs: one set of rates, and others for kernels that were measured.
struct CodecRates {
  KernelRates all;
  std::map<std::string, KernelRates, std::less<>> measured;
  double slowdown = 1;  ///< of every kernel
};

/// Sum over passes of repeats · slowdown · time(read + written, flops): without knots each kernel is a roofline,
/// launch + max(bytes/bandwidth, flops/peak). Times that are given stay as they are.
Seconds price(const std::vector<Pass>& passes, const CodecRates& rates);

}  // namespace stepcast
