// The CUDA kernels, under the names of their descriptors (kernels/kernel.hpp). C++17.
#pragma once

#include <string>
#include <vector>

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include "kernels/call.hpp"

namespace stepcast::kernels {

class Cudnn;
class Solver;

/// Buffers are device memory; a launch is asynchronous on `stream` and allocates nothing.
struct DeviceCall : Call {
  void* scratch;
  cudaStream_t stream;
  cublasHandle_t blas;   ///< enqueues on `stream`
  Cudnn* dnn;            ///< likewise; null where built without cuDNN
  const Solver* solver;  ///< cuSOLVER, likewise; null where it was not found

  template <class T>
  [[nodiscard]] T* scratch_at(std::size_t offset_bytes = 0) const {
    return reinterpret_cast<T*>(static_cast<unsigned char*>(scratch) + offset_bytes);
  }
};

struct Launch {
  std::string name;  ///< Kernel::name()
  /// @throws CudaError, CublasError, CudnnError where a library refuses the call
  void (*run)(const DeviceCall&);
  /// Depends on n, the parameters and the libraries; the buffers do not exist yet.
  std::size_t (*scratch_bytes)(const DeviceCall&);
  /// Text that a library reported about the last finished run, to explain a wrong result. Null: the kernel has no such
  /// text.
  std::string (*remark)(const DeviceCall&) = nullptr;
};

std::vector<Launch> launches();
/// @throws std::invalid_argument for a name without a launch
Launch find_launch(const std::string& name);
/// False for "svd/atomo" where cuSOLVER was not found.
bool has_launch(const std::string& name);

void add_elementwise_launches(std::vector<Launch>& list);
void add_sign_launches(std::vector<Launch>& list);
void add_quantizer_launches(std::vector<Launch>& list);
void add_sparsifier_launches(std::vector<Launch>& list);
void add_sampled_threshold_launches(std::vector<Launch>& list);
void add_sketch_launches(std::vector<Launch>& list);
void add_three_lc_launches(std::vector<Launch>& list);
void add_inceptionn_launches(std::vector<Launch>& list);
void add_low_rank_launches(std::vector<Launch>& list);
void add_decode_sum_launches(std::vector<Launch>& list);
void add_feedback_launches(std::vector<Launch>& list);
void add_svd_launches(std::vector<Launch>& list);

/// Adds the launches of the layers that sweep memory, part by part.
void add_block_launches(std::vector<Launch>& list);
void add_embedding_launches(std::vector<Launch>& list);
void add_batch_norm_launches(std::vector<Launch>& list);
void add_layer_norm_launches(std::vector<Launch>& list);
void add_activation_launches(std::vector<Launch>& list);
void add_pool_launches(std::vector<Launch>& list);
void add_softmax_loss_launches(std::vector<Launch>& list);
void add_update_launches(std::vector<Launch>& list);

void add_linear_launches(std::vector<Launch>& list);
void add_conv2d_launches(std::vector<Launch>& list);
void add_lstm_launches(std::vector<Launch>& list);
void add_attention_launches(std::vector<Launch>& list);
/// The five above, and cuDNN's where it is built.
void add_product_launches(std::vector<Launch>& list);

inline std::size_t no_scratch(const DeviceCall&) { return 0; }
inline std::size_t few_scratch(const DeviceCall&) { return 64; }

/// A kernel that does nothing: the overhead of a launch.
void launch_empty(cudaStream_t stream);

}  // namespace stepcast::kernels
