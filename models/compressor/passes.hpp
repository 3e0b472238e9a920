// Passes and pieces of plans that methods share.
#pragma once

#include "models/compressor/codec_plan.hpp"
#include "models/compressor/packing.hpp"
#include "models/compressor/tensor.hpp"

namespace stepcast {

/// ceil(count·width/8): `count` codes of `width` bits, packed.
Bytes packed_bits(std::int64_t count, int width);
/// ceil(lg values): bits of a code that tells so many values apart.
int code_width(std::int64_t values);
/// max(1, floor(ratio·d)), in double precision as GRACE's Python computes it.
std::int64_t kept(double ratio, const Tensor& tensor);
/// round(density·d): the expected number where the data decide.
std::int64_t expected_count(double density, const Tensor& tensor);
/// Bytes of an index on the wire: 4; 8 in GRACE for PyTorch on Horovod, whose indices are int64, and where the tensor
/// has more elements than 32 bits can tell apart.
Bytes index_width(const Tensor& tensor, Packing packing = Packing::ideal, Framework framework = Framework::tensorflow);
/// Bytes of one tensor's size where sizes are exchanged: int32 in TensorFlow, int64 in PyTorch, 4 ideally.
Bytes size_width(Packing packing, Framework framework);

/// A kernel that reads and writes so many bytes and does `per_element` operations on each of d elements.
Pass sweep(std::string kernel, Bytes read, Bytes written, const Tensor& tensor, double per_element);

/// The k-th largest of `count` keys of 4 bytes by radix select: four sweeps, one per digit of 8 bits.
Pass radix_select(double count);
/// The k of largest magnitude, `written` as values and indices: two sweeps over all elements, the first to count their
/// leading bits, the second to keep those that may be among the k. What is left is done on these few in the cache and
/// not counted; of normal elements and k = d/100 they are 1.2 % of d (kernels/cuda/top_k.cuh), 24 bytes for each of
/// which would be 4 % more.
Pass select_compact(const Tensor& tensor, Bytes written);
/// A sort of d keys by radix sort: four sweeps that read and write all keys.
Pass radix_sort(const Tensor& tensor);

/// A (a x b) times B (b x c): reads both, writes the product, 2abc operations.
Pass matrix_product(std::string kernel, std::int64_t a, std::int64_t b, std::int64_t c, Bytes element);
/// Gram-Schmidt on r columns of length n, one kernel per column: 2nr² operations; column i is read and written
/// together with the r-i-1 columns after it, nr(r+1)/2 elements in all.
Pass orthogonalise(std::int64_t n, std::int64_t r, Bytes element);

/// Decoding of all-gathered messages of one code per element, one by one: reads the code, writes (then adds) d values.
/// With packing grace a further message is first decoded to memory and then added in a pass of its own.
Decode dense_decode(Bytes wire, const Tensor& tensor, double per_element, Packing packing);

/// The same, but for packing ideal all messages together: one kernel reads p codes and writes d sums.
Decode decode_sum(Bytes wire, const Tensor& tensor, double per_element, Packing packing);

/// Decoding of all-gathered messages of k elements with indices: fills d zeros, scatters k. A further message is
/// scattered straight into the sum, or with packing grace filled, scattered and added like a dense one.
Decode sparse_decode(Bytes wire, std::int64_t k, const Tensor& tensor, Packing packing);

/// Error feedback as in GRACE's ResidualMemory (grace_dl/torch/memory/residual.py): before encoding read gradient
/// and residual, write their sum; afterwards decode the own message, subtract it from the sum, write the residual.
/// @pre plan.decode.first is complete
void add_error_feedback(CodecPlan& plan, const Tensor& tensor);

/// A tensor that travels as it is, summed by AllReduce: low-rank methods' 1-D tensors.
CodecPlan uncompressed(const Tensor& tensor);

}  // namespace stepcast
