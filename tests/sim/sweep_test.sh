#!/usr/bin/env bash
# sweep_test.sh PROGRAM [MPIRUN]: sweep and merge as a user meets them. The same bytes however the work is divided,
# nothing lost or doubled when killed, and each scenario replayed once.
set -uo pipefail
program=$1 mpirun=${2-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export XDG_CACHE_HOME=$work/cache
failures=0

fail() {
  printf 'FAILED: %s: %s\n' "$what" "$1"
  sed 's/^/    stderr: /' stderr
  failures=$((failures + 1))
}
# expect CODE ARGUMENTS...
expect() {
  local code=$1 got
  shift
  what="stepcast $*"
  "$program" "$@" <stdin >stdout 2>stderr
  got=$?
  [[ $got == "$code" ]] || fail "exit code $got instead of $code"
}
says() { grep -qF -- "$1" stderr || fail "stderr does not say: $1"; }
same() { cmp -s "$1" "$2" || fail "$1 and $2 differ"; }
absent() { [[ ! -e $1 ]] || fail "left $1"; }
forget() { rm -rf cache; }
: >stdin

# 2 x 3 x 2 points. Both evaluators, so every point is replayed; p <= 8 keeps it short.
study='{"name": "study", "workload": "resnet50-v100",
  "cluster": {"workers": [2, 4, 8], "link": {"bandwidth": ["10Gbps", "25Gbps"], "latency": "25us"}},
  "strategy": {"kind": "all-reduce", "collective": {"algorithm": "ring"}, "exchange": {"grouping": ["whole-model", "bucketed"]}},
  "evaluation": {"evaluator": "both"}}'
printf '%s' "$study" >study.json

# sweep writes the same as run, and a last column for errors.
expect 0 run study.json --csv run.csv
expect 0 sweep study.json --jobs 1 --csv one.csv --jsonl one.jsonl
says '12 points; 12 replays: 0 from the cache, 12 computed'
says 'replay and equations differ by at most'
what='columns of run and sweep'
same run.csv one.csv
expect 0 run study.json --wide --csv run.csv
expect 0 sweep study.json --wide --jobs 1 --csv wide.csv
same run.csv <(sed '1s/,error$//; 1!s/,$//' wide.csv)
[[ $(wc -l <one.csv) == 13 && $(wc -l <one.jsonl) == 12 ]] || fail 'not one row a point'
python3 - <<'EOF' || fail 'CSV and JSON lines do not say the same'
import csv, json
table = list(csv.DictReader(open("one.csv")))
lines = [json.loads(line) for line in open("one.jsonl")]
assert len(table) == len(lines) == 12
for row, line in zip(table, lines):
    assert [name for name in line if name in row] == list(row)
    for name, value in line.items():
        text = row.get(name, "")
        if value is None: assert text == "", name
        elif isinstance(value, list): assert text == "; ".join(value), name
        elif isinstance(value, bool): assert text == str(value).lower(), name
        elif isinstance(value, float): assert float(text) == value, name
        else: assert text == str(value), name
EOF

# The same bytes from the cache, from several processes, without a cache, and on standard output.
expect 0 sweep study.json --jobs 1 --csv again.csv && same one.csv again.csv
says '12 replays: 12 from the cache, 0 computed'
forget
expect 0 sweep study.json --jobs 4 --csv four.csv --jsonl four.jsonl && same one.csv four.csv && same one.jsonl four.jsonl
expect 0 sweep study.json --jobs 4 --no-cache && same one.csv stdout
says '12 replays: 0 from the cache, 12 computed'
expect 0 sweep study.json --cache own.sqlite --csv own.csv
says '12 replays: 0 from the cache, 12 computed'
expect 0 sweep study.json --cache own.sqlite --csv own.csv && same one.csv own.csv
says '12 replays: 12 from the cache, 0 computed'
# An answer that was altered by hand is reported, not passed on.
python3 - own.sqlite <<'EOF'
import sqlite3, sys
database = sqlite3.connect(sys.argv[1])
database.execute("UPDATE answers SET forecast = replace(forecast, '1', '2')")
database.commit()
EOF
expect 1 sweep study.json --cache own.sqlite --csv altered.csv && absent altered.csv
says 'own.sqlite holds an answer that was altered'
rm own.sqlite

