#!/usr/bin/env bash
# crossover_test.sh PROGRAM SCENARIOS GOLDEN: compares crossover's output with transcripts. Every worth that it found
# equals run's at that value, and so does the order of alternatives on both sides of each change. One change is derived
# in closed form.
set -euo pipefail
program=$1 scenarios=$2 golden=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

source "$(dirname -- "${BASH_SOURCE[0]}")/transcripts.sh"
transcript crossover crossover-workers "$scenarios/quickstart.json" --along workers=1..64
transcript crossover crossover-replay "$scenarios/collectives.json" --along size=1KiB..1GiB --grid 5 --point algorithm=ring --point algorithm=halving-doubling --set /cluster/workers=8 --evaluator replay --jobs 2 2>/dev/null
transcript crossover crossover-among "$scenarios/quickstart.json" --along /cluster/link/latency=0us..1ms --among variant --among bandwidth --point workload=resnet50-v100 --point workers=8 --point workers=64 --over bandwidth=25Gbps
# A batch of 16 is too much for the device unless all blocks are computed again.
transcript crossover crossover-memory "$scenarios/plan-llm.json" --along /cluster/link/bandwidth=100Gbps..800Gbps --set /workload/batch=16 --evaluator equations

# Both ends of unmeasured kernels, side by side or one after the other, are the same.
for jobs in 1 2; do
    "$program" crossover "$scenarios/survey.json" --along bandwidth=1Gbps..100Gbps --point workers=8 --point workload=lstm-ptb --jobs $jobs > "$work/$jobs.txt" 2>/dev/null
done
grep -q "times as slow" "$work/1.txt"
cmp "$work/1.txt" "$work/2.txt"

PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$(dirname -- "${BASH_SOURCE[0]}") python3 - "$program" "$scenarios" "$work" <<'END_OF_PYTHON'
import functools, json, sys
from answers import answer, written

program, scenarios, work = sys.argv[1:]

answer = functools.partial(answer, program)

def worth(name, point):
    """Of a point that does not fit its device, none."""
    if point["lacks_memory"]: return 0.0
    return {"throughput_samples_per_s": lambda: point["throughput_samples_per_s"], "steps_per_s": lambda: 1 / point["step_time_s"], "runs_per_s": lambda: 1 / point["run_time_s"]}[name]()

def check(study, along, *options):
    """Every worth, from `stepcast run` with the field set; the order on both sides of every change."""
    file = f"{scenarios}/{study}.json"
    found = answer("crossover", file, "--along", along, "--evaluator", "equations", *options)
    values = sorted({x for s in found["situations"] for a in s["alternatives"] for x, _ in a["worths"]})
    text, setting = written(found["along"], values)
    known, axis = {}, found["along"]["axis"]
    options = [word for option, word in zip(options[::2], options[1::2]) if option in ("--set", "--point") for word in (option, word)]
    for point in answer("run", file, "--no-plot", "--evaluator", "equations", *options, "--set", setting)["points"]:
        axes = {k: v for k, v in point.items() if k in coordinates_of(found)}
        for x in values if point[axis] is None else [text[str(point[axis])]]:  # a variant that sets the field, or has none, is the same everywhere
            known[(json.dumps({k: v for k, v in axes.items() if v is not None}, sort_keys=True), x)] = worth(found["worth"], point)
    changes = 0
    for situation in found["situations"]:
        worths = []
        for one in situation["alternatives"]:
            place = json.dumps({**situation["coordinates"], **one["coordinates"]}, sort_keys=True)
            worths.append({x: known[(place, x)] for x, _ in one["worths"]})
            for x, w in one["worths"]:
                assert w == known[(place, x)] or abs(w / known[(place, x)] - 1) < 1e-12, (study, place, x, w, known[(place, x)])
        names = [one["coordinates"] for one in situation["alternatives"]]
        reference = worths[names.index(found["reference"])]
        for one, own in zip(situation["alternatives"], worths):
            grid = sorted(x for x in own if x in reference)
            pays = lambda x: own[x] > reference[x] * (1 + 1e-9)
            for stretch in one["pays"]:
                for end, outwards in (("from", -1), ("to", 1)):
                    if stretch[end] == found["along"][end]:
                        assert pays(stretch[end]), (study, names, stretch)
                        continue
                    # The neighbours of the change: one pays and the other does not, and they are within 1e-4 or follow each other.
                    inner = [x for x in grid if (x - stretch[end]) * outwards <= 0]
                    outer = [x for x in grid if (x - stretch[end]) * outwards > 0]
                    a, b = (max(inner), min(outer)) if outwards == 1 else (min(inner), max(outer))
                    assert pays(a) and not pays(b), (study, one["coordinates"], stretch, a, b)
                    assert abs(a - b) <= 1.0001e-4 * max(a, b) or (isinstance(a, int) and abs(a - b) == 1), (study, one["coordinates"], a, b)
                    changes += 1
            for stretch in one["fastest"]:
                all_known = [x for x in own if all(x in w for w in worths)]
                inside = [x for x in all_known if stretch["from"] <= x <= stretch["to"]]
                assert inside, (study, one["coordinates"], stretch)
                for x in inside:
                    assert own[x] >= max(w[x] for w in worths) * (1 - 1e-9), (study, one["coordinates"], stretch, x)
                changes += 1
    return changes

