#!/usr/bin/python3
"""plot_calibration.py on made-up samples: units and fitted times as the profile means them, and a picture.

    plot_test.py PATH/plot_calibration.py
"""
import importlib.util
import json
import os
import subprocess
import sys
import tempfile

try:
    import matplotlib  # noqa: F401
except ImportError:
    print("no matplotlib: skipped")
    sys.exit(77)

sys.path.insert(0, os.path.dirname(sys.argv[1]))
sys.dont_write_bytecode = True
spec = importlib.util.spec_from_file_location("plot_calibration", sys.argv[1])
plot = importlib.util.module_from_spec(spec)
spec.loader.exec_module(plot)


def close(expected, got):
    assert abs(got - expected) <= 1e-12 * abs(expected), f"expected {expected}, got {got}"


for text, value in (("5us", 5e-6), ("800GB/s", 8e11), ("1.5e-05s", 1.5e-5), ("10ps", 1e-11), ("10Gbps", 1.25e9), ("8b/s", 1), ("1MiB", 1048576), ("2TFLOPS", 2e12), ("1e+12B/s", 1e12)):
    close(value, plot.si(text))

kernel = {"name": "cast", "launch": "9us", "bandwidth": "400GB/s", "peak": None, "knots": [{"bytes": "1MB", "time": "10us"}, {"bytes": "2MB", "time": "20us"}]}
close(9.5e-6, plot.fitted_time(kernel, 5e5, 1e9))   # half way to the first knot; no peak of its own
close(15e-6, plot.fitted_time(kernel, 1.5e6, 0))    # half way to the second
close(30e-6, plot.fitted_time(kernel, 6e6, 0))      # 4 MB more at 400 GB/s
close(35e-6, plot.fitted_time({**kernel, "peak": "2TFLOPS"}, 6e6, 1e7))  # 10 Mflop at 2 TFLOPS: 5 us

with tempfile.TemporaryDirectory() as folder:
    profile = os.path.join(folder, "made-up.json")
    picture = os.path.join(folder, "made-up.png")
    document = {"name": "made-up", "device": {"event_overhead": "2us"}, "launch_overhead": {"value": "9us"}, "kernels": [{**kernel, "errors": {"median": 0.01, "p90": 0.02, "largest": 0.03}}]}
    with open(profile, "w", encoding="utf-8") as file:
        json.dump(document, file)
    run = [sys.executable, sys.argv[1], profile, picture]
    without = subprocess.run(run, capture_output=True, text=True)
    assert without.returncode == 1 and "no samples beside the profile" in without.stderr, without.stderr
    lines = [json.dumps({"format": "stepcast-samples"})]
    for method in ("a", "b"):
        for size in (1000, 100000, 1000000):
            for start in (0, 1):
                time = plot.fitted_time(kernel, 8 * size, 0)
                # Method b takes two passes a sample, so that each holds half of the events' 2 us.
                repeats = 1 if method == "a" else 2
                lines.append(json.dumps({"name": "cast/" + method, "role": "cast", "method": method, "size": size, "start": start, "repeats": repeats, "bytes": 8 * size, "flops": 0,
                                         "cold_s": [factor * time + 2e-6 / repeats for factor in (1, 1.01, 0.99)]}))
    with open(os.path.join(folder, "made-up.samples.jsonl"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    subprocess.run(run, check=True)
    with open(picture, "rb") as file:
        assert file.read(8) == b"\x89PNG\r\n\x1a\n"
    found = plot.read_samples(profile, document)
    assert len(found) == 6 and all(len(group["seconds"]) == 6 for group in found.values())
    for group in found.values():
        close(plot.fitted_time(kernel, group["bytes"], 0), sorted(group["seconds"])[2])  # twice 0.99, 1, 1.01
    # An entry of one method has that method's samples alone.
    assert {method for _, method, _ in plot.groups_of({"name": "cast/b"}, found)} == {"b"}
    assert {method for _, method, _ in plot.groups_of({"name": "cast"}, found)} == {"a", "b"}
    # 8 kB take 9.008 us. This time stays, since it is less than 2 us above a launch of 10 us. For two passes, half of it is
    # enough.
    document["launch_overhead"]["value"] = "10us"
    found = plot.read_samples(profile, document)
    close(10e-6, sorted(found["cast", "a", 1000]["seconds"])[2])
    close(plot.fitted_time(kernel, 8000, 0), sorted(found["cast", "b", 1000]["seconds"])[2])
    del document["device"]["event_overhead"]     # nothing was taken off
    close(plot.fitted_time(kernel, 8000, 0) + 2e-6, sorted(plot.read_samples(profile, document)["cast", "a", 1000]["seconds"])[2])
print("plot_calibration.py: ok")