# A wider study computes only new points: 1 worker count more, times 2 bandwidths and 2 groupings.
expect 0 sweep study.json --set '/cluster/workers=[2,3,4,8]' --csv wide.csv
says '16 replays: 12 from the cache, 4 computed'
# Fields that only show or judge an answer make no new question; fields that change the answer do.
expect 0 sweep study.json --set /name=other --set /description=text --set /evaluation/tolerance=0.5 --evaluator replay
says '12 replays: 12 from the cache, 0 computed'
expect 0 sweep study.json --set /cluster/reduction_cost=1ns/B
says '12 replays: 0 from the cache, 12 computed'
# Points that are the same question, and baselines that are points: 2 names of one thing, and p = 2 as baseline.
forget
expect 0 sweep study.json --set '/variants=[{"name":"a","set":{}},{"name":"b","set":{"/cluster/name":""}}]' --set '/baseline={"name":"two","set":{"/cluster/workers":2}}'
says '24 points; 12 replays: 0 from the cache, 12 computed'

# Equations alone: no cache, no process, the same bytes from several.
expect 0 sweep study.json --evaluator equations --jobs 1 --csv eq1.csv
says '12 points by equations'
expect 0 sweep study.json --evaluator equations --jobs 3 --csv eq3.csv && same eq1.csv eq3.csv
expect 0 sweep study.json --set '/evaluation/evaluator=["equations","replay"]' --jobs 1 --csv mixed1.csv
says '24 points, 12 by equations alone; 12 replays'
expect 0 sweep study.json --set '/evaluation/evaluator=["equations","replay"]' --jobs 4 --csv mixed4.csv && same mixed1.csv mixed4.csv
# More points than a block holds, in an order of their own.
many=(--evaluator equations --set "/cluster/workers=[$(seq -s, 2 301)]" --set '/cluster/link/latency=["1us","2us"]')
expect 0 sweep study.json "${many[@]}" --jobs 1 --csv many1.csv
expect 0 sweep study.json "${many[@]}" --jobs 3 --csv many3.csv && same many1.csv many3.csv
[[ $(wc -l <many1.csv) == 2401 ]] || fail 'not 300 x 2 x 2 x 2 rows'

