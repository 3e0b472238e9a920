// Tables of kernel times that others measured: faults all at once, fits of known truth, held-out families.
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "calibrate/import/import.hpp"
#include "calibrate/import/shape_factors.hpp"
#include "models/describe/fault.hpp"
#include "models/workload/layer_times.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/property.hpp"

using namespace stepcast;
using namespace stepcast::test;
using namespace stepcast::calibrate;

namespace {

constexpr const char* kHeader = "device,dtype,layer,pass,batch,shape,time\n";

std::vector<Fault> faults_of(const std::string& text) {
  try {
    parse_kernel_table(text, "t.csv");
  } catch (const ScenarioError& error) {
    return error.faults();
  }
  return {};
}

DeviceProfile base() {
  DeviceProfile profile;
  profile.name = "base";
  profile.peaks = {{Dtype::fp32, FlopsPerSecond(2e13), Evidence::datasheet, "test"},
                   {Dtype::tf32, FlopsPerSecond(2e13), Evidence::datasheet, "test"}};
  profile.memory_bandwidth.value = BytesPerSecond(1e12);
  profile.launch_overhead.value = 7_us;
  profile.processors = ProfileEntry<int>{80, Evidence::datasheet, "test", {}};
  return profile;
}

const DevicePeaks kDevice{FlopsPerSecond(2e13), BytesPerSecond(1e12), 80};

/// Rows of products whose times are those of `truth`, off by up to `noise`.
std::vector<KernelRow> products_by(const KernelModel& truth, int weights, double noise, Dtype dtype = Dtype::fp32) {
  std::vector<KernelRow> rows;
  for (int i = 0; i < weights; ++i)
    for (int log_rows = 0; log_rows <= 13; ++log_rows) {
      const Count in = 32LL << (i % 9), out = 48LL << (i / 9 % 9);
      KernelRow row{"lab",
                    dtype,
                    Linear{in, out, Count{1} << log_rows, false, false},
                    1,
                    KernelPass::forward,
                    fmt::format("{} {}", in, out),
                    {}};
      const double off = 1 + noise * std::sin(static_cast<double>(37 * i + 11 * log_rows));
      row.time = kernel_time(truth, kernels_of(row.shape, 1, dtype).forward.front(), kDevice) * off;
      rows.push_back(row);
    }
  return rows;
}

/// A forward pass in fp32 whose time is that of `truth`.
KernelRow row_by(const KernelModel& truth, const LayerShape& shape, Count family) {
  const Seconds time = kernel_time(truth, kernels_of(shape, 1, Dtype::fp32).forward.front(), kDevice);
  return {"lab", Dtype::fp32, shape, 1, KernelPass::forward, std::to_string(family), time};
}

KernelModel product_truth() {
  KernelModel truth;
  truth.launch = 6_us;
  truth.share = 0.7;
  truth.memory_share = 0.6;
  truth.bend = 4;
  truth.tiling = Tiling{25, 1_us, 0.5, 3_us};
  return truth;
}

}  // namespace

TEST_CASE("a row is a layer, a pass and a time") {
  const KernelTable table = parse_kernel_table(
      std::string("# a comment\n") + kHeader +
          "lab,bf16,linear,weight_gradient,2,in=512 out=256 rows=128 bias=false,12.5us\n"
          "lab,fp32,conv2d,forward,16,in=64 out=128 kernel=3x5 padding=1x2 input=56x48 stride=2,1.1ms\n"
          "lab,fp32,layer_norm,backward,1,width=768 rows=512,20us\n"
          "lab,fp32,embedding,backward,1,entries=1000 width=768 rows=512,20us\n",
      "t.csv");
  REQUIRE(table.rows.size() == 4);
  CHECK(table.doubts.empty());
  const KernelRow& linear = table.rows[0];
  CHECK(linear.device == "lab");
  CHECK(linear.dtype == Dtype::bf16);
  CHECK(linear.batch == 2);
  CHECK(linear.pass == KernelPass::weight_gradient);
  CHECK(std::get<Linear>(linear.shape) == Linear{512, 256, 128, false, false});
  CHECK(linear.time == 12.5_us);
  CHECK(linear.family == "linear in=512 out=256 bias=false");  // rows and batch vary within it
  const auto& conv = std::get<Conv2d>(table.rows[1].shape);
  CHECK(conv.kernel == Extent{3, 5});
  CHECK(conv.stride == 2);
  CHECK(table.rows[2].pass == KernelPass::data_gradient);
  CHECK(table.rows[3].pass == KernelPass::weight_gradient);
}

