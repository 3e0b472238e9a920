// Benchmarks of links: formats good and bad, fits of known truth, and the cluster that the scenario's reader takes.
#include <filesystem>
#include <fstream>
#include <functional>

#include <fmt/format.h>

#include "calibrate/link/fitted_times.hpp"
#include "calibrate/link/link_fit.hpp"
#include "models/collective/collective.hpp"
#include "models/describe/reader.hpp"
#include "models/describe/writer.hpp"
#include "models/equation/evaluate.hpp"
#include "models/scenario/library.hpp"
#include "models/strategy/builder.hpp"
#include "models/study/expansion.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/property.hpp"

using namespace stepcast;
using namespace stepcast::test;
using namespace stepcast::calibrate;
namespace fs = std::filesystem;

namespace {

fs::path data(const char* name) { return fs::path(STEPCAST_LINK_DATA_DIR) / name; }

/// T = S + rounds·α + factor·n·β at powers of four.
Benchmark collective(Operation operation, int ranks, double fixed, double per_byte) {
  Benchmark benchmark{"made-up.txt", "made up", Benchmark::Kind::collective, operation, ranks, {}};
  for (double n = 1024; n <= 1 << 30; n *= 4) benchmark.rows.push_back({n, fixed + n * per_byte});
  return benchmark;
}

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const BadInput& error) {
    return error.what();
  }
  return "nothing was refused";
}

/// As nccl-tests names them, host by host.
std::string devices_of(int hosts, int each) {
  std::string text;
  for (int rank = 0; rank < hosts * each; ++rank)
    text += fmt::format("#  Rank {:2} Group  0 Pid {:6} on {:>10} device {:2} [0000:01:00] X\n", rank, 4711 + rank,
                        fmt::format("h{}", rank / each), rank % each);
  return text;
}

/// A file of nccl-tests: T = fixed + n·per_byte at powers of four.
Benchmark nccl_run(const std::string& devices, double fixed, double per_byte,
                   const char* file = "all_reduce_perf.txt") {
  std::string text = devices + "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n";
  for (double n = 1024; n <= 1 << 30; n *= 4)
    text += fmt::format("{0} {1} float sum -1 {2:.9g} 1 1 0 {2:.9g} 1 1 0\n", n, n / 4, 1e6 * (fixed + n * per_byte));
  return read_nccl_text(text, file, {});
}

/// An all-reduce of n bytes on the cluster, by the equations.
double forecast(const Cluster& cluster, double n, Algorithm algorithm) {
  CollectiveBenchmark benchmark;
  benchmark.size = Bytes(n);
  benchmark.collective.algorithm = algorithm;
  Scenario scenario;
  scenario.cluster = cluster;
  scenario.strategy = benchmark;
  return evaluate(build_step_graph(scenario, Workload{}), cluster).step.si();
}

/// The same by the scenario's reader, from a cluster's file and the strategy that the program tells to write.
double forecast(const Cluster& cluster, double n, const BenchmarkFit& fit) {
  const std::string text = fmt::format(
      R"({{"name": "s", "cluster": {}, "strategy": {{"kind": "collective", "operation": "{}", "size": "{}B", {}}}}})",
      write_value(cluster, QuantityText::brief).dump(), name_of(fit.benchmark.operation), n, scenario_text(fit));
  const Scenario scenario = parse_study(text, "s.json", {}, default_library()).points.at(0).scenario;
  return evaluate(build_step_graph(scenario, Workload{}), scenario.cluster).step.si();
}

constexpr const char* kNcclHead =
    "#  Rank  0 Group  0 Pid 1 on h device 0 [0x07] X\n#  Rank  1 Group  0 Pid 1 on h device 1 [0x0f] X\n"
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n";

/// The machines whose runs some tests make up: 2 us and 200 GB/s inside, 5 us more and 40 GB/s between.
void require_lab(const Cluster& cluster, const std::vector<BenchmarkFit>& fits) {
  const Nodes& nodes = std::get<Nodes>(cluster.topology);
  require_close(2e-6, nodes.inner.latency.si(), 1e-4, "inner latency");
  require_close(200e9, nodes.inner.bandwidth.si(), 1e-4, "inner bandwidth");
  require_close(5e-6, cluster.link.latency.si(), 1e-4, "a NIC's latency");
  require_close(40e9, cluster.link.bandwidth.si(), 1e-4, "a NIC's bandwidth");
  for (const BenchmarkFit& fit : fits)
    for (const double error : errors_of(cluster, fit)) CHECK(error < 1e-3);
}

}  // namespace

TEST_CASE("nccl-tests: text and JSON say the same") {
  // alpha 4 us, 1/beta 100 GB/s, ring of 4: 6 rounds, 2·3/4 of n.
  for (const char* name : {"all_reduce_perf.txt", "all_reduce_perf.json"}) {
    INFO(name);
    const Benchmark benchmark = read_benchmark(data(name), {});
    CHECK(benchmark.operation == Operation::all_reduce);
    CHECK(benchmark.ranks == 4);  // ranks of one process
    REQUIRE(benchmark.rows.size() == 11);
    CHECK(benchmark.rows[0].bytes == 1024);
    require_close(24.26e-6, benchmark.rows[0].seconds, 1e-9, "first time: 24.015 us and 1 %");
    require_close(24.74e-6, read_benchmark(data(name), {{}, 0, true}).rows[0].seconds, 1e-3, "in place: 2 % more");
    const BenchmarkFit fit = fit_benchmark(benchmark, {});
    CHECK(fit.what == "all-reduce by ring, 4 ranks");
    CHECK(fit.rounds == 6);
    CHECK(fit.factor == 1.5);
    REQUIRE(fit.ranges.size() == 1);
    require_close(4e-6, fit.ranges[0].alpha.value, 0.01, "alpha");
    require_close(1e-11, fit.ranges[0].beta.value, 0.01, "beta");
    CHECK(fit.ranges[0].alpha.low < 4e-6);
    CHECK(fit.ranges[0].alpha.high > 4e-6);
    CHECK(fit.ranges[0].beta.low < 1e-11);
    CHECK(fit.ranges[0].beta.high > 1e-11);
    // Student's t of 11 rows less 2 is 2.262157, to either side.
    const PiecewiseFit::Segment& line = fit.fit.segments[0];
    for (const auto& [interval, error] :
         {std::pair{fit.ranges[0].alpha, line.intercept_error / 6}, {fit.ranges[0].beta, line.slope_error / 1.5}}) {
      require_close(2.262157 * error, interval.high - interval.value, 2e-4, "above");
      require_close(2.262157 * error, interval.value - interval.low, 2e-4, "below");
    }
  }
}

TEST_CASE("nccl-tests: columns of other versions and options, and noise between the lines") {
  // Without redop and root (11 words), with one of them (12): the last eight are the times.
  const std::string text =
      std::string(kNcclHead) +
      "[host:1] some other line\n  1024 256 float 20.0 0.05 0.05 0e+00 21.0 0.05 0.05 0e+00\n\n  2048 512 float sum 30.0 0.05 0.05 N/A 31.0 0.05 0.05 N/A\n  4096 1024 float sum -1 40.0 0.1 0.1 2e-07 41.0 0.1 0.1 2e-07\n";
  const Benchmark benchmark = read_nccl_text(text, "a.txt", {Operation::all_gather, 0, false});
  REQUIRE(benchmark.rows.size() == 3);
  CHECK(benchmark.ranks == 2);
  CHECK(benchmark.operation == Operation::all_gather);
  require_close(20e-6, benchmark.rows[0].seconds, 1e-12, "first");
  require_close(30e-6, benchmark.rows[1].seconds, 1e-12, "second");
  require_close(40e-6, benchmark.rows[2].seconds, 1e-12, "third");
  // A timestamp is two words under one name, figures of single iterations four a group.
  const std::string plain = "  1024 256 float sum -1 20.0 0.05 0.05 0 21.0 0.05 0.05 0";
  const std::string stamped =
      "# nccl-tests version 2.18.3 nccl-headers=1 nccl-library=1\n# size count type redop root time algbw busbw #wrong time algbw busbw #wrong timestamp\n# (B) (elements) (us) (GB/s) (GB/s) (us) (GB/s) (GB/s) %Y-%m-%d %H:%M:%S\n" +
      plain + " 2026-01-01 00:00:00\n";
  const std::string iterations =
      "# size count type redop root time algbw busbw #wrong i_min i_max i_p99 i_cv% time algbw busbw #wrong i_min i_max i_p99 i_cv%\n  1024 256 float sum -1 20.0 0.05 0.05 0 19 25 24 3.0 21.0 0.05 0.05 0 20 26 25 4.0\n";
  for (const std::string& table : {std::string(kNcclHead) + plain + "\n", stamped, iterations})
    for (const bool in_place : {false, true}) {
      INFO(table);
      const Benchmark one = read_nccl_text(table, "a.txt", {Operation::all_reduce, 2, in_place});
      REQUIRE(one.rows.size() == 1);
      require_close(in_place ? 21e-6 : 20e-6, one.rows[0].seconds, 1e-12, "time");
    }
  CHECK(read_nccl_text(stamped, "a.txt", {Operation::all_reduce, 2, false}).program == "nccl-tests 2.18.3");
}