# Shards.
for i in 0 1 2 3 4; do expect 0 sweep study.json --shard $i/5 --jobs 1; done
what='stepcast merge'
expect 0 merge study.shard-3-of-5.jsonl study.shard-{0,1,2,4}-of-5.jsonl --csv merged.csv --jsonl merged.jsonl && same one.csv merged.csv && same one.jsonl merged.jsonl
expect 0 merge study.shard-*-of-5.jsonl && same one.csv stdout
# An axis alone whose name a column has, too.
printf '%s' '{"name": "narrow", "workload": "resnet50-v100", "cluster": {"workers": [2, 4], "link": {"bandwidth": "10Gbps", "latency": "25us"}}}' >narrow.json
expect 0 sweep narrow.json --csv narrow.csv
expect 0 sweep narrow.json --shard 0/1
expect 0 merge narrow.shard-0-of-1.jsonl && same narrow.csv stdout
expect 3 merge study.shard-{0,1,3,4}-of-5.jsonl --csv bad.csv && absent bad.csv
says 'these are missing: 2'
expect 3 merge study.shard-{0,1,2,3,4}-of-5.jsonl study.shard-2-of-5.jsonl --csv bad.csv && absent bad.csv
says 'are both shard 2/5'
expect 0 sweep study.json --set /cluster/workers=2 --shard 2/5 --shard-file foreign.jsonl
expect 3 merge study.shard-{0,1,3,4}-of-5.jsonl foreign.jsonl --csv bad.csv && absent bad.csv
says 'different studies'
sed '1s/"program":"/&other /' study.shard-2-of-5.jsonl >program.jsonl
expect 3 merge study.shard-{0,1,3,4}-of-5.jsonl program.jsonl --csv bad.csv && absent bad.csv
says 'different programs'
head -n -1 study.shard-2-of-5.jsonl >short.jsonl
expect 3 merge study.shard-{0,1,3,4}-of-5.jsonl short.jsonl --csv bad.csv && absent bad.csv
says 'short.jsonl ends before point 10'  # shard 2 of 5 has the points 2, 6 and 10
python3 - study.shard-2-of-5.jsonl >altered.jsonl <<'EOF'
import json, sys
header, row, *rest = open(sys.argv[1])
columns = json.loads(header)["columns"]
number, cells = json.loads(row)
cells[columns.index("step_time_s")] = "fast"
print(header, json.dumps([number, cells]), "\n", *rest, sep="", end="")
EOF
expect 3 merge study.shard-{0,1,3,4}-of-5.jsonl altered.jsonl --csv bad.csv && absent bad.csv
says 'has "fast" as step_time_s of point 2'
sed '3s/^\[6/[8/' study.shard-2-of-5.jsonl >doubled.jsonl
expect 3 merge study.shard-{0,1,3,4}-of-5.jsonl doubled.jsonl --csv bad.csv && absent bad.csv
says 'has point 8 in place of point 6'
tail -n 1 study.shard-2-of-5.jsonl >>study.shard-2-of-5.jsonl
expect 3 merge study.shard-*-of-5.jsonl --csv bad.csv && absent bad.csv
says 'has more rows than it should'
expect 3 merge study.json --csv bad.csv && absent bad.csv
expect 0 sweep study.json --set /cluster/workers=2 --set /strategy/exchange/grouping=bucketed --shard 6/7  # more shards than points
[[ $(wc -l <study.shard-6-of-7.jsonl) == 1 ]] || fail 'an empty shard has rows'

# Equations that take long (20 points a second) are interrupted between two points, and nothing of them is kept.
python3 -c '
import json
print(json.dumps({"name": "equations", "cluster": {"workers": 512, "link": {"bandwidth": "10Gbps", "latency": [f"{i}us" for i in range(1, 2001)]}, "topology": {"kind": "torus", "dimensions": [8, 8, 8]}},
                  "strategy": {"kind": "collective", "operation": "all-to-all", "size": "64MiB"}}))' >equations.json
for jobs in 1 2; do
  what="sweep of equations, interrupted, --jobs $jobs"
  timeout --signal=INT --kill-after=20 2 "$program" sweep equations.json --jobs $jobs --csv equations.csv <stdin 2>stderr
  got=$?
  [[ $got == 124 ]] || fail "exit code $got"
  says 'begins anew'
  absent equations.csv
done
# A list is read in time that grows with its length: four times as many values in less than eight times the time.
axis='import json, sys
print(json.dumps({"name": "axis", "workload": "resnet50-v100", "cluster": {"workers": 4, "link": {"bandwidth": [f"{i}Mbps" for i in range(1000, 1000 + int(sys.argv[1]))], "latency": "25us"}}}))'
seconds() { sed -n 's/.* by equations; \([0-9.]*\) s,.*/\1/p' stderr; }
python3 -c "$axis" 4000 >axis.json && expect 0 sweep axis.json --jobs 1 --csv axis.csv && short=$(seconds)
python3 -c "$axis" 16000 >axis.json && expect 0 sweep axis.json --jobs 1 --csv axis.csv && long=$(seconds)
python3 -c "import sys; sys.exit(not $long < 8 * max($short, 0.1))" || fail "4000 values took $short s, 16000 $long s"