TEST_CASE("columns may have any order, and others stand beside them") {
  const KernelTable table = parse_kernel_table(
      "time,shape,note,batch,pass,layer,dtype,device\n9us,elements=4096,seen twice,1,forward,add,fp32,lab\n", "t.csv");
  REQUIRE(table.rows.size() == 1);
  CHECK(table.rows[0].time == 9_us);
  CHECK(table.rows[0].family == "add elements=4096");
}

TEST_CASE("all faults of a table come at once, each with its line") {
  const std::vector<Fault> faults = faults_of(std::string(kHeader) +
                                              "lab,fp32,add,forward,1,elements=10,-3us\n"
                                              "lab,fp99,add,forward,1,elements=10,3us\n"
                                              "lab,fp32,adder,forward,1,elements=10,3us\n"
                                              "lab,fp32,add,forward,1,element=10,3us\n"
                                              "lab,fp32,add,sideways,1,elements=10,3us\n"
                                              "lab,fp32,add,weight_gradient,1,elements=10,3us\n"
                                              "lab,fp32,linear,backward,1,in=5 out=5,3us\n"
                                              "lab,fp32,add,forward,1,elements=10\n"
                                              "lab,fp32,add,forward,0,elements=10,3us\n"
                                              "lab,fp32,add,forward,1,10,3us\n"
                                              "lab,fp32,conv2d,forward,1,in=3 out=8 kernel=7x7 input=4x4,3us\n");
  for (int line = 2; line <= 12; ++line) {
    INFO("line " << line);
    CHECK(std::any_of(faults.begin(), faults.end(), [&](const Fault& fault) {
      return fault.file == "t.csv" && (fault.pointer + ",").starts_with(fmt::format("line {},", line));
    }));
  }
  CHECK(faults_of(std::string(kHeader) + "lab,fp32,add,forward,1,kind=multiply elements=10,3us\n").front().found ==
        "\"kind=multiply\" in a shape");
  CHECK(faults_of(std::string(kHeader) + "lab,fp32,add,forward,1,elements=1 elements=10,3us\n").size() == 1);
  const std::vector<Fault> missing = faults_of("device,layer,pass,shape,time\n");
  REQUIRE(missing.size() == 2);
  CHECK(missing[0].found == "no column \"dtype\"");
  CHECK(missing[1].found == "no column \"batch\"");
  CHECK(faults_of("").front().found == "an empty table");
  CHECK(faults_of(kHeader).front().found == "no rows");
}

TEST_CASE("a shape that comes several times counts once, by its median, and the spread is told") {
  const KernelTable table = parse_kernel_table(std::string(kHeader) +
                                                   "lab,fp32,add,forward,1,elements=10,3us\n"
                                                   "lab,fp32,add,forward,1,elements=10,5us\n"
                                                   "lab,fp32,add,forward,1,elements=10,4us\n"
                                                   "lab,fp32,add,forward,1,elements=20,4us\n",
                                               "t.csv");
  REQUIRE(table.rows.size() == 2);
  CHECK(table.rows[0].time == 4_us);
  REQUIRE(table.doubts.size() == 1);
  CHECK(table.doubts[0] == "t.csv: 1 shapes have several times, up to 67 % apart; their median counts");  // 5/3 - 1
}

TEST_CASE("a fit of a known model's times finds their times again") {
  const KernelModel truth = product_truth();
  const Import import = import_kernels(base(), products_by(truth, 30, 0), {"lab", "", "test"});  // 420 rows: five folds
  REQUIRE(import.kinds.size() == 1);
  CHECK(import.kinds[0].held_out.all.median < 0.01);
  CHECK(import.kinds[0].held_out.all.p90 < 0.03);
  CHECK(import.kinds[0].held_out.all.held_out == 420);  // each once
  const KernelModel& model = import.profile.kernel_models.front();
  CHECK_FALSE(model.pass);  // products of any pass
  CHECK(model.evidence == Evidence::measured);
  CHECK(model.launch.si() == Approx(6e-6).epsilon(0.1));
  CHECK(model.memory_share == Approx(0.6).epsilon(0.05));
}

