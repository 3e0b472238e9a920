#!/usr/bin/env bash
# sweep_bench.sh PROGRAM [JOBS]: points a second of the whole command, including reading the study and writing CSV; the
# best of three. Prints one line of JSON: the required rates (issue "Scale"), and those reached.
#   equations  50,000 points of a whole-model all-reduce on a star, one process      asked: 20,000 points/s a core
#   replay     whole-model and bucketed ResNet-50, p = 2 .. 64, no cache, JOBS (2)   asked: 40 points/s on two cores
#   cached     the same points from the cache
set -euo pipefail
program=$(readlink -f -- "$1") jobs=${2:-2}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
list() { seq -s, "$@"; }
cat >equations.json <<EOF
{"name": "equations", "workload": "resnet50-v100",
  "cluster": {"workers": [$(list 2 2 100)], "link": {"bandwidth": [$(list -f '"%gGbps"' 1 50)], "latency": [$(list -f '"%gus"' 1 20)]}},
  "strategy": {"kind": "all-reduce", "collective": {"algorithm": "ring"}, "exchange": {"grouping": "whole-model"}}}
EOF
cat >replay.json <<'EOF'
{"name": "replay", "workload": "resnet50-v100",
  "cluster": {"workers": [2, 4, 8, 16, 32, 64], "link": {"bandwidth": ["10Gbps", "25Gbps", "100Gbps"], "latency": ["5us", "25us"]}},
  "strategy": {"kind": "all-reduce", "collective": {"algorithm": "ring"}, "exchange": {"grouping": ["whole-model", "bucketed"]}},
  "evaluation": {"evaluator": "replay"}}
EOF
# rate POINTS ARGUMENTS...: points a second, wall clock, and CPU seconds of the best run.
rate() {
  python3 - "$program" "$@" <<'EOF'
import resource, subprocess, sys, time
program, points, arguments = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
best = None
for _ in range(3):
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run([program, "sweep", *arguments], check=True, stderr=subprocess.DEVNULL)
    wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if best is None or wall < best[0]: best = (wall, cpu)
print(f'{{"points": {points}, "wall_s": {best[0]:.3f}, "cpu_s": {best[1]:.3f}, "points_per_s": {points / best[0]:.1f}}}')
EOF
}
equations=$(rate 50000 equations.json --jobs 1 --csv equations.csv)
replay=$(rate 72 replay.json --jobs "$jobs" --no-cache --csv replay.csv)
"$program" sweep replay.json --jobs "$jobs" --cache cache.sqlite --csv cached.csv 2>/dev/null
cached=$(rate 72 replay.json --jobs 1 --cache cache.sqlite --csv cached.csv)
printf '{"equations": %s, "replay": %s, "cached": %s, "jobs": %s}\n' "$equations" "$replay" "$cached" "$jobs"
