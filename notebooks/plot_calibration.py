#!/usr/bin/python3
"""Measured against fitted times of a device profile's kernels, a panel for each.

    plot_calibration.py PROFILE.json PICTURE.{png,svg,pdf} [KERNEL...]      all kernels if none is named

PROFILE.json is what `stepcast-calibrate device` wrote; its samples are read from beside it
(PROFILE.samples.jsonl). Points are medians of cold samples over all
process starts with their quartiles, what the events add taken off, a colour for each method; the line is the profile's.

Needs matplotlib.
"""
import json
import math
import os
import statistics
import sys
from collections import defaultdict

from figures import plt
from si import si


def fitted_time(kernel, size, flops):
    """As KernelEntry of models/part/profile.hpp says; the device's peak is left out."""
    size_before, time_before = 0.0, si(kernel["launch"])
    arithmetic = flops / si(kernel["peak"]) if kernel.get("peak") else 0.0
    for knot in kernel.get("knots", []):
        at, time = si(knot["bytes"]), si(knot["time"])
        if size < at:
            return time_before + (size - size_before) / (at - size_before) * (time - time_before) + arithmetic
        size_before, time_before = at, time
    return time_before + (size - size_before) / si(kernel["bandwidth"]) + arithmetic


def read_samples(profile_path, profile):
    """Cold samples of all starts by pass, method and size, without what the events added (calibrate/event_overhead.hpp),
    and the work of that size."""
    events = (profile.get("device") or {}).get("event_overhead")
    events, launch = si(events) if events else 0.0, si(profile["launch_overhead"]["value"])
    stem = os.path.splitext(profile_path)[0] + ".samples.jsonl"
    if not os.path.exists(stem):
        sys.exit(f"plot_calibration.py: there are no samples beside the profile: no {stem}")
    found = defaultdict(lambda: {"seconds": []})
    with open(stem, encoding="utf-8") as file:
        next(file)  # the header
        for line in file:
            record = json.loads(line)
            if record["role"]:
                group = found[record["role"], record["method"], record["size"]]
                group["bytes"], group["flops"] = record["bytes"], record["flops"]
                group["seconds"] += [max(seconds - events / record["repeats"], min(seconds, launch / record["repeats"])) for seconds in record["cold_s"]]
    return found


def work_between(points, steps=12):
    """(bytes, flops) of the points and of `steps` sizes between each two, evenly in the logarithm; flops between theirs."""
    line = []
    for a, b in zip(points, points[1:]):
        for i in range(steps):
            size = a["bytes"] * (b["bytes"] / a["bytes"]) ** (i / steps)
            line.append((size, a["flops"] + (size - a["bytes"]) / (b["bytes"] - a["bytes"]) * (b["flops"] - a["flops"]) if b["bytes"] > a["bytes"] else a["flops"]))
    return line + [(points[-1]["bytes"], points[-1]["flops"])]


def draw(axes, kernel, groups):
    methods = sorted({method for (_, method, _) in groups})
    for i, method in enumerate(methods):
        points = sorted((group for (_, name, _), group in groups.items() if name == method), key=lambda point: point["bytes"])
        sizes = [point["bytes"] for point in points]
        middles = [statistics.median(point["seconds"]) for point in points]
        quartiles = [statistics.quantiles(point["seconds"], n=4, method="inclusive") if len(point["seconds"]) > 1 else [middle] * 3 for point, middle in zip(points, middles)]
        bars = [[middle - quartile[0] for middle, quartile in zip(middles, quartiles)], [quartile[2] - middle for middle, quartile in zip(middles, quartiles)]]
        axes.errorbar(sizes, middles, yerr=bars, fmt="o", markersize=3, linewidth=0.8, color=f"C{i % 10}", label=method)
        line = work_between(points)
        axes.plot([size for size, _ in line], [fitted_time(kernel, size, flops) for size, flops in line], "-", linewidth=1, color="black" if not kernel.get("peak") else f"C{i % 10}")
    for knot in kernel.get("knots", []):
        axes.axvline(si(knot["bytes"]), color="grey", linewidth=0.6, linestyle=":")
    axes.set_xscale("log")
    axes.set_yscale("log")
    errors = kernel.get("errors")
    axes.set_title(kernel["name"] + (f"\nheld out: median {100 * errors['median']:.1f} %, largest {100 * errors['largest']:.1f} %" if errors else ""), fontsize=8)
    if len(methods) > 1:
        axes.legend(fontsize=6, ncols=2, loc="upper left")
    axes.grid(True, which="major", alpha=0.3)


def groups_of(kernel, samples):
    """The samples behind an entry: those of its role, or of one method of it, such as "decode/qsgd"."""
    return {key: group for key, group in samples.items() if kernel["name"] in (key[0], f"{key[0]}/{key[1]}")}


def main(profile_path, picture_path, *names):
    with open(profile_path, encoding="utf-8") as file:
        profile = json.load(file)
    samples = read_samples(profile_path, profile)
    kernels = [kernel for kernel in profile.get("kernels", []) if groups_of(kernel, samples)]
    if unknown := sorted(set(names) - {kernel["name"] for kernel in kernels}):
        sys.exit(f"plot_calibration.py: {profile_path} has no samples of {', '.join(unknown)}; it has those of {', '.join(kernel['name'] for kernel in kernels)}")
    if names:
        kernels = [kernel for kernel in kernels if kernel["name"] in names]
    if not kernels:
        sys.exit(f"plot_calibration.py: {profile_path} has no kernel with samples beside it")
    columns = min(4, math.ceil(len(kernels) ** 0.5))
    rows = -(-len(kernels) // columns)
    figure, grid = plt.subplots(rows, columns, figsize=(4 * columns, 3 * rows), squeeze=False)
    for axes, kernel in zip(grid.flat, kernels):
        draw(axes, kernel, groups_of(kernel, samples))
    for axes in list(grid.flat)[len(kernels):]:
        axes.set_visible(False)
    figure.supxlabel("bytes read and written", fontsize=9)
    figure.supylabel("time (s)", fontsize=9)
    figure.suptitle(profile["name"], fontsize=11)
    figure.tight_layout()
    figure.savefig(picture_path, dpi=110)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    try:
        main(*sys.argv[1:])
    except (OSError, ValueError, KeyError, TypeError, EOFError, MemoryError) as error:
        sys.exit(f"plot_calibration.py: {type(error).__name__}: {' '.join(str(error).split())}")
