#!/usr/bin/env bash
# program_test.sh PROGRAM SCENARIOS: exit codes, the stream of each output, and that a bad scenario touches no file.
set -uo pipefail
program=$1 scenarios=$2
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir -p out
failures=0

fail() {
  printf 'FAILED: %s: %s\n' "$what" "$1"
  sed 's/^/    stderr: /' "$work/stderr"
  failures=$((failures + 1))
}
# expect CODE ARGUMENTS...: runs the program from inside out/, stdin from $work/stdin.
expect() {
  local code=$1 got
  shift
  what="stepcast $*"
  (cd out && "$program" "$@") <"$work/stdin" >"$work/stdout" 2>"$work/stderr"
  got=$?
  [[ $got == "$code" ]] || fail "exit code $got instead of $code"
}
says() { grep -qF -- "$1" "$work/stderr" || fail "stderr does not say: $1"; }
prints_something() { [[ -s $work/stdout ]] || fail "nothing on stdout"; }
prints() { grep -qF -- "$1" "$work/stdout" || fail "stdout does not say: $1"; }
prints_nothing() { [[ ! -s $work/stdout ]] || fail "something on stdout"; }
leaves() {
  local files
  files=$(ls -A out | paste -sd ' ')
  [[ $files == "$1" ]] || fail "left the files '$files' instead of '$1'"
}
: >stdin

good='{"name": "good", "workload": "resnet50-v100", "cluster": {"workers": [1, 4], "link": {"bandwidth": "10Gbps", "latency": "25us"}}}'
printf '%s' "$good" >good.json
printf '%s' '{"name": "bad", "workload": "resnet50-v10", "cluster": {"workers": 0, "link": {"bandwidth": "10G"}}, "colour": 1}' >bad.json
printf '%s' '{"name": "bad",' >truncated.json

# Good scenarios.
expect 0 run ../good.json && prints_something
expect 0 run "$scenarios/quickstart.json" --no-plot && prints_something
expect 0 run ../good.json --csv - && prints_something
expect 0 run quickstart --no-plot && prints_something
expect 0 run ../good.json --csv result.csv --json result.json && leaves 'result.csv result.json'
# One of eight workers computes at half the speed: times of both kinds in a step, in the table and apart in the JSON.
expect 0 run ../good.json --set /cluster/workers=8 --set '/cluster/groups=[{"count": 1, "speed": 0.5}]' --json kinds.json && prints '0 to 6       1'
python3 -c '
import json
(point,) = json.load(open("out/kinds.json"))["points"]
fast, slow = point["worker_kinds"]
assert (fast["first_worker"], fast["workers"], fast["speed"], slow["first_worker"], slow["workers"], slow["speed"]) == (0, 7, 1, 7, 1, 0.5), point
for part in ("forward_s", "backward_s", "update_s", "exposed_communication_s", "waiting_s"):
    assert abs((7 * fast[part] + slow[part]) / 8 - point[part]) < 1e-12, part
assert abs(slow["backward_s"] - 2 * fast["backward_s"]) < 1e-12, point
' || fail "the kinds of workers"
rm out/kinds.json
# Changes without effect, and axes that change nothing.
caps='/strategy={"kind": "all-reduce", "exchange": {"grouping": "whole-model", "bucket_cap": ["1MiB", "25MiB", "100MiB"]}}'
no_effect='/strategy/exchange/bucket_cap has no effect: grouping is whole-model'
expect 0 run ../good.json --set "$caps" --set /stack=ideal --json notes.json && prints "note: $no_effect" && says "note: an axis changes nothing: $no_effect"
python3 -c '
import json, sys
document = json.load(open("out/notes.json"))
assert [point["notes"] for point in document["points"]] == [["no-effect"], [], ["no-effect"]] * 2, document["points"]
assert document["notes"] == {"no-effect": sys.argv[1]}, document["notes"]
assert document["manifest"]["notes"] == ["an axis changes nothing: " + sys.argv[1]], document["manifest"]
' "$no_effect" || fail 'notes of fields without effect in JSON'
expect 0 sweep ../good.json --set "$caps" --no-cache --jsonl lines.jsonl && says "note: an axis changes nothing: $no_effect"
grep -qF '"notes":["no-effect"]' out/lines.jsonl || fail "the sweep's lines do not have the note"
expect 0 run ../good.json --set "$caps" --set /strategy/exchange/grouping=bucketed && ! grep -q 'no effect' stdout stderr || fail 'a note of a field that has an effect'
rm out/notes.json out/lines.jsonl
# SimGrid's TCP over a distance: 13.01 times 40 ms; 0.97 * 4 MiB/(2 * 40 ms) = 50.86 MB/s = 406.8 Mb/s.
wan='{"name": "wan", "cluster": {"workers": 2, "link": {"bandwidth": "1Gbps", "latency": "40ms"}, "transport": {"kind": "tcp"}}, "strategy": {"kind": "collective", "size": "8B"}, "evaluation": {"evaluator": "replay"}}'
printf '%s' "$wan" >wan.json
expect 0 run ../wan.json && prints "latency_factor, 13.01, SimGrid's calibration of a LAN: 40 ms become 520.4 ms" && prints 'caps a flow at 406.8 Mb/s'
expect 0 run ../wan.json --set /cluster/transport/latency_factor=1 --set /cluster/transport/window=0B && ! grep -q 'transport tcp' stdout || fail 'a note on TCP effects that are off'
# Times are those of the dtype that the table leaves at its default.
expect 0 run ../good.json --set /workload/dtype=bf16 && prints 'the compute times of resnet50-v100 stay those of fp32'
cp good.json stdin
# The best of the study's points alone.
expect 0 run "$scenarios/quickstart.json" --no-plot --best 2 --by efficiency && prints 'the best 2 of 126 points by efficiency'
expect 0 run "$scenarios/quickstart.json" --no-plot --best 1 --each workload,bandwidth && prints 'the best 1 of 126 points by throughput for each workload, bandwidth'
[[ $(grep -c '^[a-zA-Z].*Gbps' stdout) == 6 ]] || fail 'not one row for each of two workloads on three links'
expect 0 run ../good.json --set /cluster/workers=4 --set '/strategy=["all-reduce","gossip","sharded"]' --best 1 && prints 'note: the points differ in training (when gradients are applied), whose accuracy is not forecast'
expect 0 run ../good.json --set /cluster/workers=4 --set '/strategy=["all-reduce","sharded"]' --best 1 && ! grep -q 'differ in training' stdout || fail 'one training'
expect 0 run ../good.json --best 1 --each workers && ! grep -q 'differ in training' stdout || fail 'points that are not ranked among each other'
expect 2 run ../good.json --best 1 --by eficiency && says 'did you mean efficiency?'
expect 2 run ../good.json --best 1 --each link && says 'workers'
expect 2 run ../good.json --by step && prints_nothing
expect 2 run ../good.json --best 0 && prints_nothing

