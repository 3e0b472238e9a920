#!/usr/bin/env python3
"""Times a training step of a network's layers as PyTorch runs them (cuDNN, cuBLAS), for stepcast-calibrate to compare.

    stepcast-calibrate device -o profile.json --workload resnet50:pufferfish --batch 32 --dtype tf32 --tables tables
    torch_step.py tables/resnet50-pufferfish-32-tf32.json --output torch.json
    stepcast-calibrate device -o profile.json --workload resnet50:pufferfish --batch 32 --dtype tf32 --torch-step torch.json

The document's `layers` have shapes, as --tables and `stepcast show workload NAME --json` write them. Each becomes a
PyTorch module with a separate input. Like a training step, a step runs all modules forward in order, back-propagates in
reverse order, and updates the parameters (momentum SGD or Adam, fused). Kernels, launches, autograd and the allocator
are PyTorch's. Layers are not chained, so L2 does not hold a layer's input from the layer before. A module may have
parameters that the table does not count: a weight tied to an embedding's, a scale or a second bias. They are not updated,
so that the step's parameters are the table's.

    --dtype fp32|tf32|bf16   instead of the document's; bf16: parameters and activations in bf16
    --batch N                instead of the document's
    --device cuda|cpu        cpu is for trying the script; its times mean nothing here

Writes the median of a step's time, its quartiles and all samples. Needs torch, nothing else.
"""
import argparse
import json
import math
import statistics
import sys

from torch_common import DTYPES, ScriptError, check_device, import_torch, outer_quartiles, seconds, write


# Modules ------------------------------------------------------------------------------------------------------------


def build(torch, shape, batch, where):
    """The module of a layer, and a function that makes its inputs: (module, inputs(dtype, device))."""
    nn, F = torch.nn, torch.nn.functional
    kind = shape["kind"]

    def dense(*dims):
        def make(dtype, device):
            return [torch.randn(batch, *dims, dtype=dtype, device=device, requires_grad=True)]
        return make

    def inputs_of(*widths):
        """An input for each width."""
        return lambda dtype, device: [one for width in widths for one in dense(width)(dtype, device)]

    def indices(count, *dims):
        return lambda device: torch.randint(count, (batch, *dims), device=device)

    class Call(nn.Module):
        def __init__(self, function):
            super().__init__()
            self.function = function

        def forward(self, *inputs):
            return self.function(*inputs)

    def of(key, default):
        value = shape.get(key)
        return default if value is None else value

    if kind == "conv2d":
        module = nn.Conv2d(shape["in"], shape["out"], tuple(shape["kernel"]), of("stride", 1), tuple(of("padding", [0, 0])), groups=of("groups", 1), bias=of("bias", False))
        return module, dense(shape["in"], *shape["input"])
    if kind == "conv_transpose2d":
        return nn.ConvTranspose2d(shape["in"], shape["out"], tuple(shape["kernel"]), of("stride", 2), bias=of("bias", False)), dense(shape["in"], *shape["input"])
    if kind == "linear":
        return nn.Linear(shape["in"], shape["out"], bias=of("bias", True)), dense(of("rows", 1), shape["in"])
    if kind == "lstm":
        if of("input_rank", 0) or of("hidden_rank", 0):
            return FactorizedLstm.of(torch, shape), dense(shape["steps"], shape["input"])
        module = nn.LSTM(shape["input"], shape["hidden"], batch_first=True)
        if of("tensors", "fused") != "fused":
            module.bias_hh_l0.requires_grad_(False)  # one bias a gate
        return FirstResult.of(torch, module), dense(shape["steps"], shape["input"])
    if kind == "attention":
        heads, head, queries = shape["heads"], shape["d"] // shape["heads"], shape["sequence"]
        keys, kv_heads = of("memory", queries), of("kv_heads", heads)

        def make(dtype, device):
            sizes = ((heads, queries), (kv_heads, keys), (kv_heads, keys))
            return [torch.randn(batch, *size, head, dtype=dtype, device=device, requires_grad=True) for size in sizes]
        if of("fused", False):
            if not hasattr(F, "scaled_dot_product_attention"):
                raise ScriptError(f"{where}: PyTorch {torch.__version__} has no fused attention; 2.0 and later have")
            shared = {"enable_gqa": True} if kv_heads != heads else {}  # PyTorch has it from 2.5 on
            return Call(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=of("causal", False), **shared)), make
        if kv_heads != heads:
            raise ScriptError(f"{where}: attention whose heads share keys and values (kv_heads) is run only if it is fused")
        # Scores in memory, as the table counts them: no fused attention.
        return Call(lambda q, k, v: torch.softmax(q @ k.transpose(-2, -1) / head**0.5, -1) @ v), make
    if kind == "embedding":
        look_ups = indices(shape["entries"], of("rows", 1))
        return nn.Embedding(shape["entries"], shape["width"]), lambda dtype, device: [look_ups(device)]
    if kind == "batch_norm":
        module = nn.BatchNorm2d(shape["channels"])
        module.weight.requires_grad_(of("scale", True))
        return module, dense(shape["channels"], *of("input", [1, 1]))
    if kind == "layer_norm":
        return nn.LayerNorm(shape["width"], **({} if of("bias", True) else {"bias": False})), dense(of("rows", 1), shape["width"])
    if kind == "activation":
        functions = {"relu": F.relu, "gelu": F.gelu, "tanh": torch.tanh, "sigmoid": torch.sigmoid, "silu": F.silu, "dropout": lambda x: F.dropout(x, 0.5)}
        if of("composed", False):  # as Hugging Face's GPT-2
            functions["gelu"] = lambda x: 0.5 * x * (1 + torch.tanh((2 / math.pi)**0.5 * (x + 0.044715 * torch.pow(x, 3))))
        return Call(functions[of("function", "relu")]), dense(shape["elements"])
    if kind == "pool":
        window, stride, padding = tuple(shape["kernel"]), of("stride", 1), tuple(of("padding", [0, 0]))
        module = nn.AvgPool2d(window, stride, padding) if of("function", "max") == "average" else nn.MaxPool2d(window, stride, padding)
        return module, dense(shape["channels"], *shape["input"])
    if kind in ("add", "multiply"):
        return Call((lambda a, b: a + b) if kind == "add" else (lambda a, b: a * b)), inputs_of(shape["elements"], shape["elements"])
    if kind == "concat":
        half = shape["elements"] // 2
        return Call(lambda a, b: torch.cat([a, b], 1)), inputs_of(shape["elements"] - half, half)
    if kind == "softmax_loss":
        rows, classes = of("rows", 1), shape["classes"]
        labels = indices(classes, rows)

        def logits(dtype, device):
            return [torch.randn(batch * rows, classes, dtype=dtype, device=device, requires_grad=True), labels(device).reshape(-1)]
        return Call(F.cross_entropy), logits
    raise ScriptError(f"{where}: no PyTorch module is known for a layer of kind \"{kind}\"")


