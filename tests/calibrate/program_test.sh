#!/usr/bin/env bash
# stepcast-calibrate on the command line: exit codes, where output goes, and files that are whole or not there.
set -euo pipefail
program=$1 data=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

fail() { echo "program_test: $*"; cat out err; exit 1; }
# run EXPECTED_CODE ARGUMENTS...
run() {
  local expected=$1 code=0
  shift
  "$program" "$@" >out 2>err || code=$?
  [[ $code == "$expected" ]] || fail "$*: exit $code, expected $expected"
}
has() { grep -qF -- "$2" "$1" || fail "$1 lacks \"$2\""; }

run 0 --version; has out "stepcast-calibrate 0."
run 0 --help; has out "device"; has out "link"; has out "Example:"
for command in device link; do run 0 $command --help; has out "Example: stepcast-calibrate $command"; done
run 2; run 2 nothing; run 2 device; has err "--output"
run 2 device -o x.json --starts 0
run 2 link; run 2 link --from x --algorithm rign

# Without a device: one line that names the shipped profiles, and no file.
if ! { command -v nvidia-smi && nvidia-smi -L; } >/dev/null 2>&1; then
  run 1 device -o profile.json
  [[ $(wc -l <err) == 1 && ! -s out ]] || fail "not one line"
  has err "no CUDA device here; shipped profiles: a100-datasheet, "
  ls | grep -q profile && fail "files were left"
fi

run 0 link --from "$data/all_reduce_perf.txt" -o cluster.json --name lab
[[ ! -s err ]] || fail "messages without need"
has out "all-reduce by ring, 4 ranks"; has out "latency 4.0"; has cluster.json '"workers": 4'; has cluster.json '"name": "lab"'
run 0 link --from "$data/osu_latency.txt" --from "$data/osu_allreduce.txt" --ranks 8; has out "collective cost 10"
run 3 link --from "$data/osu_allreduce.txt" -o no.json; has err "osu_allreduce.txt: found no number of ranks"; has err "--ranks"
[[ ! -e no.json && ! -e no.json.partial ]] || fail "a file was left"
run 3 link --from "$data/osu_bw.txt"; has err "tells no latency"
run 3 link --from missing.txt; has err "missing.txt: found No such file"
run 1 link --from "$data/all_reduce_perf.txt" -o missing/cluster.json; has err "missing/cluster.json.partial cannot be written"
