#!/usr/bin/env python3
"""Times single layers as PyTorch runs them (cuDNN, cuBLAS), as a table for `stepcast-calibrate import`.

    stepcast show resnet50 --json resnet50.json
    torch_kernels.py resnet50.json --batch 32 --batch 128 --dtype bf16 --output kernels.csv
    stepcast-calibrate import kernels.csv --base h100-datasheet --source "measured by us, 2026" -o profiles/ours.json

The documents' `layers` have shapes, as `stepcast show --json` and `stepcast-calibrate device --tables` write them. Each
different layer is timed once for each batch and type: its forward pass, the gradient of its input, and those of its
parameters. Layers come in random order, so that a time limit leaves some of each kind.

Times are the device's, by CUDA events, medians, with L2 flushed before each. The device is kept busy until PyTorch has
queued its kernels, so launches by the host cost nothing. Fused attention is PyTorch's scaled_dot_product_attention.
Gradients of recurrent layers' parameters are the whole backward pass less the input's gradient, since cuDNN needs both.

    --dtype fp32|tf32|bf16|fp16  types, repeated; parameters and activations have them
    --batch N                batches, repeated, instead of the documents'
    --layout nchw|nhwc       how images lie in memory; PyTorch's default is nchw
    --time-limit SECONDS     stop after them; what was timed is written
    --device cuda|cpu        cpu is for trying the script; its times mean nothing

Comments of the table name the device, PyTorch and cuDNN, and the time in which the host launches a small kernel. Needs
torch, nothing else.
"""
import argparse
import json
import random
import statistics
import sys
import time

from torch_common import DTYPES, Flush, ScriptError, check_device, import_torch, seconds, write
from torch_step import build

ONE_GRADIENT = ("norm", "activation", "pool", "softmax", "embedding")  # parts of the kinds that have one alone
WITH_BIAS = ("conv2d", "conv_transpose2d", "linear")
NO_BACKWARD = ("add",)  # the gradient passes as it is
LEAST_SAMPLES, MOST_SAMPLES, MOST_SECONDS = 4, 10, 0.03


def text_of(shape):
    """A shape as import's column has it: "in=64 kernel=3x3"."""
    def one(value):
        return str(value).lower() if isinstance(value, bool) else "x".join(map(str, value)) if isinstance(value, list) else str(value)
    return " ".join(f"{key}={one(value)}" for key, value in shape.items() if key != "kind" and value is not None)


def layers_of(paths):
    """Every different shape of the documents, in their order."""
    shapes = {}
    for path in paths:
        try:
            with open(path, encoding="utf-8") as file:
                layers = json.load(file)["layers"]
        except (OSError, json.JSONDecodeError) as error:
            raise ScriptError(f"{path}: {error}") from error
        except KeyError as error:
            raise ScriptError(f"{path}: {error} is missing; stepcast show NAME --json PATH writes whole documents") from error
        for layer in layers:
            if layer.get("shape"):
                shape = dict(layer["shape"])
                if shape["kind"] in WITH_BIAS: shape["bias"] = False  # a kernel of its own
                shapes.setdefault((shape["kind"], text_of(shape)), shape)
    return list(shapes.values())


class Timer:
    def __init__(self, torch, device):
        self.torch, self.device, self.flush, self.events = torch, device, Flush(torch, device), 0.0
        if device == "cuda": self.events = self.median(lambda: None)

    def median(self, run):
        """Median of the seconds that run() takes, without those of the events around it; the first two runs warm up."""
        begin, samples = time.monotonic(), []
        for _ in range(2): run()
        while len(samples) < LEAST_SAMPLES or (len(samples) < MOST_SAMPLES and time.monotonic() - begin < MOST_SECONDS):
            samples.append(seconds(self.torch, self.device, run, self.flush))
        return statistics.median(samples) - self.events

    def host_launch(self):
        """Seconds in which the host queues a small kernel of eager code, one after the other."""
        x, count = self.torch.zeros(16, device=self.device), 2000
        for _ in range(200): x.add_(1)
        if self.device == "cuda": self.torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(count): x.add_(1)
        return (time.perf_counter() - begin) / count


