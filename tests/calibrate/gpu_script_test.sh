#!/usr/bin/env bash
# A dry run of calibrate/run_on_gpu.sh: every part of it but the kernels. Programs that need a GPU are stubs in front of the
# PATH, and the device is made up. Variable DRY names what goes wrong.
#     gpu_script_test.sh SOURCES STEPCAST-CALIBRATE-MADE-UP
set -uo pipefail
sources=$1 made_up=$2 program=calibrate/run_on_gpu.sh first=()
export STEPCAST_SCENARIOS=$sources/scenarios
source "$(dirname -- "${BASH_SOURCE[0]}")/run.sh"
mkdir -p bin calibrate
cp "$sources/$program" calibrate/
stub() { cat >"$folder/bin/$1"; chmod +x "$folder/bin/$1"; }
stub nvidia-smi <<'STUB'
#!/bin/sh
case "$*" in *compute_cap*) echo 9.0 ;; *) echo "A made-up device" ;; esac
STUB
# Configures and builds: the check of kernels, their speed, and the calibration of a made-up device.
stub cmake <<'STUB'
#!/bin/bash
if [[ $1 == -S ]]; then
  [[ " $* " == *" -DCMAKE_CUDA_ARCHITECTURES=90 "* && ${DRY-} != configure ]] || { echo "bad configuration: $*"; exit 1; }
  [[ " $* " == *" -DSTEPCAST_CUDNN=OFF "* ]] && rm -f build/gpu/with-cudnn || { mkdir -p build/gpu && touch build/gpu/with-cudnn; }
  echo "-- CUDA: made up"
  exit
fi
mkdir -p build/gpu/kernels build/gpu/calibrate
cat >build/gpu/kernels/stepcast_kernel_check <<'CHECK'
#!/bin/bash
if [[ $1 == 0 ]]; then
  [[ ${DRY-} == cudnn && -e build/gpu/with-cudnn ]] && { echo "cuDNN: CUDNN_STATUS_NOT_INITIALIZED"; exit 1; }
  exit 0
