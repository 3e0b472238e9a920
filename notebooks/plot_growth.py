#!/usr/bin/python3
"""Time and memory of whole commands against the number of workers, from bench.json of `ninja bench` (tests/bench/bench.py).

    plot_growth.py BENCH.json PLOT.png

Needs matplotlib.
"""
import json
import sys
from collections import defaultdict

from figures import plt
from matplotlib.ticker import FuncFormatter, NullFormatter

WORKERS = [4**i for i in range(3, 11)]  # 64 to 1,048,576


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: plot_growth.py BENCH.json PLOT.png")
    with open(sys.argv[1]) as file:
        result = json.load(file)
    lines = defaultdict(list)
    for row in result["rows"]:
        if row["line"] and row["workers"] >= WORKERS[0]:
            lines[row["line"]].append(row)

    figure, (time, memory) = plt.subplots(1, 2, figsize=(11, 4.4), sharex=True)
    for name, points in lines.items():
        points.sort(key=lambda row: row["workers"])
        workers = [row["workers"] for row in points]
        time.plot(workers, [row["seconds"] for row in points], marker="o", markersize=4, label=name)
        memory.plot(workers, [row["mebibytes"] for row in points], marker="o", markersize=4, label=name)
    for axes, label in ((time, "CPU time of the command (s)"), (memory, "largest resident set (MiB)")):
        axes.set_xscale("log", base=2)
        axes.set_xticks(WORKERS, [f"{workers:,}" for workers in WORKERS], rotation=30)
        axes.set_xlabel("workers")
        axes.set_ylabel(label)
        axes.grid(True, which="major", alpha=0.3)
    time.set_yscale("log")
    memory.set_yscale("log", base=2)
    for axis in (time.yaxis, memory.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, place: f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())
    machine = result["machine"]
    figure.suptitle("One ring all-reduce of 100 MiB, or steps of ResNet-50 with jitter and with 16 asynchronous servers, on a star\n"
                    f"{result['stepcast']}, on {machine['name']}: {machine['cpu']}, {machine['cores']} cores", fontsize=8)
    figure.legend(*time.get_legend_handles_labels(), loc="lower center", ncol=len(lines), fontsize=8)
    figure.tight_layout(rect=(0, 0.06, 1, 1))
    figure.savefig(sys.argv[2], dpi=150)


if __name__ == "__main__":
    main()