expect 0 run - && prints_something
expect 0 run "$scenarios/quickstart.json" --no-plot --set '/workload={"from": "resnet50", "profile": "v100-datasheet"}' && prints 'note: layer times in fp32 follow from the profile "v100-datasheet", not measured'
expect 0 show resnet50 --profile v100-datasheet && prints 'note: layer times in fp32 follow from the profile "v100-datasheet", not measured'
expect 0 show workload resnet50 --variant pufferfish && prints '15,202,344 parameters'
expect 0 show workload resnet50 --dtype bf16 && prints '51.11 MB of gradients (bf16)'  # 25,557,032 parameters of 2 bytes
expect 3 show workload resnet50 --dtype bf17 && says 'found "bf17"'
expect 2 show ring --dtype bf16 && says '--dtype are for workloads'
expect 0 show compressor top-k && prints '8k, k = max(1, floor(ratio·d))'
expect 2 show gadget top-k && says 'an unknown kind; allowed: scenario, workload'
expect 0 show ../good.json && prints_something
# One's own parts: a file's keys show its kind. A name is found beside, as a scenario finds it, and listed.
mkdir out/workloads out/clusters
cp "$scenarios/workloads/resnet50.json" out/workloads/my-resnet.json
cp "$scenarios/workloads/vgg16-v100.json" out/workloads/vgg16-v100.json
printf '%s' '{"from": "resnet50", "batch": 64}' >out/laid-over.json
printf '%s' '{"workers": 4, "link": {"bandwidth": "10Gbps"}, "description": "three machines under a desk"}' >out/clusters/lab.json
printf '%s' '{"workers": 4, "link": {"bandwidth": "10G"}}' >out/clusters/broken.json
for of in my-resnet workloads/my-resnet.json 'workload my-resnet' 'workload workloads/my-resnet.json' laid-over.json; do
  expect 0 show $of --profile v100-datasheet && prints '25,557,032 parameters' && prints 'note: layer times in fp32 follow from the profile "v100-datasheet"'
done
prints 'times of a pass of 64 on v100-datasheet'
expect 0 show workloads/my-resnet.json --variant pufferfish --json - && prints '"parameters": 15202344'
expect 0 show workloads/vgg16-v100.json && prints 'shelf: workloads' && prints 'parameters: '
for of in lab clusters/lab.json 'cluster lab' 'cluster clusters/lab.json'; do
  expect 0 show $of && prints 'shelf: clusters' && prints 'three machines under a desk'
done
for of in broken clusters/broken.json; do
  expect 3 show $of && prints_nothing && says 'clusters/broken.json: /link/bandwidth: found "10G"'
done
for file in profiles/v100-datasheet workloads/resnet50 clusters/dgx-h100 validation/hkbu-10gbe; do
  expect 0 show "$scenarios/$file.json" && prints_something
done
expect 0 show "$scenarios/quickstart.json" --point workload=resnet50-v100 --json - && prints '"variants": []'
expect 2 show clusters/lab.json --profile v100-datasheet && says '--dtype are for workloads'
expect 2 show clusters/lab.json --set /workers=8 && says 'only a scenario file has fields to change'
expect 3 run dgx-h100 && says 'that is a cluster, which a scenario names: "cluster": "dgx-h100"'
expect 3 run lab && says 'that is a cluster, which a scenario names: "cluster": "lab"'
# A part is no scenario: one line names its likely kind and its use.
printf '%s' '{"kind": "top-k", "ratio": 0.5}' >out/half.json
while read -r file part use; do
  expect 3 run $file && prints_nothing && says '1 fault in' && says "$file: (whole document): found a document that seems to be a $part; allowed: a scenario; $use"
done <<END
workloads/my-resnet.json workload a scenario names it: "workload": "workloads/my-resnet.json"
clusters/lab.json cluster a scenario names it: "cluster": "clusters/lab.json"
half.json compressor a scenario names it: "compressor": "half.json"
$scenarios/profiles/v100-datasheet.json profile a scenario's workload names it: "profile": "$scenarios/profiles/v100-datasheet.json"
$scenarios/validation/hkbu-10gbe.json suite stepcast validate $scenarios/validation/hkbu-10gbe.json compares it
END
cp out/half.json stdin
expect 3 explain - --point workers=4 && says 'standard input: (whole document): found a document that seems to be a compressor' && says '"compressor": "FILE.json"'
rm out/half.json
: >stdin
printf '%s' '{"name": "s", "workload": "resnet50-v100", "workers": 4, "link": {"bandwidth": "1Gbps"}, "collective_cost": "1us"}' >flat.json
expect 3 run ../flat.json && says '/workers: found an unknown key'
# Names in one's own parts mean the files that a scenario in the working folder finds; standard input is read once.
mv out/workloads/my-resnet.json out/workloads/resnet50.json
sed -i 's/"name": "resnet50"/"name": "my own"/' out/workloads/resnet50.json
printf '%s' '{"from": "resnet50", "batch": 64}' >out/workloads/mine.json
printf '%s' '{"from": "lab", "workers": 8}' >out/clusters/lab1.json
mkdir out/profiles
cp "$scenarios/profiles/v100-datasheet.json" out/profiles/ours.json
expect 0 show workload mine --json - && prints '"my own"'
for of in lab1 clusters/lab1.json; do
  expect 0 show $of && prints 'workers: 8' && prints 'three machines under a desk'
