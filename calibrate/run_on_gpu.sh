#!/usr/bin/env bash
# On a machine with a GPU, nvcc and CMake, from the repository's root: builds kernels/ and calibrate/ alone, checks every
# kernel against its reference (also under compute-sanitizer, small sizes), measures their speed (speed.log), and
# calibrates. Profile and logs go to $OUT (default build/gpu/out). Options are passed on to stepcast-calibrate device, such
# as --quick. $PARTS are the parts to do, of which all is the default: check sanitizer speed calibrate torch.
#
#     OUT=results PARTS="check calibrate" calibrate/run_on_gpu.sh --quick --workload resnet50 --workload bert-base --dtype tf32 --dtype bf16
#
# Where python3 can import torch, PyTorch's compressors are timed beside ours (torch-compressors.json), and for each
# workload PyTorch's training step (torch-step-*.json), which the profile then has among its checks: written anew from the
# samples, after what was measured is safe.
#
# Headers of nlohmann/json, fmt, CLI11 and Eigen come from the system, or from .gpu-deps/ where
# `calibrate/run_on_gpu.sh --collect` has put them beforehand on a machine that has them (ignored by git; carry it along).
# zlib is used where the node has it; otherwise samples stay uncompressed.
#
# Cut off, by a limit of time or a lost device, nothing that was measured is lost while $OUT is: the same command without
# --fresh goes on from there, and stepcast-calibrate device --fit-only makes a profile of it, on a machine without a GPU too.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

if [[ ${1:-} == --collect ]]; then
  mkdir -p .gpu-deps/include .gpu-deps/share/cmake
  for headers in nlohmann fmt CLI eigen3/Eigen; do
    mkdir -p ".gpu-deps/include/$(dirname "$headers")"
    cp -rT "/usr/include/$headers" ".gpu-deps/include/$headers"
  done
  cp -r /usr/share/cmake/nlohmann_json .gpu-deps/share/cmake/
  echo "headers of nlohmann/json, fmt, CLI11 and Eigen are in .gpu-deps/"
  exit
fi

all_parts="check sanitizer speed calibrate torch"
parts=${PARTS:-$all_parts}
for part in $parts; do
  [[ " $all_parts " == *" $part "* ]] || { echo "run_on_gpu.sh: found \"$part\" in PARTS; allowed: $all_parts" >&2; exit 2; }
done
has_part() { [[ " $parts " == *" $1 "* ]]; }

out=${OUT:-build/gpu/out}
mkdir -p "$out"
build=build/gpu
architecture=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d .)
nvidia-smi >"$out/nvidia-smi.txt"

# PyTorch brings cuDNN along, where CMake does not look.
if [[ -z ${CUDNN_PATH:-} ]]; then
  CUDNN_PATH=$(python3 -c 'import nvidia.cudnn; print(list(nvidia.cudnn.__path__)[0])' 2>/dev/null || true)
  export CUDNN_PATH
fi
command -v make >/dev/null || ! command -v ninja >/dev/null || export CMAKE_GENERATOR=Ninja
# build AUTO|OFF: with cuDNN where it is, or without
build() {
  cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DSTEPCAST_MODELS=OFF -DSTEPCAST_CUDA=ON -DSTEPCAST_CUDNN="$1" \
    -DCMAKE_CUDA_ARCHITECTURES="$architecture" -DCMAKE_PREFIX_PATH="$PWD/.gpu-deps" >"$out/configure.log" 2>&1 || { tail -n 30 "$out/configure.log"; return 1; }
  cmake --build "$build" -j "$(nproc)" >"$out/build.log" 2>&1 || { tail -n 60 "$out/build.log"; return 1; }
}
check=$build/kernels/stepcast_kernel_check
# Where cuDNN does not link or start (its libraries must be of one version), all the rest is still worth the visit.
if ! build AUTO || { ! "$check" 0 >"$out/start.log" 2>&1 && grep -E 'cuDNN: |libcudnn' "$out/start.log"; }; then
  echo "once more, without cuDNN"
  build OFF
fi
grep -E 'cuDNN|CUDA:' "$out/configure.log" || true

failed=0
# What follows runs even where a check fails, so that one visit to the machine shows everything.
step() {
  local log=$1
  shift
  echo "== $log"
  if "$@" >"$out/$log" 2>&1; then tail -n 1 "$out/$log"; else failed=1; echo "FAILED"; { grep -v '^ok ' "$out/$log" || true; } | sed -n 1,40p; fi
}
export REQUIRE_GPU=1
if has_part check; then step check.log "$check" 16777216; fi
if ! has_part sanitizer; then
  :
elif command -v compute-sanitizer >/dev/null; then
  for tool in memcheck racecheck initcheck; do
    step "sanitizer-$tool.log" compute-sanitizer --tool "$tool" --error-exitcode 1 "$check" 4097 1
  done
else
  echo "compute-sanitizer is not here: out-of-bounds accesses are not checked"
fi
if has_part speed; then step speed.log "$build/calibrate/stepcast_kernel_speed"; fi
calibrate=("$build/calibrate/stepcast-calibrate" device -o "$out/profile.json")
fit=("${calibrate[@]}" --fit-only)
for option; do [[ $option == --fresh ]] || fit+=("$option"); done
if has_part calibrate; then
  rm -f "$out"/tables/*.json  # made again of the samples; what PyTorch took is measured, and stays
  [[ ! -e $out/profile.json ]] || mv "$out/profile.json" "$out/profile.before.json"
  step calibrate.log "${calibrate[@]}" --tables "$out/tables" "$@"
  [[ -e $out/profile.json ]] || step fit.log "${fit[@]}"  # of what was measured before it ended
fi

if ! has_part torch; then
  :
elif ! compgen -G "$out/profile.samples.jsonl*" >/dev/null; then
  echo "run_on_gpu.sh: there are no samples in $out, which the part torch compares with; the part calibrate makes them" >&2
  failed=1
elif python3 -c "import torch" 2>/dev/null; then
  [[ ! -s $out/torch-compressors.json ]] || mv --backup=numbered "$out/torch-compressors.json" "$out/torch-compressors.before.json"  # is begun anew
  step torch-compressors.log python3 calibrate/torch_compressors.py --samples "$out/profile.samples.jsonl" --output "$out/torch-compressors.json"
  torch_steps=()
  for table in "$out"/tables/*.json; do
    [[ -e $table ]] || continue  # without --workload
    name=torch-step-$(basename "$table" .json)
    step "$name.log" python3 calibrate/torch_step.py "$table" --output "$out/$name.json"
    [[ ! -e $out/$name.json ]] || torch_steps+=(--torch-step "$out/$name.json")
  done
  if [[ ${#torch_steps[@]} -gt 0 ]]; then
    step calibrate-torch.log "${fit[@]}" "${torch_steps[@]}"
    grep '^step ' "$out/calibrate-torch.log" || true
  fi
else
  echo "python3 cannot import torch here: nothing is compared with PyTorch"
fi
exit "$failed"
