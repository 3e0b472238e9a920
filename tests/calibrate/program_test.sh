#!/usr/bin/env bash
# stepcast-calibrate on the command line: exit codes, where output goes, and files that are whole or not there.
set -euo pipefail
program=$1 data=$2 first=()
source "$(dirname -- "${BASH_SOURCE[0]}")/run.sh"

run 0 --version; has out "stepcast-calibrate 0."
run 0 --help; has out "device"; has out "link"; has out "transfer"; has out "import"; has out "Example:"
for command in device import link transfer; do run 0 $command --help; has out "Example: stepcast-calibrate $command"; done
run 2; run 2 nothing; run 2 device; has err "--output"
run 2 device -o x.json --starts 0
run 2 link; run 2 link --from x --algorithm rign
run 2 link --from "$data/all_reduce_perf.txt" -o same.json --csv same.json; has err "give each a different path"
run 2 link --from "$data/all_reduce_perf.txt" -o alone.json --csv nowhere/times.csv; [[ ! -e alone.json ]]
run 0 link --from "$data/all_reduce_perf.txt" --csv -; has out "file,benchmark,bytes,measured_s"; [[ ! -e - ]]
run 0 link --from "$data/all_reduce_perf.txt" --collective all_reduce_perf --csv times.csv; [[ $(wc -l <times.csv) -gt 5 ]]
run 2 transfer; run 2 transfer x.json --from a --to b; has err "--output"

# Without a device: one line that names the shipped profiles, and no file.
if ! { command -v nvidia-smi && nvidia-smi -L; } >/dev/null 2>&1; then
  run 1 device -o profile.json
  [[ $(wc -l <err) == 1 && ! -s out ]] || fail "not one line"
  has err "no CUDA device here; shipped profiles: a100, "
  if compgen -G "*profile*" >/dev/null; then fail "files were left"; fi
fi

run 0 link --from "$data/all_reduce_perf.txt" -o cluster.json --name lab
[[ ! -s err ]] || fail "messages without need"
has out "all-reduce by ring, 4 ranks"; has out "latency 4.0"; has cluster.json '"workers": 4'; has cluster.json '"name": "lab"'
run 0 link --from "$data/osu_latency.txt" --from "$data/osu_allreduce.txt" --ranks 8; has out "collective cost 10"
run 3 link --from "$data/osu_allreduce.txt" -o no.json; has err "osu_allreduce.txt: found no number of ranks"; has err "--ranks"
[[ ! -e no.json && ! -e no.json.partial ]] || fail "a file was left"
run 3 link --from "$data/osu_bw.txt"; has err "tells no latency"
# NCCL's names are taken in any case. The fit refuses an algorithm that the collective lacks, and lists those that it
# has. The command line refuses unknown names.
run 0 link --from "$data/all_reduce_perf.txt" --algorithm Ring; has out "all-reduce by ring"
run 0 link --from "$data/all_reduce_perf.txt" --algorithm TREE; has out "all-reduce by nccl-tree"
run 3 link --from "$data/all_reduce_perf.txt" --algorithm pairwise; has err "--algorithm pairwise: allowed for all-reduce: ring, "
for algorithm in hierarchical multi-ring auto nvls; do run 2 link --from "$data/all_reduce_perf.txt" --algorithm $algorithm; done
run 3 link --from "$data/all_reduce_perf.txt" --ranks 8; has err "found --ranks 8; allowed: 4, which the file gives itself"
run 3 link --from "$data/all_reduce_perf.json" --collective all-gather; has err "found --collective all-gather; allowed: all-reduce, which the file gives itself"
# With several files, --collective and --ranks apply to those that do not say.
grep -v all_reduce_perf "$data/all_reduce_perf.txt" | sed -e '/Rank/d' >silent.txt
run 3 link --from "$data/all_reduce_perf.json" --from silent.txt; has err "silent.txt: found no name of a collective"
run 0 link --from "$data/all_reduce_perf.json" --from silent.txt --collective all-gather --ranks 8; has out "all-gather by ring, 8 ranks"; has out "all-reduce by ring, 4 ranks"
run 3 link --from "$data/all_reduce_perf.json" --from "$data/all_reduce_perf.txt" --collective all-gather; has err "which the file gives itself"
# A tree as NCCL has it pipelines. The fit comes with the scenario's settings.
run 0 link --from "$data/all_reduce_perf.txt" --algorithm Tree; has out '"collective": {"algorithm": "nccl-tree"}'
run 0 link --from "$data/all_reduce_perf.txt" --algorithm Tree --segments 4 -o four.json
has out '"collective": {"algorithm": "nccl-tree", "pipeline_segments": 4}'; has four.json "pipeline_segments are 4"
run 0 link --from "$data/all_reduce_perf.txt" --min-size 16KiB --max-size 64MB; has out "one link for 16.4 kB to 16.8 MB"
run 2 link --from "$data/all_reduce_perf.txt" --min-size 16; has err "--min-size"
run 3 link --from "$data/all_reduce_perf.txt" --min-size 64MiB; has err "found 3 sizes; allowed: 4 or more"
run 3 link --from "$data/osu_latency.txt" --min-size 1kB; has err "buffers of collectives"
sed -e '/Avg bus bandwidth/d' -e 's/^/[1,0]<stdout>:/' "$data/all_reduce_perf.txt" >tagged.txt
run 0 link --from tagged.txt --ranks 4; has out "all-reduce by ring, 4 ranks"; has err "tagged.txt: without the line \"# Avg bus bandwidth\""
# The same times as if they were of 2 hosts.
sed -e '/Rank  [23]/s/host0/host1/' "$data/all_reduce_perf.txt" >two_hosts.txt
run 0 link --from two_hosts.txt -o nodes.json; has nodes.json '"gpus_per_node": 2'; has out "4 ranks on 2 hosts"
run 0 link --from two_hosts.txt --from "$data/all_reduce_perf.txt" -o nodes.json; has nodes.json '"kind": "nodes"'; has out "inside nodes of 2"
[[ ! -s err ]] || fail "messages without need"
# Two runs of unknown hosts of which the second is ten times as slow.
sed -e '/Rank/s/ on .*//' "$data/all_reduce_perf.txt" >unknown.txt
awk '/^ / { $6 *= 10 } { print }' unknown.txt >slow.txt
run 0 link --from unknown.txt --from slow.txt; has err "slow.txt: half of its times differ by "
run 3 link --from missing.txt; has err "missing.txt: found No such file"
run 2 link --from "$data/all_reduce_perf.txt" -o missing/cluster.json; has err "cannot write missing/cluster.json: missing"

