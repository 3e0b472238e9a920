// The messages of one exchange as one would write them by hand on SimGrid: all of a round at once, then wait for all.
//
//     plain_loop PLATFORM.xml ring BYTES                   all-reduces BYTES, a multiple of the number of hosts
//     plain_loop PLATFORM.xml servers BYTES SHARDS STEPS   the last SHARDS hosts are servers of BYTES / SHARDS each
//
// It prints the simulated seconds of a step. bench.py runs it beside stepcast and SMPI. It has nothing of stepcast but
// SimGrid's spelling.
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "sim/platform/compat.hpp"

namespace {

namespace s4u = simgrid::s4u;
namespace sg = stepcast::sg;
using Hosts = std::vector<s4u::Host*>;
using Messages = std::vector<s4u::CommPtr>;

void wait_for(const Messages& messages) {
  for (const auto& message : messages) message->wait();
}

/// 2(p-1) rounds, in each of which every host sends to the next one.
void ring(const Hosts& hosts, std::uint64_t bytes) {
  const auto p = hosts.size();
  for (std::size_t round = 0; round < 2 * (p - 1); ++round) {
    Messages messages;
    for (std::size_t i = 0; i < p; ++i)
      messages.push_back(s4u::Comm::sendto_async(hosts[i], hosts[(i + 1) % p], bytes / p));
    wait_for(messages);
  }
}

void send_all(const Hosts& from, const Hosts& to, std::uint64_t bytes) {
  Messages messages;
  for (auto* a : from)
    for (auto* b : to) messages.push_back(s4u::Comm::sendto_async(a, b, bytes));
  wait_for(messages);
}

/// In each step every worker pushes to every shard, and then pulls from every shard.
void servers(const Hosts& hosts, std::uint64_t bytes, std::size_t shards, int steps) {
  const auto first = hosts.end() - static_cast<std::ptrdiff_t>(shards);
  const Hosts workers(hosts.begin(), first), holders(first, hosts.end());
  for (int step = 0; step < steps; ++step) {
    send_all(workers, holders, bytes / shards);
    send_all(holders, workers, bytes / shards);
  }
}

}  // namespace

int main(int argc, char** argv) {
  // The ideal transport of stepcast (sim/platform/platform.cpp), and the precision that smpirun asks for.
  std::vector<std::string> settings{
      "--log=root.thresh:critical",     "--cfg=network/model:CM02",
      "--cfg=network/latency-factor:1", "--cfg=network/bandwidth-factor:1",
      "--cfg=network/crosstraffic:0",   "--cfg=network/TCP-gamma:0",
      "--cfg=network/weight-S:0",       std::string("--cfg=") + sg::kTimingPrecision + ":1e-9"};
  std::vector<char*> arguments(argv, argv + argc);
  for (auto& setting : settings) arguments.push_back(setting.data());
  int count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  s4u::Engine engine(&count, arguments.data());
  const std::string exchange = count > 2 ? arguments[2] : "";
  if (!(exchange == "ring" && count == 4) && !(exchange == "servers" && count == 6)) {
    std::fprintf(stderr, "usage: plain_loop PLATFORM.xml ring BYTES | servers BYTES SHARDS STEPS\n");
    return 2;
  }
  engine.load_platform(arguments[1]);
  const auto hosts = engine.get_all_hosts();
  const std::uint64_t bytes = std::stoull(arguments[3]);
  const int steps = count == 6 ? std::stoi(arguments[5]) : 1;
  sg::add_actor(engine, "loop", hosts[0], [&] {
    if (count == 4) ring(hosts, bytes);
    else servers(hosts, bytes, std::stoul(arguments[4]), steps);
  });
  engine.run();
  std::printf("%.15g\n", s4u::Engine::get_clock() / steps);
}
