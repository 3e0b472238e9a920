#!/usr/bin/python3
"""plot_report.py on made-up reports: what is drawn against what, how it is laid out, and what bad input ends in.

    plot_report_test.py PATH/plot_report.py
"""
import json
import pathlib
import subprocess
import sys
import tempfile

try:
    import matplotlib  # noqa: F401
except ImportError:
    print("no matplotlib: skipped")
    sys.exit(77)

SCRIPT = pathlib.Path(sys.argv[1]).resolve()
sys.path.insert(0, str(SCRIPT.parent))
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import picture_checks  # noqa: E402
import plot_report  # noqa: E402
from pictures import quantities, style  # noqa: E402
from pictures.choice import Asked, choose  # noqa: E402
from pictures.report import CannotDraw, Report, limit, phases  # noqa: E402

failures = []


def expect(got, wanted, what):
    if got != wanted:
        failures.append(f"{what}: {got!r}, not {wanted!r}")


def report(axes, points, given=False):
    return Report({"name": "made-up", "description": "A question?", "baseline": "one worker computing alone", "baseline_given": given,
                   "axes": axes, "points": [dict(point) for point in points]})


def trained(speedup, workers, alone=10.0, **coordinates):
    """`alone`: samples per second of the worker that the speedup is over."""
    return {"speedup": speedup, "scaling_efficiency": speedup / workers, "throughput_samples_per_s": speedup * alone, "workers": str(workers),
            "step_time_s": workers / (speedup * alone), "bound_s": 1 / alone, "forward_s": 0.03, "backward_s": 0.06, "encode_s": 0.0, "decode_s": 0.0,
            "update_s": 0.01, "exposed_communication_s": workers / (speedup * alone) - 0.1, "waiting_s": 0.0, **coordinates}


def moved(busbw, **coordinates):
    return {"busbw_B_per_s": busbw, "step_time_s": 1 / busbw, "bound_s": 0.5 / busbw, "exposed_communication_s": 1 / busbw, **coordinates}


def check(made, asked, kind, quantity, x, series, panels, what):
    """The choice, and the layout of what is drawn."""
    picture = choose(made, asked)
    expect((picture.kind, picture.quantity.name, picture.x, picture.series, picture.panels), (kind, quantity, x, series, panels), what)
    figure = plot_report.draw(made, asked)
    failures.extend(f"{what}: {fault}" for fault in picture_checks.faults(figure))
    return figure