# From an H100 (datasheet: 67 TFLOPS, 3350 GB/s, 1.98 GHz) to a V100 (15.7 TFLOPS, 900 GB/s, 1.53 GHz, no tf32).
evidence='"evidence": "measured", "source": "made up"'
cat >measured.json <<END
{"schema_version": 2, "name": "made-up",
 "peaks": [{"dtype": "fp32", "rate": "33.5TFLOPS", $evidence}, {"dtype": "tf32", "rate": "400TFLOPS", $evidence}],
 "memory_bandwidth": {"value": "2680GB/s", $evidence, "spread": 0.02}, "launch_overhead": {"value": "1.53us", $evidence},
 "clock": {"value": "1.98GHz", $evidence}, "compute_efficiency": {"value": 1, $evidence}, "memory_efficiency": {"value": 1, $evidence}, "bend": {"value": 4, $evidence},
 "layers": [{"shape": {"kind": "linear", "in": 512, "out": 256}, "batch": 8, "dtype": "fp32", "forward": "4us", $evidence, "spread": 0.1},
            {"shape": {"kind": "linear", "in": 512, "out": 256}, "batch": 8, "dtype": "tf32", "forward": "4us", $evidence}],
 "kernels": [{"name": "cast", "launch": "3.06us", "bandwidth": "3350GB/s", $evidence, "spread": 0.1, "knots": [{"bytes": "1MB", "time": "4us"}, {"bytes": "2MB", "time": "5us"}]}]}
END
to_v100=(--from h100-datasheet --to v100-datasheet)
run 0 transfer measured.json "${to_v100[@]}" -o v100.json
[[ ! -s err ]] || fail "messages without need"
row() { grep -Eq "^$1 +$2 +$3\$" out || fail "no row \"$1\" of $2 and $3"; }
row "peak fp32" "33.5 TFLOPS" "7.85 TFLOPS"             # · 15.7/67
row "peak tf32" "400 TFLOPS" "left out"
row "memory bandwidth" "2680 GB/s" "720 GB/s"           # · 900/3350
row "launch" "1.53 us" "1.98 us"                        # · 1.98/1.53
row "layers" 2 1
row "kernels" 1 1
has out "bands are wider by"
for text in '"name": "v100"' '"evidence": "transferred"' '"source": "made-up: made up (measured)"'; do has v100.json "$text"; done
has v100.json '"bandwidth": "7.2Tbps"'; has v100.json '"launch": "3960ns"'  # 3350 GB/s · 900/3350 = 8 · 900 Gb/s, 3.06 us · 1.98/1.53
if grep -q '"evidence": "measured"' v100.json; then fail "an entry still passes for measured"; fi
# A kernel's time may have changed as its arithmetic: 1.1 · (900/3350)/(15.7/67) - 1 = 0.261147.
grep -q '"spread": 0\.26114' v100.json || fail "the kernel's band"
run 0 transfer "$PWD/measured.json" "${to_v100[@]}" --name lab -o named.json; has named.json '"name": "lab"'
cp measured.json before.json
run 2 transfer measured.json "${to_v100[@]}" -o ./measured.json; has err "would replace the measurement"
cmp measured.json before.json || fail "the measurement was replaced"

