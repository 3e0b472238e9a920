#!/usr/bin/env bash
# stepcast-calibrate device --workload on a device that is made up: an entry for each kind of layer, a check of the whole
# step, and a profile that a workload is timed by.
#     workload_test.sh STEPCAST-CALIBRATE SCENARIOS [STEPCAST]
set -uo pipefail
program=$1 scenarios=$2 stepcast=${3-}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export STEPCAST_SCENARIOS=$scenarios
cd "$folder" || exit 1
failed=0
fail() { echo "FAILED: $*"; cat out err 2>/dev/null; failed=1; }
# run CODE ARGUMENTS...
run() {
  local expected=$1 code=0
  shift
  "$program" device --quick --largest 100000 "$@" >out 2>err || code=$?
  [[ $code == "$expected" ]] || fail "$*: exit $code, expected $expected"
}

run 0 -o profile.json --workload resnet20-cifar10 --workload vgg19-bn-cifar10:pufferfish --batch 8 --dtype tf32
python3 - <<'PYTHON' || fail "the profile"
import json
profile = json.load(open("profile.json"))
layers, checks = profile["layers"], profile["checks"]
kinds = {layer["shape"]["kind"] for layer in layers}
assert {"conv2d", "batch_norm", "activation", "pool", "linear", "softmax_loss", "add"} <= kinds, kinds
for layer in layers:
    assert layer["batch"] == 8 and layer["dtype"] == "tf32" and layer["evidence"] == "measured", layer
    assert layer["forward"] and layer["spread"] < 0.1, layer
    assert bool(layer.get("weight_gradient")) == (layer["shape"]["kind"] in ("conv2d", "linear")), layer
    assert ("convolution by im2col" in layer["source"]) == (layer["shape"]["kind"] == "conv2d"), layer
assert len({json.dumps([layer["shape"], layer["batch"], layer["dtype"]]) for layer in layers}) == len(layers), "a kind of work twice"
assert [(check["workload"], check["variant"]) for check in checks] == [("resnet20-cifar10", "vanilla"), ("vgg19-bn-cifar10", "pufferfish")], checks
# The roofline takes 1 TB/s at once, the made-up device 0.4 TB/s at first, and neither arithmetic as long as its bytes: at
# most 2.5 apart, but for 4 us a launch on either side and noise. Small kernels: little apart.
parts = sum(part in layer and layer[part] is not None for layer in layers for part in ("forward", "data_gradient", "weight_gradient"))
(roofline,) = profile["roofline_spread"]
assert roofline["dtype"] == "tf32" and 0.9 * parts <= roofline["parts"] <= parts and 0.1 < roofline["spread"] < 1.7, (roofline, parts)
units = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
def seconds(text):
    number = text.rstrip("smun")
    return float(number) * units[text[len(number):]]
for check in checks:
    # The made-up step is the sum of its kernels, which the entries give but for noise, and updates, for which the
    # profile's roofline takes 1 TB/s and the made-up device 0.4: a few percent of the step at most.
    error = seconds(check["assembled"]) / seconds(check["measured"]) - 1
    assert abs(error) < 0.1, (check, error)
PYTHON
grep -q "roofline, tf32: within a factor" out || fail "no line about the roofline"
grep -q "step resnet20-cifar10 vanilla, batch 8, tf32: assembled" out || fail "no line about the step"

run 1 -o other.json --workload resnet50-v100
grep -q "its table gives times, not shapes" err || fail "times"
run 1 -o other.json --workload resnet20-cifar10 --convolutions cudnn
grep -q "built without cuDNN; allowed: im2col" err || fail "cudnn"
run 2 -o other.json --workload resnet20-cifar10 --dtype fp16
[[ ! -e other.json ]] || fail "a profile was written"

if [[ -n $stepcast ]]; then
  "$stepcast" show workload resnet20-cifar10 --profile "$PWD/profile.json" --batch 8 >out 2>err || fail "show workload by the profile"
  # All in fp32, of which nothing was measured.
  grep -q "^note: 100 % of forward, backward and update has no entry .* but follows from the roofline, which is off by up to a factor" out || fail "no note on what was not measured"
  # In tf32 only the update was not.
  cat >scenario.json <<END
{"name": "measured", "workload": {"from": "resnet20-cifar10", "dtype": "tf32", "batch": 8, "profile": "$PWD/profile.json"}, "cluster": {"workers": 2, "link": {"bandwidth": "10Gbps"}}}
END
  "$stepcast" run scenario.json >out 2>err || fail "run by the profile"
  grep -q "error band" out || fail "no error band"
  grep -Eq "^note: [0-9]{1,2}(\.[0-9]+)? % of forward, backward and update has no entry .* but follows from the roofline, which is off by up to a factor" out || fail "no note on what was not measured"
fi
exit "$failed"
