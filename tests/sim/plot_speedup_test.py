#!/usr/bin/python3
"""plot_speedup.py on made-up reports: what is drawn against what, and that no text runs into another or out of the picture.

    plot_speedup_test.py PATH/plot_speedup.py
"""
import importlib.util
import os
import sys

try:
    import matplotlib  # noqa: F401
except ImportError:
    print("no matplotlib: skipped")
    sys.exit(77)

sys.path.insert(0, os.path.dirname(sys.argv[1]))
sys.dont_write_bytecode = True
spec = importlib.util.spec_from_file_location("plot_speedup", sys.argv[1])
plot = importlib.util.module_from_spec(spec)
spec.loader.exec_module(plot)


def report(axes, points, given=False):
    return {"name": "made up", "baseline": "one worker computing alone", "baseline_given": given, "axes": axes, "points": points}


def point(speedup, alone, **coordinates):
    """`alone`: samples per second of the worker that the speedup is over."""
    return {"speedup": speedup, "throughput_samples_per_s": speedup * alone, "step_time_s": 1 / alone, **coordinates}


def labels(figure):
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def check_layout(figure):
    figure.canvas.draw()
    ticks = [box for axes in figure.axes for box in [axes.xaxis.get_tightbbox()] if box]
    for legend in figure.legends:
        box = legend.get_window_extent()
        assert all(not box.overlaps(tick) for tick in ticks), "the legend covers tick labels"
        assert box.width <= figure.bbox.width, "the legend is wider than the figure"
        saved = figure.get_tightbbox().transformed(matplotlib.transforms.Affine2D().scale(figure.dpi))
        assert saved.x0 <= box.x0 and box.x1 <= saved.x1 and saved.y0 <= box.y0, "the legend is cut off"
    for axes in figure.axes:
        names = [tick for tick in axes.get_xticklabels() if tick.get_text()]
        if not names or names[0].get_rotation() != 0:
            continue
        boxes = [tick.get_window_extent() for tick in names]
        assert all(left.x1 <= right.x0 for left, right in zip(boxes, boxes[1:])), "tick labels run into each other"


# p workers are p times as fast as the one that is the default baseline, and as no other.
over_workers = [point(p * 0.9, 10, workers=str(p), variant=v) for p in (1, 2, 4) for v in "ab"]
assert labels(plot.draw(report(["variant", "workers"], over_workers))) == ["a", "b", "ideal"]
assert labels(plot.draw(report(["variant", "workers"], over_workers, given=True))) == ["a", "b"]

# Two networks in a panel: a speedup of 3 over 10 samples/s is less than one of 2 over 20.
mixed = [point(3, 10, variant="vanilla", compressor="none"), point(2, 20, variant="thin", compressor="none")]
assert plot.choose_quantity(report(["variant", "compressor"], mixed), plot.group(mixed, []))[0] == "throughput_samples_per_s"
assert plot.choose_quantity(report(["variant", "compressor"], mixed, given=True), plot.group(mixed, []))[0] == "speedup"
# Each in a panel of its own is compared with its own.
assert plot.choose_quantity(report(["variant", "compressor"], mixed), plot.group(mixed, ["variant"]))[0] == "speedup"
assert "throughput (samples/s)" in [text.get_text() for text in plot.draw(report(["variant", "compressor"], mixed)).texts]

# Many lines with long names, and long names along x.
many = [point(1 + i, 10, compressor=f"a compressor of long name {i}", workers=str(p)) for i in range(23) for p in (2, 4, 8)]
check_layout(plot.draw(report(["compressor", "workers"], many, given=True)))
long = [point(1, 10, algorithm=f"an algorithm of long name {i}", size=s) for i in range(7) for s in ("a message of one size", "a message of another", "and one of a third size")]
check_layout(plot.draw(report(["size", "algorithm"], long)))
