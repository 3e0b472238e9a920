// SimGrid calls whose names differ between 3.32 (Debian 12) and 4.0 (Debian 13), under one name.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <simgrid/s4u.hpp>
#include <simgrid/version.h>
#if SIMGRID_VERSION < 40000
#include <simgrid/simix.hpp>
#endif

namespace stepcast::sg {

namespace s4u = simgrid::s4u;
using Route = std::vector<s4u::LinkInRoute>;
using RouterPoint = simgrid::kernel::routing::NetPoint*;

using HostMaker = std::function<s4u::Host*(s4u::NetZone*, unsigned long id)>;
/// Makes a link on the ways out of a host or switch; empty: there is none.
using LinkMaker = std::function<s4u::Link*(s4u::NetZone*)>;

inline constexpr bool kSimGrid4 = SIMGRID_VERSION >= 40000;

#if SIMGRID_VERSION >= 40000

inline constexpr const char* kTimingPrecision = "precision/timing";

inline s4u::NetZone* root_star(s4u::Engine& engine, const std::string& name) {
  return engine.get_netzone_root()->add_netzone_star(name);
}
inline s4u::NetZone* star_in(s4u::NetZone* parent, const std::string& name) { return parent->add_netzone_star(name); }
inline s4u::NetZone* full_in(s4u::NetZone* parent, const std::string& name) { return parent->add_netzone_full(name); }
inline s4u::Host* add_host(s4u::NetZone* zone, const std::string& name, double speed) {
  return zone->add_host(name, speed);
}
inline s4u::Link* add_link(s4u::NetZone* zone, const std::string& name, double bandwidth) {
  return zone->add_link(name, bandwidth);
}
inline s4u::SplitDuplexLink* add_cable(s4u::NetZone* zone, const std::string& name, double bandwidth) {
  return zone->add_split_duplex_link(name, bandwidth);
}
inline RouterPoint add_router(s4u::NetZone* zone, const std::string& name) { return zone->add_router(name); }

/// Adds the route of a star zone's host to everything outside it, and back.
inline void connect_host(s4u::NetZone* zone, s4u::Host* host, const Route& route) {
  zone->add_route(host, nullptr, route, true);
}
// In 4.0, the netpoint form needs two netpoints. The deprecated form with gateways also accepts a router's way out.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
inline void connect_router(s4u::NetZone* zone, RouterPoint router, const Route& route) {
  zone->add_route(router, nullptr, nullptr, nullptr, route, true);
}
#pragma GCC diagnostic pop
/// Adds the one-way route from one host of a full zone to another.
inline void connect_hosts(s4u::NetZone* zone, s4u::Host* from, s4u::Host* to, const Route& route) {
  zone->add_route(from, to, route, false);
}
/// Adds the route of a child zone, through its gateway, to everything else in a star zone.
inline void connect_zone(s4u::NetZone* zone, s4u::NetZone* child, RouterPoint, const Route& route) {
  zone->add_route(child, nullptr, route, true);
}
/// Adds routes between two child zones of a full zone, or between a child and the full zone's own router.
inline void connect_zones(s4u::NetZone* zone, s4u::NetZone* a, RouterPoint, s4u::NetZone* b, RouterPoint,
                          const Route& route) {
  zone->add_route(a, b, route, true);
}
/// Call it before the zone is sealed: 4.0 keeps a gateway with its zone, 3.32 with each route.
inline void set_gateway(s4u::NetZone* zone, RouterPoint gateway) { zone->set_gateway(gateway); }

inline std::function<s4u::Link*(s4u::NetZone*, const std::vector<unsigned long>&, unsigned long)> link_callback(
    const LinkMaker& make) {
  return [make](s4u::NetZone* zone, const std::vector<unsigned long>&, unsigned long) { return make(zone); };
}
inline s4u::NetZone* torus(s4u::Engine& engine, const std::vector<unsigned long>& dimensions, double bandwidth,
                           double latency, const HostMaker& make, const LinkMaker& limiter) {
  auto* zone = engine.get_netzone_root()->add_netzone_torus("cluster", dimensions, bandwidth, latency,
                                                            s4u::Link::SharingPolicy::SPLITDUPLEX);
  zone->set_host_cb(
      [make](s4u::NetZone* z, const std::vector<unsigned long>&, unsigned long id) { return make(z, id); });
  if (limiter) zone->set_limiter_cb(link_callback(limiter));
  return zone;
}
inline s4u::NetZone* fat_tree(s4u::Engine& engine, const std::vector<unsigned>& down, const std::vector<unsigned>& up,
                              const std::vector<unsigned>& parallel, double bandwidth, double latency,
                              const HostMaker& make, const LinkMaker& limiter) {
  auto* zone =
      engine.get_netzone_root()->add_netzone_fatTree("cluster", static_cast<unsigned>(down.size()), down, up, parallel,
                                                     bandwidth, latency, s4u::Link::SharingPolicy::SPLITDUPLEX);
  zone->set_host_cb(
      [make](s4u::NetZone* z, const std::vector<unsigned long>&, unsigned long id) { return make(z, id); });
  if (limiter) zone->set_limiter_cb(link_callback(limiter));
  return zone;
}
using Counted = std::pair<unsigned, unsigned>;
inline s4u::NetZone* dragonfly(s4u::Engine& engine, Counted groups, Counted chassis, Counted routers, unsigned hosts,
                               double bandwidth, double latency, const HostMaker& make, const LinkMaker& limiter) {
  auto* zone = engine.get_netzone_root()->add_netzone_dragonfly("cluster", groups, chassis, routers, hosts, bandwidth,
                                                                latency, s4u::Link::SharingPolicy::SPLITDUPLEX);
  zone->set_host_cb(
      [make](s4u::NetZone* z, const std::vector<unsigned long>&, unsigned long id) { return make(z, id); });
  if (limiter) zone->set_limiter_cb(link_callback(limiter));
  return zone;
}
template <class F>
s4u::ActorPtr add_actor(s4u::Engine& engine, const std::string& name, s4u::Host* host, F code) {
  return engine.add_actor(name, host, code);
}
/// Runs the code as it is. One call of the kernel, as below, was not tried with 4.0.
template <class F>
void in_kernel(F&& code) {
  std::forward<F>(code)();
}

#else

inline constexpr const char* kTimingPrecision = "surf/precision";

inline s4u::NetZone* root_star(s4u::Engine&, const std::string& name) { return s4u::create_star_zone(name); }
inline s4u::NetZone* star_in(s4u::NetZone* parent, const std::string& name) {
  return s4u::create_star_zone(name)->set_parent(parent);
}
inline s4u::NetZone* full_in(s4u::NetZone* parent, const std::string& name) {
  return s4u::create_full_zone(name)->set_parent(parent);
}
inline s4u::Host* add_host(s4u::NetZone* zone, const std::string& name, double speed) {
  return zone->create_host(name, speed);
}
inline s4u::Link* add_link(s4u::NetZone* zone, const std::string& name, double bandwidth) {
  return zone->create_link(name, bandwidth);
}
inline s4u::SplitDuplexLink* add_cable(s4u::NetZone* zone, const std::string& name, double bandwidth) {
  return zone->create_split_duplex_link(name, bandwidth);
}
inline RouterPoint add_router(s4u::NetZone* zone, const std::string& name) { return zone->create_router(name); }

/// Adds the route of a star zone's host to everything outside it, and back.
inline void connect_host(s4u::NetZone* zone, s4u::Host* host, const Route& route) {
  zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr, route, true);
}
inline void connect_router(s4u::NetZone* zone, RouterPoint router, const Route& route) {
  zone->add_route(router, nullptr, nullptr, nullptr, route, true);
}
/// Adds the one-way route from one host of a full zone to another.
inline void connect_hosts(s4u::NetZone* zone, s4u::Host* from, s4u::Host* to, const Route& route) {
  zone->add_route(from->get_netpoint(), to->get_netpoint(), nullptr, nullptr, route, false);
}
/// Adds the route of a child zone, through its gateway, to everything else in a star zone.
inline void connect_zone(s4u::NetZone* zone, s4u::NetZone* child, RouterPoint gateway, const Route& route) {
  zone->add_route(child->get_netpoint(), nullptr, gateway, nullptr, route, true);
}
inline void set_gateway(s4u::NetZone*, RouterPoint) {}
/// Adds the route between two child zones of a full zone.
inline void connect_zones(s4u::NetZone* zone, s4u::NetZone* a, RouterPoint gateway_a, s4u::NetZone* b,
                          RouterPoint gateway_b, const Route& route) {
  zone->add_route(a->get_netpoint(), b->get_netpoint(), gateway_a, gateway_b, route, true);
}