TEST_CASE("nccl-tests: ranks of one communicator") {
  const std::string table = "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n";
  const auto of_text = [&](const std::string& ranks) {
    return read_nccl_text(ranks + table, "all_reduce_perf.txt", {}).ranks;
  };
  CHECK(
      of_text(
          "#   Rank  0 Pid  1 on h device 0 [0x0] X\n#   Rank  1 Pid  1 on h device 1 [0x1] X\n#   Rank  2 Pid  1 on h device 2 [0x2] X\n") ==
      3);
  // Split in two of two; each communicator runs by itself.
  CHECK(of_text("# Rank 0 Group 0 Pid 1\n# Rank 1 Group 1 Pid 1\n# Rank 2 Group 0 Pid 1\n# Rank 3 Group 1 Pid 1\n") ==
        2);
  const auto of_json = [](const std::string& config) {
    return read_nccl_json(R"({"args": ["all_reduce_perf"], "config": )" + config + R"(, "results": []})", "a.json", {})
        .ranks;
  };
  // Two processes of 2 threads of 4 devices; in four groups of one process each, a communicator has 2.
  CHECK(of_json(R"({"nthreads": 2, "ngpus": 4, "devices": [{"rank": 0, "group": 0}, {"rank": 8, "group": 0}]})") == 16);
  CHECK(
      of_json(R"({"nthreads": 1, "ngpus": 2, "devices": [{"group": 0}, {"group": 1}, {"group": 2}, {"group": 3}]})") ==
      2);
  CHECK_THAT(message_of([&] { of_json("{}"); }), ContainsSubstring("0 ranks") && ContainsSubstring("--ranks"));
}

TEST_CASE("nccl-tests: which hosts the ranks are on") {
  const auto hosts = [](const std::string& devices) {
    const Benchmark one = nccl_run(devices, 1e-5, 1e-11);
    return std::pair(one.hosts, one.ranks_per_host);
  };
  CHECK(hosts(devices_of(1, 8)) == std::pair(1, 8));
  CHECK(hosts(devices_of(8, 8)) == std::pair(8, 8));
  CHECK(hosts(devices_of(4, 1)) == std::pair(4, 1));
  const auto line = [](int rank, const char* host) {
    return fmt::format("#   Rank {} Pid 1 on {} device 0 [0x0] X\n", rank, host);
  };
  CHECK(hosts(line(0, "a") + line(1, "a") + line(2, "b")) == std::pair(2, 0));                 // not as many on each
  CHECK(hosts(line(0, "a") + line(1, "b") + line(2, "a") + line(3, "b")) == std::pair(2, 0));  // not host by host
  CHECK(hosts("# Rank 0 Group 0 Pid 1\n# Rank 1 Group 0 Pid 1\n") == std::pair(0, 0));
  CHECK(hosts(line(0, "a") + "...\n" + line(3, "b")) == std::pair(0, 0));  // lines of a process cut off
  CHECK(nccl_run(line(0, "a") + "...\n" + line(3, "b"), 1e-5, 1e-11).ranks == 4);
  const Benchmark split = nccl_run(
      "# Rank 0 Group 0 Pid 1 on a device 0\n# Rank 1 Group 1 Pid 1 on a device 1\n# Rank 2 Group 0 Pid 2 on b device 0\n# Rank 3 Group 1 Pid 2 on b device 1\n",
      1e-5, 1e-11);
  CHECK((split.ranks == 2 && split.hosts == 2 && split.ranks_per_host == 1));
  const Benchmark json = read_nccl_json(
      R"({"args": ["all_reduce_perf"], "config": {"nthreads": 1, "ngpus": 4, "devices": [{"hostname": "a"}, {"hostname": "a"}, {"hostname": "b"}, {"hostname": "b"}]}, "results": []})",
      "a.json", {});
  CHECK((json.ranks == 16 && json.hosts == 2 && json.ranks_per_host == 8));
  CHECK(read_benchmark(data("all_reduce_perf.txt"), {}).hosts == 1);
  CHECK_THAT(message_of([] {
               read_benchmark(data("all_reduce_perf.txt"), {{}, 8, false});
             }),
             ContainsSubstring("found --ranks 8; allowed: 4, which the file gives itself; leave out --ranks"));
  CHECK_THAT(message_of([] {
               read_benchmark(data("all_reduce_perf.json"), {{}, 8, false});
             }),
             ContainsSubstring("found --ranks 8; allowed: 4"));
  CHECK(read_benchmark(data("all_reduce_perf.txt"), {{}, 4, false}).ranks == 4);
}

