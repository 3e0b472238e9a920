#!/usr/bin/env bash
# Runs on a machine with a GPU, nvcc and CMake, from the repository's root. It builds kernels/ and calibrate/ alone.
# Then it does these parts, the most important first; $PARTS may name some of them:
#   check      checks every kernel against its reference
#   speed      measures the kernels' speed (speed.log)
#   calibrate  measures the device into a profile
#   torch      compares with PyTorch
#   sanitizer  checks once more under compute-sanitizer (small sizes)
# Options, such as --quick, are passed on to stepcast-calibrate device.
#
#     OUT=results PARTS="check calibrate" calibrate/run_on_gpu.sh --quick --workload resnet50 --workload bert-base --dtype tf32 --dtype bf16
#
# Profile and logs go to build/gpu/out. If $OUT names another folder, it also gets them as one file, results.tar.gz. The
# file is written after each part and at the end, whatever ends the script. All parts together may take $TIME_LIMIT
# seconds, by default unlimited. The running part is ended in time for the file to be written, and later parts are left
# out.
#
# If python3 can import torch, PyTorch's compressors are timed beside ours (torch-compressors.json). For each workload,
# PyTorch's training step is timed too (torch-step-*.json) and joins the profile's checks. The profile is written anew
# from the samples, after all measurements are safe.
#
# Headers of nlohmann/json, fmt, CLI11 and Eigen come from the system or from .gpu-deps/. `calibrate/run_on_gpu.sh
# --collect` fills .gpu-deps/ beforehand, on a machine that has the headers. It also leaves the state of the sources
# there, for a copy without .git. Git ignores .gpu-deps/; carry it along. `--collect BUILD` also takes the programs of a
# build folder along, made for the GPU's architecture. They run there as they are, and nothing is built.
#
# The part check goes up to vectors of $LARGEST elements, by default 16777216.
#
# A limit of time or a lost device may cut a run off. All measurements remain in build/gpu/out, or in a results.tar.gz
# carried along in .gpu-deps/ or build/gpu/. The same command without --fresh continues from there. stepcast-calibrate
# device --fit-only makes a profile of them, on a machine without a GPU too.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

if [[ ${1:-} == --collect ]]; then
  mkdir -p .gpu-deps/include .gpu-deps/share/cmake
  for headers in nlohmann fmt CLI eigen3/Eigen; do
    mkdir -p ".gpu-deps/include/$(dirname "$headers")"
    cp -rT "/usr/include/$headers" ".gpu-deps/include/$headers"
  done
  cp -r /usr/share/cmake/nlohmann_json .gpu-deps/share/cmake/
  rm -rf .gpu-deps/programs
  if [[ -n ${2:-} ]]; then
    mkdir .gpu-deps/programs
    cp "$2"/kernels/stepcast_kernel_check "$2"/calibrate/stepcast{_kernel_speed,-calibrate} .gpu-deps/programs/
    ldd .gpu-deps/programs/stepcast-calibrate | awk '$1 ~ /^libfmt/ { print $3 }' | xargs -r -I {} cp {} .gpu-deps/programs/
  fi
  state=$(git describe --always --dirty --abbrev=12)
  # Samples of other sources are not continued.
  [[ ! -e .gpu-deps/git-state || $(<.gpu-deps/git-state) == "$state" ]] || rm -f .gpu-deps/results.tar.gz
  echo "$state" >.gpu-deps/git-state
  echo "headers of nlohmann/json, fmt, CLI11 and Eigen, and the sources' state, $(<.gpu-deps/git-state), are in .gpu-deps/"
  exit
fi

