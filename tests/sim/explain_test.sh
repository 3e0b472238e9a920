#!/usr/bin/env bash
# explain_test.sh PROGRAM SCENARIOS GOLDEN: what explain prints, against transcripts; and that every change it names, made by
# the --set options that it gives, takes the step time that it says.
set -euo pipefail
program=$1 scenarios=$2 golden=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

source "$(dirname -- "${BASH_SOURCE[0]}")/transcripts.sh"
transcript explain explain-memory "$scenarios/llm.json" --point variant=all-reduce --point nics=1
transcript explain explain-all-reduce "$scenarios/pufferfish-resnet50.json" --set '/variants=[]'
transcript explain explain-pipelined "$scenarios/pipelining.json" --set /strategy/width=2 --set /strategy/segments=4 --set /cluster/link/bandwidth=10Gbps
transcript explain explain-asynchronous "$scenarios/stragglers.json" --point 'variant=parameter server, asynchronous' --set /cluster/jitter='{}' --set /evaluation/runs=1
transcript explain explain-collective "$scenarios/topologies.json" --point variant='racks of 8, 4:1' --point algorithm=ring

"$program" explain "$scenarios/pufferfish-resnet50.json" --set '/variants=[]' --json "$work/explained.json" >/dev/null
python3 - "$program" "$scenarios/pufferfish-resnet50.json" "$work/explained.json" <<'END'
import json, subprocess, sys

program, scenario, explained = sys.argv[1:]
with open(explained) as file:
    answer = json.load(file)
assert abs(sum(answer["critical_cycle"]["causes_s"].values()) / answer["step_time_s"] - 1) < 1e-12, answer["critical_cycle"]
made = [change for change in answer["changes"] if change["refusal"] is None]
assert len(made) > 30, len(made)

def forecast(options):
    run = subprocess.run([program, "run", scenario, "--no-plot", "--evaluator", "equations", "--set", "/variants=[]", "--set", "/run=null", "--set", "/baseline=null", "--json", "-", *options], capture_output=True, text=True)
    assert run.returncode == 0, (options, run.stderr)
    (point,) = json.loads(run.stdout)["points"]
    return point

now = forecast([])
assert now["step_time_s"] == answer["step_time_s"], now
for change in made:
    options = []
    for pointer, value in change["set"].items():
        options += ["--set", f"{pointer}={json.dumps(value)}"]
    point = forecast(options)
    assert point["step_time_s"] == change["step_time_s"], (change, point["step_time_s"])
    assert abs(point["throughput_samples_per_s"] / now["throughput_samples_per_s"] / change["speedup"] - 1) < 1e-12, change
END

# Where nothing takes time nothing is faster, or undefined.
"$program" explain "$scenarios/collectives.json" --point size=1KiB --point algorithm=ring --set /cluster/workers=1 >"$work/alone.txt"
if grep -q nan "$work/alone.txt"; then cat "$work/alone.txt"; exit 1; fi

# A point of a study with axes, variants, a baseline and a run: --scenario writes what the printed options are of, and pasted
# into a shell they make the step that stands before them.
point=(--point 'variant=Pufferfish')
"$program" explain "$scenarios/pufferfish-resnet18.json" "${point[@]}" --scenario "$work/point.json" >"$work/point.txt"
python3 - "$program" "$work/point.json" "$work/point.txt" <<'END'
import json, re, shlex, subprocess, sys

program, scenario, text = sys.argv[1:]
lines = [match.groups() for match in (re.match(r"  .*\S {2,}(\S+ \S+) +~?(\S+)x  (--set .*)", line) for line in open(text)) if match]
assert len(lines) > 20, lines
units = {"s": 1, "ms": 1e-3, "us": 1e-6}
for step, _, options in lines[::6]:
    pasted = subprocess.run(["bash", "-c", f"{shlex.quote(program)} run {shlex.quote(scenario)} --no-plot --json - {options}"], capture_output=True, text=True)
    assert pasted.returncode == 0, (options, pasted.stderr)
    (point,) = json.loads(pasted.stdout)["points"]
    value, unit = step.split()
    assert abs(point["step_time_s"] / (float(value) * units[unit]) - 1) < 1e-3, (options, step, point["step_time_s"])
END

# The example of the help runs.
example=$("$program" explain --help | sed -n 's/^Example: stepcast //p')
(cd "$scenarios/.." && bash -c "'$program' $example" >/dev/null)