TEST_CASE("runs inside one host and on several make nodes that forecast both") {
  // Inside: 2 us a message, 200 GB/s; a ring of 8: 14 rounds, 2·7/8 of n. Between hosts: 7 us a message, 40 GB/s; a
  // ring of 64: 126 rounds, 2·63/64 of n, and one in 8 messages is between hosts. Such a one passes both links, so the
  // NIC's latency is 5 us.
  const Benchmark inside = nccl_run(devices_of(1, 8), 14 * 2e-6, 1.75 / 200e9),
                  across = nccl_run(devices_of(8, 8), 126 * (2e-6 + 5e-6 / 8), 2 * 63.0 / 64 / 40e9,
                                    "all_reduce_perf_64.txt");
  for (const bool first : {true, false}) {
    const std::vector<BenchmarkFit> fits = {fit_benchmark(first ? inside : across, {}),
                                            fit_benchmark(first ? across : inside, {})};
    const Cluster cluster = make_cluster("lab", fits);
    CHECK(cluster.workers == 64);
    REQUIRE(std::holds_alternative<Nodes>(cluster.topology));
    const Nodes& nodes = std::get<Nodes>(cluster.topology);
    CHECK((nodes.gpus_per_node == 8 && nodes.nics == 1));
    require_lab(cluster, fits);
    CHECK(bad_fits(cluster, fits).empty());
    Cluster one_host = cluster;
    one_host.workers = 8;
    for (const Benchmark::Row& row : across.rows)
      require_close(row.seconds, forecast(cluster, row.bytes, Algorithm::ring), 1e-3, "64 ranks by the equations");
    for (const Benchmark::Row& row : inside.rows)
      require_close(row.seconds, forecast(one_host, row.bytes, Algorithm::ring), 1e-3, "8 ranks by the equations");
    CHECK_THAT(*cluster.description, ContainsSubstring("The inner link is from all_reduce_perf.txt") &&
                                         ContainsSubstring("use them with that algorithm"));
    CHECK_THAT(link_table(cluster, fits),
               ContainsSubstring("64 ranks on 8 hosts") && ContainsSubstring("inside nodes of 8") &&
                   ContainsSubstring("say so in a scenario: \"collective\": {\"algorithm\": \"ring\"}"));
  }
  // One rank a host: the machines are as large as the run inside one.
  const Cluster one_each = make_cluster(
      "lab", {fit_benchmark(nccl_run(devices_of(4, 1), 6 * 7e-6, 1.5 / 40e9), {}), fit_benchmark(inside, {})});
  CHECK((one_each.workers == 32 && std::get<Nodes>(one_each.topology).gpus_per_node == 8));

  const auto refusal = [&](const Benchmark& other, Algorithm algorithm) {
    try {
      make_cluster("lab", {fit_benchmark(inside, {algorithm, 1}), fit_benchmark(other, {algorithm, 1})});
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK_THAT(refusal(across, Algorithm::double_binary_tree),
             ContainsSubstring("all_reduce_perf.txt is of one host and all_reduce_perf_64.txt of 8") &&
                 ContainsSubstring("NCCL_ALGO=Ring") && ContainsSubstring("one --from at a time"));
  CHECK_THAT(refusal(nccl_run(devices_of(1, 3) + "#  Rank  3 Group  0 Pid 1 on other device 0\n", 1e-5, 1e-11),
                     Algorithm::ring),
             ContainsSubstring("not as many on each host"));
}

TEST_CASE("a run on several hosts alone makes nodes of one kind of link, no faster than a star") {
  // As above.
  const Benchmark across = nccl_run(devices_of(8, 8), 126 * 7e-6, 2 * 63.0 / 64 / 40e9);
  const std::vector<BenchmarkFit> fits = {fit_benchmark(across, {})};
  const Cluster cluster = make_cluster("lab", fits);
  const Nodes& nodes = std::get<Nodes>(cluster.topology);
  CHECK((cluster.workers == 64 && nodes.gpus_per_node == 8 && nodes.nics == 1));
  require_close(7e-6, nodes.inner.latency.si(), 1e-4, "latency of any message");
  CHECK(cluster.link.latency == 0_s);
  CHECK(nodes.inner.bandwidth == cluster.link.bandwidth);
  for (const Benchmark::Row& row : across.rows)
    require_close(row.seconds, forecast(cluster, row.bytes, Algorithm::ring), 1e-3, "by the equations");
  CHECK_THAT(*cluster.description, ContainsSubstring("those of ring as measured") &&
                                       ContainsSubstring("with that algorithm, as auto does") &&
                                       ContainsSubstring("Add a run inside one host"));
  CHECK_THAT(link_table(cluster, fits),
             ContainsSubstring(
                 "nothing was measured inside a node: the figures inside, and times of hierarchical, mean nothing"));
  Cluster star = cluster;
  star.topology = Star{};
  star.link.latency = nodes.inner.latency;
  for (const double n : {1e3, 1e6, 1e9})
    CHECK(forecast(cluster, n, Algorithm::automatic) >= forecast(star, n, Algorithm::automatic) * (1 - 1e-9));
  // Other algorithms' closed forms are of a star, as are hosts of one rank and of unlike numbers.
  for (const Cluster& other :
       {make_cluster("lab", {fit_benchmark(across, {Algorithm::double_binary_tree, 1})}),
        make_cluster("lab", {fit_benchmark(nccl_run(devices_of(4, 1), 6 * 7e-6, 1.5 / 40e9), {})})})
    CHECK((std::holds_alternative<Star>(other.topology) &&
           other.description->find("use them with that algorithm") != std::string::npos));
}

TEST_CASE("runs on several numbers of hosts are fitted together, and tell the fixed cost from latency") {
  // Every call takes 20 us. A message takes 2 us and 200 GB/s inside; between hosts of 8, 5 us more and 40 GB/s. Rings
  // of p have 2(p-1) rounds and send 2(p-1)/p of n. One message in 8 goes between hosts.
  const auto run = [](int hosts, double setup) {
    const int p = 8 * hosts;
    const double rounds = 2.0 * (p - 1), factor = rounds / p;
    return hosts == 1 ? nccl_run(devices_of(1, 8), setup + rounds * 2e-6, factor / 200e9, "1.txt.all_reduce_perf")
                      : nccl_run(devices_of(hosts, 8), setup + rounds * (2e-6 + 5e-6 / 8), factor / 40e9,
                                 fmt::format("{}.txt.all_reduce_perf", hosts).c_str());
  };
  const std::vector<std::vector<int>> orders = {{1, 2, 8}, {8, 1, 2}, {2, 8, 1}, {8, 2, 1}};
  for (const double setup : {20e-6, 0.0}) {
    std::vector<Cluster> clusters;
    for (const auto& order : orders) {
      std::vector<BenchmarkFit> fits;
      for (const int hosts : order) fits.push_back(fit_benchmark(run(hosts, setup), {}));
      clusters.push_back(make_cluster("lab", fits));
      const Cluster& cluster = clusters.back();
      const Nodes& nodes = std::get<Nodes>(cluster.topology);
      CHECK((cluster.workers == 64 && nodes.gpus_per_node == 8));
      if (setup > 0) require_close(setup, cluster.collective_cost.si(), 1e-4, "S");
      else CHECK(cluster.collective_cost.si() < 1e-12);
      require_lab(cluster, fits);
      CHECK(doubts(cluster, fits).empty());
    }
    for (const Cluster& other : clusters) {
      CHECK(other.link == clusters.front().link);
      CHECK(other.topology == clusters.front().topology);
    }
  }
  // Those of 2 and 8 hosts do without one inside; one number of hosts does not tell S from latency.
  const Cluster across = make_cluster("lab", {fit_benchmark(run(2, 20e-6), {}), fit_benchmark(run(8, 20e-6), {})});
  require_close(20e-6, across.collective_cost.si(), 1e-4, "S");
  require_close(2.625e-6, std::get<Nodes>(across.topology).inner.latency.si(), 1e-4, "latency");
  CHECK(make_cluster("lab", {fit_benchmark(run(1, 20e-6), {}), fit_benchmark(run(8, 20e-6), {})}).collective_cost ==
        0_s);

  const auto refusal = [](const BenchmarkFit& one, const BenchmarkFit& other) {
    try {
      make_cluster("lab", {one, other});
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  const BenchmarkFit two = fit_benchmark(run(2, 0), {});
  CHECK_THAT(refusal(two, fit_benchmark(nccl_run(devices_of(4, 4), 1e-4, 1e-11), {})),
             ContainsSubstring("2.txt.all_reduce_perf is of 8 ranks a host and all_reduce_perf.txt of 4") &&
                 ContainsSubstring("machines are alike") && ContainsSubstring("one --from at a time"));
  CHECK_THAT(refusal(two, fit_benchmark(run(8, 0), {Algorithm::double_binary_tree, {}})),
             ContainsSubstring("is of ring and 8.txt.all_reduce_perf of double-binary-tree"));
  CHECK_THAT(refusal(two, fit_benchmark(collective(Operation::all_reduce, 8, 1e-4, 1e-11), {})),
             ContainsSubstring("made-up.txt is of hosts that it does not name"));
}

TEST_CASE("a tree is fitted by the segments that are the cheapest for each size") {
  // p = 16: depth 4, and one lone deepest node. For s segments, T = 2(s + 3)α + (2(s + 3) - 1)/s·n·β. The test tries
  // each s.
  const double alpha = 5e-6, bandwidth = 12e9;
  const auto time = [&](double n) {
    double least = 1e9;
    for (int segments = 1; segments <= 4096; ++segments) {
      const double rounds = 2.0 * (segments + 3);
      least = std::min(least, rounds * alpha + (rounds - 1) / segments * n / bandwidth);
    }
    return least;
  };
  Benchmark benchmark = nccl_run(devices_of(4, 4), 1e-5, 1e-11);
  for (Benchmark::Row& row : benchmark.rows) row.seconds = time(row.bytes);
  const std::vector<BenchmarkFit> fits = {fit_benchmark(benchmark, {Algorithm::double_binary_tree, {}})};
  REQUIRE(fits[0].ranges.size() == 1);
  require_close(alpha, fits[0].ranges[0].alpha.value, 1e-6, "alpha");
  require_close(1 / bandwidth, fits[0].ranges[0].beta.value, 1e-6, "beta");
  const Cluster cluster = make_cluster("lab", fits);
  for (const Benchmark::Row& row : benchmark.rows)
    require_close(row.seconds, forecast(cluster, row.bytes, fits[0]), 1e-4, "by the scenario");
  CHECK_THAT(link_table(cluster, fits),
             ContainsSubstring("double-binary-tree does not separate machines") &&
                 ContainsSubstring("say so in a scenario: \"collective\": {\"algorithm\": \"double-binary-tree\"}\n"));
  CHECK_THAT(*cluster.description, ContainsSubstring("It does not separate machines"));

  // Two of them, of 16 and of 32 ranks (depth 5, lone), which a fixed cost of 30 us makes longer by as much.
  Benchmark larger = nccl_run(devices_of(8, 4), 1e-5, 1e-11);
  for (Benchmark::Row& row : larger.rows) {
    double least = 1e9;
    for (int segments = 1; segments <= 4096; ++segments) {
      const double rounds = 2.0 * (segments + 4);
      least = std::min(least, rounds * alpha + (rounds - 1) / segments * row.bytes / bandwidth);
    }
    row.seconds = 30e-6 + least;
  }
  for (Benchmark::Row& row : benchmark.rows) row.seconds += 30e-6;
  const Cluster both = make_cluster("lab", {fit_benchmark(benchmark, {Algorithm::double_binary_tree, {}}),
                                            fit_benchmark(larger, {Algorithm::double_binary_tree, {}})});
  CHECK(both.workers == 32);
  require_close(30e-6, both.collective_cost.si(), 1e-3, "S");
  require_close(alpha, both.link.latency.si(), 1e-3, "alpha");
  require_close(bandwidth, both.link.bandwidth.si(), 1e-3, "bandwidth");
}

/// Times of NCCL's tree with one segment for each half, on hosts of 8. Inside, there are 7 hops of n, up and down.
/// Between 2 hosts, n/2 goes each way, up and down. Between 4, the same goes below a lone host, and n into and out of
/// hosts with two below them.
double tree_time(int hosts, double n) {
  const double inside = 14 * (2e-6 + n / 200e9);
  return hosts == 1   ? inside
         : hosts == 2 ? inside + 2 * (7e-6 + n / 2 / 40e9)
                      : inside + 2 * (7e-6 + n / 2 / 40e9) + 2 * (7e-6 + n / 40e9);
}

/// Powers of two from 1 kB to 8 GB.
Benchmark timed_run(int hosts, const std::function<double(double)>& time) {
  Benchmark one = nccl_run(devices_of(hosts, 8), 1e-5, 1e-11, fmt::format("{}.txt.all_reduce_perf", hosts).c_str());
  one.rows.clear();
  for (double n = 1024; n <= 8e9; n *= 2) one.rows.push_back({n, time(n)});
  return one;
}

TEST_CASE("NCCL's trees tell chains inside hosts from trees between them") {
  std::vector<BenchmarkFit> fits;
  for (const int hosts : {2, 1, 4})
    fits.push_back(
        fit_benchmark(timed_run(hosts, [hosts](double n) { return tree_time(hosts, n); }), {Algorithm::nccl_tree, 1}));
  const Cluster cluster = make_cluster("lab", fits);
  require_lab(cluster, fits);
  CHECK(cluster.workers == 32);
  CHECK(cluster.collective_cost == 0_s);  // chains are alike: it would be latency inside
  CHECK(cluster.protocols.empty());
  CHECK(cluster.algorithms == std::vector{Algorithm::nccl_tree});
  for (const Benchmark::Row& row : fits[2].benchmark.rows)
    require_close(row.seconds, forecast(cluster, row.bytes, fits[2]), 1e-4, "by the scenario");
  CHECK(scenario_text(fits[2]) == R"("collective": {"algorithm": "nccl-tree", "pipeline_segments": 1})");
  CHECK_THROWS_WITH(make_cluster("lab", {fits[2]}),
                    ContainsSubstring("4.txt.all_reduce_perf is of nccl-tree on several "
                                      "hosts") &&
                        ContainsSubstring("add a run inside one host"));
  // Inside one host alone: a chain there, of which a star of ranks would make a tree.
  Cluster one = make_cluster("lab", {fits[1]});
  CHECK(std::get<Nodes>(one.topology).gpus_per_node == 8);
  for (const Benchmark::Row& row : fits[1].benchmark.rows)
    require_close(row.seconds, forecast(one, row.bytes, fits[1]), 1e-4, "one host by the scenario");
}

TEST_CASE("trees in segments over several NICs give the links back that forecast them") {
  // By the equations of scenarios, which follow routes: 0.5 us inside hosts of 8, 1 us more between them.
  // With one segment or many, and with NICs that are the bound or not.
  struct Case {
    int nics;
    double inside, bandwidth;
    bool as_nccl_chooses;
    double error;
  };
  // If the inner links are the bound, or nearly so, closed forms and routes differ in the work that runs beside.
  for (const Case& one :
       {Case{1, 150e9, 200e9, false, 0.1}, Case{8, 150e9, 25e9, false, 0.1}, Case{1, 150e9, 25e9, false, 0.02},
        Case{8, 400e9, 25e9, false, 0.02}, Case{8, 400e9, 25e9, true, 0.02}, Case{4, 150e9, 12e9, true, 0.02}}) {
    INFO(fmt::format("{} B/s inside, {} NICs of {} B/s{}", one.inside, one.nics, one.bandwidth,
                     one.as_nccl_chooses ? ", as NCCL chooses" : ""));
    Cluster lab;
    lab.link = {BytesPerSecond(one.bandwidth), 1_us};
    lab.topology = Nodes{8, Link{BytesPerSecond(one.inside), Seconds(0.5e-6)}, one.nics};
    lab.algorithms = {Algorithm::ring, Algorithm::multi_ring, Algorithm::nccl_tree};
    const Algorithm algorithm = one.as_nccl_chooses ? Algorithm::automatic : Algorithm::nccl_tree;
    std::vector<BenchmarkFit> fits;
    for (const int hosts : {1, 2, 4}) {
      lab.workers = 8 * hosts;
      const Benchmark run = timed_run(hosts, [&](double n) { return forecast(lab, n, algorithm); });
      fits.push_back(
          fit_benchmark(run, {.algorithm = algorithm, .as_nccl_chooses = one.as_nccl_chooses, .nics = one.nics}));
    }
    const Cluster cluster = make_cluster("lab", fits);
    CHECK(std::get<Nodes>(cluster.topology).nics == one.nics);
    for (const BenchmarkFit& fit : fits) {
      Cluster part = cluster;
      part.workers = fit.benchmark.ranks;
      for (const Benchmark::Row& row : fit.benchmark.rows) {
        INFO(fit.what << ", " << row.bytes << " bytes");
        require_close(row.seconds, forecast(part, row.bytes, fit), one.error, "by the scenario");
      }
    }
  }
  CHECK_THROWS_WITH(fit_benchmark(timed_run(2, [](double n) { return 1e-5 + n / 1e9; }),
                                  {.algorithm = Algorithm::nccl_tree, .nics = 9}),
                    ContainsSubstring("8 ranks a host, which have 8 NICs at most, not 9"));
}

TEST_CASE("as NCCL chooses: each size by the faster of ring and tree") {
  // 20 us to begin. Rings of p = 8, 16 and 32, of whose messages one in 8 leaves a host.
  const auto time = [](int hosts, double n) {
    const int p = 8 * hosts;
    const double alpha = 2e-6 + (hosts == 1 ? 0 : 5e-6 / 8), beta = hosts == 1 ? 1 / 200e9 : 1 / 40e9;
    return 20e-6 + std::min(2.0 * (p - 1) * (alpha + n / p * beta), tree_time(hosts, n));
  };
  std::vector<BenchmarkFit> fits;
  for (const int hosts : {1, 2, 4})
    fits.push_back(fit_benchmark(timed_run(hosts, [&](double n) { return time(hosts, n); }),
                                 {.segments = 1, .as_nccl_chooses = true}));
  // Both are among them: 62 messages of 2.6 us and 14 of 2 and 4 of 7 us; 31/16 n and 3 n.
  CHECK(time(4, 1024) < 20e-6 + 62 * 2.6e-6);
  CHECK(time(4, 1 << 30) < 20e-6 + tree_time(4, 1 << 30));
  const Cluster cluster = make_cluster("lab", fits);
  require_lab(cluster, fits);
  require_close(20e-6, cluster.collective_cost.si(), 1e-3, "S");
  CHECK(cluster.protocols.empty());
  CHECK(cluster.algorithms == std::vector{Algorithm::ring, Algorithm::nccl_tree});
  for (const BenchmarkFit& fit : fits) {
    Cluster part = cluster;
    part.workers = fit.benchmark.ranks;
    for (const Benchmark::Row& row : fit.benchmark.rows)
      require_close(row.seconds, forecast(part, row.bytes, fit), 1e-3, fit.what);
  }
  CHECK(fits[1].what == "all-reduce by ring or nccl-tree of 1 segment, 16 ranks on 2 hosts");
  CHECK(scenario_text(fits[1]) == R"("collective": {"algorithm": "auto", "pipeline_segments": 1})");
  // For other collectives it has rings.
  CHECK(fit_benchmark(collective(Operation::all_gather, 8, 1e-5, 1e-11), {.as_nccl_chooses = true}).algorithm ==
        Algorithm::ring);
}

TEST_CASE("the scenario that the program suggests forecasts like the fit, error for error") {
  // As NCCL does, whichever of two protocols is the faster: no algorithm here has such times.
  const auto run = [](int hosts, int each) {
    Benchmark one = nccl_run(devices_of(hosts, each), 1e-5, 1e-11);
    for (Benchmark::Row& row : one.rows) row.seconds = std::min(60e-6 + row.bytes / 2.5e9, 220e-6 + row.bytes / 6e9);
    return one;
  };
  for (const Benchmark& benchmark : {run(4, 4), run(3, 2), run(1, 8), run(5, 1)})
    for (const Algorithm algorithm : algorithms_to_fit(Operation::all_reduce))
      for (const std::optional<int>& segments : {std::optional<int>(), std::optional<int>(1), std::optional<int>(8)}) {
        INFO(name_of(algorithm) << ", " << benchmark.ranks << " ranks, segments " << segments.value_or(0));
        const BenchmarkFit fit = fit_benchmark(benchmark, {algorithm, segments});
        std::vector<BenchmarkFit> fits = {fit};
        if (fit.is_of_trees() && benchmark.is_of_machines())
          fits.push_back(fit_benchmark(nccl_run(devices_of(1, benchmark.ranks_per_host), 2e-5, 1e-11), {}));
        const Cluster cluster = make_cluster("lab", fits);
        const std::vector<double> errors = errors_of(cluster, fit);
        for (std::size_t i = 0; i < errors.size(); ++i) {
          const Benchmark::Row& row = benchmark.rows[i];
          CHECK(std::abs(std::abs(forecast(cluster, row.bytes, fit) / row.seconds - 1) - errors[i]) < 1e-9);
        }
      }
  CHECK(scenario_text(fit_benchmark(run(4, 4), {Algorithm::double_binary_tree, 8})) ==
        R"("collective": {"algorithm": "double-binary-tree", "pipeline_segments": 8})");
}

TEST_CASE("protocols are found in times that bend with the size") {
  // Rings of 64 have 126 rounds and send 2·63/64 of n. Three protocols have 4, 6 and 14 us (1, 1.5 and 3.5 times the
  // link's 4 us), and 45, 92 and 100 % of 40 GB/s. Each is fastest for at least eight powers of two from 1 kB to 8 GB.
  // LL128 is quicker from n = 126·2 us / (2·63/64·(1/0.45 - 1/0.92)/40 GB/s) = 4.5 MB. Simple is quicker from 126·8 us
  // / (2·63/64·(1/0.92 - 1)/40 GB/s) = 236 MB.
  const double rounds = 126, factor = 2 * 63.0 / 64;
  const auto time = [&](double n) {
    return std::min({rounds * 4e-6 + factor * n / (0.45 * 40e9), rounds * 6e-6 + factor * n / (0.92 * 40e9),
                     rounds * 14e-6 + factor * n / 40e9});
  };
  Benchmark benchmark = nccl_run(devices_of(64, 1), 1e-5, 1e-11);
  benchmark.rows.clear();
  for (double n = 1024; n <= 8e9; n *= 2) benchmark.rows.push_back({n, time(n)});
  const std::vector<BenchmarkFit> fits = {fit_benchmark(benchmark, {})};
  const Cluster cluster = make_cluster("lab", fits);
  require_close(4e-6, cluster.link.latency.si(), 1e-3, "latency");
  require_close(40e9, cluster.link.bandwidth.si(), 1e-3, "bandwidth");
  REQUIRE(cluster.protocols.size() == 3);
  const double latency[] = {1, 1.5, 3.5}, bandwidth[] = {0.45, 0.92, 1};
  for (std::size_t i = 0; i < 3; ++i) {
    require_close(latency[i], cluster.protocols[i].latency_factor, 1e-3, "of the latency");
    require_close(bandwidth[i], cluster.protocols[i].bandwidth_factor, 1e-3, "of the bandwidth");
  }
  for (const Benchmark::Row& row : benchmark.rows)
    require_close(row.seconds, forecast(cluster, row.bytes, fits[0]), 1e-3, "by the scenario");
  CHECK_THAT(link_table(cluster, fits),
             ContainsSubstring("links for 1.02 kB to 4.29 GB: ") &&
                 ContainsSubstring("protocol 2: 1.5 times the latency, 0.92 of the bandwidth"));
  // 1 KiB: 504 us of messages and 1.97·1024/18e9 s = 0.1 us; 128 MiB by LL128: 756 us and 1.97·128 MiB/36.8e9 s = 7.181
  // ms.
  const std::vector<FittedTime> times = fitted_times(cluster, fits[0]);
  CHECK(
      (times[0].protocol == "protocol 1" && times[17].protocol == "protocol 2" && times[22].protocol == "protocol 3"));
  require_close(504.11e-6, times[0].fitted, 1e-3, "1 KiB");
  require_close(7.937e-3, times[17].fitted, 1e-3, "128 MiB");
  const std::string csv = fitted_times_csv(cluster, fits);
  CHECK_THAT(csv, ContainsSubstring("file,benchmark,bytes,measured_s,fitted_s,error,protocol\n\"all_reduce_perf.txt\","
                                    "\"all-reduce by ring, 64 ranks on 64 hosts\",1024,0.000504"));
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 24);  // 23 sizes
  // One link, of 4 us and 40 GB/s: at 4 MiB 126·4 + 206 us for 126·4 + 459 us.
  const Cluster one = make_cluster("lab", fits, 1);
  CHECK(one.protocols.empty());
  const std::vector<double> errors = errors_of(one, fits[0]);
  require_close(1 - (504 + 206.4) / (504 + 458.8), errors[12], 1e-2, "4 MiB");

  // Noise alone is no protocol: one link, 3 % up and down.
  for (std::size_t i = 0; i < benchmark.rows.size(); ++i)
    benchmark.rows[i].seconds = (rounds * 4e-6 + factor * benchmark.rows[i].bytes / 40e9) * (i % 2 == 0 ? 1.03 : 0.97);
  CHECK(make_cluster("lab", {fit_benchmark(benchmark, {})}).protocols.empty());
}

TEST_CASE("rings of several sizes tell a buffer's bytes from a link's, and what each protocol takes to begin") {
  // Rings of p inside a host: 5 us, 1 ps for each byte of the buffer, and the quicker of 2(p-1) messages of 0.8 us at
  // 20 GB/s, or 15 us more and messages of 1.2 us at 400 GB/s. A run of one size cannot tell them: on 4 GPUs a byte takes
  // 1 ps + 1.5/(400 GB/s), as at 315.8 GB/s.
  const auto time = [](int p, double n) {
    const double rounds = 2.0 * (p - 1), factor = rounds / p;
    return 5e-6 + 1e-12 * n +
           std::min(rounds * 0.8e-6 + factor * n / 20e9, 15e-6 + rounds * 1.2e-6 + factor * n / 400e9);
  };
  const auto run = [&](int p) {
    Benchmark one = nccl_run(devices_of(1, p), 1e-5, 1e-11, fmt::format("{}.txt.all_reduce_perf", p).c_str());
    one.rows.clear();
    for (double n = 512; n <= 1 << 30; n *= 2) one.rows.push_back({n, time(p, n)});
    return fit_benchmark(one, {});
  };
  const std::vector<BenchmarkFit> fits = {run(2), run(4)};
  const Cluster cluster = make_cluster("lab", fits);
  require_close(5e-6, cluster.collective_cost.si(), 1e-3, "S");
  require_close(1e-12, cluster.collective_byte_cost.si(), 1e-3, "a buffer's byte");
  require_close(400e9, cluster.link.bandwidth.si(), 1e-3, "bandwidth");
  require_close(0.8e-6, cluster.link.latency.si(), 1e-3, "latency");
  REQUIRE(cluster.protocols.size() == 2);
  require_close(0.05, cluster.protocols[0].bandwidth_factor, 1e-3, "the first's bandwidth");
  require_close(1.5, cluster.protocols[1].latency_factor, 1e-3, "the second's latency");
  require_close(15e-6, cluster.protocols[1].setup.si(), 1e-3, "the second's time to begin");
  CHECK(cluster.protocols[0].setup == 0_s);
  Cluster eight = cluster;  // 8 GPUs, which no run had
  eight.workers = 8;
  for (double n = 512; n <= 1 << 30; n *= 8)
    require_close(time(8, n), forecast(eight, n, Algorithm::ring), 1e-3, fmt::format("8 GPUs, {} B", n));
  CHECK_THAT(link_table(cluster, fits), ContainsSubstring(", 1 ps/B of a collective's buffer") &&
                                            ContainsSubstring("1 of the bandwidth, 15 us more to begin"));
  const std::vector<BenchmarkFit> alone = {run(4)};
  const Cluster one = make_cluster("lab", alone);
  CHECK(one.collective_byte_cost == SecondsPerByte{});
  require_close(1 / (1e-12 / 1.5 + 1 / 400e9), one.link.bandwidth.si(), 0.02, "one run");
}

TEST_CASE("protocols of links inside hosts and between them are found together") {
  // Every call takes 20 us. Messages take 2 us and 200 GB/s inside; between hosts of 8, 5 us more and 40 GB/s. One
  // message in 8 passes between hosts. A second protocol has five times that latency; the first has 40 % of that
  // bandwidth.
  const auto run = [](int hosts) {
    const int p = 8 * hosts;
    const double rounds = 2.0 * (p - 1), factor = rounds / p, alpha = 2e-6 + (hosts == 1 ? 0 : 5e-6 / 8),
                 bandwidth = hosts == 1 ? 200e9 : 40e9;
    Benchmark one = nccl_run(devices_of(hosts, 8), 1e-5, 1e-11, fmt::format("{}.txt.all_reduce_perf", hosts).c_str());
    one.rows.clear();
    for (double n = 1024; n <= 8e9; n *= 2)
      one.rows.push_back({n, 20e-6 + std::min(rounds * alpha + factor * n / (0.4 * bandwidth),
                                              rounds * 5 * alpha + factor * n / bandwidth)});
    return one;
  };
  std::vector<BenchmarkFit> fits;
  for (const int hosts : {1, 2, 8}) fits.push_back(fit_benchmark(run(hosts), {}));
  const Cluster cluster = make_cluster("lab", fits);
  require_lab(cluster, fits);
  require_close(20e-6, cluster.collective_cost.si(), 1e-3, "S");
  REQUIRE(cluster.protocols.size() == 2);
  require_close(0.4, cluster.protocols[0].bandwidth_factor, 1e-3, "the first's bandwidth");
  require_close(5, cluster.protocols[1].latency_factor, 1e-3, "the second's latency");
  CHECK((cluster.protocols[0].latency_factor == 1 && cluster.protocols[1].bandwidth_factor == 1));
}

TEST_CASE("a message's latency separates a collective's fixed cost, also with protocols") {
  // Rings of 16 have 30 rounds of 4.8 us, 15/8 of n over 40 GB/s, and 12 us to begin. A second protocol has twice the
  // latency; the first has half of the bandwidth. A message takes 4.8 us in the same library.
  const auto time = [](double n) {
    return 12e-6 + std::min(30 * 4.8e-6 + 1.875 * n / 20e9, 30 * 9.6e-6 + 1.875 * n / 40e9);
  };
  Benchmark rings = nccl_run(devices_of(16, 1), 1e-5, 1e-11);
  rings.rows.clear();
  for (double n = 1024; n <= 1 << 30; n *= 2) rings.rows.push_back({n, time(n)});
  std::string text = "# OSU MPI Latency Test v7.3\n";
  for (double n = 1; n <= 1 << 20; n *= 4) text += fmt::format("{} {}\n", n, 4.8 + n / 20e3);
  const std::vector<BenchmarkFit> fits = {fit_benchmark(rings, {}),
                                          fit_benchmark(read_osu_text(text, "osu.txt", {}), {})};
  const Cluster cluster = make_cluster("lab", fits);
  require_close(4.8e-6, cluster.link.latency.si(), 1e-3, "latency");
  require_close(12e-6, cluster.collective_cost.si(), 1e-2, "S");
  REQUIRE(cluster.protocols.size() == 2);
  require_close(2, cluster.protocols[1].latency_factor, 1e-2, "the second's latency");
  for (const double error : errors_of(cluster, fits[0])) CHECK(error < 1e-2);
}

TEST_CASE("a NIC without latency is doubted") {
  // Inside 14 rounds of 4 us; between hosts of 8 a ring of 32 in 62 rounds of 3 us, as of a tree.
  const std::vector<BenchmarkFit> fits = {
      fit_benchmark(nccl_run(devices_of(1, 8), 14 * 4e-6, 1.75 / 200e9, "1.txt.all_reduce_perf"), {}),
      fit_benchmark(nccl_run(devices_of(4, 8), 62 * 3e-6, 2 * 31.0 / 32 / 40e9, "4.txt.all_reduce_perf"), {})};
  const Cluster cluster = make_cluster("lab", fits);
  CHECK(cluster.link.latency == 0_s);
  const std::vector<std::string> lines = doubts(cluster, fits);
  REQUIRE(lines.size() == 1);
  CHECK_THAT(lines[0], ContainsSubstring("4.txt.all_reduce_perf: a message between hosts has no more latency") &&
                           ContainsSubstring("NCCL_ALGO=Ring"));
}

TEST_CASE("a latency of another library is reported") {
  // Rings of NCCL: 13.6 us for 6 messages inside a host of 4, and 72 us for 30 between 4 hosts. A quarter of the 30 go
  // between hosts. A message of MPI takes 20 us, so a quarter of 30 would take 150 us plus the inner messages. Nothing
  // is left for a message inside, and the 72 us are missed even so.
  const Benchmark inside = nccl_run(devices_of(1, 4), 13.6e-6, 1.5 / 200e9, "in.all_reduce_perf"),
                  across = nccl_run(devices_of(4, 4), 72e-6, 1.875 / 11e9, "out.all_reduce_perf");
  std::string text = "# OSU MPI Latency Test v7.3\n";
  for (double n = 1; n <= 1 << 20; n *= 4) text += fmt::format("{} {}\n", n, 20 + n / 11e3);
  const Benchmark messages = read_osu_text(text, "osu.txt", {});
  const std::vector<BenchmarkFit> fits = {fit_benchmark(inside, {}), fit_benchmark(across, {}),
                                          fit_benchmark(messages, {})};
  const Cluster cluster = make_cluster("lab", fits);
  std::string all;
  for (const std::string& line : doubts(cluster, fits)) all += line + "\n";
  CHECK_THAT(all, ContainsSubstring("osu.txt times messages of MPI, out.all_reduce_perf those of NCCL") &&
                      ContainsSubstring("leaves no latency to a message inside a host") &&
                      ContainsSubstring("its messages are not those of the collective; leave it out"));
  CHECK(doubts(make_cluster("lab", {fits[0], fits[1]}), {fits[0], fits[1]}).empty());
}

TEST_CASE("excluded sizes are left out, and sizes that the cluster does not describe are named") {
  const std::string head =
      devices_of(4, 4) + "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n";
  std::string rows;
  for (double n = 1024; n <= 1 << 30; n *= 2) {
    const double us = 1e6 * std::min(60e-6 + n / 2.5e9, 220e-6 + n / 6e9);
    rows += fmt::format("{0} {1} float sum -1 {2:.9g} 1 1 0 {2:.9g} 1 1 0\n", n, n / 4, us);
  }
  const fs::path path = fs::temp_directory_path() / "stepcast-link-all_reduce_perf.txt";
  std::ofstream(path) << head << rows << "# Avg bus bandwidth    : 1 \n";
  const std::vector<BenchmarkFit> all = {fit_benchmark(read_benchmark(path, {}), {})};
  const Cluster of_all = make_cluster("lab", all, 1);
  // The ends have 60 us + n/(6 GB/s). Measured is the lesser of 60 us + n/(2.5 GB/s) and 220 us + n/(6 GB/s). At 128
  // KiB it is 82 for 112 us, at 1 MiB 235 for 395 us. At 8 KiB it is 61.4 for 63.3 us, at 16 MiB 2856 for 3016 us.
  CHECK_THAT(link_table(of_all, all), ContainsSubstring("one link for 1.02 kB to 1.07 GB") &&
                                          ContainsSubstring("8 of 21 sizes are more than 10 % off, from 32.8 kB to ") &&
                                          ContainsSubstring("--min-size and --max-size"));
  CHECK_THAT(*of_all.description, ContainsSubstring("to 1.02 kB to 1.07 GB:"));
  ReadOptions large;
  large.min_size = 4 << 20;
  const std::vector<BenchmarkFit> some = {fit_benchmark(read_benchmark(path, large), {})};
  const Cluster of_some = make_cluster("lab", some);
  CHECK(some[0].benchmark.rows.size() == 9);  // 4 MiB to 1 GiB
  for (const double error : errors_of(of_some, some[0])) CHECK(error < 1e-3);
  CHECK(of_some.fits.front().from.si() == 4.1943e6);  // 4 MiB in five digits
  large.max_size = 16 << 20;
  CHECK_THAT(message_of([&] { read_benchmark(path, large); }),
             ContainsSubstring("found 3 sizes; allowed: 4 or more") && ContainsSubstring("--max-size"));
  fs::remove(path);
}

TEST_CASE("options apply to files that do not give the value themselves") {
  const auto json = [](ReadOptions options) {
    return read_nccl_json(
        R"({"args": ["./build/all_gather_perf"], "config": {"nthreads": 1, "ngpus": 4, "devices": [{}]}, "results": []})",
        "all_reduce_perf.json", options);
  };
  CHECK(json({}).operation == Operation::all_gather);  // not as the file is called
  CHECK_THAT(message_of([&] { json({Operation::all_reduce}); }),
             ContainsSubstring("found --collective all-reduce; allowed: all-gather, which the file gives itself; leave "
                               "out --collective"));
  CHECK(json({Operation::all_gather}).operation == Operation::all_gather);
  const Benchmark one = json({Operation::all_reduce, 8, false, true});
  CHECK((one.operation == Operation::all_gather && one.ranks == 4 && !one.took_operation && !one.took_ranks));
  const std::string table = "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n";
  const Benchmark silent = read_nccl_text(table, "a.txt", {Operation::all_gather, 8, false, true});
  CHECK((silent.operation == Operation::all_gather && silent.ranks == 8 && silent.took_operation && silent.took_ranks));
  // A name is no more than a guess.
  CHECK(read_nccl_text(table, "all_reduce_perf/a.txt", {Operation::all_gather, 8}).operation == Operation::all_gather);
  CHECK_THAT(message_of([] {
               read_osu_text("# OSU MPI Allreduce Latency Test v7.3\n4 1.0\n", "o.txt", {Operation::all_gather, 8});
             }),
             ContainsSubstring("found --collective all-gather; allowed: all-reduce"));
}

TEST_CASE("prefixes of launchers are ignored, and a text without its end is doubted") {
  const std::string rows = " 1024 256 float sum -1 20.0 0.05 0.05 0 21.0 0.05 0.05 0\n";
  const auto tagged = [](const std::string& text, const char* tag) {
    std::istringstream lines(text);
    std::string all;
    for (std::string line; std::getline(lines, line);) all += tag + line + "\n";
    return all;
  };
  const std::string whole = kNcclHead + rows + "# Avg bus bandwidth    : 48.1 \n";
  for (const char* tag : {"", "[1,0]<stdout>:", "[1,0]<stdout>: ", "[prterun-n1-4711@1,0]<stdout>: ", "0: ", " 3: "}) {
    INFO(tag);
    const Benchmark one = read_nccl_text(tagged(whole, tag), "a.txt", {Operation::all_reduce, 0, false});
    REQUIRE(one.rows.size() == 1);
    require_close(20e-6, one.rows[0].seconds, 1e-12, "time");
    CHECK((one.ranks == 2 && one.hosts == 1 && one.doubts.empty()));
    CHECK(read_osu_text(tagged("# OSU MPI Latency Test v7.3\n1 2.0\n", tag), "o.txt", {}).rows.size() == 1);
  }
  const Benchmark cut = read_nccl_text(kNcclHead + rows, "a.txt", {Operation::all_reduce, 0, false});
  REQUIRE(cut.doubts.size() == 1);
  CHECK_THAT(cut.doubts[0], ContainsSubstring("a.txt: without the line \"# Avg bus bandwidth\""));
}

TEST_CASE("a cluster's file has the natural units, within 1e-4 of the fit") {
  // 13.3 us over 14 rounds, 1.75/(191.2813 GB/s).
  const std::vector<BenchmarkFit> fits = {
      fit_benchmark(nccl_run(devices_of(1, 8), 14 * 0.9511130e-6, 1.75 / 191.2813e9), {})};
  const Cluster cluster = make_cluster("lab", fits);
  const Json json = write_value(cluster, QuantityText::brief);
  CHECK(json["link"]["latency"] == "951.11ns");
  CHECK(json["link"]["bandwidth"] == "191.28GB/s");
  CHECK(json["fits"][0]["from"] == "1.024kB");
  CHECK(json["fits"][0]["to"] == "1.0737GB");  // 2^30
  CHECK(json["fits"][0]["algorithm"] == "ring");
  require_close(0.9511130e-6, cluster.link.latency.si(), 1e-4, "latency");
  require_close(191.2813e9, cluster.link.bandwidth.si(), 1e-4, "bandwidth");
  Cluster read;
  std::vector<Fault> faults;
  read_value(json, "", read, any, faults);
  CHECK(faults.empty());
  CHECK(read == cluster);
}

TEST_CASE("sizes that the cluster does not describe are reported") {
  // By the first file (one link of 2 us and 200 GB/s), a ring of 16 takes 30·2 us + 1.875 n/(200 GB/s). The second file
  // measured k times that. The least squares (x - 1)² + (x/k - 1)² have x = (1 + 1/k)/(1 + 1/k²) times the first's α
  // and β. For k = 10, x = 1.0891: 8.9 % more than the first and 89 % less than the other. For 1.5 it is 1.1538, 15 and
  // 23 %; for 1.2 it is 1.0820, 8 and 10 %. S would be below 0: 30/14 times the first's latency is less than k times
  // that.
  const BenchmarkFit right = fit_benchmark(collective(Operation::all_reduce, 8, 14 * 2e-6, 1.75 / 200e9), {});
  const auto said = [&](double times) {
    Benchmark other = collective(Operation::all_reduce, 16, times * 30 * 2e-6, times * 1.875 / 200e9);
    other.file = "other.txt";
    const std::vector<BenchmarkFit> fits = {right, fit_benchmark(other, {})};
    return bad_fits(make_cluster("lab", fits), fits);
  };
  REQUIRE(said(10).size() == 1);
  CHECK_THAT(
      said(10).front(),
      ContainsSubstring(
          "other.txt: half of its times differ by 89 % or more from the cluster's for all-reduce by ring, 16 ranks; good: 20 %"));
  CHECK(said(1.5).size() == 1);
  CHECK(said(1.2).empty());
}

TEST_CASE("bad benchmarks are refused with place, finding and remedy") {
  const auto nccl = [](const std::string& line, ReadOptions options = {Operation::all_reduce, 0, false}) {
    return message_of([&] { read_nccl_text(kNcclHead + line, "a.txt", options); });
  };
  CHECK_THAT(nccl("1024 256 float sum -1 20.0 0.05\n"),
             ContainsSubstring("a.txt:4: found 7 words") && ContainsSubstring("is the file cut off?"));
  CHECK_THAT(nccl("1024 256 float sum -1 zero 0.05 0.05 0 21.0 0.05 0.05 0\n"),
             ContainsSubstring("a.txt:4: found \"zero\" as a time; allowed: microseconds, above 0"));
  CHECK_THAT(nccl("1024 256 float sum -1 0.0 0.05 0.05 0 21.0 0.05 0.05 0\n"), ContainsSubstring("\"0.0\" as a time"));
  CHECK_THAT(nccl("1024 256 float sum -1 20 0.05 0.05 3 21.0 0.05 0.05 0\n"),
             ContainsSubstring("a.txt:4: found 3 wrong results; allowed: 0"));
  CHECK_THAT(nccl("1024 256 float sum -1 20 0.05 0.05 1 21.0 0.05 0.05 0\n"),
             ContainsSubstring("found 1 wrong results"));
  CHECK_THAT(nccl("1024 256 float sum -1 20 0.05 0.05 x 21.0 0.05 0.05 0\n"),
             ContainsSubstring("\"x\" as the number of wrong results"));
  CHECK_THAT(nccl(kNcclHead),
             ContainsSubstring("a.txt:6: found a second table; allowed: one run in a file; split the file"));
  CHECK_THAT(nccl("# size time busbw\n"), ContainsSubstring("fewer than two columns"));
  CHECK_THAT(nccl("# size cputime busbw cputime busbw\n"), ContainsSubstring("measure without -C"));
  CHECK_THAT(message_of([] { read_nccl_text("1024 256 float sum -1 20 0.05 0.05 0 21.0 0.05 0.05 0\n", "a.txt", {}); }),
             ContainsSubstring("no line that names the columns"));
  CHECK_THAT(nccl("", {}), ContainsSubstring("no name of a collective") && ContainsSubstring("--collective"));
  CHECK_THAT(message_of([] { read_nccl_text("# time busbw time busbw\n", "all_reduce_perf.txt", {}); }),
             ContainsSubstring("0 ranks") && ContainsSubstring("--ranks"));
  CHECK_THAT(message_of([] { read_nccl_json("{\"results\":\n [", "a.json", {}); }),
             ContainsSubstring("a.json:2: found text that is no JSON"));
  CHECK_THAT(message_of([] { read_nccl_json("4e4250", "a.json", {}); }), ContainsSubstring("a number beyond 1.8e308"));
  CHECK_THAT(message_of([] { read_nccl_json("{}", "a.json", {}); }), ContainsSubstring("no list \"results\""));
  CHECK_THAT(message_of([] { read_nccl_json(R"({"results": [{"size": 8}]})", "a.json", {}); }),
             ContainsSubstring("a.json: /results/0/out_of_place") && ContainsSubstring("--in-place"));
  CHECK_THAT(message_of([] {
               read_nccl_json(R"({"results": [{"size": 8, "out_of_place": null, "in_place": {"time": 5}}]})", "a.json",
                              {});
             }),
             ContainsSubstring("--in-place"));
  CHECK_THAT(message_of([] {
               read_nccl_json(R"({"results": [{"size": 8, "out_of_place": {"time": "nan"}}]})", "a.json", {});
             }),
             ContainsSubstring("/results/0/out_of_place/time"));
  CHECK_THAT(message_of([] {
               read_nccl_json(R"({"results": [{"size": 8, "out_of_place": {"cpu_time": 5}}]})", "a.json", {});
             }),
             ContainsSubstring("measure without -C"));
  CHECK_THAT(message_of([] {
               read_nccl_json(R"({"results": [{"size": 8, "out_of_place": {"time": 5, "nwrong": 2}}]})", "a.json", {});
             }),
             ContainsSubstring("2 wrong results"));
  CHECK_THAT(
      message_of([] { read_nccl_json(R"({"results": [{"size": -8, "out_of_place": {"time": 5}}]})", "a.json", {}); }),
      ContainsSubstring("/results/0/size"));

  const auto osu = [](const std::string& text, ReadOptions options = {}) {
    return message_of([&] { read_osu_text(text, "o.txt", options); });
  };
  CHECK_THAT(osu("# OSU MPI Multi Latency Test v7.3\n"),
             ContainsSubstring("o.txt:1: found \"# OSU MPI Multi Latency Test v7.3\"; allowed: \"Latency Test\""));
  CHECK_THAT(osu("# OSU MPI Latency Test v7.3\n1\n"),
             ContainsSubstring("o.txt:2: found \"1\"; allowed: a size and microseconds above 0"));
  CHECK_THAT(osu("# OSU MPI Bandwidth Test v7.5\n# Size Bandwidth (MB/s) Validation\n1 0.9 Pass\n2 1.8 Fail\n"),
             ContainsSubstring("o.txt:4: found \"2 1.8 Fail\"; allowed: results that passed"));
  CHECK_THAT(osu("# OSU MPI Bandwidth Test v7.3\n1 0\n"), ContainsSubstring("a size and MB/s above 0"));
  CHECK_THAT(osu("# OSU MPI Allreduce Latency Test v7.3\n4 1.0\n"),
             ContainsSubstring("no number of ranks") && ContainsSubstring("--ranks"));
  CHECK_THAT(osu("# OSU MPI Latency Test v7.3\n1 1.0\n# OSU MPI Bandwidth Test v7.3\n"),
             ContainsSubstring("o.txt:3: found a second benchmark"));

  const fs::path folder = fs::temp_directory_path();
  const auto file = [&](const std::string& text) {
    const fs::path path = folder / "stepcast-link-test.txt";
    std::ofstream(path) << text;
    const std::string message = message_of([&] { read_benchmark(path, {}); });
    fs::remove(path);
    return message;
  };
  CHECK_THAT(file(""), ContainsSubstring("found an empty file; allowed: the text or JSON of nccl-tests"));
  CHECK_THAT(file("hello\nworld\n"), ContainsSubstring(":1: found \"hello\""));
  CHECK_THAT(file("# OSU MPI Latency Test v7.3\n1 1.0\n2 1.0\n3 1.0\n"),
             ContainsSubstring("3 sizes; allowed: 4 or more"));
  CHECK_THAT(message_of([&] { read_benchmark(folder / "no-such-file", {}); }), ContainsSubstring("No such file"));
  CHECK_THAT(message_of([&] { read_benchmark(folder, {}); }), ContainsSubstring("allowed: a file that can be read"));
}

TEST_CASE("OSU: a gathered buffer is that of all ranks, a bandwidth the time of each message") {
  const Benchmark nccl = read_osu_text(
      "#Using NCCL\n\n# OSU NCCL-CUDA Allreduce Latency Test v7.5\n# Size       Avg Latency(us)        Validation\n1073741824           8955.18 Pass\n",
      "o.txt", {{}, 8, false});
  CHECK(nccl.operation == Operation::all_reduce);
  require_close(8955.18e-6, nccl.rows.at(0).seconds, 1e-12, "time");
  const Benchmark gather = read_osu_text(
      "# OSU MPI-CUDA Allgather Latency Test v7.3\n# Size  Avg Latency(us)\n0 0.5\n100 2.0\n", "o.txt", {{}, 4, false});
  REQUIRE(gather.rows.size() == 1);  // nothing to gather takes no time of interest
  CHECK(gather.rows[0].bytes == 400);
  CHECK(gather.ranks == 4);
  const Benchmark exchange =
      read_osu_text("# OSU MPI All-to-All Personalized Exchange Latency Test v7.3\n# Size  Avg Latency(us)\n100 2.0\n",
                    "o.txt", {{}, 4, false});
  CHECK(exchange.operation == Operation::all_to_all);
  REQUIRE(exchange.rows.size() == 1);
  CHECK(exchange.rows[0].bytes == 400);  // 100 to each of 4
  const Benchmark stream = read_benchmark(data("osu_bw.txt"), {});
  CHECK(stream.kind == Benchmark::Kind::bandwidth);
  CHECK(read_osu_text("# OSU MPI Bandwidth Test v7.3\n0 1.0\n1 2.0\n", "o.txt", {}).rows.size() == 1);
  // 4 MiB at 12 GB/s and 1 us a message.
  require_close(1e-6 + 4194304 / 12e9, stream.rows.back().seconds, 1e-5, "last");
}

TEST_CASE("every closed form gives its alpha and beta back") {
  property(
      "T = rounds·α + factor·n·β",
      [] {
        const auto algorithms = collective_algorithms();
        const CollectiveAlgorithm& one = algorithms[integer_between(0, static_cast<int>(algorithms.size()) - 1)];
        RC_PRE(one.algorithm != Algorithm::hierarchical && one.algorithm != Algorithm::multi_ring &&
               one.algorithm != Algorithm::in_network);
        const int p = integer_between(2, 64);
        const double alpha = positive_between(1e-7, 1e-4), bandwidth = positive_between(1e9, 1e12);
        const CostTerms terms = one.cost(1_GB, p, {});
        const BenchmarkFit fit = fit_benchmark(
            collective(one.operation, p, terms.total_messages() * alpha, terms.total_wire().si() / 1e9 / bandwidth),
            {one.algorithm, 1});
        RC_ASSERT(fit.ranges.size() == 1U);
        assert_close(alpha, fit.ranges[0].alpha.value, 1e-6, "alpha");
        assert_close(1 / bandwidth, fit.ranges[0].beta.value, 1e-6, "beta");
      },
      60);
  CHECK_THROWS_WITH(fit_benchmark(collective(Operation::all_gather, 4, 1e-6, 1e-9), {Algorithm::binary_tree, 1}),
                    ContainsSubstring("allowed for all-gather: ring, recursive-doubling, bruck"));
  for (const Algorithm algorithm : {Algorithm::hierarchical, Algorithm::multi_ring, Algorithm::in_network})
    CHECK_THROWS_AS(fit_benchmark(collective(Operation::all_reduce, 4, 1e-6, 1e-9), {algorithm, 1}),
                    std::invalid_argument);
}

TEST_CASE("ranges meet at a change of regime") {
  const BenchmarkFit fit = fit_benchmark(read_benchmark(data("osu_latency.txt"), {}), {});
  REQUIRE(fit.ranges.size() == 2);
  require_close(2e-6, fit.ranges[0].alpha.value, 0.01, "latency");
  require_close(1 / 2e9, fit.ranges[0].beta.value, 0.01, "time per byte up to 64 KiB");
  require_close(65536, fit.ranges[0].to, 0.05, "where it changes");
  CHECK(fit.ranges[0].to == fit.ranges[1].from);
  require_close(1 / 12.5e9, fit.ranges[1].beta.value, 0.01, "time per byte beyond");
  CHECK(fit.largest_error < 0.05);
}

TEST_CASE("a cluster of point-to-point and collective times prices both") {
  // 2 us a message; a ring of 8 at 10 GB/s with 10 us of setup: T = 10 us + 14·2 us + 1.75 n/(10 GB/s).
  std::vector<BenchmarkFit> fits;
  for (const char* name : {"osu_latency.txt", "osu_allreduce.txt", "osu_bw.txt"})
    fits.push_back(fit_benchmark(read_benchmark(data(name), {{}, 8, false}), {}));
  const Cluster cluster = make_cluster("lab", fits);
  CHECK(cluster.workers == 8);
  require_close(2e-6, cluster.link.latency.si(), 0.01, "latency");
  require_close(10e9, cluster.link.bandwidth.si(), 0.01, "bandwidth");
  require_close(10e-6, cluster.collective_cost.si(), 0.02, "setup");
  CHECK(cluster.fits.size() == 4);  // two ranges of latency
  for (const double error : errors_of(cluster, fits[1])) CHECK(error < 0.01);
  const std::string table = link_table(cluster, fits);
  CHECK_THAT(table, ContainsSubstring("all-reduce by ring, 8 ranks") && ContainsSubstring("gap between messages"));

  // The scenario's reader takes the file, and the equations price a collective by it.
  Cluster read;
  std::vector<Fault> faults;
  read_value(Json::parse(write_value(cluster).dump()), "", read, any, faults);
  for (const Fault& fault : faults) UNSCOPED_INFO(to_string(fault));
  REQUIRE(faults.empty());
  CHECK(read == cluster);
  const Json scenario{
      {"name", "s"},
      {"cluster", write_value(cluster)},
      {"strategy", Json::parse(R"({"kind": "collective", "size": "16MB", "collective": {"algorithm": "ring"}})")}};
  CHECK(parse_study(scenario.dump(), "s.json", {}, default_library()).points.size() == 1);

  CHECK_THROWS_WITH(make_cluster("lab", {fits[2]}), ContainsSubstring("osu_latency"));
  const Cluster alone = make_cluster("lab", {fits[1]});
  CHECK(alone.collective_cost == 0_s);
  // All 38 us of fixed time over 14 rounds.
  require_close(38e-6 / 14, alone.link.latency.si(), 0.01, "latency without a latency benchmark");
}
