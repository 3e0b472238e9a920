#include "kernels/code/inceptionn.hpp"
#include "kernels/cuda/tiles.cuh"

namespace stepcast::kernels {
namespace {

struct TagExponents {
  const float* x;
  std::uint8_t* tags;
  std::int64_t n;
  __device__ void operator()(std::int64_t g) const {
    const Pack<float> a = load(x, g, n);  // beyond n 0, whose tag is 0
    std::uint32_t byte = 0;
    for (int k = 0; k < 4; ++k) byte |= exponent_tag(a.v[k]) << (2 * k);
    tags[g] = static_cast<std::uint8_t>(byte);
  }
};

/// The thread's tags of its tile; those beyond n are 0.
struct TileTags {
  std::uint8_t bytes[kRounds];

  __device__ TileTags(const std::uint8_t* tags, std::int64_t n) {
    for (int round = 0; round < kRounds; ++round)
      bytes[round] = 4 * tile_group(round) < n ? tags[tile_group(round)] : std::uint8_t{0};
  }
  __device__ std::uint32_t tag(int round, int k) const { return (bytes[round] >> (2 * k)) & 3U; }
  /// The elements with the tag.
  __device__ std::uint32_t flags(std::int64_t n, std::uint32_t wanted) const {
    std::uint32_t result = 0;
    for (int round = 0; round < kRounds; ++round)
      for (int k = 0; k < 4; ++k)
        if (4 * tile_group(round) + k < n && tag(round, k) == wanted) result |= 1U << (4 * round + k);
    return result;
  }
};

// Counts and offsets are in two arrays with one Count for each tile. The first has the values of 32 bits in its low
// half and those of 16 bits in its high half. The second has those of 8 bits.

__global__ void count_tags(const std::uint8_t* tags, std::int64_t n, Count* wide, Count* narrow) {
  const TileTags mine(tags, n);
  const std::uint32_t n32 = rank_marked(mine.flags(n, 3)).total, n16 = rank_marked(mine.flags(n, 2)).total,
                      n8 = rank_marked(mine.flags(n, 1)).total;
  if (threadIdx.x != 0) return;
  wide[blockIdx.x] = n32 | Count{n16} << 32;
  narrow[blockIdx.x] = n8;
}

/// The places of the thread's values in the three arrays.
struct TileValues {
  TileRanks ranks[3];       ///< ranks of tags 3, 2, 1
  std::uint32_t before[3];  ///< values of the tiles before

  __device__ TileValues(const TileTags& tags, std::int64_t n, const Count* wide, const Count* narrow)
      : ranks{rank_marked(tags.flags(n, 3)), rank_marked(tags.flags(n, 2)), rank_marked(tags.flags(n, 1))} {
    before[0] = static_cast<std::uint32_t>(wide[blockIdx.x]);
    before[1] = static_cast<std::uint32_t>(wide[blockIdx.x] >> 32);
    before[2] = static_cast<std::uint32_t>(narrow[blockIdx.x]);
  }
  __device__ std::uint32_t place(int width, int round, int k) const {
    return before[width] + ranks[width].rank(round, k);
  }
};

__global__ void write_by_tag(const float* x, const std::uint8_t* tags, std::int64_t n, const Count* wide,
                             const Count* narrow, float* values, std::uint16_t* halves, std::uint8_t* bytes,
                             std::uint32_t* totals) {
  TileElements mine;
  mine.read(x, n);
  const TileTags my_tags(tags, n);
  const TileValues at(my_tags, n, wide, narrow);
  for (int round = 0; round < kRounds; ++round)
    for (int k = 0; k < 4; ++k) {
      const float value = mine.x[round].v[k];
      if (at.ranks[0].marked(round, k)) values[at.place(0, round, k)] = value;
      if (at.ranks[1].marked(round, k)) halves[at.place(1, round, k)] = inceptionn_16(value);
      if (at.ranks[2].marked(round, k)) bytes[at.place(2, round, k)] = inceptionn_8(value);
    }
  if (threadIdx.x == 0 && blockIdx.x == gridDim.x - 1)
    for (int width = 0; width < 3; ++width) totals[width] = at.before[width] + at.ranks[width].total;
}

__global__ void read_by_tag(const std::uint8_t* tags, std::int64_t n, const Count* wide, const Count* narrow,
                            const float* values, const std::uint16_t* halves, const std::uint8_t* bytes, float* dense,
                            bool add) {
  const TileTags my_tags(tags, n);
  const TileValues at(my_tags, n, wide, narrow);
  for (int round = 0; round < kRounds; ++round) {
    Pack<float> a{};
    for (int k = 0; k < 4; ++k) {
      if (at.ranks[0].marked(round, k)) a.v[k] = values[at.place(0, round, k)];
      if (at.ranks[1].marked(round, k)) a.v[k] = of_inceptionn_16(halves[at.place(1, round, k)]);
      if (at.ranks[2].marked(round, k)) a.v[k] = of_inceptionn_8(bytes[at.place(2, round, k)]);
    }
    if (add) {
      const Pack<float> sum = load(dense, tile_group(round), n);
      for (int k = 0; k < 4; ++k) a.v[k] = sum.v[k] + a.v[k];
    }
    store(dense, tile_group(round), n, a);
  }
}

/// Offsets of the tiles' values: wide, then narrow.
struct TagOffsets {
  Count *wide, *narrow;
};
std::size_t tag_scratch(const DeviceCall& c) { return 4 * offset_scratch(c); }
TagOffsets find_offsets(const DeviceCall& c, const std::uint8_t* tags) {
  const unsigned tiles = tiles_of(c.n);
  Count* counts = c.scratch_at<Count>();
  const TagOffsets offsets{counts + 2 * tiles, counts + 3 * tiles};
  count_tags<<<tiles, kThreads, 0, c.stream>>>(tags, c.n, counts, counts + tiles);
  scan(c, counts, tiles, offsets.wide);
  scan(c, counts + tiles, tiles, offsets.narrow);
  return offsets;
}

void tag_exponents(const DeviceCall& c) {
  sweep_groups(c, c.n, TagExponents{c.at<float>(0), c.at<std::uint8_t>(1), c.n});
}

void compact_by_tag(const DeviceCall& c) {
  const TagOffsets offsets = find_offsets(c, c.at<std::uint8_t>(1));
  write_by_tag<<<tiles_of(c.n), kThreads, 0, c.stream>>>(c.at<float>(0), c.at<std::uint8_t>(1), c.n, offsets.wide,
                                                         offsets.narrow, c.at<float>(2), c.at<std::uint16_t>(3),
                                                         c.at<std::uint8_t>(4), c.at<std::uint32_t>(5));
}

template <bool kAdd>
void decode_tags(const DeviceCall& c) {
  const TagOffsets offsets = find_offsets(c, c.at<std::uint8_t>(0));
  read_by_tag<<<tiles_of(c.n), kThreads, 0, c.stream>>>(c.at<std::uint8_t>(0), c.n, offsets.wide, offsets.narrow,
                                                        c.at<float>(1), c.at<std::uint16_t>(2), c.at<std::uint8_t>(3),
                                                        c.at<float>(4), kAdd);
}

}  // namespace

void add_inceptionn_launches(std::vector<Launch>& list) {
  list.push_back({"tag-exponents/inceptionn", tag_exponents, no_scratch});
  list.push_back({"compact-by-tag/inceptionn", compact_by_tag, tag_scratch});
  list.push_back({"decode/inceptionn", decode_tags<false>, tag_scratch});
  list.push_back({"decode-add/inceptionn", decode_tags<true>, tag_scratch});
}

}  // namespace stepcast::kernels
