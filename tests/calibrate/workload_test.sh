#!/usr/bin/env bash
# stepcast-calibrate device --workload on a made-up device (made_up_device.cpp, whose constants are repeated below). No
# time contains the events' own. Every kind of layer and every update has an entry. An assembled step equals the whole
# step, and stepcast times the workloads by the entries.
#     workload_test.sh STEPCAST-CALIBRATE SCENARIOS [STEPCAST]
set -uo pipefail
program=$1 scenarios=$2 stepcast=${3-} first=(device --quick --largest 100000)
export STEPCAST_SCENARIOS=$scenarios PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$scenarios/../notebooks
source "$(dirname -- "${BASH_SOURCE[0]}")/run.sh"

run 0 -o profile.json --workload resnet20-cifar10 --workload vgg19-bn-cifar10 --workload vgg19-bn-cifar10:pufferfish --batch 8 --dtype fp32 --dtype tf32 --dtype bf16
cat >calibrated.py <<'PYTHON'
import json
from si import si
profile = json.load(open("profile.json"))
layers, checks, kernels = profile["layers"], profile["checks"], {kernel["name"]: kernel for kernel in profile["kernels"]}
def close(expected, got, tolerance, what):
    assert abs(got / expected - 1) <= tolerance, f"{what}: expected {expected:.6g}, got {got:.6g}, {100 * (got / expected - 1):+.2f} %"
def time_of(kernel, size):
    """As KernelEntry of models/part/profile.hpp says, without the arithmetic."""
    before, time = 0.0, si(kernel["launch"])
    for knot in kernel["knots"]:
        at, then = si(knot["bytes"]), si(knot["time"])
        if size < at:
            return time + (size - before) / (at - before) * (then - time)
        before, time = at, then
    return time + (size - before) / si(kernel["bandwidth"])
PYTHON
python3 - <<'PYTHON' || fail "the profile"
from calibrated import *
kinds = {layer["shape"]["kind"] for layer in layers}
assert {"conv2d", "batch_norm", "activation", "pool", "linear", "softmax_loss", "add"} <= kinds, kinds
for layer in layers:
    assert layer["batch"] == 8 and layer["dtype"] in ("fp32", "tf32", "bf16") and layer["evidence"] == "measured", layer
    assert layer["forward"] and layer["spread"] < 0.1, layer
    assert bool(layer.get("weight_gradient")) == (layer["shape"]["kind"] in ("conv2d", "linear")), layer
    assert ("convolution by im2col" in layer["source"]) == (layer["shape"]["kind"] == "conv2d"), layer
assert len({json.dumps([layer["shape"], layer["batch"], layer["dtype"]]) for layer in layers}) == len(layers), "a kind of work twice"

# A made-up time scatters by 0.2 %. The median of 5 samples, the fewest, scatters by 1.25 · 0.2 %/√5 = 0.11 %: 4.5 ns
# for 4 us of launch. The events' 2 us are the difference of two such times: 6.3 ns off, or 0.32 %. They shift all other
# times by as much, 0.16 % of the shortest. The test allows five times the expected: 1.6 % of the events, and 5·√(0.11²
# + 0.16²) = 1 % of a time.
close(2e-6, si(profile["device"]["event_overhead"]), 0.016, "events")
close(4e-6, si(profile["launch_overhead"]["value"]), 0.01, "launch")
updates = {f"{rule}-update/{dtype}" for rule in ("sgd", "sgd_momentum", "adam") for dtype in ("fp32", "bf16")}
assert set(kernels) == updates | {"cast", "add", "quantize", "decode", "decode-add", "compact", "radix-select"}, sorted(kernels)
for name, kernel in kernels.items():
    for size in (20e3, 200e3, 1e6):  # 200 GB/s, others 400 GB/s: the largest is 1.2 MB
        close(4e-6 + size / (200e9 if name in updates else 400e9), time_of(kernel, size), 0.01, f"{name} at {size:.0f} B")

# The whole step is the sum of its kernels and scatters by 0.11 % too.
assert len(checks) == 9 and {(c["workload"], c["variant"], c["dtype"]) for c in checks} == {
    (workload, variant, dtype) for dtype in ("fp32", "tf32", "bf16")
    for workload, variant in (("resnet20-cifar10", "vanilla"), ("vgg19-bn-cifar10", "vanilla"), ("vgg19-bn-cifar10", "pufferfish"))}, checks
