#include "kernels/cuda/cudnn.hpp"

#include <array>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <cudnn.h>

#include "kernels/cuda/conv2d.cuh"

namespace stepcast::kernels {
namespace {

constexpr std::size_t kMostWorkspace = std::size_t{1} << 30;

void require_cudnn(cudnnStatus_t status, const char* what) {
  if (status != CUDNN_STATUS_SUCCESS) throw CudnnError(std::string(what) + ": " + cudnnGetErrorString(status));
}

template <class Handle, cudnnStatus_t (*kCreate)(Handle*), cudnnStatus_t (*kDestroy)(Handle)>
class Owned {
 public:
  explicit Owned(const char* what) { require_cudnn(kCreate(&handle_), what); }
  ~Owned() { kDestroy(handle_); }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  [[nodiscard]] Handle get() const { return handle_; }

 private:
  Handle handle_ = nullptr;
};

using TensorDescriptor = Owned<cudnnTensorDescriptor_t, cudnnCreateTensorDescriptor, cudnnDestroyTensorDescriptor>;
using FilterDescriptor = Owned<cudnnFilterDescriptor_t, cudnnCreateFilterDescriptor, cudnnDestroyFilterDescriptor>;
using ConvolutionDescriptor =
    Owned<cudnnConvolutionDescriptor_t, cudnnCreateConvolutionDescriptor, cudnnDestroyConvolutionDescriptor>;

enum class Part { forward, data_gradient, weight_gradient };

int size(std::int64_t x) {
  if (x > std::numeric_limits<int>::max())
    throw CudnnError("a convolution of size " + std::to_string(x) +
                     ": cuDNN takes at most 2^31 - 1; use a smaller batch");
  return static_cast<int>(x);
}

/// Algorithms that transform their operands. Their errors are not those of sums of products, which fp32 has to keep.
bool transforms(cudnnConvolutionFwdAlgo_t algorithm) {
  return algorithm == CUDNN_CONVOLUTION_FWD_ALGO_FFT || algorithm == CUDNN_CONVOLUTION_FWD_ALGO_FFT_TILING ||
         algorithm == CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD || algorithm == CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED;
}
bool transforms(cudnnConvolutionBwdDataAlgo_t algorithm) {
  return algorithm == CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT || algorithm == CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT_TILING ||
         algorithm == CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD ||
         algorithm == CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD_NONFUSED;
}
bool transforms(cudnnConvolutionBwdFilterAlgo_t algorithm) {
  return algorithm == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT ||
         algorithm == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT_TILING ||
         algorithm == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD ||
         algorithm == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD_NONFUSED;
}

/// A part of a convolution of `images` images, described to cuDNN, and its algorithm. It is the first in the ranking of
/// cuDNN's heuristics that needs at most 1 GiB. In fp32, it is the first of these that does not transform.
class Plan {
 public:
  Plan(cudnnHandle_t handle, Part part, Precision precision, const Conv2dShape& s, std::int64_t images) {
    const cudnnDataType_t type = precision == Precision::bf16 ? CUDNN_DATA_BFLOAT16 : CUDNN_DATA_FLOAT;
    require_cudnn(cudnnSetTensor4dDescriptor(x.get(), CUDNN_TENSOR_NCHW, type, size(images), size(s.in), size(s.height),
                                             size(s.width)),
                  "describing the input");
    require_cudnn(cudnnSetTensor4dDescriptor(y.get(), CUDNN_TENSOR_NCHW, type, size(images), size(s.out),
                                             size(output_height(s)), size(output_width(s))),
                  "describing the output");
    require_cudnn(cudnnSetFilter4dDescriptor(w.get(), type, CUDNN_TENSOR_NCHW, size(s.out), size(s.in / s.groups),
                                             size(s.kernel_height), size(s.kernel_width)),
                  "describing the kernel");
    require_cudnn(cudnnSetConvolution2dDescriptor(convolution.get(), size(s.padding_height), size(s.padding_width),
                                                  size(s.stride), size(s.stride), 1, 1, CUDNN_CROSS_CORRELATION,
                                                  CUDNN_DATA_FLOAT),
                  "describing the convolution");
    require_cudnn(cudnnSetConvolutionGroupCount(convolution.get(), size(s.groups)), "setting the groups");
    // cuDNN's default for fp32 is tf32.
    const cudnnMathType_t math = precision == Precision::fp32   ? CUDNN_FMA_MATH
                                 : precision == Precision::tf32 ? CUDNN_DEFAULT_MATH
                                                                : CUDNN_TENSOR_OP_MATH;
    require_cudnn(cudnnSetConvolutionMathType(convolution.get(), math), "setting the arithmetic");
    switch (part) {
      case Part::forward:
        forward = choose<cudnnConvolutionFwdAlgoPerf_t>(
            precision, [&](int count, int* found, cudnnConvolutionFwdAlgoPerf_t* ranked) {
              return cudnnGetConvolutionForwardAlgorithm_v7(handle, x.get(), w.get(), convolution.get(), y.get(), count,
                                                            found, ranked);
            });
        require_cudnn(cudnnGetConvolutionForwardWorkspaceSize(handle, x.get(), w.get(), convolution.get(), y.get(),
                                                              forward, &workspace),
                      "sizing the workspace");
        break;
      case Part::data_gradient:
        data_gradient = choose<cudnnConvolutionBwdDataAlgoPerf_t>(
            precision, [&](int count, int* found, cudnnConvolutionBwdDataAlgoPerf_t* ranked) {
              return cudnnGetConvolutionBackwardDataAlgorithm_v7(handle, w.get(), y.get(), convolution.get(), x.get(),
                                                                 count, found, ranked);
            });
        require_cudnn(cudnnGetConvolutionBackwardDataWorkspaceSize(handle, w.get(), y.get(), convolution.get(), x.get(),
                                                                   data_gradient, &workspace),
                      "sizing the workspace");
        break;
      case Part::weight_gradient:
        weight_gradient = choose<cudnnConvolutionBwdFilterAlgoPerf_t>(
            precision, [&](int count, int* found, cudnnConvolutionBwdFilterAlgoPerf_t* ranked) {
              return cudnnGetConvolutionBackwardFilterAlgorithm_v7(handle, x.get(), y.get(), convolution.get(), w.get(),
                                                                   count, found, ranked);
            });
        require_cudnn(cudnnGetConvolutionBackwardFilterWorkspaceSize(handle, x.get(), y.get(), convolution.get(),
                                                                     w.get(), weight_gradient, &workspace),
                      "sizing the workspace");
        break;
    }
  }

