#!/usr/bin/python3
"""Time and memory against the number of workers: of folded replays, from folding_bench's JSON, or of one ring all-reduce
predicted by stepcast, a plain SimGrid loop and SMPI, from peers.py's.

    plot_growth.py RESULT.json PLOT.png

Needs matplotlib.
"""
import json
import sys
from collections import defaultdict

from figures import plt
from matplotlib.ticker import ScalarFormatter


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: plot_growth.py RESULT.json PLOT.png")
    with open(sys.argv[1]) as file:
        result = json.load(file)
    folding = "growth" in result
    rows = result["growth" if folding else "rows"]
    lines = defaultdict(list)
    for row in rows:
        lines[row["case" if folding else "peer"]].append(row)

    figure, (time, memory) = plt.subplots(1, 2, figsize=(11, 4.2), sharex=True)
    for name, points in lines.items():
        workers = [point["workers"] for point in points]
        time.plot(workers, [point["seconds"] for point in points], marker="o", label=name)
        memory.plot(workers, [point["mebibytes"] for point in points], marker="o", label=name)
    for axes, label in ((time, f"time of {'a folded replay' if folding else 'the command'} (s)"), (memory, "largest resident set (MiB)")):
        axes.set_xscale("log", base=2)
        axes.set_xlabel("workers")
        axes.set_ylabel(label)
        axes.grid(True, which="major", alpha=0.3)
    time.set_yscale("log")
    if folding:
        memory.set_yscale("log")
    else:
        memory.set_ylim(bottom=0)
        memory.set_xticks(sorted({row["workers"] for row in rows}))
        memory.xaxis.set_major_formatter(ScalarFormatter())
    time.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(sys.argv[2], dpi=150)


if __name__ == "__main__":
    main()