# The roofline takes 1 TB/s at once, the made-up device 0.4 TB/s at first, and each counts launches its own way.
for dtype in ("fp32", "tf32", "bf16"):
    parts = sum(part in layer and layer[part] is not None for layer in layers if layer["dtype"] == dtype for part in ("forward", "data_gradient", "weight_gradient"))
    (roofline,) = [one for one in profile["roofline_spread"] if one["dtype"] == dtype]
    assert 0.9 * parts <= roofline["parts"] <= parts and 0.1 < roofline["spread"] < 2.5, (roofline, parts)
for check in checks:
    close(si(check["measured"]), si(check["assembled"]), 0.01, f"{check['workload']} {check['variant']} {check['dtype']}")
PYTHON
grep -q "roofline, tf32: within a factor" out || fail "no line about the roofline"
grep -Eq "events [12](\.[0-9]+)? us \(taken from each sample\)" out || fail "no word of the events"
grep -q "step resnet20-cifar10 vanilla, batch 8, tf32: assembled" out || fail "no line about the step"
# A made-up kernel that is warm takes 0.6 of its time. Both are shown to four digits and scatter as said above.
python3 - <<'PYTHON' || fail "steps of warm times"
import re
from calibrated import *
lines = re.findall(r"^step .*: assembled (.*) \(of warm times (.*)\), measured ", open("out").read(), re.M)
assert len(lines) == 9, lines
for cold, warm in lines:
    close(0.6 * si(cold), si(warm), 0.01, "warm beside cold")
PYTHON

# Samples by another path, taken elsewhere, make a profile here, where there is no cuDNN. Convolutions of six kinds: the
# first, one of each of three widths, and two that double the width.
sed "s#\"layer/\(conv2d-[a-z-]*\)/#\"layer/\1/cudnn-#" profile.samples.jsonl >cudnn.samples.jsonl
run 0 -o cudnn.json --workload resnet20-cifar10 --batch 8 --dtype tf32 --fit-only
python3 - <<'PYTHON' || fail "--fit-only by cuDNN"
import json
convolutions = [layer for layer in json.load(open("cudnn.json"))["layers"] if layer["shape"]["kind"] == "conv2d"]
assert len(convolutions) == 6 and all("convolution by cuDNN" in layer["source"] for layer in convolutions), convolutions
PYTHON

run 1 -o other.json --workload resnet50-v100
grep -q "its table gives times, not shapes" err || fail "times"
run 1 -o other.json --workload resnet20-cifar10 --convolutions cudnn
grep -q "built without cuDNN; allowed: im2col" err || fail "cudnn"
run 2 -o other.json --workload resnet20-cifar10 --dtype fp16
# tiny KEYS SIZES: a transformer of one block, with these keys of its own and these sizes.
tiny() {
  echo "{\"name\": \"tiny\", \"batch\": 2, $1 \"transformer\": {\"layers\": 1, \"hidden\": 16, \"heads\": 2, \"ffn\": 24, \"gated\": true, \"vocabulary\": 50, \"sequence\": 8, \"bias\": false$2}}" >tiny.json
}
tiny "" ""
run 1 -o other.json --workload tiny.json
has err 'no kernel of fused attention is here to measure; give its layers "fused": false, a transformer "fused_attention": false'
tiny "" ', "fused_attention": false, "kv_heads": 1'
run 1 -o other.json --workload tiny.json
has err "no kernel of attention whose heads share keys and values (kv_heads) is here to measure"
tiny '"compute_dtype": "bf16",' ', "fused_attention": false'
run 1 -o other.json --workload tiny.json
has err "a step whose compute_dtype is not its dtype is not measured; measure one whose dtype and compute_dtype are that type"
[[ ! -e other.json ]] || fail "a profile was written"
tiny "" ', "fused_attention": false'
run 0 -o tiny-profile.json --workload tiny.json
python3 - <<'PYTHON' || fail "a transformer's layers"
import json
shapes = [layer["shape"] for layer in json.load(open("tiny-profile.json"))["layers"]]
# The two tables have different shapes. The sum with positions and that of a branch are one; so are two norms, and the
# gate and up products. The products for qkv and the projection are two more.
assert sorted(shape["kind"] for shape in shapes) == sorted(["embedding"] * 2 + ["add", "layer_norm", "attention", "activation", "multiply", "softmax_loss"] + ["linear"] * 5), shapes
assert [shape["function"] for shape in shapes if shape["kind"] == "activation"] == ["silu"], shapes
PYTHON

