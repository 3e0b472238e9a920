#!/usr/bin/python3
"""Time and memory of predicting one ring all-reduce, by stepcast, a plain SimGrid loop and SMPI, from peers.py's JSON.

    plot_peers.py RESULT.json PLOT.png

Needs matplotlib (Debian: python3-matplotlib, seen by /usr/bin/python3).
"""
import json
import sys
from collections import defaultdict

try:
    import matplotlib
except ImportError:
    sys.exit("plot_peers.py needs matplotlib: apt install python3-matplotlib, and run it with /usr/bin/python3")
matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.ticker import ScalarFormatter


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: plot_peers.py RESULT.json PLOT.png")
    with open(sys.argv[1]) as file:
        rows = json.load(file)["rows"]
    peers = defaultdict(list)
    for row in rows:
        peers[row["peer"]].append(row)

    figure, (time, memory) = plt.subplots(1, 2, figsize=(11, 4.2), sharex=True)
    for name, points in peers.items():
        workers = [point["workers"] for point in points]
        time.plot(workers, [point["seconds"] for point in points], marker="o", label=name)
        memory.plot(workers, [point["mebibytes"] for point in points], marker="o", label=name)
    for axes, label in ((time, "time of the command (s)"), (memory, "largest resident set (MiB)")):
        axes.set_xscale("log", base=2)
        axes.set_xticks(sorted({row["workers"] for row in rows}))
        axes.xaxis.set_major_formatter(ScalarFormatter())
        axes.set_xlabel("workers")
        axes.set_ylabel(label)
        axes.grid(True, which="major", alpha=0.3)
    time.set_yscale("log")
    memory.set_ylim(bottom=0)
    time.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(sys.argv[2], dpi=150)


if __name__ == "__main__":
    main()