usage() { echo "run_on_gpu.sh: found $1; allowed: $2" >&2; exit 2; }
all_parts="check speed calibrate torch sanitizer"
parts=${PARTS:-$all_parts}
for part in $parts; do [[ " $all_parts " == *" $part "* ]] || usage "\"$part\" in PARTS" "$all_parts"; done
has_part() { [[ " $parts " == *" $1 "* ]]; }
[[ ${TIME_LIMIT:-1} =~ ^[1-9][0-9]*$ ]] || usage "TIME_LIMIT \"$TIME_LIMIT\"" "whole seconds, at least 1"
for header in nlohmann/json.hpp fmt/format.h CLI/CLI.hpp eigen3/Eigen/Dense; do
  for place in .gpu-deps/include /usr/include /usr/local/include; do [[ ! -e $place/$header ]] || continue 2; done
  usage "neither .gpu-deps/ nor $header on this machine" "either; \`calibrate/run_on_gpu.sh --collect\` on a machine that has the headers makes .gpu-deps/, which is to be carried along"
done

# Everything is made here, where a later call finds it.
out=build/gpu/out
mkdir -p "$out" "${OUT:=$out}"
if [[ ! -e $out/profile.samples.jsonl ]]; then
  for carried in .gpu-deps/results.tar.gz build/gpu/results.tar.gz; do
    [[ -e $carried ]] || continue
    echo "going on from $carried"
    tar -xzf "$carried" -C "$out"
    break
  done
fi
pack() {
  [[ ! $OUT -ef $out ]] || return 0
  { tar -czf build/gpu/packed.tar.gz -C "$out" . && mv build/gpu/packed.tar.gz "$OUT/results.tar.gz"; } || echo "run_on_gpu.sh: $OUT/results.tar.gz cannot be written" >&2
}
trap 'pack; [[ ! -e $OUT/results.tar.gz ]] || du -h "$OUT/results.tar.gz"' EXIT

# limited SECONDS COMMAND...: ends the command early enough before the limit for the rest to be done.
SECONDS=0
limited() {
  local left=$((${TIME_LIMIT:-0} - SECONDS - $1))
  shift
  if [[ -z ${TIME_LIMIT:-} ]]; then
    "$@"
  elif [[ $left -gt 0 ]]; then
    timeout --kill-after=5 "$left" "$@"
  else
    echo "no time is left"
    return 124
  fi
}
reserved=40  # s, for a profile of what was measured, and for packing

# Without the toolkit on the PATH, CMake still finds nvcc, but compute-sanitizer is not found.
PATH=$PATH:${CUDA_PATH:-/usr/local/cuda}/bin
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
  limited "$reserved" cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DSTEPCAST_MODELS=OFF -DSTEPCAST_CUDA=ON -DSTEPCAST_CUDNN="$1" \
    -DCMAKE_CUDA_ARCHITECTURES="$architecture" -DCMAKE_PREFIX_PATH="$PWD/.gpu-deps" >"$out/configure.log" 2>&1 || { tail -n 30 "$out/configure.log"; return 1; }
  limited "$reserved" cmake --build "$build" -j "$(nproc)" >"$out/build.log" 2>&1 || { tail -n 60 "$out/build.log"; return 1; }
}
check=$build/kernels/stepcast_kernel_check speed=$build/calibrate/stepcast_kernel_speed calibrate=$build/calibrate/stepcast-calibrate
programs=.gpu-deps/programs
if [[ -d $programs ]]; then
  export LD_LIBRARY_PATH=$PWD/$programs:$CUDNN_PATH/lib:${CUDA_PATH:-/usr/local/cuda}/lib64:${LD_LIBRARY_PATH:-}
  export STEPCAST_SCENARIOS=${STEPCAST_SCENARIOS:-$PWD/scenarios}
  check=$programs/stepcast_kernel_check speed=$programs/stepcast_kernel_speed calibrate=$programs/stepcast-calibrate
fi
# CuDNN may fail to link, start or convolve, for example if its libraries have several versions. The other parts are
# still worth running.
if [[ -d $programs ]]; then
  limited "$reserved" "$check" 0
elif ! build AUTO || { ! limited "$reserved" "$check" 0 >"$out/start.log" 2>&1 && grep -E 'cuDNN: |libcudnn|CUDNN_STATUS' "$out/start.log"; }; then
  echo "once more, without cuDNN"
  build OFF
