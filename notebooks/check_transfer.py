#!/usr/bin/python3
"""Gradient-ready times measured on a V100 beside those that device profiles forecast.

    check_transfer.py [PROFILE ...] [--stepcast PROGRAM] [--plot PLOT.png]

A PROFILE is a name in scenarios/profiles or a file; v100-datasheet if none is given. It is a test for profiles that are
transferred from another device (stepcast-calibrate transfer). The measurements are the workloads with times NAME-v100
(Espresso). The forecast uses the same network's layer shapes at the same batch.

Layers are matched in order by the elements of their tensors, and those that differ are named. A layer is ready with its
last tensor. Both clocks start when the first layer that both have is ready. The measured times do not say how long the
loss and that layer took, and networks may have different heads. Each further layer has the relative error of its ready
time. The first tenth of the time is left out, because small times would make large errors.

Needs nothing but Python; matplotlib for the plot.
"""
import argparse
import difflib
import json
import os
import statistics
import subprocess
import sys

from si import si

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WORKLOADS = os.path.join(ROOT, "scenarios", "workloads")

# Shapes, the measured workload, and the assumptions of the comparison.
NETWORKS = (
    ("vgg16", "vgg16-v100", "batch as stated"),
    ("resnet50", "resnet50-v100", "batch assumed"),
    ("bert-base", "bert-base-v100", "1,024 tokens as stated, sequences of 128 assumed"),
    ("lstm-wikitext2", "lstm-wikitext2-v100", "80 sequences and their length assumed"),
)
LEAST_MATCHED = 0.9  # share of the measured layers; below it the two networks are not the same


class Layer:
    """A layer with parameters: its tensors' elements, and when the last of them is ready, s after backward began."""

    def __init__(self, name, elements, ready):
        self.name, self.elements, self.ready = name, elements, ready


def measured_layers(workload):
    """A table of tensors with gaps; consecutive ones whose names differ in the last part alone are a layer."""
    layers, now = [], 0.0
    for tensor in workload["gradients"]:
        name, now = tensor["name"].rpartition(".")[0], now + si(tensor["gap"])
        if not layers or layers[-1].name != name:
            layers.append(Layer(name, [], now))
        layers[-1].elements.append(tensor["elements"])
        layers[-1].ready = now
    return layers


def forecast_layers(table):
    """The output of `stepcast show workload --json`; back-propagation goes through it from the end."""
    layers, now = [], 0.0
    for layer in reversed(table["layers"]):
        now += si(layer["backward"])
        if layer["gradients"]:
            layers.append(Layer(layer["name"], [tensor["elements"] for tensor in layer["gradients"]], now))
    return layers


def match(measured, forecast):
    """Pairs of layers with the same tensors, in order, and the layers of either without one."""
    keys = [[tuple(sorted(layer.elements)) for layer in layers] for layers in (measured, forecast)]
    blocks = difflib.SequenceMatcher(None, *keys, autojunk=False).get_matching_blocks()
    pairs = [(measured[a + i], forecast[b + i]) for a, b, size in blocks for i in range(size)]
    matched = {id(layer) for pair in pairs for layer in pair}
    return pairs, *([layer for layer in layers if id(layer) not in matched] for layers in (measured, forecast))


class Comparison:
    """One network with one profile. Without enough pairs there is no forecast, only `pairs` and the unmatched layers."""

    def __init__(self, measured, forecast):
        self.pairs, self.only_measured, self.only_forecast = match(measured, forecast)
        self.layers = len(measured)
        self.matched = len(self.pairs) > 1 and len(self.pairs) >= LEAST_MATCHED * self.layers
        if not self.matched:
            return
        (first_measured, first_forecast), rest = self.pairs[0], self.pairs[1:]
        self.curve = [(m.name, m.ready - first_measured.ready, f.ready - first_forecast.ready) for m, f in rest]
        self.measured, self.forecast = self.curve[-1][1:]
        self.ratio = self.forecast / self.measured
        errors = [(abs(f / m - 1), name) for name, m, f in self.curve if m > 0.1 * self.measured]
        self.median = statistics.median(error for error, _ in errors)
        self.largest, self.largest_at = max(errors)


def show(stepcast, shapes, profile, batch):
    command = [stepcast, "show", "workload", shapes, "--profile", profile, "--batch", str(batch), "--json", "-"]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"check_transfer.py: {' '.join(command)}: exit {run.returncode}\n{run.stderr.strip()}")
    return json.loads(run.stdout)


