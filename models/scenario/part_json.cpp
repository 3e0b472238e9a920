#include "models/scenario/part_json.hpp"

namespace stepcast {

template Json write_value(const Strategy&, QuantityText);
template Json write_value(const Compressor&, QuantityText);
template Json write_value(const Cluster&, QuantityText);
template Json write_value(const DeviceProfile&, QuantityText);
template Json write_value(const WorkloadTable&, QuantityText);

template void read_value(const Json&, const std::string&, Strategy&, const Limits&, std::vector<Fault>&);
template void read_value(const Json&, const std::string&, Compressor&, const Limits&, std::vector<Fault>&);
template void read_value(const Json&, const std::string&, Cluster&, const Limits&, std::vector<Fault>&);
template void read_value(const Json&, const std::string&, DeviceProfile&, const Limits&, std::vector<Fault>&);
template void read_value(const Json&, const std::string&, WorkloadTable&, const Limits&, std::vector<Fault>&);

}  // namespace stepcast
