#include "sim/answer/forecast_json.hpp"

#include "models/describe/json.hpp"

namespace stepcast {
namespace {

Json pack(const Breakdown& b) {
  Json json = Json::array();
  for (const BreakdownPart& part : kBreakdownParts) json.push_back((b.*part.time).si());
  return json;
}

Breakdown unpack_breakdown(const Json& json) {
  Breakdown b;
  for (std::size_t i = 0; i < kBreakdownParts.size(); ++i)
    b.*kBreakdownParts[i].time = Seconds(json.at(i).get<double>());
  return b;
}

Json pack(const std::vector<KindBreakdown>& kinds) {
  Json json = Json::array();
  for (const KindBreakdown& kind : kinds) json.push_back(Json::array({kind.first, kind.count, pack(kind.breakdown)}));
  return json;
}

std::vector<KindBreakdown> unpack_kinds(const Json& json) {
  std::vector<KindBreakdown> kinds;
  for (const Json& kind : json)
    kinds.push_back({kind.at(0).get<int>(), kind.at(1).get<int>(), unpack_breakdown(kind.at(2))});
  return kinds;
}

}  // namespace

Json pack(const StepForecast& f) {
  Json json{{"first_step", f.first_step.si()},
            {"step", f.step.si()},
            {"breakdown", pack(f.breakdown)},
            {"steady_state", f.steady_state},
            {"no_period", f.no_period},
            {"critical", f.critical},
            {"critical_steps", f.critical_steps},
            {"steps", f.steps},
            {"drift", f.drift},
            {"lead", f.lead},
            {"fidelity", f.fidelity}};
  if (!f.kinds.empty()) json["kinds"] = pack(f.kinds);
  if (const auto& d = f.distribution)
    json["distribution"] =
        Json{{"samples", d->samples}, {"percentiles", {d->p5.si(), d->p50.si(), d->p95.si(), d->p99.si()}}};
  return json;
}

StepForecast unpack_forecast(const Json& json) {
  const auto seconds = [](const Json& value) { return Seconds(value.get<double>()); };
  StepForecast f;
  f.first_step = seconds(json.at("first_step"));
  f.step = seconds(json.at("step"));
  f.breakdown = unpack_breakdown(json.at("breakdown"));
  if (const auto found = json.find("kinds"); found != json.end()) f.kinds = unpack_kinds(*found);
  f.steady_state = json.at("steady_state").get<std::string>();
  f.no_period = json.at("no_period").get<bool>();
  f.critical = json.at("critical").get<std::vector<std::string>>();
  f.critical_steps = json.at("critical_steps").get<int>();
  f.steps = json.at("steps").get<int>();
  f.drift = json.at("drift").get<double>();
  f.lead = json.at("lead").get<double>();
  f.fidelity = json.at("fidelity").get<std::string>();
  if (const auto found = json.find("distribution"); found != json.end()) {
    const Json& p = found->at("percentiles");
    f.distribution = Distribution{found->at("samples").get<int>(), seconds(p.at(0)), seconds(p.at(1)), seconds(p.at(2)),
                                  seconds(p.at(3))};
  }
  return f;
}

}  // namespace stepcast
