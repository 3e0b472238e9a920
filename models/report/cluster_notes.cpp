#include "models/report/cluster_notes.hpp"

#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/fabric/machines.hpp"
#include "models/price/path_prices.hpp"
#include "models/scenario/collective_choice.hpp"
#include "models/unit/format.hpp"

namespace stepcast {
namespace {

/// Notes where SimGrid's TCP effects change what a link was said to be. Its window caps a flow at bandwidth_factor
/// times window/(2·latency), the latency without its factor.
void add_tcp_effects(const Cluster& cluster, Notes& notes) {
  const auto* tcp = std::get_if<TcpTransport>(&cluster.transport);
  if (!tcp || std::holds_alternative<SimGridXml>(cluster.topology) || cluster.workers < 2)
    return;  // a platform's links are its own
  const bool one_machine = machines(cluster).workers >= cluster.workers;
  const Seconds latency =
      collective_prices(cluster).path[static_cast<std::size_t>(one_machine ? Path::inner : Path::far)].alpha;
  const auto* nodes = std::get_if<Nodes>(&cluster.topology);
  constexpr Seconds kMuch = 1_ms;
  if (latency * (tcp->latency_factor - 1) >= kMuch)
    notes.push_back(
        {NoteCode::tcp_latency,
         fmt::format(
             "transport tcp multiplies latencies by /cluster/transport/latency_factor, {}{}: {} become {}; set it to "
             "1 if the latency comes from distance",
             tcp->latency_factor,
             tcp->latency_factor == TcpTransport{}.latency_factor ? ", SimGrid's calibration of a LAN" : "",
             human_text(latency), human_text(latency * tcp->latency_factor))});
  if (tcp->window == Bytes{} || latency == Seconds{}) return;
  const BytesPerSecond link = one_machine && nodes ? nodes->inner.bandwidth
                                                   : BytesPerSecond(1 / worst_link(cluster).beta.si()),
                       cap = tcp->window / (latency * 2.0) * tcp->bandwidth_factor;
  if (cap < link * tcp->bandwidth_factor)
    notes.push_back(
        {NoteCode::tcp_window,
         fmt::format(
             "transport tcp caps a flow at {}, bandwidth_factor·window/(2·latency) with /cluster/transport/window {} "
             "and {}, while the link has {}",
             human_text(cap), exact_text(tcp->window), human_text(latency), human_text(link))});
}

/// Notes where messages take no time of their own: of many small ones that decides.
void add_free_latency(const Scenario& scenario, Notes& notes) {
  const Cluster& cluster = scenario.cluster;
  const auto* nodes = std::get_if<Nodes>(&cluster.topology);
  const bool is_linked =
      cluster.workers > (nodes ? nodes->gpus_per_node : 1) && !std::holds_alternative<SimGridXml>(cluster.topology);
  const Seconds latency = collective_prices(cluster).path[static_cast<std::size_t>(Path::far)].alpha;
  if (is_linked && latency == Seconds{})
    notes.push_back(
        {NoteCode::free_latency, "/cluster/link/latency is 0, the default: messages cost only their bytes"});
}

/// The collectives that send anything.
std::vector<CollectiveCall> calls_of(const StepGraph& graph, int workers) {
  std::vector<CollectiveCall> calls;
  for (const Task& task : graph.tasks)
    if (const auto* work = std::get_if<CollectiveWork>(&task.work); work && work->call.among.size(workers) > 1)
      calls.push_back(work->call);
  return calls;
}

/// Notes collectives that a fitted cluster's links were not measured with: carried out otherwise, or of other sizes.
void add_fitted_links(const Cluster& cluster, const StepGraph& graph, Notes& notes) {
  constexpr double kBeyond = 2;  // a line goes on for a while
  std::set<Algorithm> fitted, others, instead;
  Bytes from, to, least, most;
  const auto extend = [](Bytes& low, Bytes& high, Bytes a, Bytes b) {
    low = high == Bytes{} ? a : std::min(low, a);
    high = std::max(high, b);
  };
  for (const LinkFit& fit : cluster.fits)
    if (fit.algorithm) {
      if (*fit.algorithm == Algorithm::automatic) fitted.insert(cluster.algorithms.begin(), cluster.algorithms.end());
      else fitted.insert(*fit.algorithm);
      extend(from, to, fit.from, fit.to);
    }
  if (fitted.empty()) return;
  for (const CollectiveCall& call : calls_of(graph, cluster.workers)) {
    extend(least, most, call.bytes, call.bytes);
    if (fitted.contains(call.algorithm->algorithm)) continue;
    others.insert(call.algorithm->algorithm);
    for (const Algorithm one : fitted)
      if (carries_out(one, call.algorithm->operation)) instead.insert(one);
  }
  const auto names = [](const std::set<Algorithm>& algorithms, const char* between) {
    std::vector<std::string_view> all;
    for (const Algorithm one : algorithms) all.push_back(name_of(one));
    return fmt::format("{}", fmt::join(all, between));
  };
  if (!others.empty())
    notes.push_back(
        {NoteCode::other_fitted_algorithm,
         fmt::format("/cluster/fits: the links were fitted with {}; collectives by {} are a guess for them{}",
                     names(fitted, " and "), names(others, " and "),
                     instead.empty()
                         ? ""
                         : fmt::format("; set /strategy/collective/algorithm to {}", names(instead, " or ")))});
  if (most > to * kBeyond || least * kBeyond < from)
    notes.push_back(
        {NoteCode::other_fitted_sizes,
         fmt::format("/cluster/fits: the links were fitted on {} to {}; this sends {}", human_text(from),
                     human_text(to),
                     least == most ? human_text(most) : fmt::format("{} to {}", human_text(least), human_text(most)))});
}

/// Notes algorithms that a library may not have. These are choices of auto if the library gives only its protocols, and
/// named algorithms that are not among the library's.
/// Whether the stack is of NCCL, by its name.
bool is_of_nccl(const Stack& stack) {
  const std::string name = stack.name.value_or("");
  return name.find("nccl") != std::string::npos || name == "fsdp";
}

void add_other_algorithms(const Scenario& scenario, const StepGraph& graph, Notes& notes) {
  const Cluster& cluster = scenario.cluster;
  const CollectiveChoice* choice = collective_of(scenario.strategy);
  if (!choice || !cluster.fits.empty()) return;  // fitted links have a note of their own
  const bool is_auto = choice->algorithm == Algorithm::automatic;
  const bool may_be_nccl = !cluster.protocols.empty() || is_of_nccl(cluster.stack);
  if (cluster.algorithms.empty() && !(may_be_nccl && is_auto)) return;
  const std::span<const Algorithm> library =
      cluster.algorithms.empty() ? std::span<const Algorithm>(kAlgorithmsOfNccl) : cluster.algorithms;
  std::set<std::string_view> others;
  for (const CollectiveCall& call : calls_of(graph, cluster.workers))
    if (!may_choose(library, call.algorithm->algorithm, call.algorithm->operation))
      others.insert(name_of(call.algorithm->algorithm));
  if (others.empty()) return;
  const std::string names = fmt::format("{}", fmt::join(others, " and "));
  if (is_auto && !cluster.algorithms.empty()) {
    notes.push_back(
        {NoteCode::other_algorithm, fmt::format("none of /cluster/algorithms fits here, so auto chose {}", names)});
    return;
  }
  notes.push_back({NoteCode::other_algorithm,
                   is_auto
                       ? fmt::format("{} of a library, which may lack the algorithms that auto chose; list its own in "
                                     "/cluster/algorithms, for NCCL [\"ring\", \"multi-ring\", \"nccl-tree\"]",
                                     cluster.protocols.empty() ? fmt::format("stack {} is", *cluster.stack.name)
                                                               : "/cluster/protocols are")
                       : fmt::format("{} is not among /cluster/algorithms, the library's list", names)});
}

}  // namespace

void add_cluster_notes(const Scenario& scenario, const StepGraph& graph, Notes& notes) {
  add_tcp_effects(scenario.cluster, notes);
  if (const int gpus = scenario.cluster.gpus_per_worker; gpus > 1)
    notes.push_back({NoteCode::grouped_gpus,
                     fmt::format("a worker is {} GPUs, whose own exchanges are part of its measured times; tensor and "
                                 "pipeline parallelism are not modelled",
                                 gpus)});
  add_free_latency(scenario, notes);
  add_fitted_links(scenario.cluster, graph, notes);
  add_other_algorithms(scenario, graph, notes);
}

}  // namespace stepcast