# The written file is read again, and is no measurement; a datasheet is none either.
run 3 transfer v100.json "${to_v100[@]}" -o no.json; has err "the profile \"v100\" holds no measurement to transfer; stepcast-calibrate device makes one that does"
run 3 transfer h100-datasheet "${to_v100[@]}" -o no.json; has err "--measured: found \"h100-datasheet\""; has err "holds no measurement"
run 3 transfer measured.json --from h10-datasheet --to v100-datasheet -o no.json
has err '--from: found the unknown profile "h10-datasheet"; allowed: a100, a100-80gb-datasheet, a100-datasheet, '; has err 'did you mean "h100-datasheet"?'
run 3 transfer measured.json --from h100-datasheet --to missing.json -o no.json; has err "--to: found \"missing.json\", but there is no file"
sed -e 's/"spread": 0.02/"spred": 0.02/' -e 's/"2680GB\/s"/2680/' measured.json >wrong.json
run 3 transfer wrong.json "${to_v100[@]}" -o no.json
has err "wrong.json: /memory_bandwidth/value: found 2680"; has err "wrong.json: /memory_bandwidth/spred: found an unknown key"; has err 'did you mean "spread"?'
sed 's/"5us"/"3us"/' measured.json >falling.json
run 3 transfer falling.json "${to_v100[@]}" -o no.json; has err "falling.json: /kernels/0/knots/1"
[[ ! -e no.json && ! -e no.json.partial ]] || fail "a file was left"
run 2 transfer measured.json "${to_v100[@]}" -o missing/v100.json; has err "cannot write missing/v100.json: missing: No such file or directory"

# Kernel times of others: 12 sums of 12 B an element at half of 900 GB/s, and 5 us. Two devices need a choice.
{
  echo "device,dtype,layer,pass,batch,shape,time"
  for i in {1..12}; do echo "lab,fp32,add,forward,1,elements=${i}000000,$((5000 + i * 80000 / 3))ns"; done
  echo "other,fp32,add,forward,1,elements=10,3us"
} >times.csv
from_v100=(--base v100-datasheet --source "made up")
run 2 import times.csv "${from_v100[@]}" -o lab.json; has err "choose one of lab, other by --device"
run 2 import times.csv "${from_v100[@]}" -o lab.json --device third; has err "the tables have lab, other"
run 2 import times.csv --base v100-datasheet -o lab.json; has err "--source"
run 0 import times.csv "${from_v100[@]}" --device lab -o lab.json
[[ ! -s err ]] || fail "messages without need"
grep -Eq "^elementwise +fp32 +any +12 +12 +0.0 / 0.0 %" out || fail "no row of sums"
grep -Eq '"memory_share": 0\.5,' lab.json || fail "not half of the bandwidth"
has lab.json '"source": "made up"'; has lab.json '"name": "lab"'
run 0 import times.csv "${from_v100[@]}" --device lab -o kept.json --keep-launch; has kept.json '"launch": "5us"'
sed -e 's/,forward/,sideways/' -e 's/elements=2000000/element=2/' times.csv >bad.csv
run 3 import bad.csv "${from_v100[@]}" --device lab -o bad.json
has err "bad.csv: line 2, pass: found \"sideways\""; has err "bad.csv: line 3, shape/element: found an unknown key"
sed 2,9d times.csv >few.csv
run 3 import few.csv "${from_v100[@]}" --device lab -o bad.json; has err "left out: elementwise, forward, in fp32: 4 rows; 10 or more determine a model"
[[ ! -e bad.json && ! -e bad.json.partial ]] || fail "a file was left"
run 3 import times.csv --base v10-datasheet --source x --device lab -o bad.json; has err 'did you mean'