def passes(torch, shape, batch, precision, layout, timer):
    """(pass, seconds) of a layer."""
    dtype = getattr(torch, DTYPES[precision])
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = precision == "tf32"
    module, make = build(torch, shape, batch, text_of(shape))
    module, inputs = module.to(device=timer.device, dtype=dtype), make(dtype, timer.device)
    if layout == "nhwc" and inputs[0].dim() == 4 and shape["kind"] != "attention":
        module = module.to(memory_format=torch.channels_last)
        inputs = [x.detach().to(memory_format=torch.channels_last).requires_grad_() for x in inputs]
    yield "forward", timer.median(lambda: module(*inputs))
    if shape["kind"] in NO_BACKWARD: return
    learnt = [x for x in inputs if x.is_floating_point() and x.requires_grad]
    parameters = [p for p in module.parameters() if p.requires_grad]
    output = module(*inputs)
    if not output.requires_grad: return
    gradient = torch.randn_like(output)

    def backward(of):
        return timer.median(lambda: torch.autograd.grad(output, of, gradient, retain_graph=True))
    if not parameters or any(part in shape["kind"] for part in ONE_GRADIENT):
        yield "backward", backward(learnt + parameters)
        return
    data_gradient = backward(learnt)
    yield "data_gradient", data_gradient
    both = shape["kind"] == "lstm"
    yield "weight_gradient", backward(learnt + parameters) - data_gradient if both else backward(parameters)


def rows_of(torch, options, shapes, timer):
    """Lines of the table, and layers left out."""
    name = torch.cuda.get_device_name() if options.device == "cuda" else "cpu"
    tasks = [(shape, batch, dtype) for shape in shapes for batch in options.batch for dtype in options.dtype]
    random.Random(7).shuffle(tasks)
    begin, done = time.monotonic(), 0
    for shape, batch, dtype in tasks:
        if options.time_limit and time.monotonic() - begin > options.time_limit: break
        done += 1
        try:
            for part, taken in passes(torch, shape, batch, dtype, options.layout, timer):
                if taken > 0:
                    yield f"{name},{dtype},{shape['kind']},{part},{batch},{text_of(shape)},{1e6 * taken:.3f}us"
        except (ScriptError, RuntimeError) as error:  # the device's memory among what it may lack
            yield f"# left out: {dtype}, {shape['kind']} {text_of(shape)}, batch {batch}: {str(error).splitlines()[0]}"
            if options.device == "cuda": torch.cuda.empty_cache()
    yield f"# {done} of {len(tasks)} layers, batches and types were timed"


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("documents", nargs="+", help="layer tables")
    parser.add_argument("--dtype", choices=list(DTYPES), action="append", required=True)
    parser.add_argument("--batch", type=int, action="append", required=True)
    parser.add_argument("--layout", choices=["nchw", "nhwc"], default="nchw")
    parser.add_argument("--time-limit", type=float, default=0)
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--output", default="-")
    return parser.parse_args(arguments)


def main(arguments):
    options = parse(arguments)
    torch = import_torch()
    check_device(torch, options.device)
    shapes = layers_of(options.documents)
    timer = Timer(torch, options.device)
    software = f"PyTorch {torch.__version__}, cuDNN {torch.backends.cudnn.version()}, {options.layout}"
    head = [f"# Layers as PyTorch runs them: {software}; L2 flushed before each, the events' own time subtracted",
            f"# the host launches a small kernel of eager code in {1e6 * timer.host_launch():.2f}us",
            "device,dtype,layer,pass,batch,shape,time"]
    write("\n".join(head + list(rows_of(torch, options, shapes, timer))) + "\n", options.output)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except ScriptError as error:
        sys.exit(f"torch_kernels.py: {error}")
