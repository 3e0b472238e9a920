// Kernels and parts of plans that several methods share.
#pragma once

#include "models/compressor/codec_plan.hpp"
#include "models/compressor/packing.hpp"
#include "models/compressor/tensor.hpp"

namespace stepcast {

/// ceil(count·width/8): `count` codes of `width` bits, packed.
Bytes packed_bits(std::int64_t count, int width);
/// ceil(lg values): bits of a code with that many values.
int code_width(std::int64_t values);
/// max(1, floor(ratio·d)), in double precision as GRACE's Python computes it.
std::int64_t kept(double ratio, const Tensor& tensor);
/// round(density·d): the expected count where it depends on the data.
std::int64_t expected_count(double density, const Tensor& tensor);
/// Bytes of an index in a message: 4. It is 8 in GRACE for PyTorch on Horovod, whose indices are int64, and for a
/// tensor with more elements than 32 bits can number.
Bytes index_width(const Tensor& tensor, Packing packing = Packing::ideal, Framework framework = Framework::tensorflow);
/// Bytes of one tensor's size in an exchange of sizes: int32 in TensorFlow, int64 in PyTorch, 4 ideally.
Bytes size_width(Packing packing, Framework framework);

/// A kernel that reads and writes the given bytes, with `per_element` operations on each of d elements.
CodecKernel sweep(std::string kernel, Bytes read, Bytes written, const Tensor& tensor, double per_element);

/// The k-th largest of `count` keys of 4 bytes by radix select: four sweeps, one per digit of 8 bits.
CodecKernel radix_select(double count);
/// Selects the k largest magnitudes and writes them as values and indices (`written`). The first sweep over all
/// elements counts their leading bits. The second keeps the candidates for the k. The final selection among these few
/// runs in the cache and is not counted. For normally distributed elements and k = d/100 they are 1.2 % of d
/// (kernels/cuda/top_k.cuh); 24 bytes for each would add 4 %.
CodecKernel select_compact(const Tensor& tensor, Bytes written);
/// Radix sort of d keys: four sweeps that read and write all keys.
CodecKernel radix_sort(const Tensor& tensor);

/// A (a x b) times B (b x c): reads both, writes the product, 2abc operations.
CodecKernel matrix_product(std::string kernel, std::int64_t a, std::int64_t b, std::int64_t c, Bytes element);
/// Gram-Schmidt on r columns of length n, with one kernel per column: 2nr² operations. Column i is read and written
/// with the r-i-1 columns after it, nr(r+1)/2 elements in all.
CodecKernel orthogonalise(std::int64_t n, std::int64_t r, Bytes element);

/// Decodes all-gathered messages with one code per element, one by one: reads the code, writes (then adds) d values.
/// `per_element` counts the operations of decoding; the addition is counted here.
/// With packing grace, a further message is first decoded to memory, then added by a kernel of its own.
Decode dense_decode(Bytes wire, const Tensor& tensor, double per_element, Packing packing);

/// The same, but packing ideal decodes all messages together: one kernel reads p codes and writes d sums.
Decode decode_sum(Bytes wire, const Tensor& tensor, double per_element, Packing packing);

/// Decodes all-gathered messages of k elements with indices: fills d zeros, scatters k. A further message is scattered
/// directly into the sum. With packing grace it is filled, scattered and added like a dense one.
Decode sparse_decode(Bytes wire, std::int64_t k, const Tensor& tensor, Packing packing);

/// Error feedback like GRACE's ResidualMemory (grace_dl/torch/memory/residual.py). First it reads gradient and residual
/// and writes their sum. Later it decodes the own message, subtracts it from the sum and writes the residual.
/// @pre plan.decode.first is complete
void add_error_feedback(CodecPlan& plan, const Tensor& tensor);

/// The gathered messages of codes and the numbers that go with them. Packing ideal has them in one message, "CODES and
/// NUMBERS". GRACE gathers each tensor of a method on its own (grace_dl/tensorflow/communicator/allgather.py).
std::vector<Payload> gathered_parts(const std::string& codes, Bytes of_codes, const std::string& numbers,
                                    Bytes of_numbers, Packing packing);

/// An uncompressed tensor, summed by AllReduce: for low-rank methods, the 1-D tensors.
CodecPlan uncompressed(const Tensor& tensor);

}  // namespace stepcast