TEST_CASE("noise of 5 % stays an error of 5 %, and a model of many rows is judged on families that it never saw") {
  const std::vector<KernelRow> rows = products_by(product_truth(), 60, 0.05);  // 840 rows
  const Import import = import_kernels(base(), rows, {"lab", "", "test"});
  const FitErrors& errors = import.kinds[0].held_out.all;
  CHECK(errors.fitted + errors.held_out == 840);
  CHECK(errors.held_out % 14 == 0);   // whole families of 14 rows
  CHECK(errors.held_out == 14 * 18);  // 30 % of 60
  CHECK(errors.median < 0.06);
  CHECK(import.profile.kernel_models.front().spread.value() >= errors.median);
}

TEST_CASE("products of odd sizes give slowdowns by alignment and leave the constants alone") {
  KernelModel truth = product_truth();
  const std::vector<KernelRow> aligned = products_by(truth, 30, 0, Dtype::tf32);
  truth.misaligned = {{4_B, 3}, {8_B, 2}};
  std::vector<KernelRow> rows = aligned;
  const auto add = [&](Count out, Count inputs) {
    KernelRow row = aligned.front();
    row.shape = Linear{1024, out, inputs, false, false};
    row.family = std::to_string(out);
    row.time = kernel_time(truth, kernels_of(row.shape, 1, Dtype::tf32).forward.front(), kDevice);
    rows.push_back(row);
  };
  for (const Count out : {1001, 3001, 1002, 3002})  // odd: 4 bytes in tf32; 2 · odd: 8 bytes
    for (const Count inputs : {1024, 2048, 4096, 8192}) add(out, inputs);
  const Import import = import_kernels(base(), rows, {"lab", "", "test"});
  const KernelModel& model = import.profile.kernel_models.front();
  REQUIRE(model.misaligned.size() == 2);
  CHECK(model.misaligned[0].alignment == 4_B);
  CHECK(model.misaligned[0].slowdown == Approx(3).epsilon(0.05));
  CHECK(model.misaligned[1].alignment == 8_B);
  CHECK(model.misaligned[1].slowdown == Approx(2).epsilon(0.05));
  CHECK(import.kinds[0].held_out.all.held_out == 420 + 16);  // each once, four families of odd sizes among them
  CHECK(import.kinds[0].held_out.all.p90 < 0.03);
  // A held-out family's slowdown is that of the other one. The other alignment's would make 3/2 or 2/3 of the time.
  CHECK(import.kinds[0].held_out.all.largest < 0.2);
  KernelModel without = model,
              alone = import_kernels(base(), aligned, {"lab", "", "test"}).profile.kernel_models.front();
  for (KernelModel* one : {&without, &alone}) {
    one->misaligned.clear();
    one->flops.reset();  // the range and the errors know all rows
    one->errors.reset();
    one->spread.reset();
  }
  CHECK(without == alone);
}

TEST_CASE("products of odd sizes that launches or memory bind tell no slowdown and count as others do") {
  std::vector<KernelRow> rows = products_by(product_truth(), 30, 0, Dtype::tf32);
  // 32 deep and fewer: twice the arithmetic of a 32 x 32 tile, 1.3 us on its processor, adds less than 2 us to 6 us.
  for (const Count out : {11, 101, 1001, 3001})
    for (const Count in : {8, 16, 32}) {
      KernelRow row = rows.front();
      row.shape = Linear{in, out, 1, false, false};
      row.family = std::to_string(out);
      row.time = kernel_time(product_truth(), kernels_of(row.shape, 1, Dtype::tf32).forward.front(), kDevice);
      rows.push_back(row);
    }
  KernelModel model = import_kernels(base(), rows, {"lab", "", "test"}).profile.kernel_models.front();
  CHECK(model.misaligned.empty());
  // In fp32, whose peak is the same here, no product is odd.
  for (KernelRow& row : rows) row.dtype = Dtype::fp32;
  model.dtype = Dtype::fp32;
  CHECK(model == import_kernels(base(), rows, {"lab", "", "test"}).profile.kernel_models.front());
}

