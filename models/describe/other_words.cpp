#include "models/describe/other_words.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/describe/fault.hpp"

namespace stepcast {
namespace {

/// A word of another tool and its name here. It applies where `among` is one of the accepted names.
struct OtherWord {
  std::string_view word;        ///< in lower case, without "-", "_" and spaces
  std::string_view among;       ///< one of the accepted names
  std::string_view name;        ///< "" if stepcast has no such thing
  std::string_view field = "";  ///< a field that belongs to the name; without a name, the advice
};

constexpr std::string_view kNoTensorParallelism =
    "tensor parallelism is not modelled; describe a group of GPUs as one worker: its measured times, and "
    "\"gpus_per_worker\" in the cluster";
constexpr std::string_view kNoPipelineParallelism =
    "pipeline parallelism is not modelled; describe a group of GPUs as one worker: its measured times, and "
    "\"gpus_per_worker\" in the cluster";
constexpr std::string_view kZero1 = R"("stage": "optimizer-state")", kZero3 = R"("stage": "parameters")";

constexpr OtherWord kWords[] = {
    // Strategies: PyTorch, Horovod, DeepSpeed, BytePS, and methods by their papers' names.
    {"ddp", "all-reduce", "all-reduce"},
    {"dp", "all-reduce", "all-reduce"},
    {"dataparallel", "all-reduce", "all-reduce"},
    {"distributeddataparallel", "all-reduce", "all-reduce"},
    {"horovod", "all-reduce", "all-reduce"},
    {"fsdp", "sharded", "sharded", kZero3},
    {"fsdp2", "sharded", "sharded", kZero3},
    {"fullyshardeddataparallel", "sharded", "sharded", kZero3},
    {"zero", "sharded", "sharded"},
    {"deepspeed", "sharded", "sharded"},
    {"zero1", "sharded", "sharded", kZero1},
    {"zero2", "sharded", "sharded", kZero1},
    {"zero3", "sharded", "sharded", kZero3},
    {"ps", "parameter-server", "parameter-server"},
    {"byteps", "parameter-server", "parameter-server"},
    {"pipesgd", "pipelined", "pipelined"},
    {"diloco", "local-sgd", "local-sgd"},
    {"slowmo", "local-sgd", "local-sgd"},
    {"dpsgd", "gossip", "gossip"},
    {"chocosgd", "gossip", "gossip"},
    {"sgp", "gossip", "gossip"},
    {"nccltests", "collective", "collective"},
    {"pp", "all-reduce", "", kNoPipelineParallelism},
    {"tp", "all-reduce", "", kNoTensorParallelism},
    {"gpipe", "all-reduce", "", kNoPipelineParallelism},
    {"pipelineparallel", "all-reduce", "", kNoPipelineParallelism},
    {"tensorparallel", "all-reduce", "", kNoTensorParallelism},
    {"modelparallel", "all-reduce", "", kNoTensorParallelism},
    {"megatron", "all-reduce", "", kNoTensorParallelism},
    // Sharded state: DeepSpeed and FSDP.
    {"zero1", "optimizer-state", "optimizer-state"},
    {"zero2", "optimizer-state", "optimizer-state"},
    {"shardgradop", "gradients", "gradients"},
    {"zero3", "parameters", "parameters"},
    {"fullshard", "parameters", "parameters"},
    // Fields: Megatron-LM, DeepSpeed, PyTorch.
    {"globalbatchsize", "global_batch", "global_batch"},
    {"trainbatchsize", "global_batch", "global_batch"},
    {"microbatch", "global_batch", "batch"},
    {"microbatchsize", "global_batch", "batch"},
    {"gradientaccumulationsteps", "accumulation", "accumulation"},
    {"activationcheckpointing", "recomputation", "recomputation"},
    {"gradientcheckpointing", "recomputation", "recomputation"},
    {"recompute", "recomputation", "recomputation"},
    {"selectivecheckpointing", "recomputed_share", "recomputed_share"},
    {"selectiveaclayer", "recomputed_share", "recomputed_share"},
    {"nosync", "reduce_after", "reduce_after"},
    {"nosync", "last-pass", "last-pass"},
    {"full", "blocks", "blocks"},
    {"selective", "blocks", "blocks", R"("recomputed_share": 0.5)"},
    {"seqlen", "transformer", "transformer/sequence"},
    {"sequencelength", "transformer", "transformer/sequence"},
    {"sequence", "transformer", "transformer/sequence"},
    {"precision", "compute_dtype", "dtype"},
    {"mixedprecision", "compute_dtype", "compute_dtype"},
    {"amp", "autocast", "autocast"},
    {"reducedtype", "bucket_cap", "reduce_dtype, beside exchange, of strategy sharded,"},
    {"bucketsize", "bucket_cap", "bucket_cap"},
    {"bucketcapmb", "bucket_cap", "bucket_cap"},
    {"bucketsizemb", "bucket_cap", "bucket_cap"},
    {"fusionthreshold", "bucket_cap", "bucket_cap"},
    {"backwardslowdown", "bucket_cap", "/stack/backward_slowdown"},
    {"bucketcap", "exchange", "exchange/bucket_cap"},
    {"bucketsize", "exchange", "exchange/bucket_cap"},
    {"bucketcapmb", "exchange", "exchange/bucket_cap"},
    {"grouping", "exchange", "exchange/grouping"},
    {"overlap", "exchange", "exchange/overlap"},
    {"zerostage", "stage", "stage"},
    {"batchsize", "batch", "batch"},
    // Symbols of the papers: Pipe-SGD's K, local SGD's H or tau, staleness of servers.
    {"k", "width", "width"},
    {"staleness", "width", "width"},
    {"h", "outer_update_factor", "steps"},
    {"tau", "outer_update_factor", "steps"},
    {"localsteps", "outer_update_factor", "steps"},
    {"tau", "consistency", "bound"},
    {"staleness", "consistency", "bound"},
    {"maxstaleness", "consistency", "bound"},
    {"mode", "consistency", "consistency"},
    {"k", "ratio", "ratio"},
    {"density", "ratio", "ratio"},
    {"sparsity", "ratio", "ratio"},
    // Parallelism that no strategy has.
    {"tensorparallel", "exchange", "", kNoTensorParallelism},
    {"tensorparallel", "workers", "", kNoTensorParallelism},
    {"tensorparallelsize", "exchange", "", kNoTensorParallelism},
    {"tensorparallelsize", "workers", "", kNoTensorParallelism},
    {"tp", "exchange", "", kNoTensorParallelism},
    {"tp", "workers", "", kNoTensorParallelism},
    {"pipelineparallel", "exchange", "", kNoPipelineParallelism},
    {"pipelineparallel", "workers", "", kNoPipelineParallelism},
    {"pp", "exchange", "", kNoPipelineParallelism},
    {"pp", "workers", "", kNoPipelineParallelism},
    // Clusters.
    {"numgpus", "workers", "workers"},
    {"ngpus", "workers", "workers"},
    {"worldsize", "workers", "workers"},
    {"nodes", "workers", "workers"},
    {"bandwidth", "link", "link/bandwidth"},
    {"latency", "link", "link/latency"},
    {"nics", "topology", "topology/nics"},
    {"gpuspernode", "topology", "topology/gpus_per_node"},
    {"gpus", "workers", "workers"},
    {"gpu", "worker", "worker"},
    {"hostcost", "reduction_cost", "/stack/host_cost"},
    {"cost", "prices", "prices"},
    {"price", "prices", "prices"},
    // Servers.
    {"servers", "shards", "shards"},
    {"bsp", "synchronous", "synchronous"},
    {"sync", "synchronous", "synchronous"},
    {"asp", "asynchronous", "asynchronous"},
    {"async", "asynchronous", "asynchronous"},
    {"ssp", "stale-synchronous", "stale-synchronous"},
    {"backup", "backup-workers", "backup-workers"},
    {"backups", "backup_workers", "backup_workers"},
    {"replicastoaggregate", "backup_workers", "backup_workers, all workers but those to aggregate,"},
    // Collectives.
    {"tree", "double-binary-tree", "double-binary-tree"},
    {"rabenseifner", "halving-doubling", "halving-doubling"},
    {"sharp", "in-network", "in-network"},
    {"collnet", "in-network", "in-network"},
    {"switchml", "in-network", "in-network"},
    // Compressors.
    {"randk", "random-k", "random-k"},
    {"onebit", "1-bit", "1-bit"},
    {"1bitsgd", "1-bit", "1-bit"},
    {"eightbit", "8-bit", "8-bit"},
    {"half", "fp16", "fp16"},
    {"float16", "fp16", "fp16"},
    {"deepgradientcompression", "dgc", "dgc"},
    {"fp8", "fp16", ""},
    {"float8", "fp16", ""},
    // Types and optimizers.
    {"float", "fp32", "fp32"},
    {"float32", "fp32", "fp32"},
    {"bfloat16", "bf16", "bf16"},
    {"adamw", "adam", "adam"},
    {"nesterov", "momentum", "momentum"},
    {"sgdmomentum", "momentum", "momentum"},
};

/// The word in lower case, without "-", "_" and spaces.
std::string plain(std::string_view word) {
  std::string text;
  for (const char c : word)
    if (c != '-' && c != '_' && c != ' ') text += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

}  // namespace

std::optional<NameHere> name_here(std::string_view word, const std::vector<std::string>& names) {
  const std::string wanted = plain(word);
  for (const std::string& name : names)
    if (plain(name) == wanted) return NameHere{name, "", true};
  for (const OtherWord& other : kWords)
    if (other.word == wanted && std::find(names.begin(), names.end(), other.among) != names.end())
      return NameHere{std::string(other.name), std::string(other.field)};
  return {};
}

static NameHere near_kind(std::string_view word, const std::vector<std::string>& kinds) {
  return name_here(word, kinds).value_or(NameHere{nearest(word, kinds), "", true});
}

std::string key_meant(std::string_view word, const std::vector<std::string>& keys) {
  if (const auto here = name_here(word, keys); here && !here->is_spelling)
    return here->name.empty() ? here->field : fmt::format("that is \"{}\" here", here->name);
  const std::string near = nearest(word, keys);
  return near.empty() ? "" : fmt::format("did you mean \"{}\"?", near);
}

std::string words_here(std::string_view word) {
  std::vector<std::string> names;
  for (const OtherWord& other : kWords) {
    if (other.word != plain(word)) continue;
    std::string name = other.name.empty() ? std::string(other.field) : fmt::format("\"{}\"", other.name);
    if (other.name.empty() && !name.empty()) return name;
    if (!other.name.empty() && std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(std::move(name));
  }
  return names.empty() ? "" : fmt::format("that is {} here", fmt::join(names, " or "));
}

std::string part_meant(std::string_view word, const std::vector<std::string>& kinds) {
  const NameHere here = near_kind(word, kinds);
  return here.name.empty()
             ? ""
             : fmt::format("{{\"kind\": \"{}\"{}{}}}", here.name, here.field.empty() ? "" : ", ", here.field);
}

std::string kind_meant(std::string_view word, const std::vector<std::string>& kinds) {
  const NameHere here = near_kind(word, kinds);
  return here.name.empty() || !here.field.empty() ? part_meant(word, kinds) : fmt::format("\"{}\"", here.name);
}

}  // namespace stepcast
