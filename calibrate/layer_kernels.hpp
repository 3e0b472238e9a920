// From a workload's layer table to the kernels that carry its layers out.
#pragma once

#include <string>
#include <vector>

#include "kernels/layers.hpp"
#include "models/part/workload_table.hpp"

namespace stepcast::calibrate {

/// The path that convolutions take. All other kernels are ours and cuBLAS's.
using kernels::ConvolutionPath;
/// The path's name in a profile.
const char* name_of(ConvolutionPath path);

/// The kernels of a layer.
/// @throws std::invalid_argument for a shape that no kernel takes
kernels::LayerKernels kernels_of(const LayerShape& shape, kernels::Precision precision, ConvolutionPath path);

/// The precision of a table's type.
/// @throws std::invalid_argument for fp16, which no kernel computes in
kernels::Precision precision_of(Dtype dtype);

/// A layer to measure: one kind of work, however many layers do it.
struct LayerToMeasure {
  LayerShape shape;
  int batch = 1;
  Dtype dtype = Dtype::fp32;
  kernels::LayerKernels kernels;
};

/// The update of one tensor.
/// @throws std::invalid_argument as precision_of
kernels::Kernel kernel_of(Optimizer optimizer, Dtype dtype);

/// An update to measure over tensors' sizes.
struct UpdateToMeasure {
  kernels::Kernel kernel;
  std::string entry;  ///< the profile's name for it
};

/// The updates of every optimizer, in each type that it computes in. They are few kernels, and the profile then has the
/// update's time for any network.
std::vector<UpdateToMeasure> updates_to_measure();

/// A whole step to measure: all layers of a table forward, back in reverse order, and the update of each tensor.
struct StepToMeasure {
  WorkloadTable table;                        ///< in the form with shapes, its variant applied
  std::string variant;                        ///< "vanilla" without one
  std::vector<kernels::LayerKernels> layers;  ///< one for each layer of the table
  kernels::Kernel update;
  std::vector<std::int64_t> tensors;  ///< elements of each tensor that is updated
  ConvolutionPath path = ConvolutionPath::im2col;

  /// "step/resnet50 pufferfish tf32 5f1c...": the key of its samples, with the batch as size. The digest covers all
  /// kernels.
  [[nodiscard]] std::string name() const;
};

/// "layer/conv2d-forward/tf32 [64, ...]": the key of a layer kernel's samples, with the batch as size.
std::string subject_name(const kernels::Kernel& kernel);

/// The tables' layers, each kind of work once for a batch and type, in the order of their first occurrence.
std::vector<LayerToMeasure> layers_to_measure(const std::vector<StepToMeasure>& steps);

/// @pre the table gives shapes and passed check_shapes
/// @throws std::invalid_argument as kernels_of, precision_of
StepToMeasure step_of(const WorkloadTable& table, ConvolutionPath path);

}  // namespace stepcast::calibrate