TEST_CASE("products of odd sizes that are no slower are fitted like others, and their slowdown is known to be 1") {
  std::vector<KernelRow> rows = products_by(product_truth(), 30, 0, Dtype::tf32);
  for (const Count out : {1001, 3001, 5001})
    for (const Count inputs : {1024, 2048, 4096, 8192}) {
      KernelRow row = rows.front();
      row.shape = Linear{1024, out, inputs, false, false};
      row.family = std::to_string(out);
      row.time = kernel_time(product_truth(), kernels_of(row.shape, 1, Dtype::tf32).forward.front(), kDevice);
      rows.push_back(row);
    }
  KernelModel model = import_kernels(base(), rows, {"lab", "", "test"}).profile.kernel_models.front();
  CHECK(model.misaligned == std::vector<Misaligned>{{4_B, 1}});
  for (KernelRow& row : rows) row.dtype = Dtype::fp32;
  model.dtype = Dtype::fp32;
  model.misaligned.clear();
  CHECK(model == import_kernels(base(), rows, {"lab", "", "test"}).profile.kernel_models.front());
}

TEST_CASE("a table of odd sizes alone makes a model of its own") {
  std::vector<KernelRow> rows;
  for (const Count out : {1001, 2001, 3001})
    for (int log_rows = 4; log_rows < 12; ++log_rows) {
      KernelRow row{"lab", Dtype::tf32,         Linear{1024, out, Count{1} << log_rows, false, false},
                    1,     KernelPass::forward, std::to_string(out),
                    {}};
      row.time = kernel_time(product_truth(), kernels_of(row.shape, 1, Dtype::tf32).forward.front(), kDevice);
      rows.push_back(row);
    }
  const Import import = import_kernels(base(), rows, {"lab", "", "test"});
  CHECK(import.profile.kernel_models.front().misaligned.empty());
  CHECK(import.kinds[0].held_out.all.held_out == 24);
}

TEST_CASE("factors by shape learn what the constants miss") {
  // Times of a device that takes twice as long below 64 rows: log-linear between the knots 32 and 64.
  std::vector<ShapeRatio> ratios;
  for (int m = 0; m <= 10; ++m)
    for (int n = 4; n <= 8; ++n)
      for (int k = 4; k <= 8; ++k)
        for (int again = 0; again < 4; ++again)
          ratios.push_back({{std::exp2(m), std::exp2(n), std::exp2(k)}, m <= 5 ? 2.0 : 1.0});
  const auto grid = fit_shape_factors(ratios);
  REQUIRE(grid);
  CHECK(grid->m == std::vector<double>{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024});
  CHECK(factor_at(*grid, {8, 64, 64}) == Approx(2).epsilon(0.05));
  CHECK(factor_at(*grid, {512, 64, 64}) == Approx(1).epsilon(0.05));
  ratios.resize(11 * 25 * 4 - 1);  // one fewer than four a knot
  CHECK_FALSE(fit_shape_factors(ratios));
}

TEST_CASE("the base keeps what the rows say nothing about") {
  std::vector<KernelRow> rows = products_by(product_truth(), 10, 0);
  KernelRow bias = rows.front();
  bias.shape = Linear{64, 64, 64, true, false};
  rows.push_back(bias);
  for (int i = 1; i < 10; ++i)  // one fewer than a model needs
    rows.push_back({"lab", Dtype::fp32, Add{1000 * i}, 1, KernelPass::forward, std::to_string(i), 9_us});
  KernelRow half = rows.front();
  half.dtype = Dtype::fp16;
  rows.push_back(half);
  DeviceProfile with_old = base();
  KernelModel old = product_truth(), norms;
  old.source = "old";
  norms.kind = KernelKind::norm;
  with_old.kernel_models = {old, norms};
  const Import import = import_kernels(with_old, rows, {"lab", "", "new", true});
  CHECK(import.profile.peaks == with_old.peaks);
  REQUIRE(import.profile.kernel_models.size() == 2);  // the old products are gone, the norms stay
  CHECK(import.profile.kernel_models[0].kind == KernelKind::norm);
  CHECK(import.profile.kernel_models[1].source == "new");
  CHECK(import.profile.kernel_models[1].launch == 7_us);  // the base's, as asked
  REQUIRE(import.left_out.size() == 3);
  CHECK(import.left_out[0] ==
        "product, forward, in fp32: 1 rows of several kernels, such as a product and its bias; give kernels apart");
  CHECK(import.left_out[1] == "product, all passes, in fp16: base has no peak for fp16");
  CHECK(import.left_out[2] == "elementwise, forward, in fp32: 9 rows; 10 or more determine a model");
}

