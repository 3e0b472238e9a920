#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <stdexcept>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "calibrate/link/fitted_times.hpp"
#include "calibrate/link/joint_fit.hpp"
#include "calibrate/link/link_fit.hpp"
#include "calibrate/link/protocol_fit.hpp"
#include "calibrate/statistics.hpp"
#include "models/collective/collective.hpp"
#include "models/unit/format.hpp"
#include "models/unit/parse.hpp"

namespace stepcast::calibrate {
namespace {

using Kind = Benchmark::Kind;
using Fits = std::vector<const BenchmarkFit*>;

/// As a file has it.
template <class Q>
Q rounded(double si) {
  if (std::abs(si) < kSmallest) return Q{};
  if (!is_sane(si)) throw std::invalid_argument(fmt::format("{} is of no link", human_text(Q(si))));
  return parse_quantity<Q>(brief_text(Q(si)));
}

std::optional<BytesPerSecond> rate(double beta) {
  return beta > 0 ? std::optional(rounded<BytesPerSecond>(1 / beta)) : std::nullopt;
}

LinkFit entry_of(const BenchmarkFit& fit, const RangeFit& range) {
  LinkFit entry;
  entry.source = fmt::format("{} of {}", fit.benchmark.file, fit.benchmark.program);
  entry.benchmark = fit.what;
  if (fit.benchmark.kind == Kind::collective) entry.algorithm = fit.algorithm;
  entry.from = rounded<Bytes>(range.from);
  entry.to = rounded<Bytes>(range.to);
  entry.latency = rounded<Seconds>(range.alpha.value);
  entry.latency_low = rounded<Seconds>(range.alpha.low);
  entry.latency_high = rounded<Seconds>(range.alpha.high);
  entry.bandwidth = rate(range.beta.value);
  entry.bandwidth_low = rate(range.beta.high);
  entry.bandwidth_high = rate(range.beta.low);
  return entry;
}

bool is_ring(const BenchmarkFit& fit) { return fit.algorithm == Algorithm::ring; }

/// Whether its closed form separates messages inside hosts from messages between them.
bool knows_hosts(const BenchmarkFit& fit) { return is_ring(fit) || fit.is_of_trees(); }

Fits those(const std::vector<BenchmarkFit>& fits, const std::function<bool(const Benchmark&)>& are_wanted) {
  Fits found;
  for (const BenchmarkFit& fit : fits)
    if (are_wanted(fit.benchmark)) found.push_back(&fit);
  return found;
}

Fits of_kind(const std::vector<BenchmarkFit>& fits, Kind kind) {
  return those(fits, [kind](const Benchmark& one) { return one.kind == kind; });
}

[[noreturn]] void refuse(const BenchmarkFit& one, const std::string& what_it_is, const BenchmarkFit& other,
                         const std::string& what_that_is, const std::string& why) {
  throw std::invalid_argument(fmt::format("{} is of {} and {} of {}: {}; or fit each separately, one --from at a time",
                                          one.benchmark.file, what_it_is, other.benchmark.file, what_that_is, why));
}

std::string hosts_of(const BenchmarkFit& fit) {
  return fit.benchmark.hosts == 0   ? "hosts that it does not name"
         : fit.benchmark.hosts == 1 ? "one host"
                                    : std::to_string(fit.benchmark.hosts);
}

/// Runs on several hosts, of which one cluster is to be made.
void require_alike(const Fits& across) {
  const BenchmarkFit& first = *across.front();
  for (const BenchmarkFit* other : across) {
    if (other->algorithm != first.algorithm)
      refuse(first, algorithm_text(first.algorithm), *other, algorithm_text(other->algorithm),
             "between hosts a link's latency and bandwidth are those of one algorithm");
    if (other->benchmark.ranks_per_host != first.benchmark.ranks_per_host)
      refuse(first, fmt::format("{} ranks a host", first.benchmark.ranks_per_host), *other,
             std::to_string(other->benchmark.ranks_per_host),
             std::min(first.benchmark.ranks_per_host, other->benchmark.ranks_per_host) == 0
                 ? "0 is unlike numbers, and a cluster's machines are alike"
                 : "a cluster's machines are alike");
  }
}

LinkSources sources_of(const std::vector<BenchmarkFit>& fits) {
  LinkSources from;
  from.latency = of_kind(fits, Kind::latency);
  from.bandwidth = of_kind(fits, Kind::bandwidth);
  from.collectives = those(fits, [](const Benchmark& one) { return one.kind == Kind::collective && one.hosts > 1; });
  if (from.collectives.empty()) {
    from.collectives = of_kind(fits, Kind::collective);
    return from;
  }
  require_alike(from.collectives);
  const BenchmarkFit& across = *from.collectives.front();
  from.inside = those(fits, [](const Benchmark& one) { return one.kind == Kind::collective && one.hosts < 2; });
  for (const BenchmarkFit* inside : from.inside) {
    const auto refuse_both = [&](const char* why) {
      refuse(*inside, hosts_of(*inside), across, hosts_of(across), why);
    };
    if (inside->benchmark.hosts == 0) refuse_both("its links are unknown");
    if (!knows_hosts(*inside) || !knows_hosts(across))
      refuse_both(
          "only rings and NCCL's trees separate inner links from NICs: measure both with NCCL_ALGO=Ring or Tree, and "
          "give --algorithm ring or tree");
    if (across.benchmark.ranks_per_host == 0)
      refuse_both(
          "their ranks are not as many on each host, one host after the other, as a cluster's of nodes are: measure it so");
  }
  if (across.is_of_trees() && across.benchmark.ranks_per_host != 1 && !from.two_kinds())
    throw std::invalid_argument(fmt::format(
        "{} is of {} on several hosts, whose trees are chains inside them: add a run inside one host by another --from, or measure with NCCL_ALGO=Ring and give --algorithm ring",
        across.benchmark.file, algorithm_text(across.algorithm)));
  return from;
}

std::string texts(const Fits& fits) {
  std::vector<std::string> all;
  for (const BenchmarkFit* fit : fits) all.push_back(fmt::format("{} ({})", fit->benchmark.file, fit->what));
  return fmt::format("{}", fmt::join(all, " and "));
}

int most_ranks(const Fits& fits) {
  int most = 0;
  for (const BenchmarkFit* fit : fits) most = std::max(most, fit->benchmark.ranks);
  return most;
}

bool makes_nodes(const LinkSources& from) {
  if (from.collectives.empty()) return false;
  const BenchmarkFit& first = *from.collectives.front();
  return from.two_kinds() || (first.benchmark.is_of_machines() && is_ring(first)) ||
         (first.benchmark.hosts == 1 && first.is_of_trees());
}

/// The algorithms that auto chooses among, since no others were measured.
std::vector<Algorithm> algorithms_of(const std::vector<BenchmarkFit>& fits) {
  std::set<Algorithm> all;
  for (const BenchmarkFit& fit : fits) {
    if (fit.benchmark.kind != Kind::collective) continue;
    if (fit.algorithm != Algorithm::automatic) {
      all.insert(fit.algorithm);
      continue;
    }
    for (const Algorithm one : kAlgorithmsOfNccl)
      if (one != Algorithm::multi_ring || fit.nics > 1) all.insert(one);
  }
  return {all.begin(), all.end()};
}

/// The topology, and the text about it.
std::string set_nodes(Cluster& cluster, const LinkSources& from, const ProtocolFit& links) {
  const int each = from.collectives.front()->benchmark.ranks_per_host;
  Nodes nodes;
  nodes.nics = from.collectives.front()->nics;
  nodes.gpus_per_node = each > 1 ? each : most_ranks(from.inside);
  std::string text;
  if (from.two_kinds()) {
    const PathPrice &inner = links.links.inside, &between = links.links.between;
    nodes.inner = {rounded<BytesPerSecond>(1 / inner.beta.si()), rounded<Seconds>(inner.alpha.si())};
    cluster.workers = 0;
    for (const BenchmarkFit* fit : from.collectives)
      cluster.workers = std::max(cluster.workers, fit->benchmark.hosts * nodes.gpus_per_node);
    cluster.link.latency = rounded<Seconds>(std::max(0.0, (between.alpha - inner.alpha).si()));
    text = fmt::format(
        " The inner link is from {}; a message between hosts takes the latency of both links, and a ring the mean of its hops' in each round.",
        texts(from.inside));
  } else if (from.collectives.front()->benchmark.hosts == 1) {
    nodes.gpus_per_node = cluster.workers;
    nodes.inner = cluster.link;
    cluster.link.latency = {};
    text = " Nothing was measured between hosts, so a scenario's figures there mean nothing.";
  } else {
    nodes.inner = cluster.link;
    cluster.link.latency = {};
    text =
        " These benchmarks do not separate links inside a host from links between hosts: the inner link has the same "
        "latency and bandwidth. These figures, and times of hierarchical, mean nothing. Add a run inside one host by "
        "another --from.";
  }
  cluster.topology = nodes;
  return text;
}

std::string setup_text(const LinkSources& from, bool is_told) {
  if (!is_told) return "these benchmarks do not separate S from latency, so S is 0";
  return from.latency.empty() ? "S is the part that does not grow with the collectives' numbers of rounds"
                              : "S is the collectives' time of no bytes less their rounds' latency";
}

/// Cautions that apply only to links between hosts.
std::string cautions(const LinkSources& from) {
  const BenchmarkFit& first = *from.collectives.front();
  if (first.benchmark.hosts < 2) return "";
  return fmt::format(
      " Latency and bandwidth are those of {} as measured, over {}, with its messages' waits for one another: use "
      "them with that algorithm, as auto does. Forecasts of other algorithms use links that were not measured for "
      "them.{}",
      algorithm_text(first.algorithm), first.nics > 1 ? "one NIC of a host" : "all NICs of a host as one",
      makes_nodes(from) || first.benchmark.ranks_per_host == 1
          ? ""
          : " It does not separate machines: the workers are a star, each with its own link, which is no NIC.");
}

}  // namespace

Cluster make_cluster(const std::string& name, const std::vector<BenchmarkFit>& fits, int most_protocols) {
  const LinkSources from = sources_of(fits);
  const Fits& alpha = from.latency.empty() ? from.collectives : from.latency;
  if (alpha.empty())
    throw std::invalid_argument(
        "a benchmark of bandwidth alone tells no latency: add the text of osu_latency, or a collective's, by another --from");
  const Fits& beta = !from.collectives.empty() ? from.collectives
                     : from.bandwidth.empty()  ? from.latency
                                               : from.bandwidth;
  const JointFit joint = fit_jointly(from);
  const ProtocolFit links =
      fit_protocols(from, joint, most_protocols).value_or(ProtocolFit{prices_of(joint), joint.setup, 0, {}});
  Cluster cluster;
  cluster.name = name;
  cluster.workers = from.collectives.empty() ? 2 : most_ranks(from.collectives);
  const PathPrice& link = links.links.between;
  cluster.link = {rounded<BytesPerSecond>(1 / link.beta.si()), rounded<Seconds>(link.alpha.si())};
  cluster.collective_cost = rounded<Seconds>(links.setup);
  cluster.collective_byte_cost = rounded<SecondsPerByte>(links.buffer);
  cluster.protocols = links.protocols;
  cluster.algorithms = algorithms_of(fits);
  const auto [least, most] = fitted_sizes(fits);
  std::string description = fmt::format(
      "Fitted by stepcast-calibrate link to {} to {}: latency from {}, bandwidth from {}; {}. The costs of adding and "
      "copying cannot be separated from bandwidth and are part of it. "
      "Intervals in \"fits\" are 95 %, by the covariance of the weighted least squares and Student's t, for known "
      "sizes of regime changes.",
      human_text(least, 3), human_text(most, 3), texts(alpha), texts(beta), setup_text(from, joint.tells_setup));
  if (links.buffer > 0)
    description +=
        " The part of the time that grows with the buffer, but not with the share of it that goes over a link, is the "
        "collective's cost a byte.";
  if (!links.protocols.empty())
    description += fmt::format(
        " Times follow {} protocols, and a collective uses the fastest; their names in the library are unknown. The "
        "links have the best latency and the best bandwidth among them, and S is the least.",
        links.protocols.size());
  if (makes_nodes(from)) description += set_nodes(cluster, from, links);
  if (!from.collectives.empty()) {
    description += cautions(from);
    if (const BenchmarkFit& first = *from.collectives.front();
        first.algorithm == Algorithm::double_binary_tree || first.is_of_trees())
      description +=
          fmt::format(" Its pipeline_segments are {}.", first.segments ? std::to_string(*first.segments) : "auto");
  }
  cluster.description = description;
  for (const BenchmarkFit& fit : fits)
    for (const RangeFit& range : fit.ranges) cluster.fits.push_back(entry_of(fit, range));
  return cluster;
}

std::pair<Bytes, Bytes> fitted_sizes(const std::vector<BenchmarkFit>& fits) {
  Fits wanted = of_kind(fits, Kind::collective);
  if (wanted.empty()) wanted = those(fits, [](const Benchmark&) { return true; });
  std::set<double> sizes;
  for (const BenchmarkFit* fit : wanted)
    for (const Benchmark::Row& row : fit->benchmark.rows) sizes.insert(row.bytes);
  return {Bytes(*sizes.begin()), Bytes(*sizes.rbegin())};
}

std::vector<std::string> bad_fits(const Cluster& cluster, const std::vector<BenchmarkFit>& fits) {
  std::vector<std::string> lines;
  for (const BenchmarkFit& fit : fits) {
    if (fit.benchmark.kind == Kind::bandwidth) continue;
    if (const double error = median(errors_of(cluster, fit)); error > kMostError)
      lines.push_back(fmt::format(
          "{}: half of its times differ by {:.0f} % or more from the cluster's for {}; good: {:.0f} %. {}",
          fit.benchmark.file, 100 * error, fit.what, 100 * kMostError,
          fit.benchmark.kind == Kind::collective
              ? "Does it use other links or another algorithm (measure rings with NCCL_ALGO=Ring)? If its ranges "
                "differ, fit only the sizes that you send, by --min-size and --max-size"
              : "Is it of other links? If its ranges differ, keep in the file the sizes alone that you send"));
  }
  return lines;
}

std::vector<std::string> doubts(const Cluster& cluster, const std::vector<BenchmarkFit>& fits, int most_protocols) {
  constexpr double kMuchWorse = 0.05;
  const LinkSources from = sources_of(fits);
  std::vector<std::string> lines;
  if (!from.latency.empty() && !from.collectives.empty()) {
    const BenchmarkFit& message = *from.latency.front();
    const bool of_nccl = from.collectives.front()->benchmark.program.starts_with("nccl-tests");
    if (message.benchmark.of_mpi && of_nccl)
      lines.push_back(fmt::format(
          "{} times messages of MPI, {} those of NCCL: the collective cost, {}, also contains their difference. "
          "nccl-tests on several numbers of hosts separate latency from collective cost without MPI",
          message.benchmark.file, from.collectives.front()->benchmark.file, human_text(cluster.collective_cost)));
    std::vector<BenchmarkFit> others;
    for (const BenchmarkFit& fit : fits)
      if (fit.benchmark.kind != Kind::latency) others.push_back(fit);
    const Cluster without = make_cluster(cluster.name, others, most_protocols);
    for (const BenchmarkFit& fit : others) {
      if (fit.benchmark.kind != Kind::collective) continue;
      const double with = median(errors_of(cluster, fit)), alone = median(errors_of(without, fit));
      if (with > alone + kMuchWorse)
        lines.push_back(fmt::format(
            "{}: half of its times differ by {:.1f} % or more from the cluster's with {}, {:.1f} % without it: its "
            "messages are not those of the collective; leave it out",
            fit.benchmark.file, 100 * with, message.benchmark.file, 100 * alone));
    }
  }
  if (from.two_kinds() && cluster.link.latency == Seconds{})
    lines.push_back(fmt::format(
        "{}: a message between hosts has no more latency than one inside. Were these NCCL's trees (measure with "
        "NCCL_ALGO=Ring)? Or is the collective's fixed cost not separated from latency: add a run on another number "
        "of hosts",
        from.collectives.front()->benchmark.file));
  if (const auto* nodes = std::get_if<Nodes>(&cluster.topology);
      nodes != nullptr && from.two_kinds() && nodes->inner.latency == Seconds{})
    lines.push_back(fmt::format("{}: collective cost, {}, leaves no latency to a message inside a host",
                                from.inside.front()->benchmark.file, human_text(cluster.collective_cost)));
  return lines;
}

}  // namespace stepcast::calibrate
