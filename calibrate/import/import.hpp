// A device profile from tables of kernel times that others measured.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/import/kernel_fit.hpp"
#include "calibrate/import/kernel_table.hpp"

namespace stepcast::calibrate {

struct ImportOptions {
  std::string name, description, source;
  /// The tables' fixed time is their harness's (a synchronisation after each call), and the base's launch is kept.
  bool keeps_launch = false;
  /// The device of the tables, if it is not the base's: shares are fitted by its rates, and the models are transferred.
  std::optional<DeviceProfile> measured_on{};
  std::uint64_t seed = 1;
};

struct Import {
  DeviceProfile profile;
  struct Kind {
    KernelKind kind;
    Dtype dtype;
    std::optional<KernelPass> pass;  ///< null: any
    std::size_t samples = 0;
    HeldOut held_out;
  };
  std::vector<Kind> kinds;
  std::vector<std::string> left_out;  ///< groups of rows that no model was fitted to, with the reason
};

/// `base` with a model for each kind, type and pass of the rows, in place of the base's own. Peaks, bandwidth and
/// processors are the base's; a model's shares refer to them. A row counts if its pass is one kernel, or equal ones of
/// one kind. Products have a model for each pass with kLeastOfPass rows of even sizes, if there are two such passes,
/// and one for the others. Kinds bound by memory with rows of one pass have one model for all.
Import import_kernels(const DeviceProfile& base, const std::vector<KernelRow>& rows, const ImportOptions& options);

/// The table for people: a row for each kind, type and pass.
std::string import_table(const Import& import);

}  // namespace stepcast::calibrate
