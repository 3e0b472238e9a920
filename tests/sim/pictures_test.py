#!/usr/bin/python3
"""Every shipped scenario is drawn, as it suits it and as a breakdown, and no picture has a fault of layout.

    pictures_test.py STEPCAST NOTEBOOKS SCENARIOS
"""
import json
import pathlib
import subprocess
import sys
import tempfile

try:
    import matplotlib.pyplot as plt
except ImportError:
    print("no matplotlib: skipped")
    sys.exit(77)

STEPCAST, NOTEBOOKS, SCENARIOS = sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(sys.argv[3])
sys.path[:0] = [str(NOTEBOOKS), str(pathlib.Path(__file__).parent)]
import picture_checks  # noqa: E402
import plot_report  # noqa: E402
from pictures.choice import Asked, choose  # noqa: E402
from pictures.report import Report  # noqa: E402

# The picture that each question is about; a scenario that is not here is drawn all the same.
WANTED = {
    "quickstart": ("lines", "speedup", "workers"), "strong-scaling": ("lines", "speedup", "workers"), "sharded": ("lines", "speedup", "bandwidth"),
    "pipelining": ("lines", "speedup", "bandwidth"), "collectives": ("lines", "busbw_B_per_s", "size"), "nics": ("heatmap", "busbw_B_per_s", "size"),
    "survey": ("winners", "speedup", "bandwidth"), "pipe-sgd": ("bars", "speedup", "variant"), "send-less-often": ("bars", "speedup", "variant"),
    "hybrid-sharding": ("bars", "speedup", "variant"), "tcp": ("bars", "busbw_B_per_s", "variant"), "topologies": ("bars", "busbw_B_per_s", "variant"),
    "llm": ("bars", "tokens_per_s_per_worker", "variant"), "plan-llm": ("bars", "run_time_s", "variant"),
    "pufferfish-resnet18": ("bars", "run_time_s", "variant"), "stragglers": ("breakdown", "step_time_s", "variant"),
}


def faults_of(scenario, folder):
    told = []
    path = pathlib.Path(folder, "report.json")
    subprocess.run([STEPCAST, "run", scenario, "--no-plot", "--json", path], check=True, capture_output=True)
    document = json.loads(path.read_text(encoding="utf-8"))
    for kind in (None, "breakdown"):
        report, asked = Report(json.loads(json.dumps(document))), Asked(kind=kind)
        picture = choose(report, asked)
        chosen = (picture.kind, picture.quantity.name, picture.x)
        if kind is None and chosen != WANTED.get(scenario.stem, chosen):
            told.append(f"{scenario.stem}: drawn as {chosen}")
        figure = plot_report.draw(report, asked)
        told += [f"{scenario.stem}, {kind or picture.kind}: {fault}" for fault in picture_checks.faults(figure)]
        if picture.kind == "lines" and picture.quantity.name == "speedup" and not any(line.get_linestyle() == ":" for axes in figure.axes for line in axes.get_lines()):
            told.append(f"{scenario.stem}: no ideal")
        plt.close(figure)
    return told


scenarios = [path for path in sorted(SCENARIOS.glob("*.json")) if not path.name.endswith(".schema.json")]
with tempfile.TemporaryDirectory() as folder:
    failures = [fault for scenario in scenarios for fault in faults_of(scenario, folder)]
failures += [f"there is no scenario {name}" for name in WANTED if name not in {path.stem for path in scenarios}]
print("\n".join(failures) or f"{len(scenarios)} scenarios, no fault")
sys.exit(1 if failures else 0)