fi
[[ -d $programs ]] || grep -E 'cuDNN|CUDA:' "$out/configure.log" || true
echo "ready after $SECONDS s"

failed=0
# step LOG COMMAND...: later steps run even where a check fails, so that one visit to the machine shows everything. With
# show=all the log is printed whole, else its last line; with reserve=N it may go on until N seconds before the limit.
step() {
  local log=$1
  shift
  echo "== $log"
  if limited "${reserve:-$reserved}" "$@" >"$out/$log" 2>&1; then
    if [[ ${show:-} == all ]]; then cat "$out/$log"; else tail -n 1 "$out/$log"; fi
  else
    local code=$?
    failed=1
    [[ $code == 124 ]] && echo "OUT OF TIME" || echo "FAILED"
    { grep -v '^ok ' "$out/$log" || true; } | if [[ ${show:-} == all ]]; then cat; else sed -n 1,40p; fi
  fi
  pack
}
export REQUIRE_GPU=1
if has_part check; then step check.log "$check" "${LARGEST:-16777216}"; fi
if has_part speed; then show=all step speed.log "$speed"; fi
measure=("$calibrate" device -o "$out/profile.json")
fit=("${measure[@]}" --fit-only)
for option; do [[ $option == --fresh ]] || fit+=("$option"); done
if has_part calibrate; then
  rm -f "$out"/tables/*.json  # made again from the samples; PyTorch's results are measurements, and stay
  [[ ! -e $out/profile.json ]] || mv "$out/profile.json" "$out/profile.before.json"
  step calibrate.log "${measure[@]}" --tables "$out/tables" "$@"
  # Show the earlier measurements, if this program took them.
  [[ -e $out/profile.json ]] || grep -q 'taken otherwise' "$out/calibrate.log" || reserve=10 step fit.log "${fit[@]}"
fi

if ! has_part torch; then
  :
elif [[ ! -e $out/profile.samples.jsonl ]]; then
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
    reserve=10 step calibrate-torch.log "${fit[@]}" "${torch_steps[@]}"
    grep '^step ' "$out/calibrate-torch.log" || true
  fi
else
  echo "python3 cannot import torch here: nothing is compared with PyTorch"
fi

# Only our kernels are watched: cuBLAS's, cuSOLVER's and cuDNN's are many, and not ours to mend.
ours=(--kernel-name kernel_substring=stepcast)
# initcheck has to watch all kernels, since libraries initialize memory too; only reads by our kernels count. A report is
# "========= Uninitialized ...", then "=========     at KERNEL...", and ends with a line without words.
# shellcheck disable=SC2317  # run by a shell of their own, below
reads_by_ours() {
  awk '/^========= Uninitialized/ { report = $0; next }
       report != "" { ours = /stepcast/; if (ours) { ++found; print report } else ++others; report = "" }
       /^=========[ \t]*$/ { ours = 0 }
       ours || !/^=========/ { print }
       END { printf "%d uninitialized reads by our kernels, %d by the libraries'"'"'\n", found, others; exit found > 0 }'
}
# shellcheck disable=SC2317
initcheck() { compute-sanitizer --tool initcheck --print-limit 0 --show-backtrace no --check-api-memory-access no "$check" 4097 1 2>&1 | reads_by_ours; }
if ! has_part sanitizer; then
  :
elif command -v compute-sanitizer >/dev/null; then
  # Calls that fail inside libraries, as they try what there is, are no errors; where ours fail, the check says so.
  step sanitizer-memcheck.log compute-sanitizer --tool memcheck --report-api-errors no "${ours[@]}" --error-exitcode 1 "$check" 4097 1
  step sanitizer-racecheck.log compute-sanitizer --tool racecheck "${ours[@]}" --error-exitcode 1 "$check" 4097 1
  export -f initcheck reads_by_ours
  check=$check step sanitizer-initcheck.log bash -o pipefail -c initcheck
else
  echo "compute-sanitizer is not here: out-of-bounds accesses are not checked"
fi
exit "$failed"