done
expect 0 list clusters && prints 'lab1'
[[ $(grep -c 'cannot be used' stdout) == 1 ]] || fail 'another than broken.json cannot be used'
for profile in ours profiles/ours.json; do
  expect 0 show workloads/mine.json --profile $profile && prints 'note: layer times in fp32 follow from the profile'
done
expect 3 show workloads/mine.json --profile nowhere.json && says '--profile: found "nowhere.json"' && says 'relative to the working folder'
cp out/clusters/lab1.json stdin
expect 0 show cluster - && prints 'workers: 8'
printf '%s' '{"kind": "top-k", "ratio": 0.5}' >stdin
expect 0 show compressor - && prints 'ratio: 0.5'
cp out/workloads/mine.json stdin
expect 0 show workload - --batch 2 --profile v100-datasheet && prints 'times of a pass of 2 on v100-datasheet'
cp out/workloads/vgg16-v100.json stdin
expect 0 show workload - && prints 'parameters: '
cp "$scenarios/profiles/v100-datasheet.json" stdin
expect 0 show profile - && prints 'shelf: profiles'
: >stdin
rm -r out/profiles
mv out/workloads/resnet50.json out/workloads/my-resnet.json
expect 2 show topology clusters/lab.json && says 'topologies are no files'
expect 3 show laid-over && says 'did you mean laid-over.json?'
expect 0 list workloads && prints ' (./workloads) ResNet-50 on ImageNet'
[[ $(grep -c '  vgg16-v100 ' stdout) == 1 ]] || fail 'one name twice, of which one hides the other'
expect 0 list clusters --json - && prints '"folder": "./clusters"' && prints 'cannot be used; see stepcast show clusters/broken.json'
rm -r out/workloads out/clusters out/laid-over.json
# A strategy or compressor says what its kind means.
mkdir out/strategies out/compressors
printf '%s' '{"kind": "pipelined", "width": 3}' >out/strategies/late.json
printf '%s' '{"from": "top-k", "ratio": 0.5}' >out/compressors/half.json
expect 0 list strategies && prints '(./strategies) Pipe-SGD: gradients are applied K steps later'
expect 0 show compressor compressors/half.json && prints 'meaning: the k elements of largest magnitude'
expect 0 show half && prints 'meaning: the k elements of largest magnitude'
rm -r out/strategies out/compressors
# Names of files need not be UTF-8. JSON has to be, and has U+FFFD for other bytes.
mkdir out/strategies
printf '%s' '{"kind": "gossip"}' >$'out/strategies/b\xff.json'
cp good.json $'out/a\xff.json'
for of in $'show b\xff' $'show strategies/b\xff.json' 'list strategies'; do
  expect 0 $of --json - && prints '"name": "b�"'
done
for of in run 'explain --point workers=4' 'solve --along /cluster/workers=1..2' 'crossover --among workers --along /cluster/link/bandwidth=1Gbps..2Gbps'; do
  expect 0 $of $'a\xff.json' --json - && prints '"a�.json"'
done
expect 0 validate "$scenarios/validation/ddp-2020.json" --csv $'a\xff.csv' --json - && prints '"a�.csv"'
if /usr/bin/python3 -c 'import matplotlib' 2>stderr; then expect 0 run $'a\xff.json' --plot $'a\xff.svg' && says 'wrote a'; fi
for command in 'solve --along' 'crossover --among workers --along'; do
  expect 2 $command $'/cluster/\xff=1..2' ../good.json && says '--along: "/cluster/' && says 'is not UTF-8'
done
expect 2 fit ../suite.json --constant $'/cluster/\xff=1..2' && says 'is not UTF-8'
mkdir $'out/f\xff'
printf '%s' '<?xml version="1.0"?>' >$'out/f\xff/p.xml'
sed 's/"link"/"topology": {"kind": "simgrid-xml", "file": "p.xml"}, "link"/' good.json >$'out/f\xff/s.json'
expect 3 run $'f\xff/s.json' && says '/cluster/topology/file: found "p.xml" in a folder whose name is not UTF-8'
rm -r out/strategies out/a* out/f*
# A name that is nearly right.
cp good.json out/mine.json
expect 3 run quickstrat && prints_nothing && says 'did you mean quickstart?'
expect 3 run mine && says 'did you mean mine.json?'
expect 3 validate mine && says 'did you mean mine.json?'
rm out/mine.json
expect 2 run ../good.json --tolerance -1 && says '--tolerance: "-1" is not a number of at least 0'
expect 2 show resnet50 --batch 0 && says '--batch: Value 0 not in range'
expect 0 schema cluster && prints_something
expect 0 trace ../good.json --set /cluster/workers=4 --output trace.json && leaves 'result.csv result.json trace.json'
python3 -c '
import json
events = json.load(open("out/trace.json"))
steps = [e for e in events if e["ph"] == "X"]
assert {e["cat"] for e in steps} == {"forward", "backward", "update", "exchange"}, events
assert all(e["dur"] >= 0 for e in steps)
' || fail 'no trace that a viewer reads'
expect 2 trace ../good.json --output two-points.json && leaves 'result.csv result.json trace.json'
says "such as --point 'workers=1'"
expect 0 trace ../good.json --point workers=4 --output trace.json
rm out/trace.json
# Points by their coordinates, a variant by its name.
expect 0 run "$scenarios/stragglers.json" --point 'variant=gossip on a ring' --csv - && prints 'gossip on a ring,'
[[ $(wc -l <"$work/stdout") == 2 ]] || fail 'not one row'
expect 0 show ../good.json --point workers=4 --full && prints '"workers": 4'
expect 0 show ../good.json && prints 'good: 2 points' && prints 'workers  1 | 4' && prints 'links of 10 Gb/s, 25 us'
expect 0 show ../good.json --json - && prints '"workers": 4'
expect 0 show bucket_cap && prints 'field: /strategy/exchange/bucket_cap' && prints 'default: 25MiB' && prints 'of kind: all-reduce'
expect 0 show /cluster/workers && prints 'value: a whole number from 1 to 16777216'
expect 0 show /cluster/link/latency && prints 'unit: a number with one of s, ms, us'
expect 3 show bukcet_cap && says 'did you mean bucket_cap?'
expect 2 run ../good.json --point workers=5 && prints_nothing
says '"5" is no value of workers; it has 1; 4'
expect 0 explain ../good.json --point workers=4 && prints 'tasks that set the step'
prints '--set /cluster/link/bandwidth=20Gbps'
expect 0 explain ../good.json --point workers=4 --evaluator replay && prints 'by the replay'
expect 2 explain ../good.json && prints_nothing
says "2 points, and explain is of one; choose by axis (workers), such as --point 'workers=1'"
expect 3 explain ../bad.json --json new.json && prints_nothing
# A file that is read is not overwritten, by whatever path.
ln -s written.json link.png
for command in 'run --csv' 'run --json' 'run --plot' 'sweep --csv' 'trace -o' 'explain --scenario' 'show --json'; do
  read -r name option <<<"$command"
  cp good.json written.json
  path=../out/../written.json
  [[ $option != --plot ]] || path=../link.png
  expect 2 $name ../written.json --set /cluster/workers=4 $option $path && says 'is read, and would be overwritten'
  cmp -s written.json good.json || fail 'overwrote its scenario'