# After a kill, there is no output, the cache keeps the finished points, and the same command continues.
forget
slow='{"name": "slow", "workload": "resnet50-v100",
  "cluster": {"workers": [16, 20, 24, 32], "link": {"bandwidth": ["10Gbps", "20Gbps", "30Gbps", "40Gbps"], "latency": ["5us", "25us"]}},
  "strategy": {"kind": "all-reduce", "collective": {"algorithm": "ring"}, "exchange": {"grouping": "bucketed"}}, "evaluation": {"fidelity": "full", "evaluator": "replay"}}'
printf '%s' "$slow" >slow.json
expect 0 sweep slow.json --jobs 2 --no-cache --csv whole.csv
for signal in KILL INT TERM; do
  what="sweep ended by $signal"
  forget
  rm -f cut.csv
  "$program" sweep slow.json --jobs 2 --csv cut.csv <stdin 2>stderr &
  sweep=$!
  # Each answer adds a page or two of 4 KiB to the database's log: by 40 KiB some are in, and far from all.
  until [[ $(stat -c %s cache/stepcast/answers-3.sqlite-wal 2>/dev/null || echo 0) -gt 40000 ]] || ! kill -0 $sweep 2>/dev/null; do sleep 0.05; done
  children=$(cat /proc/$sweep/task/$sweep/children 2>/dev/null)
  kill -$signal $sweep || fail 'was too fast to be killed'
  wait $sweep 2>/dev/null
  got=$?
  [[ $got == $((128 + $(kill -l $signal))) ]] || fail "exit code $got"
  absent cut.csv
  sleep 0.2
  for child in $children; do
    [[ ! -e /proc/$child ]] || grep -qE '^State:\s+Z' /proc/$child/status || fail "its process $child lives on"
  done
  [[ $signal == KILL ]] || says 'the same command continues from there'
  expect 0 sweep slow.json --jobs 2 --csv cut.csv && same whole.csv cut.csv
  absent cut.csv.partial
  cached=$(sed -n 's/.*32 replays: \([0-9]*\) from the cache, \([0-9]*\) computed.*/\1 \2/p' stderr)
  read -r found computed <<<"$cached"
  ((found > 0 && computed > 0 && found + computed == 32)) || fail "not partly from the cache: $cached"
done

# One point that fails does not stop the others: messages beyond what replay can count.
cat >failing.json <<'EOF'
{"name": "failing", "cluster": {"workers": [2, 4], "link": {"bandwidth": "10Gbps", "latency": "25us"}},
  "strategy": {"kind": "collective", "operation": "all-reduce", "collective": {"algorithm": "ring"}, "size": ["1MB", "100TB"]}, "evaluation": {"evaluator": "both"}}
