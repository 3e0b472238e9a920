// The part of cuBLAS that the kernels call: products of column-major matrices, in loops (gemm.cpp). Products are summed
// up in double, then rounded once: within what the checks allow to any order of fp32 sums, and exact on whole numbers.
#pragma once

#include <cuda_runtime_api.h>

using cublasHandle_t = struct cublasContext*;
enum cublasStatus_t { CUBLAS_STATUS_SUCCESS = 0, CUBLAS_STATUS_INVALID_VALUE = 7, CUBLAS_STATUS_NOT_SUPPORTED = 15 };
enum cublasOperation_t { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1 };
enum cublasMath_t { CUBLAS_DEFAULT_MATH = 0, CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16 };
enum cudaDataType_t { CUDA_R_32F = 0, CUDA_R_16BF = 14 };
/// FAST_TF32 rounds operands to 10 bits of mantissa.
enum cublasComputeType_t { CUBLAS_COMPUTE_32F = 68, CUBLAS_COMPUTE_32F_FAST_TF32 = 77 };
enum cublasGemmAlgo_t { CUBLAS_GEMM_DEFAULT = -1 };

const char* cublasGetStatusString(cublasStatus_t status);
inline cublasStatus_t cublasCreate(cublasHandle_t*) { return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasDestroy(cublasHandle_t) { return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasSetStream(cublasHandle_t, cudaStream_t) { return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasSetMathMode(cublasHandle_t, cublasMath_t) { return CUBLAS_STATUS_SUCCESS; }

cublasStatus_t cublasSgemm(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
                           const float* alpha, const float* a, int lda, const float* b, int ldb, const float* beta,
                           float* c, int ldc);
cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
                            const void* alpha, const void* a, cudaDataType_t a_type, int lda, const void* b,
                            cudaDataType_t b_type, int ldb, const void* beta, void* c, cudaDataType_t c_type, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t algorithm);
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m,
                                          int n, int k, const void* alpha, const void* a, cudaDataType_t a_type,
                                          int lda, long long a_step, const void* b, cudaDataType_t b_type, int ldb,
                                          long long b_step, const void* beta, void* c, cudaDataType_t c_type, int ldc,
                                          long long c_step, int count, cublasComputeType_t compute,
                                          cublasGemmAlgo_t algorithm);
cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n,
                                   int k, const void* alpha, const void* const* a, cudaDataType_t a_type, int lda,
                                   const void* const* b, cudaDataType_t b_type, int ldb, const void* beta,
                                   void* const* c, cudaDataType_t c_type, int ldc, int count,
                                   cublasComputeType_t compute, cublasGemmAlgo_t algorithm);