TEST_CASE("one family of shapes makes no model, since nothing would judge it") {
  std::vector<KernelRow> rows = products_by(product_truth(), 1, 0);  // 14 numbers of rows, one weight
  const Import import = import_kernels(base(), rows, {"lab", "", "test"});
  CHECK(import.kinds.empty());
  REQUIRE(import.left_out.size() == 1);
  CHECK(import.left_out[0] == "product, all passes, in fp32: one family of shapes; another one judges the model");
}

TEST_CASE("a model of any pass takes the place of the base's for single passes") {
  std::vector<KernelRow> rows;
  for (int i = 1; i <= 12; ++i)
    rows.push_back({"lab", Dtype::fp32, LayerNorm{64 * i, 512, true, false}, 1, KernelPass::forward, std::to_string(i),
                    5_us + 1_us * i});
  for (int i = 1; i <= 3; ++i)  // too few for a model, so the forward's serves this pass too
    rows.push_back({"lab", Dtype::fp32, LayerNorm{64 * i, 512, true, false}, 1, KernelPass::data_gradient,
                    std::to_string(i), 9_us});
  DeviceProfile with_old = base();
  KernelModel forward;
  forward.kind = KernelKind::norm;
  forward.pass = KernelPass::forward;
  with_old.kernel_models = {forward};
  const Import import = import_kernels(with_old, rows, {"lab", "", "new"});
  REQUIRE(import.profile.kernel_models.size() == 1);
  CHECK_FALSE(import.profile.kernel_models[0].pass);
  CHECK(import.profile.kernel_models[0].source == "new");
  CHECK(import.left_out.size() == 1);
}

TEST_CASE("few rows leave constants assumed, and the source says how many") {
  const std::vector<KernelRow> rows =
      products_by(product_truth(), 2, 0);  // 28 rows: a constant for each four, of eight
  const Import import = import_kernels(base(), rows, {"lab", "", "test"});
  CHECK(import.profile.kernel_models.at(0).source == "test; so few times leave 1 of its constants assumed");
}

TEST_CASE("passes with many products have models of their own, and the others one of all") {
  KernelModel truth = product_truth();
  std::vector<KernelRow> rows = products_by(truth, 10, 0);  // 140 rows
  const auto add = [&](const std::vector<KernelRow>& forward, KernelPass pass, double slower) {
    for (KernelRow row : forward) {
      row.pass = pass;
      row.time = kernel_time(truth, pass_of(kernels_of(row.shape, 1, Dtype::fp32), pass).front(), kDevice) * slower;
      rows.push_back(row);
    }
  };
  const std::vector<KernelRow> forward = rows;
  add(forward, KernelPass::data_gradient, 2);
  add({forward.begin(), forward.begin() + 31}, KernelPass::weight_gradient,
      2);  // one fewer than a model of its own needs
  const Import import = import_kernels(base(), rows, {"lab", "", "test"});
  REQUIRE(import.kinds.size() == 3);
  CHECK_FALSE(import.kinds[0].pass);
  CHECK(import.kinds[0].held_out.all.fitted == 140 + 140 + 31);
  CHECK(import.kinds[0].held_out.all.held_out == 31);
  CHECK(import.kinds[1].pass == KernelPass::forward);
  CHECK(import.kinds[2].pass == KernelPass::data_gradient);
  for (const std::size_t own : {std::size_t{1}, std::size_t{2}}) {
    CHECK(import.kinds[own].held_out.all.held_out == 140);
    CHECK(import.kinds[own].held_out.all.p90 < 0.05);
  }
  // Without the second pass's rows, one model serves all.
  std::erase_if(rows, [](const KernelRow& row) { return row.pass == KernelPass::data_gradient; });
  const Import one = import_kernels(base(), rows, {"lab", "", "test"});
  REQUIRE(one.kinds.size() == 1);
  CHECK_FALSE(one.kinds[0].pass);
  CHECK(one.kinds[0].held_out.all.held_out == 140 + 31);
}