done
expect 2 run ../good.json --csv same.out --json ./same.out && prints_nothing && says 'twice; give each output a different path'
# A manifest holds every table, also where several have one name.
expect 0 run ../good.json --set '/workload={"from":"resnet50","profile":"v100-datasheet","batch":[32,64]}' --set /cluster/workers=4 --json -
python3 -c '
import json
document = json.load(open("stdout"))
manifest = document["manifest"]
batches = [manifest["workloads"][point["scenario"]["workload"]]["batch"] for point in manifest["points"]]
assert batches == [32, 64] and sorted(manifest["workloads"]) == ["resnet50", "resnet50 #2"], (batches, list(manifest["workloads"]))
' || fail 'a table is missing from the manifest'
# Crossover of two strategies in two situations. An impossible request is refused before anything is written.
two=(crossover ../good.json --set '/strategy=[{"kind":"all-reduce"},{"kind":"pipelined"}]')
expect 0 "${two[@]}" --along /cluster/link/bandwidth=1Gbps..100Gbps && prints 'compared with strategy all-reduce'
expect 0 "${two[@]}" --along workers=1..8 --over strategy=pipelined --csv - && prints 'strategy,holds,workers_from,workers_to,speedup_at_from,speedup_at_to'
expect 0 "${two[@]}" --along workers=1..8 --set /evaluation/evaluator=both && prints 'throughput by the equations'
expect 0 "${two[@]}" --along workers=1..2 --evaluator replay && prints 'throughput by the replay'
expect 0 crossover ../good.json --along /cluster/link/bandwidth=1Gbps..10Gbps --among workers && prints 'compared with workers 1'
expect 2 "${two[@]}" --along workers && says '"workers" is not AXIS=FROM..TO'
expect 2 "${two[@]}" --along workers=8..1 --csv new.csv && prints_nothing
says '"8..1": the ends are not in order'
# Fields and axes by the last part of their pointers.
expect 0 "${two[@]}" --along latency=1us..1ms --set workers=8 && prints 'along latency from 1 us'
expect 0 run ../good.json --set workers=8 --csv - && cp stdout by-name.csv
expect 0 run ../good.json --set /cluster/workers=8 --csv - && { cmp stdout by-name.csv || fail 'a name is not its pointer'; }
expect 2 run ../good.json --set worker=8 && says 'worker: no field of the scenario ends so' && says 'did you mean workers?'
expect 2 run ../good.json --set kind=star && says '/cluster/topology/kind, '
cp good.json stdin
expect 2 run - --set workers=8 && says 'from standard input is read once'
: >stdin
expect 2 "${two[@]}" --along worker=1..8 && says 'did you mean workers?'
expect 2 "${two[@]}" --along variant=1..8 && says 'variant: a name is no number'
expect 2 "${two[@]}" --along workers=1..8 --point workers=4 && says 'workers=4: --along goes over this axis'
expect 2 "${two[@]}" --along workers=1..8 --among workers && says 'the field of --along cannot be an axis of alternatives'
expect 2 "${two[@]}" --along workers=1..8 --among strategies && says 'strategies: no axis of the study (one that --set fixes is none); it has workers, strategy; did you mean strategy?'
expect 2 "${two[@]}" --along workers=1..8 --over strategy=pipeline && says 'did you mean "pipelined"?'
expect 2 crossover ../good.json --along workers=1..8 && says 'one alternative only (the unchanged scenario); name the axes whose values are to compete by --among: the study has none'
expect 3 "${two[@]}" --along /cluster/link/latency=1Gbps..10Gbps --json new.json && prints_nothing
says '--along: /cluster/link/latency: found "1Gbps" (and 24 more like it); allowed: a time with its unit'
expect 3 "${two[@]}" --along workers=0..8 && says '--along: /cluster/workers: found 0; allowed: an integer from 1'
expect 3 "${two[@]}" --along /cluster/link/bandwith=1Gbps..2Gbps && says 'did you mean "bandwidth"?'
# An error between the grid's values. 8, 64 and 512 are multiples of 8, but the numbers tried between them are not.
expect 3 "${two[@]}" --set '/strategy=[{"kind":"all-reduce","collective":{"algorithm":"ring"}},{"kind":"all-reduce","collective":{"algorithm":"hierarchical","group_size":8}}]' --set /cluster/link/latency=1us --along /cluster/workers=8..512 --grid 3 --json new.json && prints_nothing
says '/strategy/collective/group_size: found 8 with'
says ' or '
cp good.json stdin
two[1]=-
expect 0 "${two[@]}" --along /cluster/link/bandwidth=1Gbps..100Gbps && prints 'compared with strategy all-reduce'
expect 2 "${two[@]}" --along workers=1..8 && says 'from standard input'
# A variant that sets the field itself is the same everywhere; where all do there is nothing to go along.
fixed=(crossover ../good.json --set '/variants=[{"name":"as is","set":{}},{"name":"one","set":{"/cluster/workers":1}}]' --along /cluster/workers=1..8)
expect 0 "${fixed[@]}" && prints 'as is    is the reference              always'
expect 2 crossover ../good.json --set '/variants=[{"name":"as is","set":{}},{"name":"own","set":{"/cluster/workers":[2,4]}}]' --along /cluster/workers=1..8 && says '/cluster/workers: own exists at only 2 of the 8 values'
expect 3 crossover ../good.json --set '/variants=[{"name":"one","set":{"/cluster/workers":1}}]' --along /cluster/workers=1..8 && says '--along: /cluster/workers: found a list of 8, but every variant sets /cluster/workers itself'
# Solve, for one point or many. An impossible request is refused before anything is written.
expect 0 solve ../good.json --along /cluster/link/bandwidth=1Gbps..100Gbps --for efficiency=0.9 && prints 'reached: efficiency at least 90 %'
expect 0 solve ../good.json --along workers=2..64:x2 --for step --csv - && prints 'holds,workers_from,workers_to,step_time_s_at_from,step_time_s_at_to'
expect 0 solve ../good.json --along workers=1..2 --evaluator replay && prints 'throughput by the replay'
expect 2 solve ../good.json --along workers=2..60:x2 --csv new.csv && prints_nothing
says 'no step reaches the last end; the nearest steps reach 32 and 64'
expect 2 solve ../good.json --along workers=1..8 --for eficiency=0.9 && says 'did you mean efficiency?'
expect 2 solve ../good.json --along workers=1..8 --for efficiency=95 && says 'did you mean 0.95?'
expect 2 solve ../good.json --along workers=1..8 --for efficiency=90% && says 'write 0.9'
expect 2 solve ../good.json --along workers=1..8 --for run=1h --json new.json && prints_nothing
says 'run: no point of the study has it; they have step, throughput, speedup, efficiency'
expect 0 "${fixed[@]/crossover/solve}" && prints 'note: 1 point is left out, whose variant sets workers itself'
expect 3 solve ../good.json --set '/cluster/topology={"kind":"nodes","gpus_per_node":8,"inner":{"bandwidth":"300GB/s","latency":"2us"}}' --along /cluster/workers=8..16 && says 'go in steps that lead to possible ones: FROM..TO:STEP or FROM..TO:xFACTOR'
# The note on 40 GB, 93.1 % of an A100's 40 GiB, says at which batch they are needed. Batches that are only tried have
# no note.
printf '%s' '{"name": "mem", "workload": {"from": "resnet50", "profile": "a100-datasheet"}, "cluster": {"workers": 4, "link": {"bandwidth": "100Gbps", "latency": "5us"}}}' >mem.json
expect 0 solve ../mem.json --along /workload/batch=16..512 --for memory=40GB
grep -q '^note: batch [0-9]*: 9[23][0-9.]* % of the device.s memory' stdout && ! grep -q '^note: [0-9.]* % of the device\|is more than the' stdout || fail 'a note of memory of no answer, or without its value'
# Errors in points that are not asked for do not matter.
printf '%s' "${good/\[1, 4\]/[1, 0, 4]}" >three.json
expect 3 run ../three.json && says 'found 0'
expect 0 run ../three.json --point workers=4 && [[ ! -s stderr ]] || fail 'something about other points'
expect 3 run ../three.json --point workers=4 --set /cluster/link/latency=2h && says '1 fault in' && says '--set: /cluster/link/latency: found "2h"; allowed: a time from 0 to 3600 s'
cp three.json stdin
expect 0 run - --point workers=4 && [[ ! -s stderr ]] || fail 'something about other points of standard input'
: >stdin
expect 2 run ../three.json --point workers=4 --point workers=5 && says '"5" is no value of workers; it has 1; 0; 4'
# 1000 numbers of workers, 1001 latencies: more points than a study may have, of which one is asked for.
python3 -c '
import json
study = json.load(open("good.json"))
study["cluster"]["workers"] = list(range(1, 1001))
study["cluster"]["link"]["latency"] = [f"{n}us" for n in range(1001)]
json.dump(study, open("large.json", "w"))
'
expect 3 run ../large.json && says 'at most 1000000 points'
expect 0 run ../large.json --point workers=4 --point latency=7us && prints '7us'
# Pointers of 1,700 levels, and a share that is no number.
deep=$(printf '/a%.0s' {1..1700})
expect 3 run ../good.json --set "$deep=1" && says 'found a pointer of 1700 levels; allowed: at most 32 levels'
expect 3 crossover ../good.json --along "$deep=1..2" && says 'a pointer of 1700 levels'
expect 3 solve ../good.json --along "$deep=1..2" && says 'a pointer of 1700 levels'
expect 3 fit hkbu-10gbe --constant "$deep=1.5..2" && says 'a pointer of 1700 levels'
expect 2 solve ../good.json --along /cluster/link/latency=1us..2us --within nan && says '"nan" is not a number from 1e-6 to 0.999'
# A change that --set cannot make is reported, not lost.
for set in /strategy/kind=nonsense /strategy/bogus=1; do
  expect 3 run "$scenarios/quickstart.json" --no-plot --set $set && prints_nothing
  says 'over fields of variant "AllReduce, overlapped buckets"'
