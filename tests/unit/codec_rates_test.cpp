// A compressor's kernels on a device: rates of the profile's own entries, the device's for the others.
#include "models/compressor/codec_rates.hpp"
#include "models/describe/fault.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

DeviceProfile device() {
  DeviceProfile profile;
  profile.name = "device";
  profile.peaks = {{Dtype::fp16, 100_TFLOPS, Evidence::assumed, "test"},
                   {Dtype::fp32, 10_TFLOPS, Evidence::assumed, "test"}};
  profile.memory_bandwidth.value = 1000_GBps;
  profile.launch_overhead.value = 5_us;
  profile.compute_efficiency.value = 0.5;
  profile.memory_efficiency.value = 0.8;
  return profile;
}

}  // namespace

TEST_CASE("kernels without an entry have the device's rates") {
  DeviceProfile profile = device();
  const CodecRates rates = codec_rates(profile, "top-k");
  CHECK(rates.all.launch == 5_us);
  require_close(800e9, rates.all.bandwidth.si(), 1e-15, "bandwidth: 1000 GB/s at 80 %");
  require_close(5e12, rates.all.peak.si(), 1e-15, "peak: fp32's 10 TFLOPS at 50 %, though fp16 comes first");
  CHECK(rates.measured.empty());
  profile.peaks.pop_back();
  require_close(50e12, codec_rates(profile, "top-k").all.peak.si(), 1e-15,
                "peak without fp32: the first, 100 TFLOPS at 50 %");
  profile.peaks.clear();
  CHECK_THROWS_AS(codec_rates(profile, "top-k"), ModelError);
}

TEST_CASE("kernels with an entry have its rates, no efficiency applied") {
  DeviceProfile profile = device();
  profile.kernels = {{"select", 9_us, 400_GBps, {}, Evidence::measured, "test"},
                     {"orthogonalise", 20_us, 50_GBps, 2_TFLOPS, Evidence::measured, "test"}};
  const CodecRates rates = codec_rates(profile, "top-k");
  REQUIRE(rates.measured.size() == 2);
  // 4 MB at 400 GB/s: 10 us and 9 us of launch. 1 Gflop at the device's 5 TFLOPS: 200 us.
  require_close(19e-6, price({{"select", 3_MB, 1_MB, {}}}, rates).si(), 1e-15, "select, bound by memory");
  require_close(209e-6, price({{"select", 3_MB, 1_MB, Flops(1e9)}}, rates).si(), 1e-15,
                "select, bound by the device's arithmetic");
  // 4 MB at 50 GB/s: 80 us, 1 Gflop at its own 2 TFLOPS: 500 us, and 20 us of launch.
  require_close(600e-6, price({{"orthogonalise", 3_MB, 1_MB, Flops(1e9)}}, rates).si(), 1e-15,
                "orthogonalise, its own arithmetic added");
  // 4 MB at the device's 800 GB/s: 5 us and 5 us of launch.
  require_close(10e-6, price({{"cast", 3_MB, 1_MB, {}}}, rates).si(), 1e-15, "a kernel that is not listed");
}

TEST_CASE("a method's own entry comes before that of all methods") {
  DeviceProfile profile = device();
  profile.kernels = {{"decode", 9_us, 400_GBps, {}, Evidence::measured, "test"},
                     {"decode/qsgd", 1_us, 400_GBps, {}, Evidence::measured, "test"}};
  // 4 MB at 400 GB/s: 10 us, and the launch.
  const auto time = [&](const char* method) {
    return price({{"decode", 3_MB, 1_MB, {}}}, codec_rates(profile, method)).si();
  };
  require_close(11e-6, time("qsgd"), 1e-15, "its own");
  require_close(19e-6, time("natural"), 1e-15, "that of all");
  CHECK(find_codec_kernel(profile, "decode", "qsgd") == &profile.kernels[1]);
  CHECK(find_codec_kernel(profile, "decode", "natural") == &profile.kernels[0]);
  CHECK(find_codec_kernel(profile, "cast", "qsgd") == nullptr);
  // Qsparse-local-SGD quantizes as QSGD does, and SIGNUM packs signs as SignSGD does.
  require_close(11e-6, time("qsparse-local-sgd"), 1e-15, "another's kernels");
  profile.kernels[1].name = "decode/signsgd";
  require_close(11e-6, time("signum"), 1e-15, "another's kernels");
  profile.kernels[1].name = "decode/qsgd";
  std::swap(profile.kernels[0], profile.kernels[1]);
  require_close(11e-6, time("qsgd"), 1e-15, "in any order");
}

TEST_CASE("a codec is as well known as the least known of its kernels") {
  DeviceProfile profile = device();
  CHECK_FALSE(evidence_of_codec(profile, Fp16{}));  // cast has no entry
  profile.kernels = {{"cast", 9_us, 400_GBps, {}, Evidence::measured, "test"},
                     {"compensate", 9_us, 400_GBps, {}, Evidence::assumed, "test"}};
  CHECK(evidence_of_codec(profile, Fp16{}) == Evidence::measured);
  profile.kernels.push_back({"cast/fp16", 9_us, 400_GBps, {}, Evidence::transferred, "test"});
  CHECK(evidence_of_codec(profile, Fp16{}) == Evidence::transferred);
  profile.kernels.back().evidence = Evidence::assumed;
  CHECK_FALSE(evidence_of_codec(profile, Fp16{}));
  CHECK_FALSE(evidence_of_codec(profile, Qsgd{}));  // the norm has no entry
  // Times that are given are no one's rates.
  CHECK(evidence_of_codec(profile, RatioCompressor{.ratio = 4, .encode_cost = 2_ns_per_B}) == Evidence::measured);
}

TEST_CASE("between knots a kernel's time is linear, after the last it grows at the bandwidth") {
  DeviceProfile profile = device();
  profile.kernels = {{"select", 9_us, 400_GBps, {}, Evidence::measured, "test", {{1_MB, 10_us}, {2_MB, 20_us}}}};
  const CodecRates rates = codec_rates(profile, "top-k");
  const auto time = [&](Bytes bytes, Flops flops = {}) { return price({{"select", bytes, {}, flops}}, rates).si(); };
  require_close(9e-6, time({}), 1e-15, "nothing: the launch");
  require_close(9.5e-6, time(500_kB), 1e-15, "half way to the first knot");
  require_close(10e-6, time(1_MB), 1e-15, "at the first knot");
  require_close(15e-6, time(1500_kB), 1e-15, "half way to the second");
  require_close(20e-6, time(2_MB), 1e-15, "at the second");
  require_close(30e-6, time(6_MB), 1e-15, "4 MB more at 400 GB/s: 10 us");
  // 100 Mflop at the device's 5 TFLOPS: 20 us after 9 us of launch, longer than the 15 us of the bytes.
  require_close(29e-6, time(1500_kB, Flops(1e8)), 1e-15, "bound by arithmetic");
}