EOF
expect 1 sweep failing.json --wide --jobs 1 --csv failing.csv --jsonl failing.jsonl
says 'failing.json: point 2 of 4, /cluster/workers = 2, /strategy/size = 100TB failed: a message of 5e+13 bytes is more than replay can count'
says 'failing.json: point 4 of 4, /cluster/workers = 4, /strategy/size = 100TB failed: a message of 2.5e+13 bytes is more than replay can count'
says '4 replays: 0 from the cache, 2 computed; 2 points failed'
[[ $(wc -l <failing.csv) == 5 && $(grep -c '^[24],100TB,100000000000000,,,.*more than replay can count' failing.csv) == 2 ]] || fail 'the rows do not say so'
# Nor in `run`: its tables, CSV and JSON have all four points, and say why two have no answer.
cp failing.csv swept.csv
expect 1 run failing.json --wide --csv ran.csv --json ran.json
says 'failing.json: point 2 of 4, /cluster/workers = 2, /strategy/size = 100TB failed: a message of 5e+13 bytes is more than replay can count'
says 'replay and equations differ by at most'
[[ $(grep -c '^[24] *1MB .* ring' stdout) == 2 && $(grep -c '^[24] *100TB  *- .*more than replay can count' stdout) == 2 ]] || fail 'the table does not say so'
same ran.csv swept.csv
python3 - <<'EOF' || fail 'the JSON does not say so'
import json
points = json.load(open("ran.json"))["points"]
assert [point["error"] is None for point in points] == [True, False, True, False], points
assert [point["step_time_s"] is None for point in points] == [False, True, False, True], points
EOF
expect 1 run failing.json --best 1
[[ $(grep -c 'more than replay can count' stdout) == 2 && $(grep -c '^[24] *1MB' stdout) == 1 ]] || fail 'the ranking does not say so'
# The equations fail for some points, or nothing has an answer.
expect 1 run failing.json --set /strategy/size=100TB --set /cluster/workers=2
[[ $(cat stdout) == *'more than replay can count'* ]] || fail 'the only row does not say so'
# A fault of the study itself is reported at once, before anything is answered.
expect 3 run failing.json --set '/cluster/workers=[2, 0, 4]' --csv none.csv
absent none.csv
cp failing.csv failing1.csv
expect 1 sweep failing.json --wide --jobs 3 --csv failing.csv && same failing1.csv failing.csv
expect 1 sweep failing.json --shard 0/1 --shard-file failing.shard
expect 1 merge failing.shard --wide --csv merged.csv && same failing.csv merged.csv
says '2 failed'
expect 1 sweep failing.json --set /strategy/size=1MB --set '/baseline={"name":"big","set":{"/strategy/size":"100TB"}}' --csv failing.csv
says 'failed: its baseline: a message of'
forget
expect 1 sweep failing.json --csv failing.csv
says '0 from the cache, 2 computed'
expect 1 sweep failing.json --csv failing.csv
says '2 from the cache, 0 computed; 2 points failed'  # a failure is tried again, not kept
cat >platform.xml <<'EOF'
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="zone" routing="Full">
    <host id="h1" speed="1Gf"/><host id="h2" speed="1Gf"/>
    <link id="l" bandwidth="1GBps" latency="10us"/>
    <route src="h1" dst="h2"><link_ctn id="l"/></route>
  </zone>
</platform>
EOF
printf '%s' "$study" | sed 's/"cluster": {/&"topology": {"kind": "simgrid-xml", "file": "platform.xml"}, /; s/both/replay/; s/\[2, 4, 8\]/[2, 4]/' >small.json
expect 3 sweep small.json --csv small.csv && absent small.csv
says 'small.json: /cluster/topology: found 2 hosts for 4 workers; allowed: a topology with at least that many hosts'
expect 3 sweep small.json --set /cluster/workers=2 --set '/baseline={"name":"four","set":{"/cluster/workers":4}}' --csv small.csv
says 'found 2 hosts for 4 workers'
sed -i '1s/{/{"impossible": "leave-out", /' small.json
expect 0 sweep small.json --csv small.csv
says '0 from the cache, 4 computed'
expect 0 sweep small.json --csv small.csv
says '4 from the cache, 0 computed'
# The exchange takes minutes at 1 MB/s, but the bound there leaves communication out: nothing is marked.
sed 's/1GBps/1MBps/' platform.xml >slow.xml
sed 's/platform.xml/slow.xml/; s/\[2, 4\]/2/' small.json >slow.json
expect 0 run slow.json
! grep -qF '!' stdout || fail 'marks a point on a platform file'
sed -i 's/1GBps/2GBps/' platform.xml
expect 0 sweep small.json --csv small.csv
says '0 from the cache, 4 computed'  # the platform file is part of the question

# The cache is no reason to fail unless it was asked for.
printf 'not a database, and long enough that SQLite looks at it rather than take it for a new one' >text.sqlite
expect 1 sweep study.json --cache text.sqlite --csv bad.csv && absent bad.csv
says 'text.sqlite'
says '--no-cache'
XDG_CACHE_HOME=/dev/null/nowhere expect 0 sweep study.json --csv nocache.csv && same one.csv nocache.csv
says 'going on without a cache'

