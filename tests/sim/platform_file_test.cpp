// Platform files that make no sense: each is answered for, and none ends this process.
#include <chrono>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <sys/stat.h>

#include "sim/platform/compat.hpp"
#include "sim/replay/simulator.hpp"
#include "tests/reader/folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sanitized.hpp"

using namespace stepcast;
using stepcast::test::Folder;
using stepcast::test::kSanitized;

namespace {

std::string platform(const std::string& content) {
  return "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
         "<platform version=\"4.1\">\n" +
         content + "\n</platform>\n";
}

/// Two hosts and the links between them.
struct Pair {
  std::string hosts = R"(<host id="a" speed="1Gf"/><host id="b" speed="1Gf"/>)";
  std::string link = R"(<link id="l" bandwidth="1GBps" latency="10us"/>)";
  std::string route = R"(<route src="a" dst="b"><link_ctn id="l"/></route>)";
  std::string routing = "Full";
  std::string before{}, after{};

  [[nodiscard]] std::string text() const {
    return platform(
        fmt::format(R"({}<zone id="z" routing="{}">{}{}{}</zone>{})", before, routing, hosts, link, route, after));
  }
};

std::string link_of(const std::string& bandwidth, const std::string& latency) {
  return Pair{.link = fmt::format(R"(<link id="l" bandwidth="{}" latency="{}"/>)", bandwidth, latency)}.text();
}
std::string speed_of(const std::string& speed) {
  return Pair{.hosts = fmt::format(R"(<host id="a" speed="{}"/><host id="b" speed="1Gf"/>)", speed)}.text();
}
std::string cluster(const std::string& radical, const std::string& more = "") {
  return platform(fmt::format(
      R"(<cluster id="c" prefix="n" suffix="" radical="{}" speed="1Gf" bw="1250MBps" lat="10us" {}/>)", radical, more));
}
/// Zones of one host each, and the content of the zone around them.
std::string nested(const std::string& route) {
  return platform(
      R"(<zone id="w" routing="Full"><zone id="x" routing="Full"><host id="a" speed="1Gf"/></zone>)"
      R"(<zone id="y" routing="Full"><host id="b" speed="1Gf"/></zone><link id="l" bandwidth="1GBps" latency="10us"/>)" +
      route + "</zone>");
}

struct Row {
  std::string what, text;
  std::string fault;  ///< the message about it, or the beginning; SimGrid's own words differ between its versions
};

const std::string kUnloadable = "which SimGrid cannot load: ";

std::vector<Row> nonsense() {
  return {
      // Numbers. SimGrid loads all of these.
      {"bandwidth 0", link_of("0Bps", "10us"), R"(whose link "l" has a bandwidth of 0 B/s)"},
      {"negative bandwidth", link_of("-1GBps", "10us"), R"(whose link "l" has a bandwidth of -1e+09 B/s)"},
      {"bandwidth NaN", link_of("NaN", "10us"), R"(whose link "l" has a bandwidth of nan B/s)"},
      {"infinite bandwidth", link_of("infBps", "10us"), R"(whose link "l" has a bandwidth of inf B/s)"},
      {"tiny bandwidth", link_of("1e-300Bps", "10us"), R"(whose link "l" has a bandwidth of 1e-300 B/s)"},
      {"huge bandwidth", link_of("1e308Bps", "10us"), R"(whose link "l" has a bandwidth of 1e+308 B/s)"},
      {"negative latency", link_of("1GBps", "-10us"), R"(whose link "l" has a latency of -1e-05 s)"},
      {"latency NaN", link_of("1GBps", "nans"), R"(whose link "l" has a latency of nan s)"},
      {"infinite latency", link_of("1GBps", "infs"), R"(whose link "l" has a latency of inf s)"},
      {"latency of two hours", link_of("1GBps", "7200s"), R"(whose link "l" has a latency of 7200 s)"},
      {"negative host speed", speed_of("-1Gf"), R"(whose host "a" has a speed of -1e+09 flop/s)"},
      {"host speed 0", speed_of("0f"), R"(whose host "a" has a speed of 0 flop/s)"},
      {"host speed NaN", speed_of("nanf"), R"(whose host "a" has a speed of nan flop/s)"},
      {"infinite host speed", speed_of("inff"), R"(whose host "a" has a speed of inf flop/s)"},
      {"bandwidth that is a word", link_of("fast", "10us"), kUnloadable + "line 4: cannot parse number"},
      {"latency that is a word", link_of("1GBps", "soon"), kUnloadable + "line 4: cannot parse number"},
      // Features that nobody here runs, or that would give wrong answers.
      {"actor", Pair{.after = R"(<actor host="a" function="f"/>)"}.text(), "with <actor> in it"},
      {"process", Pair{.after = R"(<process host="a" function="f"/>)"}.text(), "with <process> in it"},
      {"bandwidth that changes",
       Pair{.link = R"(<link id="l" bandwidth="1GBps" latency="10us" bandwidth_file="none.bw"/>)"}.text(),
       R"(whose link "l" sets bandwidth_file)"},
      {"host that fails",
       Pair{.hosts = R"(<host id="a" speed="1Gf" state_file="off"/><host id="b" speed="1Gf"/>)"}.text(),
       R"(whose host "a" sets state_file)"},
      {"trace", Pair{.after = "<trace id=\"t\" periodicity=\"1\">0.5 0.1\n</trace>"}.text(), "with <trace> in it"},
      {"Wi-Fi zone",
       platform(
           R"(<zone id="z" routing="Wifi"><prop id="access_point" value="ap"/><router id="ap"/><host id="a" speed="1Gf"/>)"
           R"(<link id="l" sharing_policy="WIFI" bandwidth="54Mbps" latency="0ms"/></zone>)"),
       R"(whose link "l" is Wi-Fi)"},
      // SimGrid throws, aborts or crashes.
      {"Wi-Fi link of two rates",
       Pair{.link = R"(<link id="l" sharing_policy="WIFI" bandwidth="54Mbps,36Mbps" latency="0ms"/>)"}.text(),
       kUnloadable},
      {"unknown routing", Pair{.routing = "Fully"}.text(), kUnloadable},
      {"routing that takes no routes", Pair{.routing = "None"}.text(), kUnloadable},
      {"include", platform(R"(<include file="other.xml"/>)"), kUnloadable},
      {"two root zones", Pair{.after = R"(<zone id="y" routing="Full"><host id="c" speed="1Gf"/></zone>)"}.text(),
       kUnloadable},
      {"gateway of no zone",
       nested(R"(<zoneRoute src="x" dst="y" gw_src="c" gw_dst="b"><link_ctn id="l"/></zoneRoute>)"), kUnloadable},
      {"host twice", Pair{.hosts = R"(<host id="a" speed="1Gf"/><host id="a" speed="1Gf"/>)"}.text(), kUnloadable},
      {"link twice", Pair{.link = std::string(Pair{}.link) + Pair{}.link}.text(), kUnloadable},
      {"route twice", Pair{.route = std::string(Pair{}.route) + Pair{}.route}.text(), kUnloadable},
      {"route of no links", Pair{.route = R"(<route src="a" dst="b"></route>)"}.text(), kUnloadable},
      {"route over an unknown link", Pair{.route = R"(<route src="a" dst="b"><link_ctn id="m"/></route>)"}.text(),
       kUnloadable},
      {"route to an unknown host", Pair{.route = R"(<route src="a" dst="c"><link_ctn id="l"/></route>)"}.text(),
       kUnloadable},
      {"unknown setting", Pair{.before = R"(<config><prop id="network/modell" value="LV08"/></config>)"}.text(),
       kUnloadable},
      {"host of no cores", Pair{.hosts = R"(<host id="a" speed="1Gf" core="0"/><host id="b" speed="1Gf"/>)"}.text(),
       kUnloadable},
      {"torus larger than its hosts", cluster("0-3", R"(topology="TORUS" topo_parameters="3,3")"), kUnloadable},
      {"fat tree of no levels", cluster("0-3", R"(topology="FAT_TREE" topo_parameters="2;4,4")"), kUnloadable},
      {"hosts that no range counts", cluster("x"), kUnloadable},
      {"unknown element", platform(R"(<zone id="z" routing="Full"><hots id="a" speed="1Gf"/></zone>)"), kUnloadable},
      {"unknown attribute", platform(R"(<zone id="z" routing="Full"><host id="a" sped="1Gf"/></zone>)"), kUnloadable},
      {"host without a speed", platform(R"(<zone id="z" routing="Full"><host id="a"/></zone>)"), kUnloadable},
      {"element that does not end", platform(R"(<zone id="z" routing="Full">)"), kUnloadable},
      {"format of the future", R"(<platform version="99"></platform>)", kUnloadable},
      {"format of the past", R"(<platform version="3"></platform>)", kUnloadable},
      {"empty file", "", kUnloadable},
      {"no XML", "hello\nworld\n", kUnloadable},
      {"JSON", "{\"a\": 1}\n", kUnloadable},
      {"another document", "<html><body>hello</body></html>", kUnloadable},
      {"bytes", std::string("\0\1\2\377\376", 5), kUnloadable},
      {"zones 20000 deep", platform([] {
         std::string zones;
         for (int i = 0; i < 20000; ++i) zones += fmt::format(R"(<zone id="z{}" routing="Full">)", i);
         for (int i = 0; i < 20000; ++i) zones += "</zone>";
         return zones;
       }()),
       kUnloadable},
      {"entities that grow",
       "<?xml version=\"1.0\"?><!DOCTYPE platform [<!ENTITY a \"x\"><!ENTITY b \"&a;&a;\">]>\n"
       "<platform version=\"4.1\"><zone id=\"&b;\" routing=\"Full\"/></platform>",
       kUnloadable},
      // Sizes.
      {"no zone", platform(""), "which has no hosts"},
      {"zone without hosts", platform(R"(<zone id="z" routing="Full"/>)"), "which has no hosts"},
      {"range that runs backwards", cluster("3-0"), "which has no hosts"},
      {"ten million hosts", cluster("0-10000000"), "which has more than 65536 hosts"},
      {"65537 hosts", cluster("0-65536"), "which has more than 65536 hosts"},
  };
}

}  // namespace