fi
[[ ${DRY-} == slow ]] && exec sleep 60
echo "ok     add"
[[ ${DRY-} == wrong ]] && { echo "FAILED cast"; exit 1; }
echo "all kernels agree at $1 elements"
CHECK
printf '#!/bin/sh\necho "add 3.1 TB/s"\n' >build/gpu/calibrate/stepcast_kernel_speed
chmod +x build/gpu/kernels/stepcast_kernel_check build/gpu/calibrate/stepcast_kernel_speed
ln -sf "$MADE_UP" build/gpu/calibrate/stepcast-calibrate
STUB
stub compute-sanitizer <<'STUB'
#!/bin/bash
tool=$2
while [[ $1 != build/* ]]; do shift; done
"$@"
[[ $tool == initcheck ]] || exit 0
kernel=a_library
[[ ${DRY-} == uninitialized ]] && kernel=stepcast_add
printf '========= Uninitialized __global__ memory read of size 4 bytes\n=========     at %s+0x10\n========= \n' "$kernel"
STUB
# PyTorch's part of the work; other Python is Python's.
real_python=$(command -v python3)
stub python3 <<STUB
#!/bin/bash
export REAL_PYTHON=$real_python
STUB
cat >>"$folder/bin/python3" <<'STUB'
case "$*" in
  "-c import torch") [[ ${DRY-} != torch ]] ;;
  *nvidia.cudnn*) exit 1 ;;
  calibrate/torch_compressors.py*) [[ -s $3 ]] && echo '[]' >"$5" ;;
  calibrate/torch_step.py*)
    # 269,467 parameters: tests/model/networks_test.cpp.
    echo '{"format": "stepcast-torch-step", "version": 1, "workload": "resnet20-cifar10", "variant": "vanilla", "batch": 8, "dtype": "tf32",
      "device": "A made-up device", "torch": "2.9.1", "cudnn": 91002, "parameters": 269467, "step_time_s": 0.002,
      "quartiles_s": [0.0019, 0.0021], "samples_s": [0.0019, 0.002, 0.0021]}' >"$4" ;;
  *) exec "$REAL_PYTHON" "$@" ;;
esac
STUB
export MADE_UP=$made_up PATH=$folder/bin:$PATH
small=(--quick --largest 100000 --workload resnet20-cifar10 --batch 8 --dtype tf32)
# says TEXT...: the last run said so, to either stream
says() { for text; do grep -qF -- "$text" out || has err "$text"; done; }
fresh() { rm -rf build results .gpu-deps/results.tar.gz && mkdir -p results; }

# Refused before anything is done.
PARTS="check speeed" run 2
says '"speeed" in PARTS' "check speed calibrate torch sanitizer"
TIME_LIMIT=soon run 2
says 'TIME_LIMIT "soon"'

# On a machine with headers and git, then on one with a GPU: every part, and all files in one.
command -v git >/dev/null || { echo "skipped from here on: it needs git"; exit 77; }
git init -q . && git add calibrate && git -c user.name=t -c user.email=t@t commit -qm t || fail "git"
run 0 --collect
[[ -e .gpu-deps/include/nlohmann/json.hpp && -e .gpu-deps/include/eigen3/Eigen/Dense && -s .gpu-deps/git-state ]] || fail "no headers"
fresh
OUT=results run 0 "${small[@]}"
says "all kernels agree at 16777216" "add 3.1 TB/s" "step resnet20-cifar10" "0 uninitialized reads by our kernels, 1 by the libraries'" results.tar.gz
tar -tzf results/results.tar.gz >out
says ./profile.json ./profile.samples.jsonl ./check.log ./speed.log ./calibrate.log ./nvidia-smi.txt ./torch-compressors.json \
  ./torch-step-resnet20-cifar10-vanilla-8-tf32.json ./calibrate-torch.log ./sanitizer-memcheck.log ./sanitizer-racecheck.log ./sanitizer-initcheck.log

# Carried to another machine, the measurements are gone on with.
cp results/results.tar.gz carried.tar.gz
cp build/gpu/out/profile.samples.jsonl before.jsonl
fresh
cp carried.tar.gz .gpu-deps/results.tar.gz
OUT=results PARTS=calibrate run 0 "${small[@]}"
says "going on from .gpu-deps/results.tar.gz"
! grep -qF check.log out err || fail "the part check ran"
cmp before.jsonl build/gpu/out/profile.samples.jsonl || fail "measured twice"
# Samples of other sources are not.
touch new && git add new && git -c user.name=t -c user.email=t@t commit -qm u
run 0 --collect
[[ ! -e .gpu-deps/results.tar.gz ]] || fail "samples of other sources were kept"

# Programs built beforehand are taken along, and run without a build.
fresh
PARTS=check run 0
run 0 --collect build/gpu
[[ -x .gpu-deps/programs/stepcast_kernel_check && -x .gpu-deps/programs/stepcast_kernel_speed ]] || fail "no programs"
fresh
DRY=configure LARGEST=4096 OUT=results PARTS="check calibrate" run 0 "${small[@]}"
says "ready after" "all kernels agree at 4096" results.tar.gz
[[ ! -e build/gpu/kernels ]] || fail "it built"
run 0 --collect
[[ ! -e .gpu-deps/programs ]] || fail "old programs stay"

# A failed part is shown, and the others run.
fresh
DRY=wrong OUT=results PARTS="check speed" run 1
says "FAILED cast" "add 3.1 TB/s" results.tar.gz
DRY=configure PARTS=check run 1
says "bad configuration" "once more, without cuDNN"
DRY=cudnn PARTS=check run 0
says "CUDNN_STATUS_NOT_INITIALIZED" "once more, without cuDNN" "all kernels agree"
DRY=uninitialized PARTS=sanitizer run 1
says "1 uninitialized reads by our kernels"
PARTS=torch run 1
says "there are no samples"

# A device that is lost leaves a profile of what was measured.
fresh
MADE_UP_FAULT=lost PARTS=calibrate run 1 "${small[@]}"
says "cudaErrorIllegalAddress" "== fit.log"
[[ -s build/gpu/out/profile.json ]] || fail "no profile of the first samples"
DRY=torch PARTS="calibrate torch" run 0 "${small[@]}"
says "cannot import torch"

# A limit ends the running part, leaves out the others, and leaves time to pack.
fresh
DRY=slow OUT=results TIME_LIMIT=43 PARTS="check speed" run 1
says "OUT OF TIME" "no time is left" results.tar.gz