TEST_CASE("two passes with models of their own leave one for the third, and few rows of it do not judge alone") {
  std::vector<KernelRow> rows = products_by(product_truth(), 20, 0);  // 280 rows
  for (KernelRow row : std::vector<KernelRow>(rows)) {
    row.pass = KernelPass::data_gradient;
    rows.push_back(row);
  }
  DeviceProfile with_old = base();
  with_old.kernel_models = {product_truth()};
  with_old.kernel_models[0].source = "old";
  for (const bool third : {false, true}) {
    if (third) {
      rows.push_back(rows.front());
      rows.back().pass = KernelPass::weight_gradient;
    }
    const Import import = import_kernels(with_old, rows, {"lab", "", "new"});
    REQUIRE(import.profile.kernel_models.size() == 3);
    for (const KernelModel& model : import.profile.kernel_models) CHECK(model.source == "new");
    CHECK_FALSE(import.kinds[0].pass);
    CHECK(import.kinds[0].samples == rows.size());
    CHECK(import.kinds[0].held_out.all.held_out >= 14 * 6);  // 30 % of 20 families or all
    CHECK(find_model(import.profile, KernelKind::product, KernelPass::weight_gradient, Dtype::fp32) ==
          &import.profile.kernel_models[0]);
  }
}

TEST_CASE("a pool's times give its operations a share of the peak") {
  KernelModel truth;
  truth.kind = KernelKind::pool;
  truth.launch = 5_us;
  truth.share = 0.004;
  truth.memory_share = 0.5;
  truth.bend = 2;
  std::vector<KernelRow> rows;
  for (const Count window : {1, 2, 3, 5, 7})
    for (const Count channels : {16, 64, 256, 1024, 4096})
      rows.push_back(row_by(truth, Pool{PoolFunction::max, channels, {window, window}, 1, {0, 0}, {56, 56}}, window));
  const KernelModel model = import_kernels(base(), rows, {"lab", "", "test"}).profile.kernel_models.at(0);
  CHECK(model.launch.si() == Approx(5e-6).epsilon(0.01));
  CHECK(model.share == Approx(0.004).epsilon(0.01));
  CHECK(model.memory_share == Approx(0.5).epsilon(0.01));
  CHECK(model.bend == Approx(2).epsilon(0.02));
}

TEST_CASE("norms of short, few and wide rows give the constants of all three") {
  KernelModel truth;
  truth.kind = KernelKind::norm;
  truth.launch = 4_us;
  truth.memory_share = 0.8;
  truth.half_m = 500;
  truth.half_k = 300;
  truth.cached_k = 3000;
  std::vector<KernelRow> rows;
  for (const Count width : {64, 256, 768, 1024, 2048, 4096, 8192, 16384})
    for (const Count number : {128, 512, 2048, 8192, 32768})
      rows.push_back(row_by(truth, LayerNorm{width, number}, width));
  const Import import = import_kernels(base(), rows, {"lab", "", "test"});
  const KernelModel& model = import.profile.kernel_models.at(0);
  CHECK(model.launch.si() == Approx(4e-6).epsilon(0.01));
  CHECK(model.memory_share == Approx(0.8).epsilon(0.01));
  CHECK(model.half_m.value() == Approx(500).epsilon(0.02));
  CHECK(model.half_k.value() == Approx(300).epsilon(0.02));
  CHECK(model.cached_k.value() == Approx(3000).epsilon(0.02));
  CHECK(import.kinds[0].held_out.all.largest < 0.05);
}

TEST_CASE("times of another device give its shares, marked as transferred") {
  DeviceProfile other = base();
  other.name = "other";
  other.memory_bandwidth.value = BytesPerSecond(2e12);
  std::vector<KernelRow> rows;
  for (int i = 1; i <= 40; ++i) {
    // 12 B an element at half of the other device's 2e12 B/s, and 5 us.
    const Count elements = 200000LL * i;
    rows.push_back({"other", Dtype::fp32, Add{elements}, 1, KernelPass::forward, std::to_string(i),
                    5_us + Seconds(12.0 * static_cast<double>(elements) / 1e12)});
  }
  ImportOptions options{"lab", "", "test"};
  options.measured_on = other;
  const Import import = import_kernels(base(), rows, options);
  const KernelModel& model = import.profile.kernel_models.front();
  CHECK(model.evidence == Evidence::transferred);
  CHECK(model.memory_share == Approx(0.5).epsilon(0.01));
  CHECK(model.launch.si() == Approx(5e-6).epsilon(0.02));
  CHECK(import.profile.memory_bandwidth.value == BytesPerSecond(1e12));
  CHECK(model.spread.value() >= 1);  // bound by arithmetic, it would be as quick there, with twice the bandwidth
}