inline s4u::ClusterCallbacks callbacks(const HostMaker& make, const LinkMaker& limiter) {
  const auto host = [make](s4u::NetZone* zone, const std::vector<unsigned long>&, unsigned long id) {
    return std::pair<RouterPoint, RouterPoint>(make(zone, id)->get_netpoint(), nullptr);
  };
  if (!limiter) return s4u::ClusterCallbacks(host);
  return {host, {}, [limiter](s4u::NetZone* zone, const std::vector<unsigned long>&, unsigned long) {
            return limiter(zone);
          }};
}
inline s4u::NetZone* torus(s4u::Engine&, const std::vector<unsigned long>& dimensions, double bandwidth, double latency,
                           const HostMaker& make, const LinkMaker& limiter) {
  return s4u::create_torus_zone("cluster", nullptr, dimensions, callbacks(make, limiter), bandwidth, latency,
                                s4u::Link::SharingPolicy::SPLITDUPLEX);
}
inline s4u::NetZone* fat_tree(s4u::Engine&, const std::vector<unsigned>& down, const std::vector<unsigned>& up,
                              const std::vector<unsigned>& parallel, double bandwidth, double latency,
                              const HostMaker& make, const LinkMaker& limiter) {
  return s4u::create_fatTree_zone("cluster", nullptr, {static_cast<unsigned>(down.size()), down, up, parallel},
                                  callbacks(make, limiter), bandwidth, latency, s4u::Link::SharingPolicy::SPLITDUPLEX);
}
using Counted = std::pair<unsigned, unsigned>;
inline s4u::NetZone* dragonfly(s4u::Engine&, Counted groups, Counted chassis, Counted routers, unsigned hosts,
                               double bandwidth, double latency, const HostMaker& make, const LinkMaker& limiter) {
  return s4u::create_dragonfly_zone("cluster", nullptr, {groups, chassis, routers, hosts}, callbacks(make, limiter),
                                    bandwidth, latency, s4u::Link::SharingPolicy::SPLITDUPLEX);
}
template <class F>
s4u::ActorPtr add_actor(s4u::Engine&, const std::string& name, s4u::Host* host, F code) {
  return s4u::Actor::create(name, host, code);
}
/// Runs code that does not block in SimGrid's kernel, as one call of this actor. The calls that the code makes are then
/// plain functions. Each would otherwise switch to the kernel and back, between stacks that lie far apart in memory.
template <class F>
void in_kernel(F&& code) {
  simgrid::kernel::actor::simcall_answered(std::forward<F>(code));
}

#endif

inline s4u::LinkInRoute outward(s4u::SplitDuplexLink* cable) { return {cable, s4u::LinkInRoute::Direction::UP}; }

}  // namespace stepcast::sg
