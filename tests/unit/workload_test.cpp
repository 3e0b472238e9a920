#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "models/workload/workload.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/property.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

/// A workload of gradients with these sizes and gaps.
Workload workload_of(const std::vector<std::int64_t>& elements, const std::vector<double>& gaps,
                     Dtype dtype = Dtype::fp32) {
  WorkloadTable table;
  table.dtype = dtype;
  table.forward = 1_s;
  for (std::size_t i = 0; i < elements.size(); ++i)
    table.gradients.push_back({fmt::format("g{}", i), elements[i], Seconds(gaps[i])});
  return make_workload(table);
}

Exchange bucketed(Bytes first, Bytes cap) {
  Exchange exchange;
  exchange.grouping = Grouping::bucketed;
  exchange.first_bucket.value = first;
  exchange.bucket_cap = cap;
  return exchange;
}

Exchange grouped(Grouping grouping) {
  Exchange exchange;
  exchange.grouping = grouping;
  return exchange;
}

/// Up to 20 gradients, some of zero gap.
Workload random_workload() {
  std::vector<std::int64_t> elements;
  std::vector<double> gaps;
  const int count = integer_between(1, 20);
  for (int i = 0; i < count; ++i) {
    elements.push_back(integer_between(1, 1000));
    gaps.push_back(integer_between(0, 8) / 1024.0);  // exact sums
  }
  Workload workload = workload_of(elements, gaps);
  workload.tail = Seconds(integer_between(0, 8) / 1024.0);
  workload.backward += workload.tail;
  return workload;
}

Seconds gaps_of(const std::vector<Bucket>& buckets) {
  return std::accumulate(buckets.begin(), buckets.end(), Seconds{},
                         [](Seconds sum, const Bucket& b) { return sum + b.gap; });
}
Bytes bytes_of(const std::vector<Bucket>& buckets) {
  return std::accumulate(buckets.begin(), buckets.end(), Bytes{},
                         [](Bytes sum, const Bucket& b) { return sum + b.bytes; });
}

}  // namespace

TEST_CASE("a workload from layers runs backward through them") {
  WorkloadTable table;
  table.name = "three layers";
  table.batch = 32;
  table.dtype = Dtype::fp16;
  table.update = 4_ms;
  //            forward backward  gradients in the order they finish
  table.layers = {{"input", 1_ms, 6_ms, {}},
                  {"middle", 2_ms, 8_ms, {{"middle.bias", 10, {}}, {"middle.weight", 1000, {}}}},
                  {"pool", 3_ms, 1_ms, {}},
                  {"output", 5_ms, 2_ms, {{"output.weight", 500, {}}}}};
  const Workload w = make_workload(table);
  CHECK(w.name == "three layers");
  CHECK(w.batch == 32);
  CHECK(w.update == 4_ms);
  require_close(0.011, w.forward.si(), 1e-15, "forward: 1 + 2 + 3 + 5 ms");
  require_close(0.017, w.backward.si(), 1e-15, "backward: 2 + 1 + 8 + 6 ms");
  require_close(0.032, w.compute().si(), 1e-15, "compute: 11 + 17 + 4 ms");
  REQUIRE(w.gradients.size() == 3);
  CHECK(w.gradients[0].name == "output.weight");  // the last layer's comes first
  CHECK(w.gradients[0].gap == 2_ms);
  CHECK(w.gradients[0].bytes == 1000_B);  // 500 elements of 2 bytes
  CHECK(w.gradients[1].name == "middle.bias");
  require_close(0.009, w.gradients[1].gap.si(), 1e-15, "gap of middle.bias: pool's 1 ms and middle's 8 ms");
  CHECK(w.gradients[2].name == "middle.weight");
  CHECK(w.gradients[2].gap == 0_ms);  // ready together with its layer's first
  CHECK(w.gradients[2].elements == 1000);
  CHECK(w.tail == 6_ms);              // the input layer has no gradient
  CHECK(w.gradient_bytes == 3020_B);  // 2 * (500 + 10 + 1000)
}

TEST_CASE("a workload from gaps keeps them") {
  const Workload w = workload_of({100, 50}, {0.25, 0.5});
  CHECK(w.forward == 1_s);
  CHECK(w.backward == 0.75_s);  // 0.25 + 0.5
  CHECK(w.tail == 0_s);
  CHECK(w.gradients[1].gap == 0.5_s);
  CHECK(w.gradient_bytes == 600_B);  // 4 * 150
}

TEST_CASE("a workload from totals spreads the backward time") {
  WorkloadTable table;
  table.forward = 10_ms;
  table.backward = 40_ms;
  table.gradients = {{"a", 100, {}}, {"b", 300, {}}};
  const Workload even = make_workload(table);
  CHECK(even.gradients[0].gap == 20_ms);  // 40 / 2
  CHECK(even.gradients[1].gap == 20_ms);
  table.backward_spread = BackwardSpread::elements;
  const Workload weighted = make_workload(table);
  CHECK(weighted.gradients[0].gap == 10_ms);  // 40 * 100/400
  CHECK(weighted.gradients[1].gap == 30_ms);  // 40 * 300/400
  CHECK(weighted.backward == 40_ms);
}