done
# No strategy is called so, whichever variant it is laid over; which fields there are hangs on the variant.
expect 3 run "$scenarios/quickstart.json" --no-plot --set /strategy/kind=nonsense && says '1 fault in the scenario'
says 'over fields of variant "AllReduce, overlapped buckets", the first of 3)'
expect 3 run "$scenarios/quickstart.json" --no-plot --set /strategy/bogus=1 && says '3 faults in the scenario'
expect 3 run "$scenarios/topologies.json" --set '/cluster/topology={"kind":"star"}' && prints_nothing
says 'every variant sets /cluster/topology itself'
variants='[{"name":"a","set":{}},{"name":"b","set":{"/cluster/link/latency":"1us"}}]'
for command in run sweep show; do
  expect 0 $command ../good.json --set "/variants=$variants" --set /cluster/link/latency=5us
  says 'note: --set: /cluster/link/latency has no effect in 1 of 2 variants'
done
# One worker exchanges nothing in no time, by both evaluators.
alone=(--set '/strategy={"kind":"collective","size":"1MB"}' --evaluator both)
expect 0 run ../good.json "${alone[@]}" && says 'differ by at most'
expect 0 sweep ../good.json "${alone[@]}" --fidelity full --tolerance 1e-9 --no-cache
expect 0 --help && prints_something
expect 0 --version && prints_something

