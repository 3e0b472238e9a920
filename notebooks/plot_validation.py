#!/usr/bin/python3
"""Forecast over measured time of every row of validation suites, from `stepcast validate --json`.

    stepcast validate --json RESULT.json && plot_validation.py RESULT.json PLOT.png

Right of 1 a forecast is too slow. Rows that a suite fitted are hollow and not counted. Needs matplotlib.
"""
import json
import sys
from statistics import median

from figures import plt

CLOSE = 1.1
TICKS = [0.25, 0.3, 0.4, 0.5, 0.7, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 2, 3, 4]


def ratio(row):
    """Forecast over measured time."""
    return 1 + row["error"]


def spread_out(count):
    """`count` heights between -0.3 and 0.3, neighbours far from each other: a van der Corput sequence, of no chance."""
    return [0.6 * sum((i >> k & 1) / 2 ** (k + 1) for k in range(12)) - 0.3 for i in range(count)]


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: plot_validation.py RESULT.json PLOT.png")
    try:
        with open(sys.argv[1]) as file:
            suites = json.load(file)["suites"]
    except (OSError, ValueError, KeyError) as error:
        sys.exit(f"plot_validation.py: {sys.argv[1]} is no result of stepcast validate --json: {error}")

    figure, axes = plt.subplots(figsize=(11, 0.42 * len(suites) + 1.3))
    axes.axvspan(1 / CLOSE, CLOSE, color="tab:green", alpha=0.12, linewidth=0)
    axes.axvline(1, color="black", linewidth=0.8)
    for at, suite in enumerate(suites):
        rows = sorted((row for row in suite["rows"] if row["predicted"] is not None), key=ratio)
        for row, height in zip(rows, spread_out(len(rows))):
            fitted = row["fitted"] is not None
            axes.plot(ratio(row), at + height, "o", markersize=4.5, color="tab:gray" if fitted else "tab:blue",
                      fillstyle="none" if fitted else "full", alpha=0.8, markeredgewidth=0.8)
        errors = [abs(row["error"]) for row in rows if row["fitted"] is None]
        half = f", half within {100 * median(errors):.1f} %" if errors else ""
        axes.text(1.01, at, f"{len(errors)} predictions{half}", va="center", fontsize=8,
                  transform=axes.get_yaxis_transform())
    axes.set_yticks(range(len(suites)), [suite["name"] for suite in suites])
    axes.set_ylim(len(suites) - 0.4, -0.6)
    ratios = [ratio(row) for suite in suites for row in suite["rows"] if row["predicted"] is not None]
    axes.set_xscale("log")
    axes.set_xlim(min(ratios) / 1.1, max(ratios) * 1.1)
    ticks = [tick for tick in TICKS if min(ratios) / 1.1 < tick < max(ratios) * 1.1]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_xticks([], minor=True)
    axes.set_xlabel("forecast over measured time (left of 1: too fast a forecast); "
                    f"green: within a factor of {CLOSE}; hollow: what was fitted")
    axes.grid(True, axis="x", alpha=0.3)
    figure.tight_layout()
    figure.savefig(sys.argv[2], dpi=150)


if __name__ == "__main__":
    main()