# Two sweeps into one file.
exec {lock}>taken.csv.partial
flock $lock
expect 1 sweep study.json --csv taken.csv
says 'another process is writing taken.csv.partial'
exec {lock}>&-

# Usage and scenarios.
expect 2 sweep
expect 2 sweep study.json --jobs 0
for shard in 5/5 -1/5 1 1/0 a/b 1/5x; do expect 2 sweep study.json --shard=$shard; done
expect 2 sweep study.json --shard 0/2 --csv bad.csv
expect 2 sweep study.json --csv bad.csv --jsonl bad.csv
expect 2 sweep study.json --cache a --no-cache
expect 3 sweep study.json --set /cluster/workers=0 --csv bad.csv && absent bad.csv && absent bad.csv.partial
expect 0 sweep --help
grep -q 'Example' stdout || fail 'no example'
expect 0 merge --help
grep -q 'Example' stdout || fail 'no example'

# Under MPI.
if [[ -n $mpirun ]]; then
  ranks=("$mpirun" -n 2)
  [[ $("$mpirun" --version 2>&1) != *'Open MPI'* && $("$mpirun" --version 2>&1) != *OpenRTE* ]] || ranks+=(--allow-run-as-root --oversubscribe)
  # expect_ranks CODE ARGUMENTS...
  expect_ranks() {
    local code=$1 got
    shift
    what="mpirun -n 2 stepcast $*"
    # Open MPI leaves some memory to the system at its end, which LeakSanitizer would count as ours.
    ASAN_OPTIONS="${ASAN_OPTIONS-}:detect_leaks=0" "${ranks[@]}" "$program" "$@" <stdin >stdout 2>stderr
    got=$?
    [[ $got == "$code" ]] || fail "exit code $got instead of $code"
  }
  forget
  expect_ranks 0 sweep study.json --jobs 1 --csv mpi.csv --jsonl mpi.jsonl && same one.csv mpi.csv && same one.jsonl mpi.jsonl
  says '12 replays: 0 from the cache, 12 computed'
  expect_ranks 0 sweep study.json --jobs 2 --csv mpi.csv && same one.csv mpi.csv
  says '12 replays: 12 from the cache, 0 computed'
  expect_ranks 0 sweep study.json --set '/evaluation/evaluator=["equations","replay"]' --no-cache --csv mpi.csv && same mixed1.csv mpi.csv
  expect_ranks 0 sweep study.json "${many[@]}" --csv mpi.csv && same many1.csv mpi.csv
  expect_ranks 1 sweep failing.json --wide --csv mpi.csv && same failing1.csv mpi.csv
  expect_ranks 3 sweep study.json --set /cluster/workers=0
  [[ $(grep -c 'fault in the scenario' stderr) == 1 ]] || fail 'not told once'
else
  echo 'not tested: MPI (no mpirun)'
fi

# SimGrid recurses over flows that share links: a replay's process has all the stack that it may have.
printf '%s' '{"name": "torus", "cluster": {"workers": 1728, "link": {"bandwidth": "100Gbps", "latency": "5us"},
  "topology": {"kind": "torus", "dimensions": [12, 12, 12]}}, "evaluation": {"evaluator": "replay"},
  "strategy": {"kind": "collective", "size": "100MiB", "collective": {"algorithm": "halving-doubling"}}}' >torus.json
if (ulimit -S -s 200 && "$program" --version >stdout 2>stderr); then
  (ulimit -S -s 200 && exec "$program" run torus.json --no-plot) >stdout 2>stderr || { what='a replay on a small stack' && fail 'it failed'; }
else
  echo 'not tested: a replay on a small stack (the program itself needs more)'
fi

if ((failures)); then exit 1; fi
echo 'all as it should be'