# Suites: one worker's throughput is 32 samples over the step's 97 ms, so 330 /s. Its time over that of
# the measured 300 /s is 300/330: 9.1 % too fast.
suite='{"name": "own", "source": "made up", "study": {"workload": "resnet50-v100", "cluster": {"workers": [1, 2], "link": {"bandwidth": "10Gbps"}}},
  "measurements": [{"at": {"workers": 1}, "throughput": 300}], "tolerance": {"largest": LIMIT}}'
printf '%s' "${suite/LIMIT/0.2}" >suite.json
expect 0 validate ../suite.json && prints 'own                1   9.1 %  9.1 %  -9.1 %    -        -   -9.1 %  workers = 1'
expect 0 validate ../suite.json --csv - && prints 'own,workers = 1,throughput,samples/s,300,,'
expect 0 validate ../suite.json --csv errors.csv --json errors.json && leaves 'errors.csv errors.json result.csv result.json'
python3 -c '
import json
document = json.load(open("out/errors.json"))
(suite,) = document["suites"]
(row,) = suite["rows"]
assert set(document["columns"]) == set(row) - {"coordinates"}, row
assert row["coordinates"] == {"workers": 1} and abs(row["error"] - (300 / row["predicted"] - 1)) < 1e-12, row
assert suite["by_workers"][0]["workers"] == 1 and document["summary"]["predictions"] == 1, document
assert suite["summary"]["predictions"] == 1 and suite["unmeasured_points"] == 1 and len(suite["manifest"]["points"]) == 2, suite
' || fail 'the document of a validation'
rm -f out/errors.*
# With twice the time of a step without exchange, the throughput is half: 32/(2·97 ms) = 165 /s. Its time is
# 300/165 of the measured one: 82 % too slow.
speed='/cluster/groups=[{"count":1,"speed":0.5}]'
expect 4 validate ../suite.json --set "$speed" && prints '81.9 %'
prints "own with --set $speed" && prints "so not the suite's own" || fail 'a headline as if nothing was set'
says "own with --set $speed: the largest |error| is 81.9"
expect 4 validate ../suite.json --set "$speed" --csv - && prints 'own with --set'
expect 0 validate ../suite.json --set '/stack={"backward_slowdown":1.5}' && prints ' -9.1 %'  # alone, nobody exchanges
expect 3 validate ../suite.json --set /cluster/workers=2 && prints_nothing && says '--set: /cluster/workers: found a study without the point of /measurements/0, workers 1'
expect 3 validate ../suite.json --set /stack/hostcost=1ns/B && says '(at /measurements/0, workers 1)' && says 'did you mean "host_cost"?'
expect 2 validate ../suite.json --set workers=2 && says '/json/pointer=value'
cp suite.json stdin
expect 0 show suite - && prints 'shelf: suites'
: >stdin
# fit. All of the 97 ms is computing: 300 /s at 300·97 ms/32 = 0.909 of the speed. One row meets one constant.
groups='/cluster/groups=[{"count": 1}]'
expect 0 fit ../suite.json --constant /cluster/groups/0/speed=0.5..1 --set "$groups" --json fit.json && prints 'fitted to 1 of 1 rows of own'
prints '/cluster/groups/0/speed = 0.909' && prints 'no row is left to tell how well' && prints 'to use it: --set /cluster/groups/0/speed=0.909'
python3 -c '
import json
fit = json.load(open("out/fit.json"))
(constant,) = fit["constants"]
assert (fit["trained"], fit["spread"], constant["low"], constant["from"], constant["to"]) == (1, 0, None, 0.5, 1), fit
assert abs(constant["value"] - 300 * 0.097 / 32) < 1e-3, fit
assert [one["name"] for one in fit["errors"]] == ["trained, before", "trained, fitted"] and fit["errors"][1]["median_absolute_error"] < 1e-3, fit
' || fail 'the figures of a fit'
rm out/fit.json
expect 2 fit ../suite.json --constant /workload/batch=20001..20005 && says 'takes values in steps'
expect 2 fit ../suite.json --constant /cluster/link/latency=1us..1ms && says 'the trained rows move by 0 %'  # alone, nobody sends anything
expect 2 fit ../suite.json --constant /stack/host_cost=0ns/B..1ns/B --constant /stack/host_cost=0ns/B..2ns/B && says '/stack/host_cost twice'
expect 2 fit ../suite.json --set "$groups" --constant /cluster/groups/0/speed=0.5..1 --constant /stack/host_cost=0ns/B..1ns/B && says '2 constants from 1 trained row'
expect 2 fit ../suite.json --constant /stack/host_cost=1ns/B && says '--constant: "1ns/B"'
expect 2 fit ../suite.json --constant workers=1..2 && says 'is not /json/pointer=FROM..TO'
expect 2 fit ../suite.json --constant /stack/host_cost=0ns/B..1ns/B --set /evaluation/evaluator=replay && says 'forecast by the replay'
expect 2 fit ../suite.json --constant /stack/host_cost=0ns/B..1ns/B --train colour=1 && says 'no suite has the axis "colour"'
expect 2 fit ../suite.json --constant /stack/host_cost=0ns/B..1ns/B --train workers=3 && says 'no row has the value "3"'
expect 2 fit ../suite.json --constant /stack/host_cost=0ns/B..1ns/B --train workers!=1 && says 'no row is left'
expect 2 fit ../suite.json --constant /stack/host_cost=0ns/B..1ns/B --write - && says '- is no file'
expect 2 fit ../suite.json --constant /workload/update=1us..1ms --write part.json && says '--write: writes a stack or a cluster'
# 8 workers fill nodes of 1, 2, 4 and 8; no bandwidth makes nodes of 3 possible.
nodes='/cluster/topology={"kind":"nodes","gpus_per_node":8,"inner":{"bandwidth":"300GB/s","latency":"2us"}}'
sed 's/\[1, 2\]/[8, 16]/; s/"workers": 1/"workers": 8/; s/300/2000/; s/0.2/9/' suite.json >eight.json
expect 0 fit ../eight.json --set "$nodes" --constant /cluster/topology/inner/bandwidth=1GB/s..300GB/s --write cluster.json && prints 'wrote the cluster cluster.json'
expect 0 show cluster.json && prints 'cluster'
rm -f out/cluster.json
# Gloo on two links, one of which is left out in turn. The file can be used.
gloo='variant=Gloo all-reduce, unshaped,Gloo all-reduce, 5 Gb/s, 1 ms'
expect 0 fit allreduce-shaped --constant /stack/host_cost=0ns/B..1.5ns/B --train "$gloo" --leave-out variant --write gloo.json
prints 'host_cost = 781.6 ps/B (95 %: 740.1 ps/B to 823.1 ps/B)' && prints 'without Gloo all-reduce, unshaped: /stack/host_cost=751.1ps/B' && prints 'left to test, fitted'
expect 0 run ../good.json --stack gloo.json && prints 'stack gloo: host_cost fitted'
rm out/gloo.json
expect 2 fit allreduce-shaped --constant /stack/host_cost=0ns/B..1.5ns/B --train "variant=Gloo all-reduce, unshaped" --leave-out variant && says 'nothing is left to train without it'
printf '%s' "${suite/LIMIT/0.05}" >suite.json
expect 4 validate ../suite.json && prints '-9.1 %'
says 'own: the largest |error| is 9.'
printf '%s' "${suite/LIMIT/0.05}" | sed 's/throughput/thruput/' >suite.json
expect 3 validate ../suite.json --csv errors.csv && prints_nothing && leaves 'result.csv result.json'
says '../suite.json: /measurements/0/thruput: found an unknown key'
expect 3 validate hkbu-10gb && prints_nothing
says 'did you mean hkbu-10gbe?'
STEPCAST_SCENARIOS=$work/out expect 2 validate && prints_nothing
says "there are no suites in $work/out/validation"
expect 0 list suites && prints 'hkbu-10gbe'
expect 0 schema suite && prints '"title": "stepcast suite"'

