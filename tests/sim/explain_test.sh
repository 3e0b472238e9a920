#!/usr/bin/env bash
# explain_test.sh PROGRAM SCENARIOS GOLDEN: compares explain's output with transcripts. Every change that it names has
# the step time that it says, when made by the --set options that it gives.
set -euo pipefail
program=$1 scenarios=$2 golden=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

source "$(dirname -- "${BASH_SOURCE[0]}")/transcripts.sh"
transcript explain explain-memory "$scenarios/llm.json" --point variant=all-reduce --point nics=1
transcript explain explain-asynchronous "$scenarios/stragglers.json" --point 'variant=parameter server, asynchronous' --set /cluster/jitter='{}' --set /evaluation/runs=1
transcript explain explain-collective "$scenarios/topologies.json" --point variant='racks of 8, 4:1' --point algorithm=ring

# If nothing takes time, no change is faster or undefined.
"$program" explain "$scenarios/collectives.json" --point size=1KiB --point algorithm=ring --set /cluster/workers=1 >"$work/alone.txt"
if grep -q nan "$work/alone.txt"; then cat "$work/alone.txt"; exit 1; fi

PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$(dirname -- "${BASH_SOURCE[0]}") python3 - "$program" "$scenarios" "$work" <<'END_OF_PYTHON'
import functools, json, re, subprocess, sys
from answers import answer

program, scenarios, work = sys.argv[1:]

answer = functools.partial(answer, program)

def forecast(file, *options):
    (point,) = answer("run", file, "--no-plot", *options)["points"]
    return point

# Every change takes the step that it says.
network = f"{scenarios}/pufferfish-resnet50.json"
explained = answer("explain", network, "--set", "/variants=[]")
assert abs(sum(explained["critical_cycle"]["causes_s"].values()) / explained["step_time_s"] - 1) < 1e-12, explained["critical_cycle"]
made = [change for change in explained["changes"] if change["refusal"] is None]
assert len(made) > 30, len(made)
alone = ("--evaluator", "equations", "--set", "/variants=[]", "--set", "/run=null", "--set", "/baseline=null")
now = forecast(network, *alone)
assert now["step_time_s"] == explained["step_time_s"], now
for change in made:
    options = [word for pointer, value in change["set"].items() for word in ("--set", f"{pointer}={json.dumps(value)}")]
    point = forecast(network, *alone, *options)
    assert point["step_time_s"] == change["step_time_s"], (change, point["step_time_s"])
    assert abs(point["throughput_samples_per_s"] / now["throughput_samples_per_s"] / change["speedup"] - 1) < 1e-12, change

# A point of a study with axes, variants, a baseline and a run. --scenario writes the scenario that the printed options
# belong to. Pasted into a shell, the options give the step time that stands before them.
of_study = subprocess.run([program, "explain", f"{scenarios}/pufferfish-resnet18.json", "--point", "variant=Pufferfish", "--scenario", f"{work}/point.json"], capture_output=True, text=True, check=True)
lines = [match.groups() for match in (re.match(r"  .*\S {2,}(\S+ \S+) +~?\S+x  (--set .*)", line) for line in of_study.stdout.splitlines()) if match]
assert len(lines) > 20, lines
units = {"s": 1, "ms": 1e-3, "us": 1e-6}
for step, options in lines[::6]:
    pasted = subprocess.run(["bash", "-c", f"printf '%s\\0' {options}"], capture_output=True, text=True, check=True).stdout
    point = forecast(f"{work}/point.json", *pasted.split("\0")[:-1])
    value, unit = step.split()
    assert abs(point["step_time_s"] / (float(value) * units[unit]) - 1) < 1e-3, (options, step, point["step_time_s"])
END_OF_PYTHON