TEST_CASE("element types have their sizes") {
  CHECK(workload_of({1}, {0}, Dtype::fp32).gradient_bytes == 4_B);
  CHECK(workload_of({1}, {0}, Dtype::fp16).gradient_bytes == 2_B);
  CHECK(workload_of({1}, {0}, Dtype::bf16).gradient_bytes == 2_B);
}

TEST_CASE("gaps and tail add up to the backward time") {
  property("for layers with and without gradients", [] {
    WorkloadTable table;
    double backward = 0;
    std::int64_t elements = 0;
    const int layers = integer_between(1, 10);
    for (int i = 0; i < layers; ++i) {
      Layer layer{"l", Seconds(integer_between(0, 9)), Seconds(integer_between(0, 9)), {}};
      backward += layer.backward.si();
      for (int g = integer_between(0, 3); g > 0; --g) {
        layer.gradients.push_back({"g", integer_between(1, 100), {}});
        elements += layer.gradients.back().elements;
      }
      table.layers.push_back(layer);
    }
    const Workload w = make_workload(table);
    double gaps = w.tail.si();
    for (const Gradient& g : w.gradients) gaps += g.gap.si();
    RC_ASSERT(gaps == backward);  // whole seconds: exact
    RC_ASSERT(w.backward.si() == backward);
    RC_ASSERT(w.gradient_bytes.si() == 4.0 * static_cast<double>(elements));
  });
}

TEST_CASE("buckets close with the tensor that fills them") {
  // In MiB of fp32: 262144 elements each.
  constexpr std::int64_t mib = 262144;
  const Workload w = workload_of({mib / 2, mib / 2, mib / 4, 30 * mib, 10 * mib, 15 * mib, mib}, {1, 2, 3, 4, 5, 6, 7});
  const auto buckets = make_buckets(w, bucketed(1_MiB, 25_MiB));
  // 1st: 1/2 + 1/2 reaches 1.  2nd: 1/4 + 30 passes 25.  3rd: 10 + 15 reaches 25.  4th: what is left.
  REQUIRE(buckets.size() == 4);
  const auto check = [&](std::size_t i, std::size_t first, std::size_t last, double size, double gap) {
    INFO("bucket " << i);
    CHECK(buckets[i].first == first);
    CHECK(buckets[i].last == last);
    CHECK(buckets[i].bytes == Bytes(size * 1048576));
    CHECK(buckets[i].gap == Seconds(gap));
  };
  check(0, 0, 2, 1, 1 + 2);
  check(1, 2, 4, 30.25, 3 + 4);
  check(2, 4, 6, 25, 5 + 6);
  check(3, 6, 7, 1, 7);
}

TEST_CASE("a block's tensors travel together: names alike up to their first number") {
  const auto sizes_of = [](const std::vector<const char*>& names) {
    Workload w;
    for (const char* name : names) {
      w.gradients.push_back({name, 1, 4_B, 1_ms});
      w.gradient_bytes += 4_B;
      w.backward += 1_ms;
    }
    std::vector<std::size_t> sizes;
    for (const Bucket& bucket : make_buckets(w, grouped(Grouping::per_block))) {
      sizes.push_back(bucket.last - bucket.first);
      CHECK(bucket.bytes == 4_B * static_cast<double>(sizes.back()));
    }
    return sizes;
  };
  using Sizes = std::vector<std::size_t>;
  CHECK(sizes_of({"norm.weight", "output.weight", "block.11.ffn.weight", "block.11.qkv.weight", "block.1.ffn.weight",
                  "block.0.qkv.weight", "embedding.weight"}) == Sizes{2, 2, 1, 1, 1});
  CHECK(sizes_of({"layer1.1.conv2.weight", "layer1.1.conv1.weight", "layer1.0.conv1.weight", "conv1.weight"}) ==
        Sizes{2, 1, 1});
  CHECK(sizes_of({"features.3.weight", "features.0.bias", "features.0.weight"}) == Sizes{1, 2});
  CHECK(sizes_of({"fc8", "fc7", "conv5"}) == Sizes{3});
  CHECK(sizes_of({"12", "12.a", "1..2"}) == Sizes{2, 1});
}

TEST_CASE("a whole model is one bucket, complete when backward is") {
  Workload w = workload_of({10, 20}, {1, 2});
  w.tail = 3_s;
  w.backward += w.tail;
  const auto buckets = make_buckets(w, grouped(Grouping::whole_model));
  REQUIRE(buckets.size() == 1);
  CHECK(buckets[0].bytes == 120_B);  // 4 * 30
  CHECK(buckets[0].gap == 6_s);      // 1 + 2 + 3
  CHECK(buckets[0].last == 2);
}

