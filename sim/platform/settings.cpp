#include "sim/platform/settings.hpp"

#include <variant>

#include "models/describe/json.hpp"

namespace stepcast {

Json transport_settings(const Transport& transport) {
  Json settings = Json::object();
  settings["network/model"] = "CM02";
  if (const auto* tcp = std::get_if<TcpTransport>(&transport)) {
    settings["network/latency-factor"] = tcp->latency_factor;
    settings["network/bandwidth-factor"] = tcp->bandwidth_factor;
    settings["network/crosstraffic"] = tcp->cross_traffic ? 1 : 0;
    settings["network/TCP-gamma"] = tcp->window.si();
    settings["network/weight-S"] = 20537.0;
  } else {
    settings["network/latency-factor"] = 1.0;
    settings["network/bandwidth-factor"] = 1.0;
    settings["network/crosstraffic"] = 0;
    settings["network/TCP-gamma"] = 0.0;
    settings["network/weight-S"] = 0.0;
  }
  return settings;
}

}  // namespace stepcast
