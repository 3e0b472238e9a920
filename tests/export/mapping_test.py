#!/usr/bin/env python3
"""The exporter's mapping from PyTorch's attributes to layer shapes, without torch: stand-ins carry the attributes."""
import json
import sys
import unittest
from pathlib import Path
from types import SimpleNamespace as Module

sys.path.insert(0, str(Path(__file__).parents[2] / "calibrate"))
sys.dont_write_bytecode = True
import export_torch as exporter


def conv(**changes):
    return Module(**{"in_channels": 3, "out_channels": 8, "kernel_size": (3, 3), "stride": (1, 1), "padding": (1, 1), "dilation": (1, 1), "groups": 1, "padding_mode": "zeros", "bias": None, **changes})


def shape(kind, module, inputs, output, table=exporter.MODULES):
    layers = exporter.layers_of("name", kind, table, module, inputs, output, "name")
    return layers[0][1] if layers else None


class Mapping(unittest.TestCase):
    def test_convolution(self):
        self.assertEqual(shape("Conv2d", conv(), [[2, 3, 9, 7]], [2, 8, 9, 7]), {"kind": "conv2d", "in": 3, "out": 8, "kernel": [3, 3], "padding": [1, 1], "input": [9, 7]})
        self.assertEqual(shape("Conv2d", conv(stride=(2, 2), bias=1, groups=1, padding=(0, 1)), [[2, 3, 9, 7]], [2, 8, 4, 4])["stride"], 2)
        for refused in ({"dilation": (2, 2)}, {"stride": (1, 2)}, {"padding": "same"}, {"padding_mode": "reflect"}):
            with self.assertRaisesRegex(exporter.ScriptError, "^name: "): shape("Conv2d", conv(**refused), [[2, 3, 9, 7]], [2, 8, 9, 7])

    def test_rows_are_all_dimensions_between_batch_and_features(self):
        linear = Module(in_features=16, out_features=4, bias=1)
        self.assertEqual(shape("Linear", linear, [[2, 16]], [2, 4]), {"kind": "linear", "in": 16, "out": 4})
        self.assertEqual(shape("Linear", linear, [[2, 5, 3, 16]], [2, 5, 3, 4])["rows"], 15)
        norm = Module(normalized_shape=(4, 8), weight=1, bias=1)
        self.assertEqual(shape("LayerNorm", norm, [[2, 3, 4, 8]], [2, 3, 4, 8]), {"kind": "layer_norm", "width": 32, "rows": 3})
        norm.bias = None
        self.assertEqual(shape("LayerNorm", norm, [[2, 3, 4, 8]], [2, 3, 4, 8]), {"kind": "layer_norm", "width": 32, "rows": 3, "bias": False})
        self.assertEqual(exporter.parameters_of({"kind": "layer_norm", "width": 32, "bias": False}), 32)
        self.assertEqual(shape("SiLU", None, [[2, 8]], [2, 8]), {"kind": "activation", "function": "silu", "elements": 8})

    def test_windows_are_held_against_the_output(self):
        pool = Module(kernel_size=3, stride=2, padding=0)
        self.assertEqual(shape("MaxPool2d", pool, [[2, 64, 55, 55]], [2, 64, 27, 27]), {"kind": "pool", "function": "max", "channels": 64, "kernel": [3, 3], "stride": 2, "input": [55, 55]})
        with self.assertRaisesRegex(exporter.ScriptError, "ceil_mode"): shape("MaxPool2d", pool, [[2, 64, 56, 56]], [2, 64, 28, 28])  # (56 - 3)/2 + 1 = 27
        self.assertEqual(shape("AvgPool2d", Module(kernel_size=2, stride=None, padding=0), [[2, 4, 8, 8]], [2, 4, 4, 4])["stride"], 2)
        self.assertEqual(shape("AdaptiveAvgPool2d", None, [[2, 4, 8, 8]], [2, 4, 2, 2])["kernel"], [4, 4])
        self.assertIsNone(shape("AdaptiveAvgPool2d", None, [[2, 4, 6, 6]], [2, 4, 6, 6]))
        with self.assertRaisesRegex(exporter.ScriptError, "does not divide"): shape("AdaptiveAvgPool2d", None, [[2, 4, 7, 7]], [2, 4, 2, 2])

    def test_functional_arguments_have_their_modules_names(self):
        call = exporter.Arguments("max_pool2d", ("x", 3), {"stride": 2})
        self.assertEqual((call.kernel_size, call.stride, call.padding), (3, 2, 0))
        self.assertIsNone(shape("dropout", exporter.Arguments("dropout", ("x", 0.5), {"training": False}), [[2, 8]], [2, 8], exporter.FUNCTIONS))
        self.assertEqual(shape("dropout", exporter.Arguments("dropout", ("x",), {}), [[2, 8]], [2, 8], exporter.FUNCTIONS), {"kind": "activation", "function": "dropout", "elements": 8})

    def test_one_module_of_several_layers(self):
        lstm = Module(bidirectional=False, proj_size=0, bias=True, batch_first=True, num_layers=2, input_size=6, hidden_size=10, dropout=0.1)
        layers = exporter.layers_of("lstm", "LSTM", exporter.MODULES, lstm, [[2, 7, 6]], [2, 7, 10], "lstm")
        self.assertEqual([name for name, _ in layers], ["lstm.l0", "lstm.l0.dropout", "lstm.l1"])
        # 4h(i + h + 2): 4·10·(6 + 10 + 2) and 4·10·(10 + 10 + 2)
        self.assertEqual([exporter.parameters_of(s) for _, s in layers], [720, 0, 880])
        attention = Module(batch_first=True, _qkv_same_embed_dim=True, bias_k=None, add_zero_attn=False, embed_dim=8, num_heads=2, in_proj_bias=1)
        layers = exporter.layers_of("a", "MultiheadAttention", exporter.MODULES, attention, [[2, 5, 8], [2, 9, 8], [2, 9, 8]], [2, 5, 8], "a")
        self.assertEqual(sum(exporter.parameters_of(s) for _, s in layers), 4 * (64 + 8))
        self.assertEqual(layers[3][1], {"kind": "attention", "heads": 2, "d": 8, "sequence": 5, "memory": 9})

    def test_counts_are_those_of_the_shipped_tables(self):
        folder, claimed = Path(exporter.__file__).parents[1] / "scenarios/workloads", 0
        # 64 · 7² · 3 weights at 112² positions, the first layer of ResNet-50.
        self.assertEqual(exporter.macs_of({"kind": "conv2d", "in": 3, "out": 64, "kernel": [7, 7], "stride": 2, "padding": [3, 3], "input": [224, 224]}), 64 * 147 * 112 * 112)
        for name in ("resnet50", "vgg16", "alexnet", "inception-v3", "bert-base", "gpt2-small", "unet-tiny", "wide-resnet50-2"):
            table = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
            with self.subTest(name): self.assertEqual(sum(exporter.parameters_of(layer["shape"]) for layer in table["layers"]), table["parameters"])


if __name__ == "__main__":
    unittest.main()
