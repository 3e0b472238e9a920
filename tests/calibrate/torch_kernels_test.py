#!/usr/bin/env python3
"""torch_kernels.py: layers of documents and their text; with torch, a table from its CPU that import accepts.

    torch_kernels_test.py SCRIPTS STEPCAST-CALIBRATE SCENARIOS
"""
import json
import os
import subprocess
import sys
import tempfile

scripts, calibrate, scenarios = sys.argv[1:]
sys.path.insert(0, scripts)
sys.dont_write_bytecode = True
import torch_kernels as kernels

conv = {"kind": "conv2d", "in": 3, "out": 4, "kernel": [3, 5], "stride": 1, "padding": [1, 2], "groups": 1, "bias": True, "input": [6, 6]}
norm = {"kind": "layer_norm", "width": 8, "rows": 2, "bias": True}
assert kernels.text_of({**conv, "bias": False, "groups": None}) == "in=3 out=4 kernel=3x5 stride=1 padding=1x2 bias=false input=6x6"
with tempfile.TemporaryDirectory() as folder:
    def document(name, *shapes):
        path = os.path.join(folder, name)
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"layers": [{"shape": shape} for shape in shapes]}, file)
        return path
    # Biases are kernels of their own, so that these two convolutions are one; a norm keeps its bias; a layer without shape is none.
    first, second = document("first.json", conv, norm, None), document("second.json", {**conv, "bias": False})
    assert kernels.layers_of([first, second]) == [{**conv, "bias": False}, norm]
    with open(os.path.join(folder, "empty.json"), "w", encoding="utf-8") as file:
        file.write("{}")
    try:
        kernels.layers_of([os.path.join(folder, "empty.json")])
        raise AssertionError("a document without layers was accepted")
    except kernels.ScriptError as error:
        assert "'layers' is missing" in str(error), error
    try:
        import torch
    except ImportError:
        print(f"skipped from here on: torch is missing for {sys.executable}")
        sys.exit(77)
    # Every kind that PyTorch has, in the ways a table may give it. 12 products: import wants 10 and more.
    shapes = [conv, norm, {"kind": "batch_norm", "channels": 4, "input": [3, 3]}, {"kind": "pool", "channels": 4, "kernel": [2, 2], "stride": 2, "input": [4, 4]},
              {"kind": "attention", "heads": 4, "d": 16, "sequence": 8, "fused": True, "causal": True},
              {"kind": "attention", "heads": 4, "d": 16, "sequence": 8, "kv_heads": 2, "fused": True}, {"kind": "embedding", "entries": 9, "width": 4, "rows": 3},
              {"kind": "lstm", "input": 4, "hidden": 4, "steps": 3}, {"kind": "softmax_loss", "classes": 5, "rows": 2}, {"kind": "activation", "elements": 64}, {"kind": "concat", "elements": 10}, {"kind": "activation", "function": "gelu", "elements": 64, "composed": True},
              {"kind": "rotary", "elements": 64}] + [{"kind": "linear", "in": 64 * i, "out": 64, "rows": 8} for i in range(1, 5)]
    table, profile = os.path.join(folder, "table.csv"), os.path.join(folder, "profile.json")
    subprocess.run([sys.executable, os.path.join(scripts, "torch_kernels.py"), document("all.json", *shapes), "--batch", "2", "--dtype", "fp32", "--device", "cpu", "--output", table], check=True)
    lines = open(table, encoding="utf-8").read().splitlines()
    found = {tuple(line.split(",")[2:4]) for line in lines if line.startswith("cpu,")}
    expected = {(kind, "forward") for kind in ("conv2d", "layer_norm", "batch_norm", "pool", "attention", "embedding", "lstm", "softmax_loss", "activation", "concat", "linear")}
    expected |= {(kind, part) for kind in ("conv2d", "linear") for part in ("data_gradient", "weight_gradient")}
    expected |= {(kind, "backward") for kind in ("layer_norm", "batch_norm", "pool", "attention", "embedding", "softmax_loss", "activation", "concat")}
    if not hasattr(torch.nn.functional, "scaled_dot_product_attention"):  # PyTorch 1, as Debian 12 has it
        expected -= {("attention", part) for part in ("forward", "backward")}
        assert any(line.startswith("# left out: fp32, attention") and "2.0 and later" in line for line in lines), lines
    missing = expected - found
    assert not missing, missing
    assert any(line.startswith("# left out: fp32, rotary") for line in lines) and "# 17 of 17 layers, batches and types were timed" in lines, lines[-5:]
    environment = {**os.environ, "STEPCAST_SCENARIOS": scenarios}
    done = subprocess.run([calibrate, "import", table, "--base", "h200-datasheet", "--source", "made up", "-o", profile], env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and "product" in done.stdout, done.stderr
    # Images in nhwc are the same table.
    subprocess.run([sys.executable, os.path.join(scripts, "torch_kernels.py"), first, "--layout", "nhwc", "--batch", "1", "--dtype", "fp32", "--device", "cpu", "--output", table], check=True)
    assert sum(line.startswith("cpu,fp32,conv2d") for line in open(table, encoding="utf-8")) == 3
print("torch_kernels.py: ok")