TEST_CASE("a senseless platform file is reported in one line") {
  const Folder folder;
  for (const Row& row : nonsense()) {
    INFO(row.what);
    if (sg::kSimGrid4 && row.what == "two root zones") continue;  // it puts both into a root zone of its own
    const PlatformFacts facts = inspect_platform(folder.write("platform.xml", row.text));
    CHECK(facts.fault.substr(0, row.fault.size()) == row.fault);
    CHECK(!facts.allowed.empty());
    CHECK(facts.fault.find('\n') == std::string::npos);
    CHECK(facts.fault.size() < 300);
    // Neither the file, which the fault names anyway, nor a number of SimGrid's own log.
    CHECK(facts.fault.find(folder.path().string()) == std::string::npos);
    CHECK(facts.fault.find("CRITICAL") == std::string::npos);
  }
}

TEST_CASE("a usable platform file has hosts, and routes between its first ones") {
  const Folder folder;
  const auto facts_of = [&](const std::string& text) { return inspect_platform(folder.write("platform.xml", text)); };
  struct Expected {
    std::string what, text;
    long hosts, connected;
    std::string missing;
  };
  const std::string a_to_b = R"(no route from "a" to "b")";
  const std::vector<Expected> rows = {
      {"two hosts", Pair{}.text(), 2, 2, ""},
      {"a cluster", cluster("0-3"), 4, 4, ""},
      {"one host", platform(R"(<zone id="z" routing="Full"><host id="a" speed="1Gf"/></zone>)"), 1, 1, ""},
      {"zones in a zone", nested(R"(<zoneRoute src="x" dst="y" gw_src="a" gw_dst="b"><link_ctn id="l"/></zoneRoute>)"),
       2, 2, ""},
      {"zones without a route", nested(""), 2, 1, a_to_b},
      {"no route", Pair{.route = ""}.text(), 2, 1, a_to_b},
      {"no route back", Pair{.route = R"(<route src="a" dst="b" symmetrical="NO"><link_ctn id="l"/></route>)"}.text(),
       2, 1, R"(no route from "b" to "a")"},
      {"shortest paths", Pair{.routing = "Floyd"}.text(), 2, 2, ""},
      {"a third host, apart",
       Pair{.hosts = R"(<host id="c" speed="1Gf"/><host id="a" speed="1Gf"/><host id="b" speed="1Gf"/>)"}.text(), 3, 2,
       R"(no route from "a" to "c")"},
      {"a long comment", Pair{.after = "<!--" + std::string(1 << 20, 'x') + "-->"}.text(), 2, 2, ""},
      // Text in a comment is not there.
      {"an actor in a comment", Pair{.after = R"(<!-- <actor host="a" function="f"/> -->)"}.text(), 2, 2, ""},
  };
  for (const Expected& row : rows) {
    INFO(row.what);
    const PlatformFacts facts = facts_of(row.text);
    CHECK(facts.fault == "");
    CHECK(facts.hosts == row.hosts);
    CHECK(facts.connected == row.connected);
    CHECK(facts.missing == row.missing);
  }
}

