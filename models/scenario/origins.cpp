#include "models/scenario/origins.hpp"

#include <algorithm>

namespace stepcast {

bool is_at_or_below(std::string_view pointer, std::string_view ancestor) {
  return pointer.substr(0, ancestor.size()) == ancestor &&
         (pointer.size() == ancestor.size() || pointer[ancestor.size()] == '/');
}

void Origins::add(std::string pointer, std::string file, std::string place) {
  std::erase_if(places_, [&](const Place& old) { return is_at_or_below(old.pointer, pointer); });
  places_.push_back({std::move(pointer), std::move(file), std::move(place)});
}

void Origins::add(const std::string& pointer, const Origins& others) {
  const Fault top = others.locate({"", pointer, "", "", ""});
  add(pointer, top.file, top.pointer);
  for (const Place& place : others.places_)
    if (place.pointer != pointer && is_at_or_below(place.pointer, pointer)) places_.push_back(place);
}

void Origins::move(const std::string& from, const std::string& to) {
  const Fault top = locate({"", from, "", "", ""});
  std::vector<Place> moved;
  for (const Place& place : places_)
    if (place.pointer != from && is_at_or_below(place.pointer, from))
      moved.push_back({to + place.pointer.substr(from.size()), place.file, place.place});
  add(to, top.file, top.pointer);
  places_.insert(places_.end(), moved.begin(), moved.end());
}

const Origins::Place& Origins::place_of(std::string_view pointer) const {
  const Place* best = nullptr;
  for (const Place& place : places_)
    if (is_at_or_below(pointer, place.pointer) && (!best || place.pointer.size() >= best->pointer.size()))
      best = &place;
  return best ? *best : places_.front();
}

Fault Origins::locate(Fault fault) const {
  const Place& place = place_of(fault.pointer);
  fault.file = place.file;
  fault.pointer =
      place.place + (fault.pointer.size() > place.pointer.size() ? fault.pointer.substr(place.pointer.size()) : "");
  return fault;
}

std::string Origins::file_of(std::string_view pointer) const { return place_of(pointer).file; }

std::vector<Origins::Place> Origins::changes_below(std::string_view pointer, std::string_view list) const {
  const Fault top = locate({"", std::string(list), "", "", ""});
  std::vector<Place> changes;
  for (const Place& place : places_)
    if (place.pointer != pointer && is_at_or_below(place.pointer, pointer) &&
        (place.file != top.file || !is_at_or_below(place.place, top.pointer)))
      changes.push_back(place);
  return changes;
}

}  // namespace stepcast
