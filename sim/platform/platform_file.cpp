#include "sim/platform/platform_file.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <fmt/format.h>

#include "models/describe/json.hpp"
#include "models/part/cluster.hpp"

namespace stepcast {
namespace {

namespace s4u = simgrid::s4u;
using Tree = boost::property_tree::ptree;

/// Also searches below `parent`. Text, comments and attributes are children too, with names in "<>".
std::optional<PlatformFault> find_changing_parts(const Tree& parent) {
  constexpr std::array<std::string_view, 2> kActors = {"actor", "process"}, kTraces = {"trace", "trace_connect"};
  const auto is_one_of = [](const auto& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  for (const auto& [name, element] : parent) {
    if (is_one_of(kActors, name)) return PlatformFault{fmt::format("with <{}> in it", name), "hosts and links alone"};
    if (is_one_of(kTraces, name))
      return PlatformFault{fmt::format("with <{}> in it", name), "hosts and links that stay as they are"};
    if (const auto attributes = element.get_child_optional("<xmlattr>"))
      for (const auto& [attribute, value] : *attributes)
        if (attribute.ends_with("_file"))
          return PlatformFault{
              fmt::format("whose {} {} sets {}", name, describe_value(attributes->get("id", "")), attribute),
              "hosts and links that stay as they are"};
    if (auto fault = find_changing_parts(element)) return fault;
  }
  return std::nullopt;
}

bool is_within(const Limits& limits, double value) {
  return is_sane(value) && (limits.exclusive ? value > *limits.min : value >= *limits.min) &&
         (!limits.max || value <= *limits.max);
}

/// "1e-30 to 1e+15 B/s", or "0 to 3600 s"
std::string range_of(const Limits& limits, const char* unit) {
  return fmt::format("{:g} to {:g} {}", limits.exclusive ? kSmallest : *limits.min, limits.max.value_or(kLargest),
                     unit);
}

}  // namespace

std::vector<s4u::Host*> load_hosts(s4u::Engine& engine, const std::string& file) {
  engine.load_platform(file);
  std::vector<s4u::Host*> hosts = engine.get_all_hosts();
  std::sort(hosts.begin(), hosts.end(), [](const s4u::Host* a, const s4u::Host* b) {
    return std::pair(a->get_name().size(), a->get_name()) < std::pair(b->get_name().size(), b->get_name());
  });
  return hosts;
}

std::optional<PlatformFault> find_changing_parts(const std::string& file) {
  Tree document;
  try {
    boost::property_tree::read_xml(file, document);
  } catch (const boost::property_tree::xml_parser_error&) {
    return std::nullopt;
  }
  return find_changing_parts(document);
}

std::optional<PlatformFault> find_bad_parts(const s4u::Engine& engine, const std::vector<s4u::Host*>& hosts) {
  if (hosts.empty()) return PlatformFault{"which has no hosts", "a platform with hosts"};
  for (const s4u::Link* link : engine.get_all_links()) {
    const std::string name = describe_value(link->get_name());
    if (link->get_sharing_policy() == s4u::Link::SharingPolicy::WIFI)
      return PlatformFault{fmt::format("whose link {} is Wi-Fi", name), "links whose bandwidth is one number"};
    if (!is_within(bandwidth_limits, link->get_bandwidth()))
      return PlatformFault{fmt::format("whose link {} has a bandwidth of {:g} B/s", name, link->get_bandwidth()),
                           range_of(bandwidth_limits, "B/s")};
    if (!is_within(latency_limits, link->get_latency()))
      return PlatformFault{fmt::format("whose link {} has a latency of {:g} s", name, link->get_latency()),
                           range_of(latency_limits, "s")};
  }
  for (const s4u::Host* host : hosts)
    if (!is_within(positive, host->get_speed()))
      return PlatformFault{
          fmt::format("whose host {} has a speed of {:g} flop/s", describe_value(host->get_name()), host->get_speed()),
          range_of(positive, "flop/s")};
  return std::nullopt;
}

bool has_route(const s4u::Host* from, const s4u::Host* to) {
  std::vector<s4u::Link*> links;
  double latency = 0.0;
  from->route_to(to, links, &latency);
  return !links.empty();
}

}  // namespace stepcast
