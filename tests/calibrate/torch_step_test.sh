#!/usr/bin/env bash
# stepcast-calibrate device --torch-step on a made-up device. PyTorch's step is among the profile's checks, beside the
# own kernels', also after the measurement and then without measuring anything. Files that hold no such step are
# refused, with the place. If torch is installed, the output of calibrate/torch_step.py is tested too.
#     torch_step_test.sh STEPCAST-CALIBRATE SCENARIOS TORCH_STEP.PY
set -uo pipefail
program=$1 scenarios=$2 script=$3 first=(device --quick --largest 100000)
export STEPCAST_SCENARIOS=$scenarios PYTHONDONTWRITEBYTECODE=1
source "$(dirname -- "${BASH_SOURCE[0]}")/run.sh"
# torch FILE PYTHON: writes a step of resnet20-cifar10 as torch_step.py does, after the statement has changed it.
torch() {
  python3 - "$@" <<'PYTHON' || fail "writing $1"
import json, sys
# 269,467 parameters: tests/model/networks_test.cpp.
step = {"format": "stepcast-torch-step", "version": 1, "workload": "resnet20-cifar10", "variant": "vanilla", "batch": 8, "dtype": "tf32", "device": "A made-up device", "torch": "2.9.1",
        "cudnn": 91002, "parameters": 269467, "step_time_s": 0.002, "quartiles_s": [0.0019, 0.0021], "samples_s": [0.0019, 0.002, 0.0021]}
exec(sys.argv[2])
with open(sys.argv[1], "w") as file: json.dump(step, file, indent=2)
PYTHON
}
same=(--workload resnet20-cifar10 --batch 8 --dtype tf32 --dtype bf16)

# Measured first, then the same command with PyTorch's steps: nothing is measured anew.
run 0 -o profile.json "${same[@]}" --tables tables
[[ $(ls tables) == $'resnet20-cifar10-vanilla-8-bf16.json\nresnet20-cifar10-vanilla-8-tf32.json' ]] || fail "tables: $(ls tables)"
cp profile.samples.jsonl before.jsonl
cp profile.json before.json
torch tf32.json 'pass'
torch bf16.json 'step.update(dtype="bf16", step_time_s=0.001, quartiles_s=[0.001, 0.001], samples_s=[0.001], cudnn=None)'
run 0 -o profile.json "${same[@]}" --torch-step tf32.json --torch-step bf16.json
cp profile.samples.jsonl after.jsonl
cmp before.jsonl after.jsonl || fail "it measured again"
python3 - <<'PYTHON' || fail "the profile"
import json
before, after = (json.load(open(name)) for name in ("before.json", "profile.json"))
own, checks = before.pop("checks"), after.pop("checks")
assert before == after, "more than checks has changed"
assert [(check["dtype"], check["source"].split(",")[0]) for check in checks] == [
    ("tf32", "the same kernels in sequence"), ("tf32", "PyTorch 2.9.1"), ("bf16", "the same kernels in sequence"), ("bf16", "PyTorch 2.9.1")], checks
assert [checks[0], checks[2]] == own, checks
assert [check["measured"] for check in checks[1::2]] == ["2ms", "1ms"], checks
assert "cuDNN 91002" in checks[1]["source"] and "cuDNN" not in checks[3]["source"], checks
for mine, peer in (checks[:2], checks[2:]):
    assert mine["assembled"] == peer["assembled"] and (mine["workload"], mine["variant"], mine["batch"]) == (peer["workload"], peer["variant"], peer["batch"]), checks
PYTHON
[[ $(grep -c "^step resnet20-cifar10 vanilla, batch 8, tf32: assembled .* measured .* % (" out) == 2 ]] || fail "no two lines about the step"
has out "measured 2 ms"
# Both at once.
run 0 -o once.json "${same[@]}" --torch-step tf32.json
[[ $(grep -c "^step " out) == 3 ]] || fail "no three lines about steps"

