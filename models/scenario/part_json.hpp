// Readers and writers of a scenario's large parts, which part_json.cpp compiles once for all files.
#pragma once

#include "models/compressor/compressor.hpp"
#include "models/describe/reader.hpp"
#include "models/describe/writer.hpp"
#include "models/part/cluster.hpp"
#include "models/part/profile.hpp"
#include "models/part/strategy.hpp"
#include "models/part/workload_table.hpp"

namespace stepcast {

extern template Json write_value(const Strategy&, QuantityText);
extern template Json write_value(const Compressor&, QuantityText);
extern template Json write_value(const Cluster&, QuantityText);
extern template Json write_value(const DeviceProfile&, QuantityText);
extern template Json write_value(const WorkloadTable&, QuantityText);

extern template void read_value(const Json&, const std::string&, Strategy&, const Limits&, std::vector<Fault>&);
extern template void read_value(const Json&, const std::string&, Compressor&, const Limits&, std::vector<Fault>&);
extern template void read_value(const Json&, const std::string&, Cluster&, const Limits&, std::vector<Fault>&);
extern template void read_value(const Json&, const std::string&, DeviceProfile&, const Limits&, std::vector<Fault>&);
extern template void read_value(const Json&, const std::string&, WorkloadTable&, const Limits&, std::vector<Fault>&);

}  // namespace stepcast
