// Tables of kernel times that others measured, as CSV:
//
//     device,dtype,layer,pass,batch,shape,time
//     A100,bf16,linear,forward,1,in=4096 out=4096 rows=2048 bias=false,262us
//     V100,fp32,conv2d,weight_gradient,16,in=64 out=128 kernel=3x3 padding=1x1 input=56x56,1.1ms
//
// A shape has the fields of that kind of layer in a layer table (docs/reference.md). The pass is forward, data_gradient
// or weight_gradient; backward is whichever gradient the layer has, if it is one alone. Lines with # are comments.
#pragma once

#include <string>
#include <vector>

#include "models/part/kernel_model.hpp"
#include "models/part/layer_shape.hpp"
#include "models/workload/layer_work.hpp"

namespace stepcast::calibrate {

struct KernelRow {
  std::string device;
  Dtype dtype = Dtype::fp32;
  LayerShape shape;
  int batch = 1;
  KernelPass pass = KernelPass::forward;
  /// The shape without batch, rows, positions and steps: kernels of one family share a layer's parameters. The whole
  /// shape where nothing else is left.
  std::string family;
  Seconds time{};  ///< median of the rows with this shape
};

struct KernelTable {
  std::vector<KernelRow> rows;      ///< each shape once, in the order of the file
  std::vector<std::string> doubts;  ///< shapes that came twice with different times
};

/// @throws ScenarioError with all faults: missing columns, unknown kinds, fields that a kind lacks, impossible shapes,
/// times that are no times
KernelTable parse_kernel_table(const std::string& text, const std::string& file);

/// The kernels of a row's pass. @param kernels  those of its layer
const std::vector<LayerKernel>& pass_of(const PassKernels& kernels, KernelPass pass);

}  // namespace stepcast::calibrate