class FirstResult:
    @staticmethod
    def of(torch, module):
        class Wrapper(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = module

            def forward(self, x):
                return self.inner(x)[0]
        return Wrapper()


class FactorizedLstm:
    """Pufferfish's LSTM (section 2.2): each gate's matrices are products of two; steps in a Python loop, as its code has it."""

    @staticmethod
    def of(torch, shape):
        nn = torch.nn
        hidden = shape["hidden"]
        input_rank, hidden_rank = shape.get("input_rank"), shape.get("hidden_rank")

        two_biases = (shape.get("tensors") or "fused") == "fused"

        def matrix(columns, rank, bias):
            if not rank:
                return nn.Linear(columns, hidden, bias=bias)
            return nn.Sequential(nn.Linear(columns, rank, bias=False), nn.Linear(rank, hidden, bias=bias))

        class Lstm(nn.Module):
            def __init__(self):
                super().__init__()
                self.of_input = nn.ModuleList(matrix(shape["input"], input_rank, True) for _ in range(4))
                self.of_hidden = nn.ModuleList(matrix(hidden, hidden_rank, two_biases) for _ in range(4))

            def forward(self, x):
                inputs = [gate(x) for gate in self.of_input]
                h = c = torch.zeros(x.shape[0], hidden, dtype=x.dtype, device=x.device)
                outputs = []
                for t in range(x.shape[1]):
                    i, f, g, o = (wide[:, t] + gate(h) for wide, gate in zip(inputs, self.of_hidden))
                    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
                    h = torch.sigmoid(o) * torch.tanh(c)
                    outputs.append(h)
                return torch.stack(outputs, 1)
        return Lstm()


# The step -----------------------------------------------------------------------------------------------------------


def updated(module, layer, where):
    """The module's parameters that its layer counts; those that it does not are differentiated all the same."""
    shape = layer["shape"]
    uncounted = shape.get("tied") or shape.get("exchanged") is False
    counted = [p for name, p in module.named_parameters() if p.requires_grad and not (uncounted and name == "weight")]
    expected = layer.get("gradients")
    if expected is not None and sum(p.numel() for p in counted) != sum(tensor["elements"] for tensor in expected):
        raise ScriptError(f"{where} has {sum(p.numel() for p in counted)} parameters in PyTorch, {sum(tensor['elements'] for tensor in expected)} in the table")
    return counted


class Step:
    def __init__(self, torch, document, batch, precision, device):
        self.torch = torch
        dtype = getattr(torch, DTYPES[precision])
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = precision == "tf32"
        torch.backends.cudnn.benchmark = True  # as training scripts do: the fastest algorithm of each shape
        self.layers, self.uncounted, parameters = [], [], []
        for number, layer in enumerate(document["layers"]):
            where = f"layer {number} ({layer.get('name', 'without name')})"
            if not layer.get("shape"):
                raise ScriptError(f"{where} gives no shape; a table of measured times cannot be run")
            module, make = build(torch, layer["shape"], batch, where)
            module = module.to(device=device, dtype=dtype)
            counted = updated(module, layer, where)
            parameters += counted
            self.uncounted += [p for p in module.parameters() if all(p is not one for one in counted)]
            inputs = make(dtype, device)
            with torch.no_grad():
                output = module(*inputs)
            self.layers.append((module, inputs, torch.randn_like(output) if output.dim() else None))
        if not self.layers[0][1][0].is_floating_point() or self.layers[0][0]._parameters:
            for x in self.layers[0][1]:
                if x.is_floating_point():
                    x.requires_grad_(False)  # nothing before the first layer learns
        self.parameters = sum(p.numel() for p in parameters)
        optimizer = document.get("optimizer", "momentum")
        if not parameters:
            self.optimizer = None
        elif optimizer == "adam":
            self.optimizer = torch.optim.Adam(parameters, fused=device == "cuda")
        else:
            self.optimizer = torch.optim.SGD(parameters, lr=1e-3, momentum=0 if optimizer == "sgd" else 0.9, foreach=True)

    def run(self):
        outputs = [module(*inputs) for module, inputs, _ in self.layers]
        for (_, inputs, gradient), output in zip(reversed(self.layers), reversed(outputs)):
            for x in inputs:
                x.grad = None
            if output.requires_grad:
                output.backward(gradient)
        if self.optimizer:
            self.optimizer.step()
            self.optimizer.zero_grad(set_to_none=True)
        for p in self.uncounted:
            p.grad = None


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("document", help="a layer table as stepcast-calibrate device --tables writes it; - is standard input")
    parser.add_argument("--dtype", choices=["fp32", "tf32", "bf16"])
    parser.add_argument("--batch", type=int)
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--warm-up", type=int, default=10)
    parser.add_argument("--samples", type=int, default=30)
    parser.add_argument("--output", default="-")
    return parser.parse_args(arguments)


def main(arguments):
    options = parse(arguments)
    torch = import_torch()
    check_device(torch, options.device)
    try:
        with sys.stdin if options.document == "-" else open(options.document, encoding="utf-8") as file:
            document = json.load(file)
        batch = options.batch or document["batch"]
        dtype = options.dtype or document.get("dtype", "fp32")
        if dtype not in ("fp32", "tf32", "bf16"):
            raise ScriptError(f"{options.document}: no kernel here computes in {dtype}; choose --dtype fp32, tf32 or bf16")
        step = Step(torch, document, batch, dtype, options.device)
        for _ in range(options.warm_up): step.run()
        samples = [seconds(torch, options.device, step.run) for _ in range(options.samples)]
    except (OSError, json.JSONDecodeError) as error:
        raise ScriptError(f"{options.document}: {error}")
    except KeyError as error:
        raise ScriptError(f"{options.document}: {error} is missing; stepcast-calibrate device --tables FOLDER writes whole tables")
    except RuntimeError as error:  # the device's memory among what it may lack
        raise ScriptError(f"{options.document}: PyTorch: {error}")
    result = {
        "format": "stepcast-torch-step", "version": 1,
        "workload": document.get("name"), "variant": document.get("variant") or "vanilla", "batch": batch, "dtype": dtype,
        "device": torch.cuda.get_device_name() if options.device == "cuda" else "cpu", "torch": torch.__version__, "cudnn": torch.backends.cudnn.version(),
        "parameters": step.parameters, "step_time_s": statistics.median(samples), "quartiles_s": outer_quartiles(samples), "samples_s": samples}
    write(json.dumps(result, indent=2) + "\n", options.output)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except ScriptError as error:
        sys.exit(f"torch_step.py: {error}")
