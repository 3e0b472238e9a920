#!/usr/bin/env python3
"""Draws the speedup plot of a stepcast report.

    plot_speedup.py REPORT.json PICTURE.{png,svg,pdf}

REPORT.json is what `stepcast run --json` writes. Speedup is drawn against the number of workers, one line per
variant (or strategy), one panel for every other combination of the study's axes. A study without a workers
axis is drawn over its last axis with numbers, or as bars.
"""
import json
import sys
from collections import OrderedDict

try:
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
except ImportError:
    sys.exit("plot_speedup.py: matplotlib is missing for " + sys.executable +
             "; install Debian's python3-matplotlib, or name another interpreter in STEPCAST_PYTHON")

STYLES = ["o-", "s-", "^-", "D-", "v-", "P-", "X-", "*-"]


def choose_axes(report):
    """The axis along x, the axis that makes lines, and the rest, which makes panels."""
    axes = list(report["axes"])
    x = "workers"
    if "workers" not in axes:
        def numeric(axis):
            try:
                [float(p[axis]) for p in report["points"]]
                return True
            except (TypeError, ValueError):
                return False
        candidates = [a for a in axes if numeric(a)]
        x = candidates[-1] if candidates else (axes[-1] if axes else "workers")
    others = [a for a in axes if a != x]
    line = next((a for a in ("variant", "strategy", "algorithm", "compressor") if a in others), others[0] if others else None)
    return x, line, [a for a in others if a != line]


def group(points, keys):
    groups = OrderedDict()
    for point in points:
        groups.setdefault(tuple(str(point[k]) for k in keys), []).append(point)
    return groups


def main(report_path, picture_path):
    with open(report_path, encoding="utf-8") as file:
        report = json.load(file)
    points = report["points"]
    quantity, label = "speedup", "speedup over " + report["baseline"]
    if all(p["speedup"] is None for p in points):
        quantity, label = "step_time_s", "time per step (s)"
    x, line, panel_axes = choose_axes(report)
    panels = group(points, panel_axes)

    # The last panel axis runs along a row.
    columns = len({key[-1] for key in panels}) if panel_axes else 1
    rows = -(-len(panels) // columns)
    figure, grid = plt.subplots(rows, columns, figsize=(1.2 + 3.6 * columns, 1.3 + 3.0 * rows), squeeze=False, sharex=True, sharey=True)
    handles = OrderedDict()
    for axes, (key, members) in zip(grid.flat, panels.items()):
        numbers = True
        try:
            xs_all = sorted({float(p[x]) for p in members})
        except (TypeError, ValueError):
            numbers, xs_all = False, list(OrderedDict.fromkeys(str(p[x]) for p in members))
        for i, (name, line_points) in enumerate(group(members, [line] if line else []).items()):
            usable = [p for p in line_points if p[quantity] is not None]
            xs = [float(p[x]) if numbers else str(p[x]) for p in usable]
            (handle,) = axes.plot(xs, [p[quantity] for p in usable], STYLES[i % len(STYLES)], markersize=4, linewidth=1.4)
            handles.setdefault(name[0] if name else report["name"], handle)
        if quantity == "speedup" and x == "workers":
            (ideal,) = axes.plot(xs_all, xs_all, ":", color="grey", linewidth=1)
            handles.setdefault("ideal", ideal)
        if numbers and min(xs_all) > 0 and max(xs_all) >= 8 * min(xs_all):
            axes.set_xscale("log", base=2)
            axes.set_yscale("log", base=2 if quantity == "speedup" else 10)
            axes.set_xticks(xs_all)
            axes.xaxis.set_major_formatter(matplotlib.ticker.FormatStrFormatter("%g"))
            if quantity == "speedup":
                axes.yaxis.set_major_formatter(matplotlib.ticker.FormatStrFormatter("%g"))
        axes.minorticks_off()
        axes.set_title(", ".join(key), fontsize=10)
        axes.grid(True, alpha=0.3)
    for axes in list(grid.flat)[len(panels):]:
        axes.set_visible(False)
    for axes in grid[-1]:
        axes.set_xlabel(x)
    figure.supylabel(label, fontsize=10)
    handles["ideal"] = handles.pop("ideal") if "ideal" in handles else None
    named = [(n, h) for n, h in handles.items() if h is not None]
    figure.legend([h for _, h in named], [n for n, _ in named], loc="lower center", ncol=min(len(named), 4), fontsize=9, frameon=False)
    figure.suptitle(report["name"], fontsize=12)
    figure.tight_layout(rect=(0.01, 0.07, 1, 1))
    figure.savefig(picture_path, dpi=130)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