def legend_of(figure):
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def choices():
    # Three numbers of workers make lines, and p workers can be p times as fast as one: 0.9 p of p.
    scaling = [trained(0.9 * p, p, variant=v) for p in (1, 2, 4) for v in "ab"]
    figure = check(report(["variant", "workers"], scaling), Asked(), "lines", "speedup", "workers", "variant", [], "scaling")
    expect(legend_of(figure), ["a", "b", "ideal: every worker as fast as alone"], "legend of scaling")
    ideal = next(line for line in figure.axes[0].get_lines() if line.get_linestyle() == ":")
    expect([round(y, 9) for y in ideal.get_ydata()], [1, 2, 4], "ideal of scaling")
    # Two numbers make bars: panels by workers, whose ideals differ (8, 32), NICs side by side, whose ideals do not.
    two = [trained(0.5 * p * n, p, variant=v, nics=str(n)) for v in "ab" for p in (8, 32) for n in (1, 2)]
    figure = check(report(["variant", "workers", "nics"], two), Asked(), "bars", "speedup", "variant", "nics", ["workers"], "two numbers")
    expect([axes.get_title(loc="left") for axes in figure.axes], ["workers 8", "workers 32"], "titles of two numbers")
    expect(legend_of(figure)[:2], ["NICs 1", "NICs 2"], "legend of two numbers")
    # Categories with lone bars are coloured by the strategy they belong to.
    families = [trained(1 + i, 16, variant=v, strategy=s) for i, (v, s) in enumerate([("server", "s"), ("server 2", "s"), ("ring", "r")])]
    expect(choose(report(["variant"], families, given=True), Asked()).hue, "strategy", "hue")
    # Nothing is trained: bus bandwidth, over sizes in bytes.
    sizes = [moved(1e9 * i, size=s, algorithm=a) for i, s in ((1, "1KiB"), (5, "64KiB"), (9, "1MiB")) for a in ("ring", "auto")]
    check(report(["size", "algorithm"], sizes), Asked(), "lines", "busbw_B_per_s", "size", "algorithm", [], "sizes")
    # Nine lines are too many for a panel: a heat map; with workers beside bandwidth, a map of who wins.
    many = [moved(1e9 * (i + 1), size=s, variant=f"variant {i}") for i in range(9) for s in ("1kB", "1MB", "1GB")]
    check(report(["variant", "size"], many), Asked(), "heatmap", "busbw_B_per_s", "size", "variant", [], "nine lines")
    won = [trained(1 + i * k, p, compressor=f"c{i}", bandwidth=f"{k}Gbps") for i in range(9) for k in (1, 2, 3) for p in (2, 4, 8)]
    figure = check(report(["bandwidth", "workers", "compressor"], won, given=True), Asked(), "winners", "speedup", "bandwidth", "compressor", [], "winners")
    # The last compressor gains most everywhere: 1 + 8 k.
    expect({text.get_text() for text in figure.axes[0].texts}, {"c8\n9×", "c8\n17×", "c8\n25×"}, "who wins")
    # Asked for as lines, nine are nine panels.
    check(report(["variant", "size"], many), Asked(kind="lines"), "lines", "busbw_B_per_s", "size", None, ["variant"], "nine panels")
    # A run's time comes before all else, its phases stacked.
    runs = [trained(2, 4, variant="a", run_time_s=30.0, run_phases=[{"name": "all", "time_s": 30.0}]),
            trained(3, 4, variant="b", run_time_s=43.5, run_phases=[{"name": "warm-up", "time_s": 30.0}, {"name": "rest", "time_s": 13.5}])]
    figure = check(report(["variant"], runs, given=True), Asked(), "bars", "run_time_s", "variant", None, [], "runs")
    expect(phases(runs[1]), [("warm-up", 30.0), ("rest", 13.5)], "phases")
    expect([round(patch.get_width(), 9) for patch in figure.axes[0].patches], [30, 30, 13.5], "widths of runs")
    # Workers that differ: who waits.
    kinds = [{"workers": n, "speed": s, "bandwidth_B_per_s": 1e9, "latency_s": 1e-5, "forward_s": 0.1, "waiting_s": w} for n, s, w in ((3, 1, 0.1), (1, 0.5, 0))]
    check(report(["variant"], [trained(2, 4, variant=v, worker_kinds=kinds) for v in "ab"]), Asked(), "breakdown", "step_time_s", "variant", None, [], "kinds")
    # Speedups in one panel that are over unlike workers alone, 10 and 20 samples/s, are not compared; a given baseline is one.
    mixed = [trained(3, 4, 10, variant="vanilla", compressor="none"), trained(2, 4, 20, variant="thin", compressor="none")]
    check(report(["variant", "compressor"], mixed), Asked(), "bars", "throughput_samples_per_s", "variant", None, [], "unlike")
    check(report(["variant", "compressor"], mixed, given=True), Asked(), "bars", "speedup", "variant", None, [], "unlike, but a baseline")
    # Choices that the user asks for.
    check(report(["variant", "workers"], scaling), Asked(kind="bars", y="throughput", x="workers", lines="variant"), "bars",
          "throughput_samples_per_s", "workers", "variant", [], "asked bars")
    check(report(["variant", "workers"], scaling), Asked(y="step_time_s", panels=["variant"]), "lines", "step_time_s", "workers", None, ["variant"], "asked panels")
    check(report([], [trained(2, 4)]), Asked(), "bars", "speedup", None, None, [], "one point")


def layout():
    names = ("a variant of which the name is long", "another one, with commas, of a name as long", "$not$ a formula_{2} 100 %")
    long = [trained(1 + i, 64, variant=v, bandwidth=b, workload=w) for i, v in enumerate(names) for b in ("1Gbps", "10Gbps") for w in ("one", "two")]
    # The ideal is 64 everywhere, so that bandwidths may stand side by side.
    check(report(["variant", "workload", "bandwidth"], long, given=True), Asked(), "bars", "speedup", "variant", "bandwidth", ["workload"], "long names")
    unfit = [trained(1 + i, 64, variant=v, lacks_memory=True) for i, v in enumerate(names)]
    check(report(["variant"], unfit), Asked(), "bars", "speedup", "variant", None, [], "what does not fit")
    dense = [trained(0.9 * p, p, variant="a") for p in range(1, 200)]
    check(report(["variant", "workers"], dense), Asked(), "lines", "speedup", "workers", None, [], "many numbers")
    shaking = [trained(1 + i, 64, variant=v, step_time_p5_s=5.0, step_time_p95_s=90.0 + i) for i, v in enumerate(names)]
    check(report(["variant"], shaking), Asked(y="step_time_s"), "bars", "step_time_s", "variant", None, [], "jitter")
    named = [moved(1e9, variant=v, algorithm=f"an algorithm {i}") for v in names for i in range(3)]
    check(report(["variant", "algorithm"], named), Asked(kind="heatmap"), "heatmap", "busbw_B_per_s", "algorithm", "variant", [], "names along x")
    check(report(["variant", "algorithm"], named), Asked(kind="winners"), "winners", "busbw_B_per_s", "algorithm", "variant", [], "winners along names")
    # Neighbours differ without colour.
    expect(len({look[1:] for look in style.LINES}), 8, "looks of lines in grey")
    luma = [sum(w * int(c[i:i + 2], 16) / 255 for w, i in ((0.299, 1), (0.587, 3), (0.114, 5))) for c, _ in style.FILLS]
    for (one, two), lights in zip(zip(style.FILLS, style.FILLS[1:]), zip(luma, luma[1:])):
        expect(one[1] != two[1] or abs(lights[0] - lights[1]) > 0.1, True, f"{one} beside {two}")


