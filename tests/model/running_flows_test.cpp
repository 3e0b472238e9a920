// Flows that start at any time, by hand and against a simulation that fills all links anew at every event.
#include "models/fabric/running_flows.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/property.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

struct Arrival {
  double time;
  std::size_t flow;
  double bytes;
};

/// When each has ended, by RunningFlows.
std::vector<double> ends_of(const Quotient& quotient, const std::vector<Arrival>& arrivals) {
  RunningFlows flows(quotient);
  std::map<RunningFlows::Id, std::size_t> whose;
  std::vector<double> ends(arrivals.size());
  const auto end_until = [&](double time) {
    for (double next = flows.next_end(); next <= time && std::isfinite(next); next = flows.next_end())
      for (const auto id : flows.end(next)) ends[whose.at(id)] = next;
  };
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    end_until(arrivals[i].time);
    whose[flows.start(arrivals[i].flow, arrivals[i].bytes, arrivals[i].time)] = i;
  }
  end_until(std::numeric_limits<double>::infinity());
  return ends;
}

/// The same by the definition: the max-min fair rates from one start or end to the next.
std::vector<double> ends_by_definition(const Quotient& quotient, const std::vector<Arrival>& arrivals) {
  FairShares shares(quotient);
  std::vector<double> ends(arrivals.size()), rest(arrivals.size()), rates;
  std::vector<std::size_t> running;
  double now = 0;
  for (std::size_t next = 0; next < arrivals.size() || !running.empty();) {
    std::vector<std::size_t> numbers;
    for (const std::size_t i : running) numbers.push_back(arrivals[i].flow);
    shares.share(numbers, rates);
    double until = next < arrivals.size() ? arrivals[next].time : std::numeric_limits<double>::infinity();
    for (std::size_t r = 0; r < running.size(); ++r) until = std::min(until, now + rest[running[r]] / rates[r]);
    for (std::size_t r = 0; r < running.size(); ++r) rest[running[r]] -= rates[r] * (until - now);
    now = until;
    std::erase_if(running, [&](std::size_t i) {
      if (rest[i] > 1e-12 * arrivals[i].bytes) return false;
      ends[i] = now;
      return true;
    });
    for (; next < arrivals.size() && arrivals[next].time <= now; ++next) {
      rest[next] = arrivals[next].bytes;
      running.push_back(next);
    }
  }
  return ends;
}

/// Workers and servers, and a switch that some flows cross.
Quotient any_star() {
  Quotient quotient;
  const int servers = integer_between(1, 3), workers = integer_between(1, 12);
  const bool alike = integer_between(0, 1) == 0;
  const auto bandwidth = [&](double least) {
    return BytesPerSecond(least * (alike ? 1.0 : real_between(0.5, 3)) * 1e9);
  };
  for (int link = 0; link < servers; ++link) quotient.links.push_back(bandwidth(1));
  const double of_worker = integer_between(1, 8);
  for (int link = 0; link < workers; ++link) quotient.links.push_back(bandwidth(of_worker));
  quotient.links.push_back(bandwidth(servers));
  for (int worker = 0; worker < workers; ++worker)
    for (int server = 0; server < servers; ++server) {
      QuotientFlow flow{{{servers + worker, integer_between(1, 3)}, {server, 1}}};
      if (integer_between(0, 3) == 0) flow.links.emplace_back(servers + workers, 1);
      quotient.flows.push_back(std::move(flow));
    }
  return quotient;
}

/// Links in a row. Each flow crosses some neighbours, as on a torus.
Quotient any_routes() {
  Quotient quotient;
  const int links = integer_between(1, 12);
  for (int link = 0; link < links; ++link) quotient.links.emplace_back(1e9 * integer_between(1, 3));
  for (int i = 0; i < 24; ++i) {
    const int first = integer_between(0, links - 1), last = std::min(links - 1, first + integer_between(0, 2));
    QuotientFlow flow;
    for (int link = first; link <= last; ++link) flow.links.emplace_back(link, 1);
    quotient.flows.push_back(std::move(flow));
  }
  return quotient;
}

}  // namespace

TEST_CASE("flows to one server, by hand") {
  // Link 0 is the server's, 1 GB/s. Workers 1 and 2 have links of 1 GB/s, worker 3 one of 0.25.
  Quotient quotient;
  for (const double rate : {1e9, 1e9, 1e9, 0.25e9}) quotient.links.emplace_back(rate);
  for (const int worker : {1, 2, 3}) quotient.flows.push_back({{{worker, 1}, {0, 1}}});
  // 1 MB alone for 1 ms, then half of the link: 1 + 2·1 ms. The second has carried 1 MB by then, and its other 1 MB alone.
  require_close(3e-3, ends_of(quotient, {{0, 0, 2e6}, {1e-3, 1, 2e6}})[0], 1e-12, "the first");
  require_close(4e-3, ends_of(quotient, {{0, 0, 2e6}, {1e-3, 1, 2e6}})[1], 1e-12, "the second");
  // Three at once: worker 3 has a fourth, the others 3/8 each. 3 MB end after 8 ms. Worker 3's 3 MB take 12 ms.
  const std::vector<double> ends = ends_of(quotient, {{0, 0, 3e6}, {0, 1, 3e6}, {0, 2, 3e6}});
  require_close(8e-3, ends[0], 1e-12, "beside a slow link");
  require_close(8e-3, ends[1], 1e-12, "beside a slow link");
  require_close(12e-3, ends[2], 1e-12, "the slow link");
  // The same flow twice, counted four times on the worker's link: 0.125 GB/s each, 8 ms for 1 MB.
  quotient.flows[0].links[0].second = 4;
  const std::vector<double> twice = ends_of(quotient, {{0, 0, 1e6}, {0, 0, 1e6}});
  require_close(8e-3, twice[0], 1e-12, "twice");
  require_close(8e-3, twice[1], 1e-12, "twice");
}

TEST_CASE("flows end when max-min fair rates say so") {
  property(
      "ends equal the definition's",
      [] {
        const Quotient quotient = integer_between(0, 1) == 0 ? any_star() : any_routes();
        const int most = static_cast<int>(quotient.flows.size()) - 1;
        std::vector<Arrival> arrivals;
        double time = 0;
        const double gap = real_between(1e-4, 2e-3);
        for (int i = 0; i < 60; ++i) {
          time += integer_between(0, 3) == 0 ? 0.0 : real_between(0, gap);
          arrivals.push_back({time, static_cast<std::size_t>(integer_between(0, most)), real_between(0.1, 2) * 1e6});
        }
        const std::vector<double> got = ends_of(quotient, arrivals), expected = ends_by_definition(quotient, arrivals);
        for (std::size_t i = 0; i < arrivals.size(); ++i) require_close(expected[i], got[i], 1e-9, "an end");
      },
      300);
}