# Bad scenarios: every fault on stderr, nothing on stdout, no file touched.
rm -f out/*
printf 'as it was\n' >out/result.csv
touch -d '2001-02-03 04:05:06' out/result.csv
for command in run show; do
  outputs=(--json new.json)
  [[ $command == show ]] || outputs+=(--csv result.csv --plot new.png)
  expect 3 $command ../bad.json "${outputs[@]}" && prints_nothing && leaves result.csv
  says '4 faults'
  says '../bad.json: /workload: found the unknown workload "resnet50-v10"'
  says 'did you mean "resnet50-v100"?'
  says '../bad.json: /cluster/workers: found 0; allowed: an integer from 1'
  says '../bad.json: /cluster/link/bandwidth: found "10G"'
  says '../bad.json: /colour: found an unknown key'
  expect 3 $command ../truncated.json "${outputs[@]}" && prints_nothing && leaves result.csv
  says '../truncated.json: line 1, column 16: found malformed JSON'
  expect 3 $command ../nowhere.json "${outputs[@]}" && prints_nothing && leaves result.csv
  says 'no such file'
  expect 3 $command ../good.json --set /cluster/workers=0 "${outputs[@]}" && prints_nothing && leaves result.csv
  says '--set: /cluster/workers: found 0'
done
[[ $(cat out/result.csv) == 'as it was' && $(date -r out/result.csv +%Y) == 2001 ]] || fail 'touched result.csv'
cp bad.json stdin
expect 3 run - && prints_nothing
says 'standard input: /cluster/workers'
: >stdin
expect 3 run - && prints_nothing
says 'standard input: line 1, column 1: found malformed JSON'
expect 3 run . && prints_nothing
says 'a folder'

# A scenario told by options is the scenario of the file that --save writes, which has its schema.
told=(--workload resnet50-v100 --workers "1,4" --link 10Gbps --latency 25us)
expect 0 run ../good.json --csv file.csv
expect 0 run "${told[@]}" --csv told.csv --save saved.json
expect 0 run saved.json --csv saved.csv
cmp out/told.csv out/file.csv || fail 'differs from the file of the same content'
cmp out/told.csv out/saved.csv || fail 'differs from the file that it saved'
grep -q "\"\$schema\": \"$scenarios/scenario.schema.json\"" out/saved.json || fail 'saved no schema'
expect 0 explain --workload resnet50-v100 --workers 4 --link 10Gbps && prints 'link bandwidth 20 Gb/s'
expect 0 run ../good.json --workers 8 && prints "8  "
expect 0 run "${told[@]}" --strategy all-reduce,pipelined && prints 'pipelined'
expect 0 run "${told[@]:0:4}" --link '["1Gbps","10Gbps"]' && prints '1Gbps'
expect 2 run && prints_nothing
says 'scenario: none is given; name a file, or tell one: --workload'
expect 2 run ../good.json --save saved.json && prints_nothing
says '--save: ../good.json is a file already; `stepcast show ../good.json --full --set ...` writes it with changes'
expect 2 run --workload resnet50-v100 --workers 1, && prints_nothing
says '--workers: an empty value; give N,...'
expect 3 run --workload resnet50-v10 --workers 4 --link 10Gbps && prints_nothing
says '--workload: /workload: found the unknown workload "resnet50-v10"'
rm out/file.csv out/told.csv out/saved.csv out/saved.json

# A measured step: each --set that explains it leads to it.
expect 0 run ../good.json --point workers=4 --measured 180ms --json measured.json
prints 'measured 180 ms, forecast 156.7 ms: 12.9 % too fast'  # 156.7/180 - 1
grep '  --set' "$work/stdout" | grep -v ' ms  ' | grep -o -- '--set .*' >"$work/sets"
[[ $(wc -l <"$work/sets") == 4 ]] || fail 'not four fields that explain it'
while read -r option value; do
  (cd out && "$program" run ../good.json --point workers=4 "$option" "$value" --csv one.csv >/dev/null 2>&1)
  python3 -c 'import csv; step = float(next(csv.DictReader(open("out/one.csv")))["step_time_s"]); assert abs(step / 0.18 - 1) < 0.002, step' ||
    fail "$value does not lead to the measured step"
done <"$work/sets"
grep -q '"measured": {' out/measured.json || fail 'JSON has it not'
expect 0 run ../good.json --point workers=4 --measured 100ms && prints 'no value of these explains it: another latency'
expect 2 run ../good.json --measured 180ms && says 'choose by axis (workers)'
expect 2 run ../good.json --point workers=4 --measured 180 && says '--measured: '
expect 2 run ../good.json --point workers=4 --measured 0s && says '--measured: 0s is not above zero'
rm out/measured.json out/one.csv

# A profiler's trace becomes a workload.
trace=$here/../data/traces/torch-2.15-cpu.json
expect 3 import ../good.json --batch 8
[[ ! -e out/workloads ]] || fail 'left a folder for a trace that it cannot read'
expect 0 import "$trace" --batch 8 --name traced && prints_nothing
says 'on CPU: forward ' && says 'the trace has no GPU kernels' && says 'wrote workloads/traced.json'
expect 0 run --workload traced --workers 2,8 --link 1Gbps --latency 25us && prints 'speedup is against'
expect 2 import "$trace" && says '--batch is required'
expect 3 import ../good.json --batch 8 && says 'good.json: (whole document): found no "traceEvents"' && says 'record_shapes=True'
expect 3 import nowhere.json --batch 8 && says 'no such file'
# Traces are larger than scenarios: 33 MiB are read, where a scenario has at most 32.
python3 - "$trace" 33 >large.json <<'END_OF_PYTHON'
import json, sys
trace = json.load(open(sys.argv[1]))
trace["pad"] = " " * (int(sys.argv[2]) << 20)
json.dump(trace, sys.stdout)
END_OF_PYTHON
expect 0 import ../large.json --batch 8 --name large
expect 3 run ../large.json && says 'at most 32 MiB'
rm -r out/workloads large.json

# Unmeasured kernels of compressors: the answer at both ends, unless the study sets how slow they are.
compressors=(--workload resnet50 --gpu v100-datasheet --workers 16 --link "1Gbps,10Gbps" --latency 25us --compressor "none,top-k,powersgd")
expect 0 run "${compressors[@]}" && prints "with compressors' kernels 20 times as slow, as composed of a framework's operations: "
expect 0 run "${compressors[@]}" --best 1 && prints "with compressors' kernels 20 times as slow"
expect 0 run "${compressors[@]}" --set '/codec/slowdown=2' && ! grep -q '20 times as long, as' "$work/stdout" || fail 'a second end of a study that sets it'
expect 0 crossover "${compressors[@]:0:6}" --link 10Gbps --compressor none,top-k --along /cluster/link/bandwidth=1Gbps..10Gbps
prints "with compressors' kernels 20 times as slow"

# Layer times of another GPU, and NICs behind --link.
expect 0 run --workload resnet50-v100 --cluster dgx-h100 --link 10Gbps && prints 'note: times of resnet50-v100 are those of its table'
says '--link is each NIC'"'"'s: a machine of 8 workers has 8 NICs of 10 Gb/s; --set nics=1 for one'
expect 0 run --workload resnet50-v100 --cluster dgx-1-v100 && ! grep -q 'those of its table' "$work/stdout" || fail 'a note of the same GPU'
expect 0 run --workload bert-base --cluster dgx-h100 --dtype bf16 && prints 'dtype bf16 alone is mixed precision'

# A group of GPUs is one worker: the same step, a quarter of the model FLOPs utilization, memory of four GPUs.
group='{"name": "group", "workload": {"from": "bert-large", "profile": "a100-datasheet", "batch": 256,
  "measured": {"forward": "1s", "backward": "2.5s", "batch": 256, "dtype": "fp32", "profile": "a100-datasheet"}},
  "cluster": {"workers": 8, "gpus_per_worker": 1, "link": {"bandwidth": "100Gbps", "latency": "5us"}}}'
printf '%s' "$group" >group.json
expect 0 run ../group.json --json one.json
expect 0 run ../group.json --set gpus_per_worker=4 --json four.json && prints 'note: a worker is 4 GPUs'
python3 -c '
import json
one, four = (json.load(open(f"out/{n}.json"))["points"][0] for n in ("one", "four"))
assert one["step_time_s"] == four["step_time_s"] and abs(one["mfu"] / four["mfu"] - 4) < 1e-9, (one, four)
assert one["lacks_memory"] and not four["lacks_memory"], (one["memory_per_worker_B"], four["memory_per_worker_B"])
' || fail 'a group of GPUs'
expect 3 run ../group.json --set gpus_per_worker=4 --set /workload/measured=null && says "found 4, and layer times that follow from one GPU's profile"
expect 3 run ../group.json --set /cluster/tp=4 && says '"gpus_per_worker" in the cluster'
rm group.json out/one.json out/four.json

# A file to start from runs as it is, and never replaces another.
for kind in ddp compress servers pipeline llm own-model; do
  expect 0 new $kind && prints_nothing
  says "wrote $kind.json; next: stepcast run $kind.json"
  expect 0 run $kind.json && prints_something
  grep -q "$scenarios/scenario.schema.json" out/$kind.json || fail 'has no schema'
done
expect 2 new ddp && prints_nothing
says 'ddp.json exists and stays as it is; give another path with -o'
expect 0 new ddp -o - && cmp "$work/stdout" out/ddp.json
expect 2 new all-reduce && prints_nothing
rm out/{ddp,compress,servers,pipeline,llm,own-model}.json

# Usage.
expect 2 && prints_nothing
expect 2 run && prints_nothing
expect 2 predict && prints_nothing
says 'there are new, import, run, sweep, report, merge, explain, crossover, solve, validate, fit, trace, list, show, schema'
expect 2 run ../good.json --no-such-option && prints_nothing
expect 2 run ../good.json --jobs 0 && prints_nothing
expect 2 run ../good.json --jobs many && prints_nothing
expect 2 run ../good.json --evaluator simulate && prints_nothing
expect 2 run ../good.json --set && prints_nothing
expect 2 run ../good.json --set cluster.workers=4 && prints_nothing
says 'give a JSON pointer, such as /cluster/link/bandwidth'
expect 2 run ../good.json ../bad.json && prints_nothing
expect 2 schema network && prints_nothing
leaves result.csv

if ((failures)); then exit 1; fi
echo 'all as it should be'