def coordinates_of(found):
    situation = found["situations"][0]
    return {*situation["coordinates"], *situation["alternatives"][0]["coordinates"]}

def expect(least, *arguments):
    changes = check(*arguments)
    assert changes >= least, (arguments, changes)

shapes = '/workload={"from": "resnet50", "profile": "v100-datasheet"}'
expect(8, "pipe-sgd", "/cluster/link/bandwidth=100Mbps..100Gbps")
expect(4, "survey", "bandwidth=1Gbps..100Gbps", "--set", "/stack/host_cost=0.01ns/B", "--set", "/cluster/workers=8", "--point", "workload=lstm-ptb")
expect(2, "survey", "/compressor/ratio=0.001..0.5", "--set", '/compressor={"kind": "top-k"}', "--set", '/strategy/exchange/grouping=["whole-model", "per-tensor"]', "--point", "workers=8", "--point", "workload=lstm-ptb")
expect(3, "survey", "/variants/1/set/~1compressor/ratio=0.0001..0.5", "--set", '/variants=[{"name": "none", "set": {"/compressor": {"kind": "none"}}}, {"name": "top-k", "set": {"/compressor": {"kind": "top-k", "ratio": 0.01}}}]', "--point", "workers=8")
expect(4, "quickstart", "workers=1..200", "--grid", "10", "--point", "bandwidth=25Gbps")
expect(1, "collectives", "size=1KiB..1GiB", "--point", "algorithm=ring", "--point", "algorithm=double-binary-tree")
expect(2, "pufferfish-resnet18", "/cluster/link/bandwidth=1Gbps..100Gbps", "--over", "variant=Pufferfish")
expect(1, "survey", "/workload/batch=16..512", "--set", shapes, "--set", "/stack/host_cost=0.01ns/B", "--set", "/cluster/link/bandwidth=25Gbps", "--point", "workers=8", "--point", "compressor=powersgd", "--point", "compressor=top-k", "--point", "compressor=qsparse-local-sgd", "--grid", "6", "--over", "compressor=top-k")

# In closed form: one gradient of n bytes is all-reduced whole by a ring of p workers, in 2(p-1)·alpha + 2(p-1)/p·n/B.
# With fp16, half of the bytes are sent, which saves (p-1)/p·n/B. A cast before and one after move n + n/2 each, which
# costs L + 1.5·n/R each by the device's entry. Both are equal at (p-1)/p·n/B = 2·(L + 1.5·n/R).
n, p, L, R = 4e8, 4, 1e-3, 250e9
device = {"name": "test", "peaks": [{"dtype": "fp32", "rate": "1000TFLOPS", "evidence": "assumed", "source": "test"}],
          **{entry: {"value": value, "evidence": "assumed", "source": "test"} for entry, value in (("memory_bandwidth", "900GB/s"), ("launch_overhead", "5us"), ("compute_efficiency", 1), ("memory_efficiency", 1), ("bend", 4))},
          "kernels": [{"name": "cast", "launch": f"{L}s", "bandwidth": f"{R}B/s", "evidence": "assumed", "source": "test"}]}
study = {"name": "closed", "compressor": [{"kind": "none"}, {"kind": "fp16"}], "codec": {"device": device},
         "workload": {"name": "one", "batch": 32, "dtype": "fp32", "parameters": int(n / 4), "forward": "30ms", "update": "1ms", "gradients": [{"name": "all", "elements": int(n / 4), "gap": "60ms"}]},
         "cluster": {"workers": p, "link": {"bandwidth": "1Gbps", "latency": "25us"}},
         "strategy": {"kind": "all-reduce", "collective": {"algorithm": "ring"}, "exchange": {"grouping": "whole-model", "overlap": False}}}
with open(f"{work}/closed.json", "w") as file:
    json.dump(study, file)
expected = (p - 1) / p * n / (2 * (L + 1.5 * n / R))
none, fp16 = answer("crossover", f"{work}/closed.json", "--along", "/cluster/link/bandwidth=100Mbps..400Gbps")["situations"][0]["alternatives"]
(pays,) = fp16["pays"]
print(f"expected {expected:.6g} B/s, found {pays['to']:.6g}, relative difference {pays['to'] / expected - 1:.1e}")
assert abs(pays["to"] / expected - 1) < 1e-4, (expected, pays)
assert [s["from"] for s in none["fastest"]] == [pays["to"]] == [s["to"] for s in fp16["fastest"]], (none, fp16)
END_OF_PYTHON