TEST_CASE("a platform file may take so much of file, memory, time and hosts") {
  const Folder folder;
  const std::string good = folder.write("good.xml", cluster("0-99"));
  InspectionLimits limits;
  SECTION("bytes") {
    limits.file_bytes = 100;
    const PlatformFacts facts = inspect_platform_within(good, limits);
    CHECK_THAT(facts.fault, ContainsSubstring("bytes"));
  }
  SECTION("hosts") {
    limits.hosts = 99;
    CHECK(inspect_platform_within(good, limits).fault == "which has more than 99 hosts");
    limits.hosts = 100;
    CHECK(inspect_platform_within(good, limits).fault.empty());
  }
  SECTION("time") {
    limits.time = std::chrono::milliseconds(1);  // forking alone takes as long
    const PlatformFacts facts = inspect_platform_within(folder.write("large.xml", cluster("0-60000")), limits);
    CHECK(facts.fault == "which SimGrid has not loaded after 0.001 s");
  }
  SECTION("time of trying routes: those not tried are taken for there") {
    limits.routes = std::chrono::milliseconds(0);
    const PlatformFacts facts = inspect_platform_within(folder.write("apart.xml", Pair{.route = ""}.text()), limits);
    CHECK(facts.fault.empty());
    CHECK(facts.connected == 2);
  }
  SECTION("pairs: a host beyond tries those 1, 2, 4, ... before it, and the first") {
    // Host d has routes to a and c, and none to b, which is two before it.
    const std::string text = platform(
        R"(<zone id="z" routing="Full"><host id="a" speed="1Gf"/><host id="b" speed="1Gf"/><host id="c" speed="1Gf"/>)"
        R"(<host id="d" speed="1Gf"/><link id="l" bandwidth="1GBps" latency="10us"/>)"
        R"(<route src="a" dst="b"><link_ctn id="l"/></route><route src="a" dst="c"><link_ctn id="l"/></route>)"
        R"(<route src="b" dst="c"><link_ctn id="l"/></route><route src="a" dst="d"><link_ctn id="l"/></route>)"
        R"(<route src="c" dst="d"><link_ctn id="l"/></route></zone>)");
    limits.all_pairs = 0;
    const PlatformFacts facts = inspect_platform_within(folder.write("sparse.xml", text), limits);
    CHECK(facts.connected == 3);
    CHECK(facts.missing == R"(no route from "b" to "d")");
  }
}

TEST_CASE("hosts of more ints than there is memory for") {
  const Folder folder;
  InspectionLimits limits;
  limits.memory_bytes = 1u << 30;  // 0-2000000000 is a list of 2e9 ints: 8 GB
  const PlatformFacts facts = inspect_platform_within(folder.write("platform.xml", cluster("0-2000000000")), limits);
  if (!kSanitized) CHECK(facts.fault == "which takes more than 1024 MiB of memory");
}