# refused PYTHON TEXT...: nothing is measured for a step that cannot be compared, and no profile is written.
refused() {
  torch wrong.json "$1"
  shift
  run 3 -o other.json "${same[@]}" --torch-step tf32.json --torch-step wrong.json
  for text; do has err "$text"; done
  [[ ! -e other.json && ! -e other.json.partial && ! -e other.samples.jsonl ]] || fail "measured or written: $(ls)"
}
refused 'step["workload"] = "resnet50"' 'wrong.json: ' 'found resnet50 vanilla, batch 8, tf32' 'resnet20-cifar10 vanilla, batch 8, tf32; resnet20-cifar10 vanilla, batch 8, bf16' 'add --workload resnet50:vanilla --batch 8 --dtype tf32'
refused 'step["variant"] = "pufferfish"' 'resnet20-cifar10:pufferfish'
refused 'step["batch"] = 16' 'add --workload resnet20-cifar10:vanilla --batch 16 --dtype tf32'
refused 'step["dtype"] = "fp32"' '--dtype fp32'
refused 'step["parameters"] += 1' 'wrong.json: /parameters: found 269468; allowed: 269467'
refused 'step["format"] = "stepcast-samples"' 'wrong.json: /format: found "stepcast-samples"; allowed: "stepcast-torch-step"'
refused 'del step["format"]' '/format: found nothing'
refused 'step = [step]' '/format: found nothing'
refused 'step["version"] = 2' '/version: found 2; allowed: an integer from 1 to 1'
refused 'step["dtype"] = "fp8"; step["precision"] = "tf32"' '/dtype: found "fp8"' '/precision: found an unknown key'
refused 'step["samples_s"][1] = -0.002' '/samples_s/1: found -0.002; allowed: a number above 0'
refused 'step["step_time_s"] = 0' '/step_time_s: found 0'
refused 'step["step_time_s"] = 0.003' '/step_time_s: found 0.003; allowed: 0.002, the median of samples_s'
refused 'step["samples_s"] = []' '/samples_s: found an empty list'
refused 'step["quartiles_s"] = [0.0021, 0.0019]' '/quartiles_s: found [0.0021, 0.0019]'
refused 'step["step_time_s"] = float("nan")' 'wrong.json: '
refused 'step["samples_s"][0] = float("inf")' 'wrong.json: '
refused 'del step["torch"]; step["batch"] = 1.5' '/torch: found nothing' '/batch: found 1.5'
run 3 -o other.json "${same[@]}" --torch-step missing.json; has err "missing.json"
run 3 -o other.json --torch-step tf32.json; has err "and no --workload is"
# However a file is cut off, it is no step, and never a crash.
size=$(wc -c <tf32.json)
for ((kept = 0; kept < size - 1; kept += 7)); do
  head -c "$kept" tf32.json >cut.json
  run 3 -o other.json "${same[@]}" --torch-step cut.json
done
# Another device is known of only once it was measured: samples stay, the profile that was there too.
cp profile.json before.json
torch wrong.json 'step["device"] = "NVIDIA H100"'
run 3 -o profile.json "${same[@]}" --torch-step wrong.json
has err 'wrong.json: /device: found "NVIDIA H100"; allowed: "A made-up device", the device of the profile'
cmp profile.json before.json || fail "the profile was replaced"

# A step with an unmeasured layer is left out, and the others are there. The kernel of 16 channels in bf16 has no weight
# gradients. Its roofline would otherwise pass for a measurement.
sed '/"layer\/conv2d-weight-gradient\/bf16 \[16, 16, /d' before.jsonl >part.samples.jsonl
[[ $(wc -l <part.samples.jsonl) -lt $(wc -l <before.jsonl) ]] || fail "no layer was taken away"
run 1 -o part.json "${same[@]}" --torch-step tf32.json --torch-step bf16.json --fit-only
has err "bf16.json is left out: layer "; has err " of its step was not measured"
[[ $(grep -c "^step " out) == 2 && $(grep -c "^step .* tf32: " out) == 2 ]] || fail "not both lines of tf32 alone"

if python3 -c "import torch" 2>/dev/null; then
  python3 "$script" tables/resnet20-cifar10-vanilla-8-tf32.json --device cpu --samples 3 --warm-up 1 --output cpu.json || fail "torch_step.py"
  sed -i 's/"device": "cpu"/"device": "A made-up device"/' cpu.json
  run 0 -o profile.json "${same[@]}" --torch-step cpu.json
  [[ $(grep -c "^step " out) == 3 ]] || fail "PyTorch's own step"
fi
