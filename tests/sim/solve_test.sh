#!/usr/bin/env bash
# solve_test.sh PROGRAM SCENARIOS GOLDEN: compares solve's output with transcripts. Every figure that it found equals
# run's at that value, and so do both sides of each change. Three answers are derived in closed form.
set -euo pipefail
program=$1 scenarios=$2 golden=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

source "$(dirname -- "${BASH_SOURCE[0]}")/transcripts.sh"
transcript solve solve-bucket "$scenarios/quickstart.json" --along /strategy/exchange/bucket_cap=1MiB..64MiB:x2 --set '/variants=[]' --set '/strategy={"kind":"all-reduce","exchange":{"grouping":"bucketed"}}' --point workers=16
transcript solve solve-workers "$scenarios/nics.json" --along /cluster/workers=8..128:8 --for busbw=400Gbps --point size=32MB
transcript solve solve-memory "$scenarios/plan-llm.json" --along /cluster/link/bandwidth=100Gbps..800Gbps --for efficiency=1 --set /workload/batch=16 --evaluator equations
transcript solve solve-run "$scenarios/pufferfish-resnet18.json" --along /cluster/link/bandwidth=1Gbps..100Gbps --for run=1h

PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$(dirname -- "${BASH_SOURCE[0]}") python3 - "$program" "$scenarios" "$work" <<'END_OF_PYTHON'
import functools, json, math, sys
from answers import answer, written

program, scenarios, work = sys.argv[1:]

answer = functools.partial(answer, program)

def check(least, study, along, *options, goal=None):
    """Every figure, from `stepcast run` with the field set; the goal on both sides of every change; the best of all."""
    file = f"{scenarios}/{study}.json"
    found = answer("solve", file, "--along", along, "--evaluator", "equations", *(["--for", goal] if goal else []), *options)
    values = sorted({x for point in found["points"] for x, _ in point["figures"]})
    text, setting = written(found["along"], values)
    axis, known = found["along"]["axis"], {}
    axes = set().union(*(point["coordinates"] for point in found["points"]))
    for point in answer("run", file, "--no-plot", "--evaluator", "equations", *options, "--set", setting)["points"]:
        place = json.dumps({k: v for k, v in point.items() if k in axes and v is not None}, sort_keys=True)
        known[(place, text[str(point[axis])])] = None if point["lacks_memory"] and not found["figure"].endswith("_per_worker_B") else point[found["figure"]]
    sign, changes = 1 if found["more_is_better"] else -1, 0
    worst = 0.0 if sign > 0 else math.inf
    for point in found["points"]:
        place = json.dumps(point["coordinates"], sort_keys=True)
        figures = dict(point["figures"])
        for x, figure in figures.items():
            assert figure == known[(place, x)] or abs(figure / known[(place, x)] - 1) < 1e-12, (study, place, x, figure, known[(place, x)])
        # A value that does not fit its device, or has no such figure, is the worst.
        figures = {x: worst if figure is None else figure for x, figure in figures.items()}
        best = max(figures.values(), key=lambda figure: sign * figure)
        assert point["best"]["figure"] == figures[point["best"]["at"]] and abs(best / point["best"]["figure"] - 1) < 1e-9, (study, place, best, point["best"])
        near = best * 0.99 if sign > 0 else best / 0.99
        for stretches, level in ((point["near_best"], near), (point.get("reached", []), found["goal"])):
            inside = lambda x: any(one["from"] <= x <= one["to"] for one in stretches)
            for x, figure in figures.items():
                if level is not None and abs(figure / level - 1) > 1e-6:
                    assert inside(x) == (sign * figure > sign * level), (study, place, x, figure, level, stretches)
            for one in stretches:
                for end in ("from", "to"):
                    if one[end] != found["along"][end]:
                        below, above = max((x for x in figures if x < one[end] or (x == one[end] and end == "to")), default=None), min((x for x in figures if x > one[end] or (x == one[end] and end == "from")), default=None)
                        assert above - below <= 1.0001e-4 * above or not [x for x in values if below < x < above], (study, place, one, below, above)
                        changes += 1
    assert changes >= least, (study, along, changes)
    return found

