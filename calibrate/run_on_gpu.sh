#!/usr/bin/env bash
# On a machine with a GPU, nvcc and CMake, from the repository's root: builds kernels/ and calibrate/ alone, checks every
# kernel against its reference (also under compute-sanitizer, small sizes), measures their speed (speed.log), and calibrates. Profile and logs go to $OUT
# (default build/gpu/out). Options are passed on to stepcast-calibrate device, such as --quick.
#
#     OUT=results LAYERS="resnet50.json bert-base.json" calibrate/run_on_gpu.sh --quick
#
# Where python3 can import torch, PyTorch's compressors are timed beside ours (torch-compressors.json), and for each layer
# table in $LAYERS, files of `stepcast show workload NAME --json FILE` separated by spaces, PyTorch's training step
# (torch-step-FILE-PRECISION.json).
#
# Headers of nlohmann/json, fmt, CLI11 and Eigen come from the system, or from .gpu-deps/ where
# `calibrate/run_on_gpu.sh --collect` has put them beforehand on a machine that has them (ignored by git; carry it along).
# zlib is used where the node has it; otherwise samples stay uncompressed.
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

out=${OUT:-build/gpu/out}
mkdir -p "$out"
build=build/gpu
architecture=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d .)
nvidia-smi >"$out/nvidia-smi.txt"

cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DSTEPCAST_MODELS=OFF -DSTEPCAST_CUDA=ON \
  -DCMAKE_CUDA_ARCHITECTURES="$architecture" -DCMAKE_PREFIX_PATH="$PWD/.gpu-deps" >"$out/configure.log" 2>&1 ||
  { tail -n 30 "$out/configure.log"; exit 1; }
cmake --build "$build" -j "$(nproc)" >"$out/build.log" 2>&1 || { tail -n 60 "$out/build.log"; exit 1; }

failed=0
# What follows runs even where a check fails, so that one visit to the machine shows everything.
step() {
  local log=$1
  shift
  echo "== $log"
  if "$@" >"$out/$log" 2>&1; then tail -n 1 "$out/$log"; else failed=1; echo "FAILED"; grep -v '^ok ' "$out/$log" | head -n 40; fi
}
export REQUIRE_GPU=1
step check.log "$build/kernels/stepcast_kernel_check" 16777216
if command -v compute-sanitizer >/dev/null; then
  for tool in memcheck racecheck initcheck; do
    step "sanitizer-$tool.log" compute-sanitizer --tool "$tool" --error-exitcode 1 "$build/kernels/stepcast_kernel_check" 4097 1
  done
else
  echo "compute-sanitizer is not here: out-of-bounds accesses are not checked"
fi
step speed.log "$build/calibrate/stepcast_kernel_speed"
step calibrate.log "$build/calibrate/stepcast-calibrate" device -o "$out/profile.json" "$@"

if python3 -c "import torch" 2>/dev/null; then
  step torch-compressors.log python3 calibrate/torch_compressors.py --samples "$out/profile.samples.jsonl" --output "$out/torch-compressors.json"
  read -ra tables <<<"${LAYERS:-}"
  for table in "${tables[@]}"; do
    for precision in fp32 tf32 bf16; do
      name=torch-step-$(basename "$table" .json)-$precision
      step "$name.log" python3 calibrate/torch_step.py "$table" --precision "$precision" --output "$out/$name.json"
    done
  done
else
  echo "python3 cannot import torch here: nothing is compared with PyTorch"
fi
exit "$failed"