def compare(stepcast, profile):
    """By the network's name: the measured workload and its comparison."""
    results = {}
    for shapes, workload, _ in NETWORKS:
        with open(os.path.join(WORKLOADS, workload + ".json"), encoding="utf-8") as file:
            table = json.load(file)
        results[shapes] = table, Comparison(measured_layers(table), forecast_layers(show(stepcast, shapes, profile, table["batch"])))
    return results


def cells(table, one):
    """A row of the answer: batch, measured, forecast, ratio, the curve's median and largest error."""
    if not one.matched:
        return [str(table["batch"]), *["-"] * 5]
    return [str(table["batch"]), f"{1e3 * one.measured:.1f} ms", f"{1e3 * one.forecast:.1f} ms", f"{one.ratio:.2f}", f"{100 * one.median:.0f} %", f"{100 * one.largest:.0f} %"]


def size_text(layer):
    tensors = len(layer.elements)
    return f"{layer.name} ({sum(layer.elements):,} in {tensors} tensor{'' if tensors == 1 else 's'})"


def notes(table, one, assumed):
    """What holds whatever the profile: what is assumed, and what was compared."""
    whole = sum(si(tensor["gap"]) for tensor in table["gradients"])
    compared = f"compared from {one.pairs[0][0].name} to {one.pairs[-1][0].name}" if one.matched else "not compared, the tables have other tensors"
    lines = [f"{assumed}; {1e3 * whole:.1f} ms measured in all; {len(one.pairs)} of {one.layers} layers matched: {compared}"]
    for text, layers in (("measured", one.only_measured), ("forecast", one.only_forecast)):
        if layers:
            lines.append(f"only in what is {text}: {', '.join(map(size_text, layers[:3]))}{f' and {len(layers) - 3} more' if len(layers) > 3 else ''}")
    return lines


def print_table(head, rows):
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    for row in [head, *rows]:
        print("  ".join(cell.ljust(width) if i == 0 else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths))))


def report(by_profile):
    head = ["network", "batch", "measured", "forecast", "ratio", "median error", "largest", "at"]
    for profile, results in by_profile.items():
        print(f"{profile}: backward of a step, fp32")
        print_table(head, [[shapes, *cells(*results[shapes]), results[shapes][1].largest_at if results[shapes][1].matched else "-"] for shapes, _, _ in NETWORKS])
        print()
    any_results = next(iter(by_profile.values()))
    for shapes, _, assumed in NETWORKS:
        for line in notes(*any_results[shapes], assumed):
            print(f"{shapes}: {line}")


def plot(path, by_profile):
    from figures import plt
    matched = [shapes for shapes, _, _ in NETWORKS if any(results[shapes][1].matched for results in by_profile.values())]
    figure, panels = plt.subplots(1, len(matched), figsize=(4 * len(matched), 3.8), squeeze=False)
    for axes, shapes in zip(panels[0], matched):
        for i, (profile, results) in enumerate(by_profile.items()):
            one = results[shapes][1]
            layers = range(1, len(one.curve) + 1)
            if i == 0:
                axes.plot(layers, [1e3 * m for _, m, _ in one.curve], color="black", label="measured, V100")
            axes.plot(layers, [1e3 * f for _, _, f in one.curve], label=os.path.basename(profile))
        axes.set_title(shapes)
        axes.set_xlabel("layers ready")
        axes.grid(True, alpha=0.3)
    panels[0][0].set_ylabel("backward (ms)")
    panels[0][0].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=150)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("profiles", nargs="*", metavar="PROFILE")
    parser.add_argument("--stepcast", default=os.path.join(ROOT, "stepcast"), metavar="PROGRAM", help="the stepcast program")
    parser.add_argument("--plot", metavar="PLOT.png", help="draw the times at which layers are ready")
    options = parser.parse_args()
    by_profile = {}
    for profile in options.profiles or ["v100-datasheet"]:
        # stepcast looks for a file beside the workload, not where one stands.
        by_profile[profile] = compare(options.stepcast, os.path.abspath(profile) if profile.endswith(".json") else profile)
    report(by_profile)
    if options.plot:
        plot(options.plot, by_profile)


if __name__ == "__main__":
    main()