shapes = '/workload={"from": "resnet50", "profile": "v100-datasheet"}'
check(40, "pipe-sgd", "/cluster/link/bandwidth=100Mbps..100Gbps", goal="efficiency=0.9")
check(8, "quickstart", "/strategy/exchange/bucket_cap=100kB..100MB", "--set", "/variants=[]", "--set", '/strategy={"kind":"all-reduce","exchange":{"grouping":"bucketed"}}', "--point", "workers=16")
check(4, "quickstart", "workers=1..200", "--point", "bandwidth=25Gbps", goal="throughput=10000")
check(3, "sharded", "/cluster/workers=2..64:x2", goal="memory=1GB")
check(1, "survey", "/workload/batch=16..512", "--set", shapes, "--point", "workers=8", "--point", "compressor=none", goal="step=500ms")
check(7, "pufferfish-resnet18", "/cluster/link/bandwidth=1Gbps..100Gbps", goal="run=20min")
check(1, "collectives", "size=1KiB..1GiB", "--point", "algorithm=ring", goal="busbw=5Gbps")

# In closed form: one gradient of n bytes, all-reduced whole by a ring of p workers after c of computing, takes 2(p-1)·a + 2(p-1)/p·n/B.
n, a, B, c, batch = 4e8, 25e-6, 10e9 / 8, 0.091, 32
study = {"name": "closed", "workload": {"name": "one", "batch": batch, "dtype": "fp32", "parameters": int(n / 4), "forward": "30ms", "update": "1ms", "gradients": [{"name": "all", "elements": int(n / 4), "gap": "60ms"}]},
         "cluster": {"workers": 4, "link": {"bandwidth": "10Gbps", "latency": "25us"}},
         "strategy": {"kind": "all-reduce", "collective": {"algorithm": "ring"}, "exchange": {"grouping": "whole-model"}}}
with open(f"{work}/closed.json", "w") as file:
    json.dump(study, file)
closed = lambda *options: answer("solve", f"{work}/closed.json", *options)["points"][0]
step = lambda p, B: c + 2 * (p - 1) * a + 2 * (p - 1) / p * n / B

# Efficiency c/step = 0.9: the exchange takes c/9.
expected = 2 * 3 / 4 * n / (c / 9 - 6 * a)
(reached,) = closed("--along", "/cluster/link/bandwidth=1Gbps..4Tbps", "--for", "efficiency=0.9")["reached"]
print(f"90 % from {expected:.6g} B/s, found {reached['from']:.6g}, relative difference {reached['from'] / expected - 1:.1e}")
assert abs(reached["from"] / expected - 1) < 1e-4, (expected, reached)

# 10,000 samples/s: p·32/step(p), in steps of 4 from 4 on.
expected = next(p for p in range(4, 4096, 4) if p * batch / step(p, B) >= 10000)
(reached,) = closed("--along", "/cluster/workers=4..4096:4", "--for", "throughput=10000")["reached"]
print(f"10,000 samples/s from {expected} workers, found {reached['from']}")
assert reached["from"] == expected and reached["to"] == 4096, (expected, reached)

# A step of at most 1 s by latency: a = (1 - c - 1.5·n/B)/6.
expected = (1 - c - 1.5 * n / B) / 6
(reached,) = closed("--along", "/cluster/link/latency=0s..1s", "--for", "step=1s")["reached"]
print(f"1 s up to {expected:.6g} s, found {reached['to']:.6g}")
assert reached["from"] == 0 and abs(reached["to"] / expected - 1) < 1e-4, (expected, reached)

# A step of at most 36.4 ms above the exchange's: at c/36.4 ms = 2.5 times the speed, a real number between two whole ends.
study["cluster"]["groups"] = [{"count": 4, "speed": 1}]
with open(f"{work}/faster.json", "w") as file:
    json.dump(study, file)
(reached,) = answer("solve", f"{work}/faster.json", "--along", "/cluster/groups/0/speed=1..4", "--for", f"step={0.0364 + step(4, B) - c:.12g}s")["points"][0]["reached"]
print(f"a step shorter by 54.6 ms from 2.5 times the speed on, found {reached['from']:.6g}")
assert abs(reached["from"] / 2.5 - 1) < 1e-4 and reached["to"] == 4, reached

# Without a goal what matters is throughput, and of it the best is at the range's end.
best = closed("--along", "/cluster/link/bandwidth=1Gbps..4Tbps")
assert best["best"]["at"] == 5e11 and math.isclose(best["best"]["figure"], 4 * batch / step(4, 5e11), rel_tol=1e-9) and "reached" not in best, best["best"]
END_OF_PYTHON