def words():
    expect([quantities.number_of(v) for v in ("8", "10Gbps", "64KiB", "25us", "ring", "inf")], [8, 1.25e9, 65536, 25 * 1e-6, None, None], "numbers of values")
    expect([quantities.value_text(v) for v in ("10Gbps", "64KiB", "torus 4x4x2", "8")], ["10 Gb/s", "64 KiB", "torus 4x4x2", "8"], "texts of values")
    expect([quantities.digits(v) for v in (0.0476, 99.96, 1234.5, 0, 2.5e-7)], ["0.0476", "100", "1234", "0", "2.5e-07"], "digits")
    expect(quantities.Quantity("run_time_s").text(921.07), "15.4 min", "a time")
    # 6 of 8 at 75 %: 8; a step of 4 s that may take 2 s moves twice the bytes.
    expect([limit({"speedup": 6, "scaling_efficiency": 0.75}, "speedup"), limit({"busbw_B_per_s": 1, "step_time_s": 4, "bound_s": 2}, "busbw_B_per_s")], [8, 2], "limits")


def bad_input():
    good = {"name": "x", "axes": ["variant", "workers"], "baseline": "", "points": [trained(p, p, variant=v) for p in (1, 2, 4) for v in "ab"]}
    files = {"good.json": json.dumps(good), "empty.json": json.dumps({**good, "points": []}), "broken.json": "{", "list.json": "[]",
             "axis.json": json.dumps({**good, "axes": ["nowhere"]}), "failed.json": json.dumps({**good, "points": [{**p, "error": "no"} for p in good["points"]]}),
             "text.json": json.dumps({**good, "points": [{**p, "step_time_s": "fast", "forward_s": {}} for p in good["points"]]})}
    cases = [(["good.json", "p.png", "--x", "nowhere"], "its axes are variant, workers"), (["good.json", "p.png", "--y", "beauty"], "there are"),
             (["good.json", "p.png", "--kind", "pie"], "lines, bars, heatmap, breakdown, winners"), (["good.json", "p.png", "--panels", "variant,x"], "--panels x"),
             (["good.json", "p.png", "--x", "workers", "--lines", "workers"], "twice"), (["good.json", "p.png", "--kind", "lines", "--x", "variant"], "lines want"),
             (["good.json", "p.gif"], "must end in"), (["good.json", "nowhere/p.png"], "cannot write nowhere/p.png"), (["good.json", "folder.png"], "cannot write folder.png"),
             (["empty.json", "p.png"], "no point with an answer"), (["failed.json", "p.png"], "no point with an answer"), (["broken.json", "p.png"], "no JSON"),
             (["list.json", "p.png"], "no report"), (["axis.json", "p.png"], "no nowhere"), (["absent.json", "p.png"], "cannot read absent.json"),
             (["text.json", "p.png", "--kind", "breakdown"], "no point has a time per step"), (["good.json"], "PICTURE"), (["good.json", "p.png", "--zoom"], "--zoom")]
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            pathlib.Path(folder, name).write_text(text, encoding="utf-8")
        pathlib.Path(folder, "folder.png").mkdir()
        before = sorted(path.name for path in pathlib.Path(folder).rglob("*"))
        for arguments, told in cases:
            ran = subprocess.run([sys.executable, SCRIPT, *arguments], cwd=folder, capture_output=True, text=True, check=False)
            if ran.returncode == 0 or told not in ran.stderr or ran.stderr.count("\n") != 1 or not ran.stderr.startswith("plot_report.py: "):
                failures.append(f"{arguments}: ends with {ran.returncode} and {ran.stderr!r}")
        expect(sorted(path.name for path in pathlib.Path(folder).rglob("*")), before, "files left")
        for suffix in ("png", "svg", "pdf"):
            ran = subprocess.run([sys.executable, SCRIPT, "good.json", f"p.{suffix}"], cwd=folder, capture_output=True, text=True, check=False)
            expect((ran.returncode, ran.stderr, pathlib.Path(folder, f"p.{suffix}").stat().st_size > 1000), (0, "", True), f"a {suffix}")
    large = report(["variant", "workers"], [trained(p, p, variant=f"v{i}") for i in range(50) for p in range(1, 51)])
    lone = report(["variant"], [trained(1, 1, variant=v) for v in "ab"])
    for made, kind, told in ((lone, "heatmap", "two axes"), (lone, "winners", "another one"), (large, "heatmap", "too many cells"),
                             (large, "lines", "50 panels"), (large, "bars", "50 panels")):
        try:
            choose(made, Asked(kind=kind, x="workers" if made is large and kind != "bars" else None))
            failures.append(f"{kind}, where there should be {told!r}, is drawn")
        except CannotDraw as error:
            expect(told in str(error), True, f"{kind}: {error}")


for part in (choices, layout, words, bad_input):
    part()
print("\n".join(failures) or "all as expected")
sys.exit(1 if failures else 0)