  TensorDescriptor x{"making a tensor's descriptor"}, y{"making a tensor's descriptor"};
  FilterDescriptor w{"making a kernel's descriptor"};
  ConvolutionDescriptor convolution{"making a convolution's descriptor"};
  cudnnConvolutionFwdAlgo_t forward{};
  cudnnConvolutionBwdDataAlgo_t data_gradient{};
  cudnnConvolutionBwdFilterAlgo_t weight_gradient{};
  std::size_t workspace = 0;

 private:
  template <class Ranked, class Rank>
  decltype(Ranked::algo) choose(Precision precision, const Rank& rank) {
    std::array<Ranked, 8> ranked{};
    int found = 0;
    require_cudnn(rank(static_cast<int>(ranked.size()), &found, ranked.data()), "asking for an algorithm");
    for (int i = 0; i < found; ++i) {
      const Ranked& one = ranked[i];
      if (one.status != CUDNN_STATUS_SUCCESS || one.memory > kMostWorkspace) continue;
      if (precision == Precision::fp32 && transforms(one.algo)) continue;
      // Algorithm and arithmetic are ranked together; fp32 must stay fp32.
      if (precision != Precision::fp32)
        require_cudnn(cudnnSetConvolutionMathType(convolution.get(), one.mathType), "setting the arithmetic");
      return one.algo;
    }
    throw CudnnError("asking for an algorithm: cuDNN has none for this convolution in 1 GiB of workspace");
  }
};

}  // namespace

/// The handle, and the plans made so far: a plan takes longer than a small convolution.
class Cudnn {
 public:
  explicit Cudnn(cudaStream_t stream) { require_cudnn(cudnnSetStream(handle_.get(), stream), "giving cuDNN a stream"); }
  [[nodiscard]] cudnnHandle_t handle() const { return handle_.get(); }

