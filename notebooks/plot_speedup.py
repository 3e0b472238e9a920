#!/usr/bin/env python3
"""Draws the speedup plot of a stepcast report.

    plot_speedup.py REPORT.json PICTURE.{png,svg,pdf}

REPORT.json is what `stepcast run --json` writes. Speedup is drawn against the number of workers, one line per
variant (or strategy), one panel for every other combination of the study's axes. A study without a workers
axis is drawn over its last axis with numbers or names. Throughput is drawn instead where a panel's speedups are each over
a worker alone that trains something else, and step time where nothing is trained.
"""
import json
import sys
from collections import OrderedDict

from figures import matplotlib, plt

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


def ranks_unlike(report, panels):
    """Whether a panel compares speedups that are each over another worker alone: of another network, dtype or batch."""
    if report.get("baseline_given"):
        return False
    for members in panels.values():
        alone = [p["throughput_samples_per_s"] / p["speedup"] for p in members if p["speedup"]]
        if alone and max(alone) > (1 + 1e-9) * min(alone):
            return True
    return False


def choose_quantity(report, panels):
    """The values along y, and their name."""
    if all(p["speedup"] is None for p in report["points"]):
        return "step_time_s", "time per step (s)"
    if ranks_unlike(report, panels):
        return "throughput_samples_per_s", "throughput (samples/s)"
    return "speedup", "speedup over " + report["baseline"]


def wide_range(points):
    """Whether step times differ so much that on a linear axis the short ones would lie on the ground."""
    times = [p["step_time_s"] for p in points]
    return min(times) > 0 and max(times) >= 50 * min(times)


def turn_long_ticks(figure, grid):
    """Turns names along x that would run into each other."""
    figure.canvas.draw()
    for axes in grid.flat:
        boxes = [tick.get_window_extent() for tick in axes.get_xticklabels() if tick.get_text()]
        if any(left.x1 + 4 > right.x0 for left, right in zip(boxes, boxes[1:])):
            for row in grid:
                for each in row:
                    plt.setp(each.get_xticklabels(), rotation=35, ha="right", rotation_mode="anchor")
            return


def add_legend(figure, handles):
    """Below everything else, in as many columns as the figure is wide; one line alone needs none."""
    if len(handles) == 1:
        return
    figure.canvas.draw()
    bottom = figure.get_tightbbox().y0 / figure.get_figheight()
    for columns in range(min(len(handles), 6), 0, -1):
        legend = figure.legend(handles.values(), handles.keys(), loc="upper center", bbox_to_anchor=(0.5, bottom - 0.01), ncol=columns, fontsize=9, frameon=False)
        if columns == 1 or legend.get_window_extent().width <= figure.bbox.width:
            return
        legend.remove()


def draw(report):
    points = report["points"]
    x, line, panel_axes = choose_axes(report)
    panels = group(points, panel_axes)
    quantity, label = choose_quantity(report, panels)

    # The last panel axis runs along a row.
    columns = len({key[-1] for key in panels}) if panel_axes else 1
    rows = -(-len(panels) // columns)
    figure, grid = plt.subplots(rows, columns, figsize=(1.2 + 3.6 * columns, 1.3 + 3.0 * rows), squeeze=False, sharex=True, sharey="row")
    handles = OrderedDict()
    ideal = None
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
        # p workers can be p times as fast as one; over another baseline there is no such line.
        if quantity == "speedup" and x == "workers" and not report.get("baseline_given"):
            (ideal,) = axes.plot(xs_all, xs_all, ":", color="grey", linewidth=1)
        if numbers and min(xs_all) > 0 and max(xs_all) >= 8 * min(xs_all):
            axes.set_xscale("log", base=2)
            axes.set_yscale("log", base=2 if quantity == "speedup" else 10)
            axes.set_xticks(xs_all)
            axes.xaxis.set_major_formatter(matplotlib.ticker.FormatStrFormatter("%g"))
            if quantity == "speedup":
                axes.yaxis.set_major_formatter(matplotlib.ticker.FormatStrFormatter("%g"))
        if quantity == "step_time_s" and wide_range(report["points"]):
            axes.set_yscale("log")
        axes.minorticks_off()
        axes.set_title(", ".join(key), fontsize=10)
        axes.grid(True, alpha=0.3)
    for axes in list(grid.flat)[len(panels):]:
        axes.set_visible(False)
    for axes in grid[-1]:
        axes.set_xlabel(x)
    figure.supylabel(label, fontsize=10)
    if ideal:
        handles["ideal"] = ideal
    figure.suptitle(report["name"], fontsize=12)
    figure.tight_layout(rect=(0.01, 0, 1, 1))
    turn_long_ticks(figure, grid)
    figure.tight_layout(rect=(0.01, 0, 1, 1))
    add_legend(figure, handles)
    return figure


def main(report_path, picture_path):
    with open(report_path, encoding="utf-8") as file:
        report = json.load(file)
    report["points"] = [point for point in report["points"] if point.get("error") is None]
    draw(report).savefig(picture_path, dpi=130, bbox_inches="tight")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    try:
        main(sys.argv[1], sys.argv[2])
    except (OSError, ValueError, KeyError, TypeError, MemoryError) as error:
        sys.exit(f"plot_speedup.py: {type(error).__name__}: {' '.join(str(error).split())}")
