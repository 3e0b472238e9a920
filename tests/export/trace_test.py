#!/usr/bin/env python3
"""The exporter on PyTorch modules, against the shipped tables where torchvision has the network. 77: no torch here."""
import json
import subprocess
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "calibrate"))
sys.dont_write_bytecode = True
try:
    import torch
    from torch import nn
except ImportError:
    print(f"skipped: torch is missing for {sys.executable}")
    sys.exit(77)
try:
    import torchvision
except ImportError:
    torchvision = None
import export_torch as exporter

WORKLOADS = Path(exporter.__file__).parents[1] / "scenarios/workloads"


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm, self.fc = nn.Conv2d(4, 4, 3, padding=1), nn.BatchNorm2d(4), nn.Linear(4, 10)

    def forward(self, x):
        y = torch.relu(self.norm(self.conv(x)) + x)
        return self.fc(torch.flatten(nn.functional.adaptive_avg_pool2d(y, 1), 1))


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.lstm, self.decoder = nn.Embedding(100, 8), nn.LSTM(8, 8, 2, batch_first=True), nn.Linear(8, 100)
        self.decoder.weight = self.encoder.weight

    def forward(self, x): return self.decoder(self.lstm(self.encoder(x))[0])


class Strange(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.fc = nn.Softshrink(), nn.Linear(4, 2)

    def forward(self, x): return self.fc(torch.cumsum(self.inner(x), 1))


def kinds(layers): return [shape["kind"] for _, shape in layers]


class Tracing(unittest.TestCase):
    def test_execution_order(self):
        layers = exporter.export(Residual(), [torch.zeros(2, 4, 8, 8)])
        self.assertEqual(kinds(layers), ["conv2d", "batch_norm", "add", "activation", "pool", "linear", "softmax_loss"])
        # 4·4·9 + 4, 2·4, 4·10 + 10
        self.assertEqual([exporter.parameters_of(shape) for _, shape in layers], [148, 8, 0, 0, 0, 50, 0])
        self.assertEqual(layers[0][0], "conv")

    def test_a_tied_weight_counts_once(self):
        layers = exporter.export(Tied(), [torch.zeros(2, 5, dtype=torch.int64)])
        self.assertEqual(kinds(layers), ["embedding", "lstm", "lstm", "linear", "softmax_loss"])
        self.assertTrue(layers[3][1]["tied"])
        self.assertEqual(layers[4][1], {"kind": "softmax_loss", "classes": 100, "rows": 5})

    def test_unknown_calls_are_named_and_can_be_skipped(self):
        x = [torch.zeros(2, 4)]
        with self.assertRaisesRegex(exporter.ScriptError, "inner: the module Softshrink is unknown; --skip inner"): exporter.export(Strange(), x)
        with self.assertRaisesRegex(exporter.ScriptError, "the function cumsum is unknown; --skip cumsum"): exporter.export(Strange(), x, skips=["inner"])
        self.assertEqual(kinds(exporter.export(Strange(), x, skips=["Softshrink", "cumsum"])), ["linear", "softmax_loss"])

    def test_parameters_without_a_layer_are_an_error(self):
        with self.assertRaisesRegex(exporter.ScriptError, "the layers hold 0 parameters, but the module 10"): exporter.export(Strange(), [torch.zeros(2, 4)], skips=["inner", "cumsum", "fc"])

    def test_a_reused_module_is_an_error(self):
        class Twice(nn.Module):
            def __init__(self):
                super().__init__()
                self.conv = nn.Conv2d(4, 4, 1)

            def forward(self, x): return self.conv(self.conv(x))
        with self.assertRaisesRegex(exporter.ScriptError, "used a second time"): exporter.export(Twice(), [torch.zeros(2, 4, 8, 8)])

    def test_attention(self):
        class Attends(nn.Module):
            def __init__(self):
                super().__init__()
                self.attention = nn.MultiheadAttention(8, 2, batch_first=True)

            def forward(self, x): return self.attention(x, x, x)[0]
        layers = exporter.export(Attends(), [torch.zeros(2, 5, 8)], loss=False)
        self.assertEqual(kinds(layers), ["linear"] * 3 + ["attention", "linear"])

    @unittest.skipUnless(torchvision, "torchvision is missing")
    def test_torchvision_gives_the_shipped_tables(self):
        # Layer by layer alike; names differ where the shipped tables number what torchvision leaves nameless.
        alike = (Counter(), Counter())
        # Inception's auxiliary loss is outside the module. Inside, torchvision concatenates the halves of each split
        # branch of Mixed_7b and Mixed_7c, 2 · 384 channels of 8 x 8. The block's own concatenation follows.
        inception = (Counter({'{"classes": 1000, "kind": "softmax_loss"}': 1}), Counter({'{"elements": 49152, "kind": "concat"}': 4}))
        for name, size, difference in (("resnet18", 224, alike), ("resnet50", 224, alike), ("vgg16", 224, alike), ("alexnet", 224, alike), ("inception_v3", 299, inception)):
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "table.json"
                command = [sys.executable, "-W", "ignore", exporter.__file__, f"torchvision.models:{name}", "--input", f"3,{size},{size}", "--output", str(path)]
                if name == "inception_v3": command += ["--kwargs", '{"init_weights": false}']  # its own takes half a minute
                subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
                traced, shipped = (json.loads(p.read_text(encoding="utf-8")) for p in (path, WORKLOADS / f"{name.replace('_', '-')}.json"))
                self.assertEqual(traced["parameters"], shipped["parameters"])
                count = lambda table: sum(exporter.macs_of(layer["shape"]) for layer in table["layers"])
                self.assertEqual(count(traced), count(shipped))
                shapes = lambda table: Counter(json.dumps(exporter.without_defaults(**layer["shape"]), sort_keys=True) for layer in table["layers"])
                self.assertEqual((shapes(shipped) - shapes(traced), shapes(traced) - shapes(shipped)), difference)


if __name__ == "__main__":
    unittest.main()