  const Plan& plan(Part part, Precision precision, const Conv2dShape& shape, std::int64_t images) {
    std::vector<std::int64_t> key = parameters_of(shape);
    key.insert(key.end(), {images, static_cast<std::int64_t>(part), static_cast<std::int64_t>(precision)});
    return plans_.try_emplace(std::move(key), handle_.get(), part, precision, shape, images).first->second;
  }

 private:
  Owned<cudnnHandle_t, cudnnCreate, cudnnDestroy> handle_{"starting cuDNN"};
  std::map<std::vector<std::int64_t>, Plan> plans_;
};

namespace {

template <Precision kPrecision>
struct CudnnConvolution {
  static void forward(const DeviceCall& call, const Conv2dShape& s, const void* x, const void* w, void* y,
                      bool accumulate) {
    const Plan& plan = call.dnn->plan(Part::forward, kPrecision, s, call.n);
    const float one = 1, beta = accumulate ? 1 : 0;
    require_cudnn(
        cudnnConvolutionForward(call.dnn->handle(), &one, plan.x.get(), x, plan.w.get(), w, plan.convolution.get(),
                                plan.forward, call.scratch, plan.workspace, &beta, plan.y.get(), y),
        "a convolution");
  }
  static void data_gradient(const DeviceCall& call, const Conv2dShape& s, const void* dy, const void* w, void* dx,
                            bool accumulate) {
    const Plan& plan = call.dnn->plan(Part::data_gradient, kPrecision, s, call.n);
    const float one = 1, beta = accumulate ? 1 : 0;
    require_cudnn(cudnnConvolutionBackwardData(call.dnn->handle(), &one, plan.w.get(), w, plan.y.get(), dy,
                                               plan.convolution.get(), plan.data_gradient, call.scratch, plan.workspace,
                                               &beta, plan.x.get(), dx),
                  "a convolution's data gradient");
  }
  static void weight_gradient(const DeviceCall& call, const Conv2dShape& s, const void* x, const void* dy, void* dw) {
    const Plan& plan = call.dnn->plan(Part::weight_gradient, kPrecision, s, call.n);
    const float one = 1, beta = 0;
    require_cudnn(cudnnConvolutionBackwardFilter(call.dnn->handle(), &one, plan.x.get(), x, plan.y.get(), dy,
                                                 plan.convolution.get(), plan.weight_gradient, call.scratch,
                                                 plan.workspace, &beta, plan.w.get(), dw),
                  "a convolution's weight gradient");
  }
  static std::size_t forward_scratch(const DeviceCall& call, const Conv2dShape& s) {
    return call.dnn->plan(Part::forward, kPrecision, s, call.n).workspace;
  }
  static std::size_t data_scratch(const DeviceCall& call, const Conv2dShape& s) {
    return call.dnn->plan(Part::data_gradient, kPrecision, s, call.n).workspace;
  }
  static std::size_t weight_scratch(const DeviceCall& call, const Conv2dShape& s) {
    return call.dnn->plan(Part::weight_gradient, kPrecision, s, call.n).workspace;
  }
};

}  // namespace

void DeleteCudnn::operator()(Cudnn* cudnn) const { delete cudnn; }
bool has_cudnn() { return true; }
CudnnPointer start_cudnn(cudaStream_t stream) { return CudnnPointer(new Cudnn(stream)); }

void add_cudnn_launches(std::vector<Launch>& list) {
  for_each_precision([&](auto precision) {
    constexpr Precision kPrecision = decltype(precision)::value;
    Conv2dLayer<CudnnConvolution, kPrecision>::add(list, std::string("cudnn-") + name_of(kPrecision));
  });
}

}  // namespace stepcast::kernels