# show WORKLOAD VARIANT DTYPE: times of the profile's entries, each as it stands there.
show() {
  "$stepcast" show workload "$1" --variant "$2" --dtype "$3" --profile "$PWD/profile.json" --batch 8 --json shown.json >out 2>err || fail "show $*"
  python3 - "$@" <<'PYTHON' || fail "times of $*"
import sys
from calibrated import *
workload, variant, dtype = sys.argv[1:]
shown = json.load(open("shown.json"))
assert shown["dtype"] == dtype and shown["optimizer"] == "momentum", shown["dtype"]
def work_alone(shape):  # fields that change no kernel
    return {key: value for key, value in shape.items() if key not in ("tied", "scale")}
entries = {json.dumps([work_alone(layer["shape"]), layer["dtype"]]): layer for layer in layers}
for layer in shown["layers"]:
    entry = entries[json.dumps([work_alone(layer["shape"]), dtype])]
    gradients = [entry["weight_gradient"]] if entry.get("weight_gradient") else []
    if layer is not shown["layers"][0] and entry.get("data_gradient"):
        gradients.append(entry["data_gradient"])
    close(si(entry["forward"]), si(layer["forward"]), 1e-9, layer["name"] + ", forward")
    close(sum(map(si, gradients)), si(layer["backward"]), 1e-9, layer["name"] + ", backward")
# 20 bytes an element: gradient, weight and momentum, and in bf16 a copy of the weight.
# 6 operations, at least the device's arithmetic: it shows where the fit is flat, in the last digits.
update = kernels["sgd_momentum-update/" + ("bf16" if dtype == "bf16" else "fp32")]
(peak,) = [si(peak["rate"]) for peak in profile["peaks"] if peak["dtype"] == "fp32"]
tensors = [tensor["elements"] for layer in shown["layers"] for tensor in layer["gradients"]]
close(sum(max(time_of(update, 20 * n), si(update["launch"]) + 6 * n / peak) for n in tensors), si(shown["totals"]["update"]), 1e-9, "update")
(check,) = [c for c in checks if (c["workload"], c["variant"], c["dtype"]) == (workload, variant, dtype)]
close(si(check["assembled"]), sum(si(shown["totals"][part]) for part in ("forward", "backward", "update")), 1e-5, "step")
# All is measured; but a tensor may be larger than those that the update was measured on, 100,000 elements here.
note = [f"1 time is extrapolated beyond the kernels that the profile \"{profile['name']}\" was fitted on: update"]
assert shown["notes"] == (note if max(tensors) > 100000 else []), shown["notes"]
assert (workload == "resnet20-cifar10") == (shown["notes"] == []), shown["notes"]
PYTHON
}
if [[ -n $stepcast ]]; then
  for dtype in fp32 tf32 bf16; do
    show resnet20-cifar10 vanilla "$dtype"
    show vgg19-bn-cifar10 vanilla "$dtype"
    show vgg19-bn-cifar10 pufferfish "$dtype"
  done
  # With another batch, only the update was measured.
  "$stepcast" show workload resnet20-cifar10 --dtype tf32 --profile "$PWD/profile.json" --batch 16 >out 2>err || fail "show workload by the profile"
  grep -Eq "^note: [1-9][0-9](\.[0-9]+)? % of forward, backward and update has no entry .* but follows from the roofline, which is within a factor" out || fail "no note on what was not measured"
  cat >scenario.json <<END
{"name": "measured", "workload": {"from": "resnet20-cifar10", "dtype": "tf32", "batch": 8, "profile": "$PWD/profile.json"}, "cluster": {"workers": 2, "link": {"bandwidth": "10Gbps"}}}
END
  "$stepcast" run scenario.json >out 2>err || fail "run by the profile"
  grep -q "error band" out || fail "no error band"
  if grep -q "has no entry" out; then fail "a note on what was measured"; fi
fi