TEST_CASE("buckets follow DDP's rule for any sizes") {
  property(
      "every gradient once, in order; only the last may be below its cap, and none reached it before its last tensor",
      [] {
        const Workload w = random_workload();
        const Bytes first(integer_between(1, 4000)), cap(integer_between(1, 8000));
        const auto buckets = make_buckets(w, bucketed(first, cap));
        std::size_t next = 0;
        for (std::size_t b = 0; b < buckets.size(); ++b) {
          RC_ASSERT(buckets[b].first == next && buckets[b].last > next);
          next = buckets[b].last;
          Bytes bytes{}, before_last{};
          Seconds gap{};
          for (std::size_t i = buckets[b].first; i < buckets[b].last; ++i) {
            before_last = bytes;
            bytes += w.gradients[i].bytes;
            gap += w.gradients[i].gap;
          }
          RC_ASSERT(buckets[b].bytes == bytes);
          RC_ASSERT(buckets[b].gap == gap);
          const Bytes limit = b == 0 ? first : cap;
          RC_ASSERT(before_last < limit);
          if (b + 1 < buckets.size()) RC_ASSERT(bytes >= limit);
        }
        RC_ASSERT(next == w.gradients.size());
      },
      1000);
  property("per tensor: one bucket each", [] {
    const Workload w = random_workload();
    const auto buckets = make_buckets(w, grouped(Grouping::per_tensor));
    RC_ASSERT(buckets.size() == w.gradients.size());
    for (std::size_t i = 0; i < buckets.size(); ++i) {
      RC_ASSERT(buckets[i].first == i && buckets[i].last == i + 1);
      RC_ASSERT(buckets[i].bytes == w.gradients[i].bytes);
    }
    RC_ASSERT(gaps_of(buckets) + w.tail == w.backward);
  });
}

TEST_CASE("segments by hand") {
  // Sizes 4, 4, 8 bytes in 4 segments of 4: they end in tensors 0, 1, 2 (half-way) and 2.
  const auto segments = make_segments(workload_of({1, 1, 2}, {1, 2, 4}), 4);
  REQUIRE(segments.size() == 4);
  const double gaps[] = {1, 2, 4, 0};  // the last one is ready with the third
  const std::size_t last[] = {1, 2, 3, 3};
  for (std::size_t s = 0; s < 4; ++s) {
    INFO("segment " << s);
    CHECK(segments[s].bytes == 4_B);
    CHECK(segments[s].gap == Seconds(gaps[s]));
    CHECK(segments[s].last == last[s]);
  }
}

TEST_CASE("a cut between two tensors stays between them") {
  // Two tensors of 116 bytes in 14 segments: the 7th ends with the first tensor, though 232/14 · 7 rounds to more
  // than 116.
  const auto segments = make_segments(workload_of({29, 29}, {1, 2}), 14);
  REQUIRE(232.0 / 14 * 7 > 116);
  CHECK(segments[6].last == 1);
  CHECK(segments[6].gap == 0_s);
  CHECK(segments[7].gap == 2_s);
}

TEST_CASE("segments are equal and ready with the tensor in which they end") {
  property(
      "segment s of L is ready with the first tensor that brings the total to s/L of all bytes",
      [] {
        const Workload w = random_workload();
        const int count = integer_between(1, 60);
        const auto segments = make_segments(w, count);
        RC_ASSERT(static_cast<int>(segments.size()) == count);
        const auto total = static_cast<std::int64_t>(w.gradient_bytes.si());
        Seconds ready{};
        for (int s = 1; s <= count; ++s) {
          const Bucket& segment = segments[s - 1];
          ready += segment.gap;
          // In whole numbers, so that no rounding decides: the first tensor with cumulative · L >= total · s.
          std::int64_t cumulative = 0;
          Seconds expected{};
          std::size_t tensor = 0;
          while (cumulative * count < total * s) {
            cumulative += static_cast<std::int64_t>(w.gradients[tensor].bytes.si());
            expected += w.gradients[tensor].gap;
            ++tensor;
          }
          RC_ASSERT(ready == expected);
          RC_ASSERT(segment.last == tensor);
          RC_ASSERT(segment.first < segment.last);
          assert_close(static_cast<double>(total) / count, segment.bytes.si(), 1e-15, "segment bytes");
        }
        RC_ASSERT(segments.front().first == 0u);
        RC_ASSERT(segments.back().last == w.gradients.size());
        RC_ASSERT(gaps_of(segments) + w.tail == w.backward);
        assert_close(w.gradient_bytes, bytes_of(segments), 1e-14, "bytes of all segments");
      },
      3000);
}
