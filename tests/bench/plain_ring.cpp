// One ring all-reduce as one would write it by hand on SimGrid: p messages at once, wait for all, 2(p-1) times.
//
//     plain_ring PLATFORM.xml BYTES        prints the simulated seconds; p is the number of hosts, BYTES a multiple of it
//
// For peers.py, which runs it on the same platform file as SMPI; nothing of stepcast but SimGrid's spelling is in it.
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "sim/platform/compat.hpp"

namespace {

namespace s4u = simgrid::s4u;
namespace sg = stepcast::sg;

void ring(const std::vector<s4u::Host*>& hosts, std::uint64_t chunk) {
  const auto p = hosts.size();
  for (std::size_t round = 0; round < 2 * (p - 1); ++round) {
    std::vector<s4u::CommPtr> messages;
    for (std::size_t i = 0; i < p; ++i)
      messages.push_back(s4u::Comm::sendto_async(hosts[i], hosts[(i + 1) % p], chunk));
    for (const auto& message : messages) message->wait();
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
  if (count != 3) {
    std::fprintf(stderr, "usage: plain_ring PLATFORM.xml BYTES\n");
    return 2;
  }
  engine.load_platform(arguments[1]);
  const auto hosts = engine.get_all_hosts();
  const std::uint64_t chunk = std::stoull(arguments[2]) / hosts.size();
  sg::add_actor(engine, "ring", hosts[0], [&] { ring(hosts, chunk); });
  engine.run();
  std::printf("%.15g\n", s4u::Engine::get_clock());
}
